"""Label lists to a matrix. It needs NumPy alone, so that a corpus is read without waiting for more."""

from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt


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


def sparse_label_matrix(label_lists: Sequence[Iterable[str]], classes: Collection[str]) -> Any:
    """What `label_matrix` gives, as a ``csr_array``: for thousands of classes.

    >>> sparse_label_matrix([["cat"], [], ["dog", "bird"]], ["cat", "dog"]).toarray().astype(int).tolist()
    [[1, 0], [0, 0], [0, 1]]
    """
    from scipy.sparse import csr_array

    column = {label: number for number, label in enumerate(classes)}
    rows = [sorted({column[label] for label in labels if label in column}) for labels in label_lists]
    starts = np.cumsum([0, *map(len, rows)])
    columns = np.fromiter(chain.from_iterable(rows), np.int32, int(starts[-1]))
    return csr_array((np.ones(len(columns), dtype=bool), columns, starts), (len(rows), len(column)))
