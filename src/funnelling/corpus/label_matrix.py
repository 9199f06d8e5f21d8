"""Label lists to a matrix. It needs NumPy alone, so that a corpus is read without waiting for more."""

from collections.abc import Collection, Iterable, Sequence

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
