"""How the network learns: what is held out, RMSprop by rows, and when it ends."""

import numpy as np
import numpy.typing as npt
import pytest
import torch

from funnelling.corpus.labels import MULTILABEL
from funnelling.research import lstm_training
from funnelling.research.lstm_training import (
    RowRMSprop,
    TokenizedExamples,
    TrainedNetwork,
    draw_validation,
    learn,
)
from funnelling.research.lstm_words import MLELSTMParameters
from funnelling.runtime.threads import repeatable


class TestValidation:
    def test_its_share(self) -> None:
        assert draw_validation([None] * 100, 0.2, 0).sum() == 20

    def test_groups_stay_together(self) -> None:
        groups = [f"law {i // 3}" for i in range(60)]
        held_out = draw_validation(groups, 0.2, 0)
        assert held_out.sum() == 12
        assert len({(group, held) for group, held in zip(groups, held_out.tolist(), strict=True)}) == 20

    def test_a_missing_group_is_none(self) -> None:
        assert draw_validation([None, float("nan"), None, float("nan")], 0.5, 0).sum() == 2

    def test_something_is_left_to_learn_from(self) -> None:
        assert not draw_validation(["one"] * 10, 0.9, 0).any()
        assert draw_validation([None, None], 0.99, 0).sum() <= 1

    def test_the_seed_draws(self) -> None:
        draws = [draw_validation([None] * 50, 0.2, seed).tolist() for seed in (0, 0, 1)]
        assert draws[0] == draws[1] != draws[2]


def test_rows_are_moved_as_by_rmsprop_on_the_whole_table() -> None:
    generator = torch.Generator().manual_seed(0)
    start = torch.randn(6, 3, generator=generator)
    whole = start.clone().requires_grad_()
    optimiser = torch.optim.RMSprop([whole], 0.01, alpha=lstm_training.DECAY, eps=lstm_training.EPSILON)
    table = start.clone()
    by_rows = RowRMSprop(table, 0.01)
    for rows in ([0, 1], [1, 4], [0, 5], [2], [0, 1, 4], [5]):
        gradient = torch.randn(len(rows), 3, generator=generator)
        whole.grad = torch.zeros_like(whole)
        whole.grad[rows] = gradient
        optimiser.step()
        by_rows.step(torch.tensor(rows), gradient)
    torch.testing.assert_close(table, whole.detach())
    assert torch.equal(table[3], start[3])


TABLE = np.vstack([np.zeros((2, 4)), np.random.default_rng(0).normal(size=(6, 4))]).astype(np.float32)


def examples(documents: int = 40) -> TokenizedExamples:
    """A document of up to five words has label 0 where the word 2 is in it."""
    generator = np.random.default_rng(0)
    words = generator.integers(1, len(TABLE), size=(documents, 5))
    words[np.arange(5) >= generator.integers(0, 6, size=documents)[:, None]] = 0
    return TokenizedExamples(words, np.column_stack([(words == 2).any(axis=1), (words == 3).any(axis=1)]))


def train(epochs: int, patience: int = 100, n_jobs: int = 1, dropout: float = 0.0) -> TrainedNetwork:
    parameters = MLELSTMParameters(
        units=8,
        dense_units=8,
        dropout=dropout,
        epochs=epochs,
        patience=patience,
        batch_size=8,
        learning_rate=0.02,
        n_jobs=n_jobs,
    )
    validation = examples(60).of(np.arange(60) >= 40)
    with repeatable("cpu"):
        return learn(examples(), validation, TABLE, parameters, MULTILABEL, seed=0)


def same(first: TrainedNetwork, second: TrainedNetwork) -> bool:
    return np.array_equal(first.table, second.table) and all(
        np.array_equal(array, second.weights[name]) for name, array in first.weights.items()
    )


def test_it_learns() -> None:
    losses = train(12).losses
    assert min(losses) < 0.7 * losses[0]


def test_the_best_epoch_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    best = train(3)
    made_up = iter([0.9, 0.8, 0.7, 0.75, 0.7, 0.9])
    monkeypatch.setattr(lstm_training._NetworkLearner, "loss", lambda *_: next(made_up))
    network = train(100, patience=3)
    assert network.losses == [0.9, 0.8, 0.7, 0.75, 0.7, 0.9]
    assert same(network, best)


def test_the_number_of_threads_changes_no_bit() -> None:
    assert same(train(2, dropout=0.5), train(2, n_jobs=3, dropout=0.5))


def test_padding_and_unknown_words_stay_zero() -> None:
    network = train(3)
    assert not network.table[:2].any()
    moved: npt.NDArray[np.bool_] = (network.table[2:] != TABLE[2:]).any(axis=1)
    assert moved.all()
