"""How MLE-LSTM's network learns: RMSprop on batches, until the loss of held-out documents falls no more."""

import logging
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from scipy.special import log_softmax
from torch.nn import functional

from funnelling.corpus.labels import LabelSpace
from funnelling.matrices import Floats, Rows, Targets
from funnelling.randomness import stream
from funnelling.research.lstm_network import (
    Numbers,
    draw_masks,
    initial_weights,
    lengths_of,
    pack,
    predicted_scores,
    to_tensors,
    training_scores,
)
from funnelling.research.lstm_words import FIRST_WORD, MLELSTMParameters
from funnelling.runtime.progress import progress_bar
from funnelling.runtime.threads import map_threads

Places = npt.NDArray[np.intp]  # by their number

# Threads may share a batch, divided into so many shares, whose gradients are added up in order.
N_SHARES = 2
# Keras's defaults, those of the paper.
DECAY = 0.9
EPSILON = 1e-7

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class TokenizedExamples:
    """Documents as rows of word numbers, filled up with padding, and their labels."""

    words: Numbers
    targets: Targets

    def of(self, rows: Rows) -> "TokenizedExamples":
        """Some of them."""
        return TokenizedExamples(self.words[rows], self.targets[rows])


@dataclass(frozen=True)
class TrainedNetwork:
    """The weights and word vectors of the best epoch, and the validation loss after each epoch."""

    weights: dict[str, Floats]
    table: Floats
    losses: list[float]


def learn(
    training: TokenizedExamples,
    validation: TokenizedExamples,
    table: Floats,
    parameters: MLELSTMParameters,
    labels: LabelSpace,
    seed: int,
    device: str = "cpu",
) -> TrainedNetwork:
    """Train the network and the word vectors of ``table``, and keep the epoch with the least loss."""
    learner = _NetworkLearner(training, table, parameters, labels, seed, device)
    losses: list[float] = []
    best, documents = 0, len(training.words)
    with progress_bar(
        "mle-lstm", parameters.epochs * documents, bool(parameters.verbose), "documents"
    ) as advance:
        for epoch in range(parameters.epochs):
            order = stream(seed, "order", epoch).permutation(documents)
            for start in range(0, documents, parameters.batch_size):
                # Not sorted by length, or the documents of a batch would be alike and the loss would jump.
                batch = order[start : start + parameters.batch_size]
                learner.step(batch, seed, "dropout", epoch, start)
                advance(len(batch))
            losses.append(learner.loss(validation))
            logger.info("mle-lstm: validation loss after epoch %d: %.5f.", epoch + 1, losses[-1])
            if epoch == 0 or losses[-1] < losses[best]:
                best = epoch
                best_state = learner.snapshot()
            elif epoch - best >= parameters.patience:
                break
    return TrainedNetwork(*best_state, losses)


def draw_validation(groups: Sequence[Hashable | None], share: float, *keys: object) -> Rows:
    """Draw about that share of the documents, those of a group together or not at all.

    None and NaN are no group. Something is always left to learn from; where all documents are one group,
    none is drawn.
    """
    units: dict[Hashable, list[int]] = {}
    for document, group in enumerate(groups):
        missing = group is None or group != group
        units.setdefault(("document", document) if missing else ("group", group), []).append(document)
    members = list(units.values())
    validation = np.zeros(len(groups), dtype=bool)
    room = min(max(1, round(share * len(groups))), len(groups) - 1)
    for unit in stream(*keys).permutation(len(members)).tolist():
        if len(members[unit]) <= room:
            validation[members[unit]] = True
            room -= len(members[unit])
    return validation


class _NetworkLearner:
    """The network in training, which learns batch by batch."""

    def __init__(
        self,
        examples: TokenizedExamples,
        table: Floats,
        parameters: MLELSTMParameters,
        labels: LabelSpace,
        seed: int,
        device: str,
    ) -> None:
        self.examples = examples
        self.lengths = lengths_of(examples.words)
        self.softmax = labels.single_label and examples.targets.shape[1] > 1
        self.dropout = parameters.dropout
        self.device = device
        self.n_jobs = parameters.n_jobs if device == "cpu" else 1
        weights = initial_weights(
            table.shape[1],
            parameters.units,
            parameters.dense_units,
            int(self.lengths.max()),
            (examples.targets.sum(axis=0) + 1) / (len(examples.targets) + 2),
            seed,
        )
        self.weights = {name: weight.requires_grad_() for name, weight in to_tensors(weights, device).items()}
        self.optimiser = torch.optim.RMSprop(
            self.weights.values(), parameters.learning_rate, alpha=DECAY, eps=EPSILON
        )
        self.table = torch.tensor(table, device=device)
        self.row_optimiser = RowRMSprop(self.table, parameters.learning_rate)

    def step(self, batch: Places, *keys: object) -> None:
        """Learn from a batch of documents; the keys draw the units that are dropped."""
        batch = batch[np.argsort(-self.lengths[batch], kind="stable")]
        lengths = self.lengths[batch]
        words = self.examples.words[batch, : lengths[0]]
        numbers, places = np.unique(words, return_inverse=True)
        places = places.reshape(words.shape)
        table_rows = self._tensor(numbers)
        masks = draw_masks(self.weights, len(table_rows), len(batch), self.dropout, *keys)
        of_words, *of_documents = map(self._tensor, masks)
        vectors = (self.table[table_rows] * of_words).requires_grad_()
        shares = min(N_SHARES if self.device == "cpu" else 1, len(batch))

        def gradients(share: int) -> tuple[torch.Tensor, ...]:
            rows = np.arange(share, len(batch), shares)  # long and short documents for each share
            packed = pack(places[rows], lengths[rows])
            scores = training_scores(
                self.weights, vectors, packed, *(mask[share::shares] for mask in of_documents)
            )
            loss = self._training_loss(scores, self.examples.targets[batch[rows]]) / len(batch)
            return torch.autograd.grad(loss, [vectors, *self.weights.values()])  # type: ignore[no-any-return]

        of_shares = list(map_threads(gradients, shares, self.n_jobs))
        by_vectors, *by_weights = (sum(rest, first) for first, *rest in zip(*of_shares, strict=True))
        by_vectors *= of_words
        by_vectors[table_rows < FIRST_WORD] = 0
        self.row_optimiser.step(table_rows, by_vectors)
        for weight, gradient in zip(self.weights.values(), by_weights, strict=True):
            weight.grad = gradient
        self.optimiser.step()

    def _training_loss(self, scores: torch.Tensor, targets: Targets) -> torch.Tensor:
        """The sum over documents."""
        if self.softmax:
            return functional.cross_entropy(scores, self._tensor(targets.argmax(axis=1)), reduction="sum")
        goals = self._tensor(targets.astype(np.float32))
        return functional.binary_cross_entropy_with_logits(scores, goals, reduction="sum") / targets.shape[1]

    def loss(self, examples: TokenizedExamples) -> float:
        """The mean loss of documents, without dropout."""
        scores = predicted_scores(self.weights, self._look_up, examples.words, self.n_jobs).astype(np.float64)
        if self.softmax:
            return float(-log_softmax(scores, axis=1)[examples.targets].mean())
        return float((np.logaddexp(0, scores) - examples.targets * scores).mean())

    def _look_up(self, words: Numbers) -> torch.Tensor:
        return functional.embedding(self._tensor(words), self.table)

    def _tensor(self, array: npt.NDArray[np.generic]) -> torch.Tensor:
        return torch.from_numpy(array).to(self.device)

    def snapshot(self) -> tuple[dict[str, Floats], Floats]:
        """Copies of the weights and of the word vectors."""
        weights = {name: weight.detach().cpu().numpy().copy() for name, weight in self.weights.items()}
        return weights, self.table.cpu().numpy().copy()


class RowRMSprop:
    """RMSprop for a table of which each step touches few rows, with the result of RMSprop on the whole table.

    The gradients of all other rows are zero: they do not move, and the running means of their squared
    gradients only decay, which is made up for when they are touched again.
    """

    def __init__(self, table: torch.Tensor, learning_rate: float) -> None:
        self.table = table
        self.learning_rate = learning_rate
        self.squares = torch.zeros_like(table)
        self.last_step = torch.zeros(len(table), device=table.device)  # that touched each row
        self.steps = 0

    def step(self, rows: torch.Tensor, gradient: torch.Tensor) -> None:
        """Move some rows, each named once."""
        self.steps += 1
        decay = DECAY ** (self.steps - self.last_step[rows])
        squares = self.squares[rows] * decay[:, None] + (1 - DECAY) * gradient**2
        self.squares[rows] = squares
        self.last_step[rows] = self.steps
        self.table[rows] -= self.learning_rate * gradient / (squares.sqrt() + EPSILON)
