"""Which document has which label, and was given which: dense matrices, and sparse ones of many labels."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from funnelling.corpus import Corpus
from funnelling.matrices import MANY, AnyTargets, canonical, dense, is_sparse

if TYPE_CHECKING:
    from funnelling.method.base import Method


def truth_of(test: Corpus, classes: Sequence[str]) -> AnyTargets:
    """Which document has which of the classes; sparse if they are many."""
    return test.sparse_label_matrix(classes) if len(classes) > MANY else test.label_matrix(classes)


def as_indicators(method: "Method", labels: Any) -> AnyTargets:
    """What a method predicts as a matrix with one column per class, even if it gives one label each.

    Of many classes it is sparse.
    """
    if len(method.classes_) <= MANY:
        return labels[:, None] == method.classes_ if method.exclusive_ else dense(labels)
    if not method.exclusive_:
        return canonical(labels).astype(bool)
    place = {label: column for column, label in enumerate(method.classes_)}
    return one_each(np.array([place[label] for label in labels], dtype=np.intp), len(place))


def one_each(columns: NDArray[np.intp], width: int) -> sparse.csr_array:
    """The labels of documents that have one each: that of a column.

    >>> one_each(np.array([1, 0]), 3).toarray().astype(int).tolist()
    [[0, 1, 0], [1, 0, 0]]
    """
    rows = np.arange(len(columns) + 1)
    return sparse.csr_array((np.ones(len(columns), dtype=bool), columns, rows), (len(columns), width))


def spread(matrix: Any, places: NDArray[np.bool_]) -> Any:
    """The rows of a matrix at the places that are true, in their order, and rows of zeros between them.

    >>> spread(np.array([[1, 2]]), np.array([False, True])).tolist()
    [[0, 0], [1, 2]]
    """
    if not is_sparse(matrix):
        rows = np.zeros((len(places), matrix.shape[1]), dtype=matrix.dtype)
        rows[places] = matrix
        return rows
    ours = sparse.csr_array(matrix)
    sizes = np.zeros(len(places), dtype=np.int64)
    sizes[places] = np.diff(ours.indptr)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return sparse.csr_array((ours.data, ours.indices, starts), (len(places), ours.shape[1]))
