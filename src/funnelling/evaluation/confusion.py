"""Which labels are taken for which, where each document has one."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

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


def _sorted(counts: "Counter[tuple[str, str]]") -> Confusion:
    return [[truth, given, documents] for (truth, given), documents in sorted(counts.items())]
