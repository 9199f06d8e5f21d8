"""Which labels are taken for which.

Where each document has one label it was given that one or another. Where it may have several, a label that
was missed is counted with every label that was given wrongly to the same document, and with those missed
beside it.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from funnelling.evaluation.counts import Indicators, both_indicators
from funnelling.matrices import without

Confusion = list[list[Any]]  # the label that is true, the one that was given, how many documents


def confusion(truth: Sequence[str], given: Sequence[str]) -> Confusion:
    """How many documents of each label were given which, in alphabetical order; only what occurs.

    >>> confusion(["cat", "dog", "dog", "cat"], ["cat", "cat", "dog", "cat"])
    [['cat', 'cat', 2], ['dog', 'cat', 1], ['dog', 'dog', 1]]
    """
    return _sorted(Counter(zip(truth, given, strict=True)))


def added(confusions: Iterable[Confusion]) -> Confusion:
    """The documents of several confusions together.

    >>> added([[["cat", "cat", 2]], [["cat", "cat", 1], ["cat", "dog", 1]]])
    [['cat', 'cat', 3], ['cat', 'dog', 1]]
    """
    together: Counter[tuple[str, str]] = Counter()
    for each in confusions:
        for truth, given, documents in each:
            together[truth, given] += documents
    return _sorted(together)


def most_confused(cells: Confusion, most: int) -> Confusion:
    """The pairs of different labels with the most documents, most first.

    >>> most_confused([["cat", "cat", 2], ["cat", "dog", 1], ["dog", "cat", 3]], 1)
    [['dog', 'cat', 3]]
    """
    wrong = [cell for cell in cells if cell[0] != cell[1]]
    return sorted(wrong, key=lambda cell: (-cell[2], cell[0], cell[1]))[:most]


def given_instead(truth: Indicators, given: Indicators, labels: Sequence[str], most: int) -> Confusion:
    """The pairs of a label that was missed and one given wrongly to the same document, most documents first.

    >>> given_instead([[1, 0, 1], [1, 0, 0]], [[0, 1, 1], [0, 1, 0]], ["cat", "dog", "pet"], most=10)
    [['cat', 'dog', 2]]
    """
    actual, guess = both_indicators(truth, given)
    return _largest(_sparse(without(actual, guess)).T @ _sparse(without(guess, actual)), labels, most)


def missed_together(truth: Indicators, given: Indicators, labels: Sequence[str], most: int) -> Confusion:
    """The pairs of labels that were missed in the same document, most documents first.

    >>> missed_together([[1, 0, 1], [1, 0, 1]], [[0, 1, 0], [0, 0, 0]], ["cat", "dog", "pet"], most=10)
    [['cat', 'pet', 2]]
    """
    missed = _sparse(without(*both_indicators(truth, given)))
    return _largest(sparse.triu(missed.T @ missed, k=1), labels, most)


def _sparse(matrix: Any) -> sparse.csr_array:
    return sparse.csr_array(matrix.astype(np.int32))


def _largest(counts: Any, labels: Sequence[str], most: int) -> Confusion:
    """The largest cells of a sparse matrix of labels by labels; of equal ones, the first in its order."""
    cells = sparse.coo_array(counts)
    cells.eliminate_zeros()
    order = np.lexsort((cells.col, cells.row, -cells.data))[:most]
    return [[str(labels[cells.row[i]]), str(labels[cells.col[i]]), int(cells.data[i])] for i in order]


def _sorted(counts: "Counter[tuple[str, str]]") -> Confusion:
    return [[truth, given, documents] for (truth, given), documents in sorted(counts.items())]
