"""Label lists to a matrix. It loads NumPy alone, so that a corpus is read without waiting for more."""

from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from scipy import sparse


def label_matrix(label_lists: Sequence[Iterable[str]], classes: Collection[str]) -> npt.NDArray[np.bool_]:
    """Which document has which of the classes; other labels are passed over.

    >>> label_matrix([["cat"], [], ["dog", "bird"]], ["cat", "dog"]).astype(int).tolist()
    [[1, 0], [0, 0], [0, 1]]
    """
    column = {label: number for number, label in enumerate(classes)}
    matrix = np.zeros((len(label_lists), len(column)), dtype=bool)
    for row, labels in enumerate(label_lists):
        matrix[row, [column[label] for label in labels if label in column]] = True
    return matrix


def sparse_label_matrix(
    label_lists: Sequence[Iterable[str]], classes: Collection[str]
) -> "sparse.csr_array[np.bool_]":
    """The same as a sparse matrix, which takes space for the labels that documents have alone.

    >>> sparse_label_matrix([["cat"], [], ["dog", "bird"]], ["cat", "dog"]).toarray().astype(int).tolist()
    [[1, 0], [0, 0], [0, 1]]
    """
    from scipy import sparse

    column = {label: number for number, label in enumerate(classes)}
    columns = [sorted({column[label] for label in labels if label in column}) for labels in label_lists]
    starts = np.cumsum([0, *map(len, columns)])
    places = np.fromiter(chain.from_iterable(columns), dtype=np.intp, count=int(starts[-1]))
    ones = np.ones(len(places), dtype=bool)
    return sparse.csr_array((ones, places, starts), shape=(len(columns), len(column)))
