"""How MLE-LSTM's network learns: RMSprop on batches of documents, until held-out ones gain no more."""

import logging
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from scipy.special import log_softmax
from torch.nn import functional

from funnelling.neural.network import (
    Numbers,
    draw_masks,
    initial_weights,
    lengths_of,
    pack,
    predicted_scores,
    to_tensors,
    training_scores,
)
from funnelling.neural.words import FIRST_WORD, Floats
from funnelling.randomness import stream
from funnelling.work.progress import progress_bar
from funnelling.work.threads import in_threads

Documents = npt.NDArray[np.intp]  # by their number
Targets = npt.NDArray[np.bool_]

# A batch is learned in so many parts, which threads may share; their gradients are added up in order.
PARTS = 2
# Keras's defaults, those of the paper.
DECAY = 0.9
EPSILON = 1e-7

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Course:
    """How the network is made, and how it learns."""

    units: int
    dense_units: int
    dropout: float
    epochs: int
    patience: int
    batch_size: int
    learning_rate: float
    exclusive: bool
    seed: int


@dataclass(frozen=True)
class Examples:
    """Documents as rows of word numbers, filled up with padding, and their labels."""

    words: Numbers
    targets: Targets

    def of(self, chosen: npt.NDArray[np.bool_]) -> "Examples":
        """Some of them."""
        return Examples(self.words[chosen], self.targets[chosen])


@dataclass(frozen=True)
class Learned:
    """The weights and word vectors of the best epoch, and the validation loss after each."""

    weights: dict[str, Floats]
    table: Floats
    losses: list[float]


def learn(
    training: Examples,
    validation: Examples,
    table: Floats,
    course: Course,
    *,
    device: str = "cpu",
    n_jobs: int | None = None,
    shown: bool = False,
) -> Learned:
    """Train the network and the word vectors of ``table``, and keep the epoch with the least loss."""
    learner = _Learner(training, table, course, device, n_jobs)
    losses: list[float] = []
    best = 0
    with progress_bar("mle-lstm", course.epochs * len(training.words), shown, "documents") as advance:
        for epoch in range(course.epochs):
            order = stream(course.seed, "order", epoch).permutation(len(training.words))
            for start in range(0, len(order), course.batch_size):
                # Not sorted by length: then some batches would be all alike, and the loss would jump.
                batch = order[start : start + course.batch_size]
                learner.step(batch, course.seed, "dropout", epoch, start)
                advance(len(batch))
            losses.append(learner.loss(validation))
            logger.info("mle-lstm: validation loss after epoch %d: %.5f.", epoch + 1, losses[-1])
            if epoch == 0 or losses[-1] < losses[best]:
                best = epoch
                kept = learner.snapshot()
            elif epoch - best >= course.patience:
                break
    return Learned(*kept, losses)


def draw_validation(groups: Sequence[Hashable | None], share: float, *keys: object) -> Targets:
    """Choose about that share of documents, those of a group (not None or NaN) together or not at all.

    Something is always left to learn from; where all documents are one group, none is chosen.
    """
    units: dict[Hashable, list[int]] = {}
    for document, group in enumerate(groups):
        missing = group is None or group != group
        units.setdefault(("document", document) if missing else ("group", group), []).append(document)
    members = list(units.values())
    chosen = np.zeros(len(groups), dtype=bool)
    left = min(max(1, round(share * len(groups))), len(groups) - 1)
    for unit in stream(*keys).permutation(len(members)).tolist():
        if len(members[unit]) <= left:
            chosen[members[unit]] = True
            left -= len(members[unit])
    return chosen


class _Learner:
    """The network as it stands, and how it takes one step on."""

    def __init__(
        self, examples: Examples, table: Floats, course: Course, device: str, n_jobs: int | None
    ) -> None:
        self.examples = examples
        self.lengths = lengths_of(examples.words)
        self.softmax = course.exclusive and examples.targets.shape[1] > 1
        self.dropout = course.dropout
        self.device = device
        self.n_jobs = n_jobs if device == "cpu" else 1
        weights = initial_weights(
            table.shape[1],
            course.units,
            course.dense_units,
            int(self.lengths.max()),
            (examples.targets.sum(axis=0) + 1) / (len(examples.targets) + 2),
            course.seed,
        )
        self.weights = {name: weight.requires_grad_() for name, weight in to_tensors(weights, device).items()}
        self.optimiser = torch.optim.RMSprop(
            self.weights.values(), course.learning_rate, alpha=DECAY, eps=EPSILON
        )
        self.table = torch.tensor(table, device=device)
        self.row_optimiser = RowRMSprop(self.table, course.learning_rate)

    def step(self, batch: Documents, *keys: object) -> None:
        """Learn from a batch of documents; the keys draw what is dropped."""
        batch = batch[np.argsort(-self.lengths[batch], kind="stable")]
        lengths = self.lengths[batch]
        words = self.examples.words[batch, : lengths[0]]
        numbers, places = np.unique(words, return_inverse=True)
        places = places.reshape(words.shape)
        rows = self._tensor(numbers)
        masks = draw_masks(self.weights, len(rows), len(batch), self.dropout, *keys)
        of_words, *of_documents = map(self._tensor, masks)
        vectors = (self.table[rows] * of_words).requires_grad_()
        parts = min(PARTS if self.device == "cpu" else 1, len(batch))

        def gradients(part: int) -> tuple[torch.Tensor, ...]:
            chosen = np.arange(part, len(batch), parts)  # long and short ones for each part
            packed = pack(places[chosen], lengths[chosen])
            scores = training_scores(
                self.weights, vectors, packed, *(mask[part::parts] for mask in of_documents)
            )
            loss = self._training_loss(scores, self.examples.targets[batch[chosen]]) / len(batch)
            return torch.autograd.grad(loss, [vectors, *self.weights.values()])  # type: ignore[no-any-return]

        of_parts = list(in_threads(gradients, parts, self.n_jobs))
        by_vectors, *by_weights = (sum(rest, first) for first, *rest in zip(*of_parts, strict=True))
        by_vectors *= of_words
        by_vectors[rows < FIRST_WORD] = 0
        self.row_optimiser.step(rows, by_vectors)
        for weight, gradient in zip(self.weights.values(), by_weights, strict=True):
            weight.grad = gradient
        self.optimiser.step()

    def _training_loss(self, scores: torch.Tensor, targets: Targets) -> torch.Tensor:
        """The sum over documents."""
        if self.softmax:
            return functional.cross_entropy(scores, self._tensor(targets.argmax(axis=1)), reduction="sum")
        goals = self._tensor(targets.astype(np.float32))
        return functional.binary_cross_entropy_with_logits(scores, goals, reduction="sum") / targets.shape[1]

    def loss(self, examples: Examples) -> float:
        """The mean loss of documents, nothing dropped."""
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
    """RMSprop for a table of which a step touches few rows.

    The gradients of the others are zero: they do not move, and the running means of their squared gradients
    only decay, which is made up for when they are touched again. It comes to RMSprop on the whole table.
    """

    def __init__(self, table: torch.Tensor, learning_rate: float) -> None:
        self.table = table
        self.learning_rate = learning_rate
        self.squares = torch.zeros_like(table)
        self.touched = torch.zeros(len(table), device=table.device)  # by which step
        self.steps = 0

    def step(self, rows: torch.Tensor, gradient: torch.Tensor) -> None:
        """Move some rows, each named once."""
        self.steps += 1
        decay = DECAY ** (self.steps - self.touched[rows])
        squares = self.squares[rows] * decay[:, None] + (1 - DECAY) * gradient**2
        self.squares[rows] = squares
        self.touched[rows] = self.steps
        self.table[rows] -= self.learning_rate * gradient / (squares.sqrt() + EPSILON)
