"""Linear classifiers of thousands of labels, each against the documents that could be taken for its own.

A label's prototype is the direction of the sum of its documents. It alone ranks labels well, rare ones
too, and costs one sparse product. A classifier starts there and moves as far as documents make it: its own,
and those near its prototype that are not its own, which a tree of labels (Parabel, XR-Linear) would look for
in the label's cluster. All others score low already, so that the work is documents × nearest labels, not
documents × labels. See ``native/labels.h`` for the problem that is solved.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from funnelling.matrices import Floats, downcast_indices
from funnelling.randomness import stream
from funnelling.runtime.progress import no_progress
from funnelling.runtime.threads import map_threads
from funnelling.state import expect, matrix, numbers
from funnelling.svm.kernels import native

ROWS_PER_BLOCK = 1_000  # documents that are ranked at a time
NO_COLUMN = -1  # the place of a label that there is not

Ints = npt.NDArray[Any]
Labels = npt.NDArray[np.int32]  # (documents, k): columns of labels, `NO_COLUMN` where there are no more
Weights = Any  # csr_array of float32: (features, labels)


@dataclass(frozen=True)
class TopK:
    """The labels of each document's highest scores, the highest first; those that lack score 0."""

    labels: Labels
    scores: Floats

    def __len__(self) -> int:
        return len(self.labels)


def top_k_labels(
    X: Any,
    weights: Weights,
    offsets: Floats,
    k: int,
    n_jobs: int | None = None,
    advance: Callable[[int], None] = no_progress,
) -> TopK:
    """The k labels with the highest scores X · weights + offsets, for each row of sparse vectors X.

    Labels whose product is 0, for they share no feature with a document, are not ranked for it. Of two that
    score the same the first goes first. A row's bits depend neither on its neighbours nor on threads.

    >>> weights = sparse.csr_array(np.array([[0.5, 0, 2], [0, 1, 0]], dtype=np.float32))
    >>> offsets = np.array([0, 1, -2], dtype=np.float32)
    >>> ranked = top_k_labels(np.array([[1, 0], [1, 1]]), weights, offsets, 2)
    >>> ranked.labels.tolist(), ranked.scores.tolist()
    ([[0, 2], [1, 0]], [[0.5, 0.0], [2.0, 0.5]])
    """
    rows, by_feature = buffers(X), buffers(weights)
    n, offsets = X.shape[0], np.ascontiguousarray(offsets, dtype=np.float32)
    k = max(1, min(k, len(offsets)))
    labels = np.empty((n, k), dtype=np.int32)
    scores = np.empty((n, k), dtype=np.float32)
    rank = rank_labels if native is None else native.rank_labels

    def rank_some(number: int) -> int:
        first, last = number * ROWS_PER_BLOCK, min(n, (number + 1) * ROWS_PER_BLOCK)
        rank(first, last, *rows, *by_feature, offsets, k, labels[first:last], scores[first:last])
        return int(last - first)

    for done in map_threads(rank_some, -(-n // ROWS_PER_BLOCK), n_jobs):
        advance(done)
    return TopK(labels, scores)


def buffers(X: Any) -> tuple[Floats, npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """The values, columns and row starts of a matrix, as the compiled code takes them."""
    matrix: Any = sparse.csr_array(X)
    return (
        np.ascontiguousarray(matrix.data, dtype=np.float32),
        np.ascontiguousarray(matrix.indices, dtype=np.int32),
        np.ascontiguousarray(matrix.indptr, dtype=np.int64),
    )


# Chosen on held-out training titles of three languages; see benchmarks/README.md.
N_NEAREST_LABELS = 150  # labels per document that learn to tell it from their own
N_RANDOM_DOCUMENTS = 100  # documents per label beside these, which keep common features in check
MAX_PAIRS = 60_000_000  # of documents and nearest labels: with more documents each has fewer
STRENGTH, BIAS = 4.0, -1.0  # of prototypes: what a document scores that is one, and that has nothing of it
C = 0.1
TOLERANCE, ROUNDS = 0.1, 15
MIN_WEIGHT = 0.03  # weights that are smaller are dropped: a third of them, at no loss
MAX_WEIGHTS_PER_BLOCK = 4_000_000  # weights that are made room for at a time


@dataclass(frozen=True)
class LabelWeights:
    """A linear classifier per label: ``weights`` (features, labels) and the labels' ``offsets``."""

    weights: Annotated[Weights, matrix("features", "labels")]
    offsets: Annotated[Floats, numbers("labels")]

    def rank(self, X: Any, k: int, n_jobs: int | None = None) -> TopK:
        """The k best labels of each row of X."""
        return top_k_labels(X, self.weights, self.offsets, k, n_jobs)

    def check(self, features: int, labels: int) -> None:
        """Refuse a state that could not rank so many labels by vectors of so many features."""
        expect(isinstance(self.weights, sparse.csr_array), "the weights of labels")
        expect(self.weights.shape == (features, labels), "the weights of labels")


@dataclass(frozen=True)
class LabelNameDocuments:
    """Names of labels: their vectors X, and Y, sparse (names, labels), which label each one is of."""

    X: Any
    Y: Any

    def weights(self) -> LabelWeights:
        """Classifiers that know labels by name alone: prototypes as they are."""
        prototypes = prototypes_of(self.X, self.Y)
        prototypes.data *= np.float32(STRENGTH)
        return LabelWeights(downcast_indices(prototypes), np.full(self.Y.shape[1], BIAS, dtype=np.float32))


def fit_labels(
    X: Any,
    Y: Any,
    seed: int,
    name: str,
    n_jobs: int | None = None,
    advance: Callable[[int], None] = no_progress,
    names: LabelNameDocuments | None = None,
) -> LabelWeights:
    """Classifiers of the labels Y, sparse (documents, labels), over sparse vectors X of about unit length.

    ``names`` of labels count as documents. Random documents come from ``seed`` and ``name``. ``advance`` is
    called with numbers that sum up to twice the number of documents, names included.
    """
    if names is not None:
        X, Y = (sparse.vstack(pair, format="csr") for pair in ((X, names.X), (Y, names.Y)))
    n, labels = Y.shape
    prototypes = prototypes_of(X, Y)
    nearest = max(1, min(N_NEAREST_LABELS, MAX_PAIRS // max(n, 1)))
    near = top_k_labels(X, prototypes, np.zeros(labels, dtype=np.float32), nearest, n_jobs, advance)
    problems = _problems(near.labels, Y, stream(seed, "rest", name))
    by_label, offsets = _solve(X, prototypes, problems, seed, n_jobs, lambda share: advance(round(share * n)))
    return LabelWeights(downcast_indices(by_label.T.tocsr()), offsets)


def prototypes_of(X: Any, Y: Any) -> Weights:
    """The sum of each label's documents, as a column of length 1; of a label that none has, of zeros.

    >>> prototypes_of(np.array([[3.0, 0], [0, 4]]), np.array([[1, 0], [1, 1]])).toarray().tolist()
    [[0.6000000238418579, 0.0], [0.800000011920929, 1.0]]
    """
    sums: Any = sparse.csr_array(sparse.csr_array(X).T @ sparse.csr_array(Y, dtype=np.float32))
    lengths = np.sqrt(np.bincount(sums.indices, sums.data.astype(np.float64) ** 2, minlength=sums.shape[1]))
    sums.data = (sums.data / lengths[sums.indices]).astype(np.float32)
    return sums


@dataclass(frozen=True)
class _Problems:
    """For each label the documents to learn from, those from ``starts[label]`` on, and their signs."""

    documents: npt.NDArray[np.int32]
    signs: npt.NDArray[np.int8]
    starts: npt.NDArray[np.int64]


def _problems(near: Labels, Y: Any, random: np.random.Generator) -> _Problems:
    """Of each label that has documents: these, those that it is near to, and some of all others."""
    n, labels = Y.shape
    own: Any = sparse.coo_array(Y)
    has_own = np.bincount(own.col, minlength=labels) > 0
    drawn = random.integers(0, n, (int(has_own.sum()), min(N_RANDOM_DOCUMENTS, n)))
    # One number for each pair of label and document, sorted: label by label, and a label's own documents
    # before the same among others. All of it in place, for there are millions.
    others = near.astype(np.int64)
    others *= n
    others += np.arange(n)[:, None]
    pairs = np.concatenate(
        [
            own.col.astype(np.int64) * n + own.row,
            others[near != NO_COLUMN],
            (np.flatnonzero(has_own)[:, None] * n + drawn).ravel(),
        ]
    )
    del others
    pairs *= 2
    pairs[own.nnz :] += 1
    pairs.sort()
    kept = np.ones(len(pairs), dtype=bool)
    kept[1:] = pairs[1:] >> 1 != pairs[:-1] >> 1
    pairs = pairs[kept]
    signs = 1 - 2 * (pairs & 1).astype(np.int8)
    starts = np.searchsorted(pairs, np.arange(labels + 1) * (2 * n))
    pairs >>= 1
    pairs %= n
    return _Problems(pairs.astype(np.int32), signs, starts)


def _solve(
    X: Any,
    prototypes: Weights,
    problems: _Problems,
    seed: int,
    n_jobs: int | None,
    advance: Callable[[float], None],
) -> tuple[Any, Floats]:
    """The weights of each label, a row, and their offsets; ``advance`` gets the share of labels solved."""
    rows = buffers(X)
    norms = np.asarray(sparse.csr_array(X).power(2).sum(axis=1), dtype=np.float32)
    scaled: Any = sparse.csr_array(prototypes.T)
    scaled.data = scaled.data * np.float32(STRENGTH)
    of_labels = buffers(scaled)
    width, labels = prototypes.shape
    biases = np.full(labels, BIAS, dtype=np.float32)
    # Weights that a label can have: as many as its documents have features, or there are.
    filled = np.flatnonzero(np.diff(problems.starts))
    most = np.zeros(labels, dtype=np.int64)
    if len(filled):
        sizes = np.diff(rows[2]).astype(np.int32)[problems.documents]
        most[filled] = np.add.reduceat(sizes, problems.starts[filled], dtype=np.int64)
    most = np.minimum(most, width)
    cuts = _cuts(most)
    solve: Callable[..., None] = solve_labels if native is None else native.solve_labels

    def solve_some(number: int) -> tuple[npt.NDArray[np.int32], Floats, npt.NDArray[np.int64]]:
        first, last = cuts[number], cuts[number + 1]
        room = int(most[first:last].sum())
        columns, values = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.float32)
        ends = np.empty(last - first, dtype=np.int64)
        solve(
            *(first, last, width, *rows, norms, *of_labels, biases),
            *(problems.documents, problems.signs, problems.starts),
            *(C, TOLERANCE, ROUNDS, MIN_WEIGHT, seed, columns, values, ends),
        )
        used = int(ends[-1]) if len(ends) else 0
        return columns[:used].copy(), values[:used].copy(), np.diff(ends, prepend=0)

    solved = []
    for some in map_threads(solve_some, len(cuts) - 1, n_jobs):
        solved.append(some)
        advance(len(some[2]) / labels)
    columns, values, counts = (np.concatenate(each) for each in zip(*solved, strict=True))
    starts = np.concatenate([[0], np.cumsum(counts)])
    return sparse.csr_array((values, columns, starts), (labels, width)), biases


def _cuts(most: npt.NDArray[np.int64]) -> list[int]:
    """Where to cut labels into ranges that have room for `MAX_WEIGHTS_PER_BLOCK` weights each, or one label.

    >>> _cuts(np.array([3_000_000, 2_000_000, 1_000_000, 9_000_000]))
    [0, 1, 3, 4]
    """
    cuts, room = [0], 0
    for label, size in enumerate(most.tolist()):
        if room + size > MAX_WEIGHTS_PER_BLOCK and label > cuts[-1]:
            cuts.append(label)
            room = 0
        room += size
    return [*cuts, len(most)]


# What ``native/labels.c`` does, in plain Python: for where there is no compiler, and to test it by.


def rank_labels(
    first: int,
    last: int,
    values: Floats,
    columns: Ints,
    starts: Ints,
    weight_values: Floats,
    weight_labels: Ints,
    weight_starts: Ints,
    offsets: Floats,
    k: int,
    labels: Ints,
    scores: Floats,
) -> None:
    """Fill the k labels of the highest scores of the rows first to last, and these scores."""
    some = slice(starts[first], starts[last])
    rows = sparse.csr_array(
        (values[some], columns[some], starts[first : last + 1] - starts[first]),
        (last - first, len(weight_starts) - 1),
    )
    by_feature = (weight_values, weight_labels, weight_starts)
    sums = rows @ sparse.csr_array(by_feature, (len(weight_starts) - 1, len(offsets)))
    sums.eliminate_zeros()
    labels[:], scores[:] = -1, 0
    for row, (start, end) in enumerate(pairwise(sums.indptr.tolist())):
        found = sums.indices[start:end]
        own = sums.data[start:end] + offsets[found]
        best = np.lexsort((found, -own))[:k]
        labels[row, : len(best)], scores[row, : len(best)] = found[best], own[best]


def solve_labels(
    first: int,
    last: int,
    width: int,
    values: Floats,
    columns: Ints,
    starts: Ints,
    norms: Floats,
    prototype_values: Floats,
    prototype_columns: Ints,
    prototype_starts: Ints,
    biases: Floats,
    documents: Ints,
    signs: Ints,
    problem_starts: Ints,
    C: float,
    tolerance: float,
    rounds: int,
    least: float,
    seed: int,
    out_columns: Ints,
    out_values: Floats,
    ends: Ints,
) -> None:
    """Solve the problems of the labels first to last, and fill their weights and biases.

    The order of documents is another one than in compiled code, and no document is left out for a while:
    results are as close as the tolerance makes them.
    """
    used, diagonal = 0, 0.5 / C
    for label in range(first, last):
        weights = np.zeros(width, dtype=np.float32)
        span = slice(prototype_starts[label], prototype_starts[label + 1])
        weights[prototype_columns[span]] = prototype_values[span]
        problem = slice(problem_starts[label], problem_starts[label + 1])
        rows, ys = documents[problem], signs[problem]
        alphas, bias = np.zeros(len(rows)), float(biases[label])
        random = np.random.default_rng([seed, label])
        for _ in range(rounds):
            worst = 0.0
            for i in random.permutation(len(rows)):
                row = slice(starts[rows[i]], starts[rows[i] + 1])
                score = float(weights[columns[row]] @ values[row]) + bias
                gradient = ys[i] * score - 1 + diagonal * alphas[i]
                if alphas[i] <= 0 and gradient >= 0:
                    continue
                worst = max(worst, abs(gradient))
                moved = max(0.0, alphas[i] - gradient / (norms[rows[i]] + 1 + diagonal))
                change = (moved - alphas[i]) * ys[i]
                alphas[i] = moved
                weights[columns[row]] += np.float32(change) * values[row]
                bias += change
            if worst <= tolerance:
                break
        kept = np.flatnonzero((np.abs(weights) >= least) & (weights != 0))
        out_columns[used : used + len(kept)], out_values[used : used + len(kept)] = kept, weights[kept]
        used += len(kept)
        ends[label - first], biases[label] = used, bias
