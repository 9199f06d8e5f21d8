"""Which labels are taken for which where documents may have several."""

from collections import Counter
from itertools import combinations, product

import numpy as np

from funnelling.evaluation.labels import given_instead, missed_together

LABELS = ["cat", "dog", "pet"]


def test_a_missed_label_is_counted_with_each_that_was_given_wrongly() -> None:
    truth, given = [[1, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 1], [0, 1, 0], [0, 1, 1]]
    assert given_instead(truth, given, LABELS, most=10) == [["cat", "dog", 2], ["cat", "pet", 1]]
    assert given_instead(truth, given, LABELS, most=1) == [["cat", "dog", 2]]


def test_labels_that_are_missed_together_are_one_pair() -> None:
    assert missed_together([[1, 1, 1]], [[0, 0, 0]], LABELS, most=10) == [
        ["cat", "dog", 1],
        ["cat", "pet", 1],
        ["dog", "pet", 1],
    ]


def test_nothing_is_confused_where_all_is_right() -> None:
    truth = [[1, 0, 1]]
    assert given_instead(truth, truth, LABELS, 10) == missed_together(truth, truth, LABELS, 10) == []


def test_counts_are_those_of_a_count_by_hand() -> None:
    rng = np.random.default_rng(0)
    truth, given = rng.random((2, 60, 6)) < 0.4
    instead: Counter[tuple[int, int]] = Counter()
    together: Counter[tuple[int, int]] = Counter()
    for actual, guess in zip(truth, given, strict=True):
        missed = np.flatnonzero(actual & ~guess).tolist()
        instead.update(product(missed, np.flatnonzero(guess & ~actual).tolist()))
        together.update(combinations(missed, 2))
    names = "abcdef"

    def ordered(counts: Counter[tuple[int, int]]) -> list[list[object]]:
        rows = sorted(counts.items(), key=lambda cell: (-cell[1], cell[0]))
        return [[names[a], names[b], number] for (a, b), number in rows]

    assert given_instead(truth, given, names, most=100) == ordered(instead)
    assert missed_together(truth, given, names, most=100) == ordered(together)
