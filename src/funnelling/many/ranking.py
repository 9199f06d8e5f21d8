"""The best labels of each document: all that is ever kept of the scores of thousands of labels."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from funnelling.many import plain
from funnelling.matrices import Floats
from funnelling.runtime.progress import quietly
from funnelling.runtime.threads import in_threads
from funnelling.svm.compiled import native

ROWS = 1_000  # documents that are ranked at a time
NONE = -1  # the place of a label that there is not

Labels = npt.NDArray[np.int32]  # (documents, k): columns of labels, `NONE` where there are no more
Weights = Any  # csr_array of float32: (features, labels)


@dataclass(frozen=True)
class Ranked:
    """The labels of each document's highest scores, the highest first; those that lack score 0."""

    labels: Labels
    scores: Floats

    def __len__(self) -> int:
        return len(self.labels)


def rank_labels(
    X: Any,
    weights: Weights,
    offsets: Floats,
    k: int,
    n_jobs: int | None = None,
    advance: Callable[[int], None] = quietly,
) -> Ranked:
    """The k labels with the highest scores X · weights + offsets, for each row of sparse vectors X.

    Labels whose product is 0, for they share no feature with a document, are not ranked for it. Of two that
    score the same the first goes first. A row's bits depend neither on its neighbours nor on threads.

    >>> weights = sparse.csr_array(np.array([[0.5, 0, 2], [0, 1, 0]], dtype=np.float32))
    >>> offsets = np.array([0, 1, -2], dtype=np.float32)
    >>> ranked = rank_labels(np.array([[1, 0], [1, 1]]), weights, offsets, 2)
    >>> ranked.labels.tolist(), ranked.scores.tolist()
    ([[0, 2], [1, 0]], [[0.5, 0.0], [2.0, 0.5]])
    """
    rows, by_feature = buffers(X), buffers(weights)
    n, offsets = X.shape[0], np.ascontiguousarray(offsets, dtype=np.float32)
    k = max(1, min(k, len(offsets)))
    labels = np.empty((n, k), dtype=np.int32)
    scores = np.empty((n, k), dtype=np.float32)
    rank = plain.rank_labels if native is None else native.rank_labels

    def rank_some(number: int) -> int:
        first, last = number * ROWS, min(n, (number + 1) * ROWS)
        rank(first, last, *rows, *by_feature, offsets, k, labels[first:last], scores[first:last])
        return int(last - first)

    for done in in_threads(rank_some, -(-n // ROWS), n_jobs):
        advance(done)
    return Ranked(labels, scores)


def buffers(X: Any) -> tuple[Floats, npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """The values, columns and row starts of a matrix, as the compiled code takes them."""
    matrix: Any = sparse.csr_array(X)
    return (
        np.ascontiguousarray(matrix.data, dtype=np.float32),
        np.ascontiguousarray(matrix.indices, dtype=np.int32),
        np.ascontiguousarray(matrix.indptr, dtype=np.int64),
    )
