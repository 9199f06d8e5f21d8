"""The network: how it starts, and that a document's scores are its own."""

import numpy as np
import torch

from funnelling.research.lstm_network import (
    draw_masks,
    initial_weights,
    lengths_of,
    pack,
    predicted_scores,
    to_tensors,
    training_scores,
)
from funnelling.runtime.threads import repeatable

TABLE = np.vstack([np.zeros((2, 6)), np.random.default_rng(0).normal(size=(20, 6))]).astype(np.float32)


def weights(labels: int = 3) -> dict[str, torch.Tensor]:
    return to_tensors(initial_weights(6, 8, 10, 12, np.full(labels, 0.2), seed=0), "cpu")


def documents(count: int = 70, longest: int = 12) -> np.ndarray:
    generator = np.random.default_rng(1)
    words = generator.integers(1, len(TABLE), size=(count, longest))
    words[np.arange(longest) >= generator.integers(0, longest + 1, size=count)[:, None]] = 0
    return words


def scored(words: np.ndarray, n_jobs: int = 1) -> np.ndarray:
    with repeatable("cpu"):
        return predicted_scores(weights(), lambda numbers: torch.from_numpy(TABLE[numbers]), words, n_jobs)


def test_labels_start_as_probable_as_they_are_frequent() -> None:
    frequencies = np.array([0.01, 0.5])
    arrays = initial_weights(6, 8, 10, 12, frequencies, seed=0)
    np.testing.assert_allclose(1 / (1 + np.exp(-arrays["output_biases"])), frequencies, rtol=1e-5)


def test_recurrent_weights_start_orthogonal() -> None:
    recurrent = initial_weights(6, 8, 10, 12, np.array([0.5]), seed=0)["recurrent_weights"]
    np.testing.assert_allclose(recurrent @ recurrent.T, np.eye(8), atol=1e-6)


def test_cells_start_with_memories_of_all_lengths() -> None:
    biases = initial_weights(6, 500, 10, 200, np.array([0.5]), seed=0)["gate_biases"].reshape(4, 500)
    candidate, input_gate, forget_gate, output_gate = biases
    assert not candidate.any()
    assert not output_gate.any()
    np.testing.assert_array_equal(input_gate, -forget_gate)
    memory = 1 + np.exp(forget_gate)  # steps until e^-1 is left
    assert memory.min() < 5
    assert 195 < memory.max() <= 200.01


def test_a_document_s_scores_are_its_own() -> None:
    words = documents()
    together = scored(words)
    alone = np.vstack([scored(words[[row]]) for row in range(len(words))])
    np.testing.assert_array_equal(together, alone)
    backwards = scored(words[::-1])[::-1]
    np.testing.assert_array_equal(together, backwards)
    np.testing.assert_array_equal(together, scored(words, n_jobs=2))


def test_padding_changes_nothing() -> None:
    words = documents()
    np.testing.assert_array_equal(scored(np.pad(words, [(0, 0), (0, 30)])), scored(words))


def test_training_and_prediction_agree_where_nothing_is_dropped() -> None:
    words = documents()
    words = words[np.argsort(-lengths_of(words), kind="stable")]
    packed = pack(words, lengths_of(words))
    masks = map(torch.from_numpy, draw_masks(weights(), len(TABLE), len(words), 0.0, 0)[1:])
    scores = training_scores(weights(), torch.from_numpy(TABLE), packed, *masks)
    np.testing.assert_allclose(scores.numpy(), scored(words), atol=1e-5)


def test_masks_drop_the_share_and_make_up_for_it() -> None:
    masks = draw_masks(weights(), 3_000, 2_000, 0.75, 0)
    assert [mask.shape for mask in masks] == [(3_000, 6), (2_000, 8), (2_000, 8), (2_000, 10)]
    for mask in masks:
        assert set(np.unique(mask)) == {0, 4}
        assert abs(np.mean(mask == 0) - 0.75) < 0.02
