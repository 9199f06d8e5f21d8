"""Label by label: the worst first, which are taken for which, and how far probabilities can be trusted.

Where each document has one label it was given that one or another. Where it may have several, a label that
was missed is counted with every label that was given wrongly to the same document, and with those missed
beside it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from funnelling.errors import InputError
from funnelling.evaluation.measures import (
    Counts,
    FloatArray,
    Indicators,
    IntArray,
    both_indicators,
    check_same_shape,
    f1,
    indicators,
)
from funnelling.matrices import canonical, dense, is_sparse, set_difference, values_at


class _Counted(TypedDict):
    support: int
    n_predicted: int
    n_correct: int
    f1: float


class FailingLanguage(_Counted):
    """A language in which a label was missed or given wrongly: its counts and F1 there."""

    language: str


class LabelMeasures(TypedDict):
    """How good the answers about one label are.

    ``support`` documents have the label, ``n_predicted`` were given it, ``n_correct`` of these rightly. What
    does not exist is None: the precision of a label that was never given, the recall of one that no document
    has, the F1 where both are so. ``threshold`` is the lowest and the highest probability above which it is
    given, over languages; None where labels exclude each other. ``languages`` are those with mistakes, worst
    first.
    """

    label: str
    support: int
    n_predicted: int
    n_correct: int
    precision: float | None
    recall: float | None
    f1: float | None
    threshold: list[float] | None
    languages: list[FailingLanguage]


def measure_labels(
    truth: Indicators,
    predicted: Indicators,
    languages: Sequence[str | None],
    labels: Sequence[str],
    thresholds: FloatArray | None = None,
) -> list[LabelMeasures]:
    """The measures of each label, from the worst F1 to the best; labels that do not occur come last.

    Of labels with the same F1, that of more documents comes first. ``thresholds`` has one column per label,
    and as many rows as there are languages, or models; nan where one of them does not know the label.

    >>> truth, predicted = [[1, 1], [1, 0], [1, 0]], [[1, 1], [1, 1], [0, 0]]
    >>> worst, best = measure_labels(truth, predicted, ["en", "it", "it"], ["cat", "dog"])
    >>> {key: worst[key] for key in ("label", "support", "n_predicted", "n_correct", "precision", "recall")}
    {'label': 'dog', 'support': 1, 'n_predicted': 2, 'n_correct': 1, 'precision': 0.5, 'recall': 1.0}
    >>> best["languages"]
    [{'language': 'it', 'support': 2, 'n_predicted': 1, 'n_correct': 1, 'f1': 0.6666666666666666}]
    """
    actual, guess = both_indicators(truth, predicted)
    column = np.array([str(language) for language in languages], dtype=object)
    tags = sorted(set(column))
    # Kinds of counts × languages × labels
    table = np.stack([Counts.of(actual[column == tag], guess[column == tag]).table() for tag in tags], axis=1)
    in_all = _rows(table.sum(axis=1))
    failing: list[list[FailingLanguage]] = [[] for _ in labels]
    for place, tag in enumerate(tags):
        counts = table[:, place]
        for label, row in _rows(counts, counts[1] + counts[2] > 0).items():
            failing[label].append({"language": tag, **row})
    ranges = [None] * len(labels) if thresholds is None else list(_ranges(thresholds))
    measured = [
        _measured(str(label), in_all[position], ranges[position], failing[position])
        for position, label in enumerate(labels)
    ]
    return sorted(
        measured, key=lambda row: (row["f1"] is None, row["f1"] or 0.0, -row["support"], row["label"])
    )


def _rows(table: IntArray, where: NDArray[np.bool_] | None = None) -> dict[int, _Counted]:
    """The counts and the F1 of some labels, or of all, by their positions."""
    positions = np.arange(table.shape[1]) if where is None else np.flatnonzero(where)
    right, wrong, missed, _ = table[:, positions]
    columns = (positions, right + missed, right + wrong, right, f1(right, wrong, missed))
    return {
        position: {"support": support, "n_predicted": predicted, "n_correct": correct, "f1": score}
        for position, support, predicted, correct, score in zip(
            *(each.tolist() for each in columns), strict=True
        )
    }


def _measured(
    label: str, counted: _Counted, threshold: list[float] | None, failing: list[FailingLanguage]
) -> LabelMeasures:
    support, predicted, correct = counted["support"], counted["n_predicted"], counted["n_correct"]
    return {
        "label": label,
        "support": support,
        "n_predicted": predicted,
        "n_correct": correct,
        "precision": correct / predicted if predicted else None,
        "recall": correct / support if support else None,
        "f1": counted["f1"] if support or predicted else None,
        "threshold": threshold,
        "languages": sorted(failing, key=lambda each: each["f1"]),
    }


def _ranges(thresholds: FloatArray) -> Iterator[list[float] | None]:
    """The lowest and the highest threshold of each label, None for one that has none."""
    for column in np.asarray(thresholds, dtype=float).T:
        known = column[~np.isnan(column)]
        yield [float(known.min()), float(known.max())] if len(known) else None


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
    for truth, given, documents in chain.from_iterable(confusions):
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
    return _largest(
        _sparse(set_difference(actual, guess)).T @ _sparse(set_difference(guess, actual)), labels, most
    )


def missed_together(truth: Indicators, given: Indicators, labels: Sequence[str], most: int) -> Confusion:
    """The pairs of labels that were missed in the same document, most documents first.

    >>> missed_together([[1, 0, 1], [1, 0, 1]], [[0, 1, 0], [0, 0, 0]], ["cat", "dog", "pet"], most=10)
    [['cat', 'pet', 2]]
    """
    missed = _sparse(set_difference(*both_indicators(truth, given)))
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


ROWS_PER_BLOCK = 256  # documents


def reliability(truth: Indicators, probabilities: ArrayLike | sparse.csr_array, bins: int = 10) -> FloatArray:
    """What a reliability diagram shows: for each bin its pairs, the positives expected and those found.

    In a sparse matrix of probabilities, what is not there is 0.

    >>> reliability([[1], [0]], [[0.75], [0.25]], bins=2)
    array([[1.  , 0.25, 0.  ],
           [1.  , 0.75, 1.  ]])
    """
    if bins < 1:
        raise InputError(f"bins must be at least 1, found {bins}.")
    actual = indicators(truth)
    if is_sparse(actual):
        return _sparse_reliability(actual, probabilities, bins)
    chance = dense(probabilities).astype(float, copy=False)
    check_same_shape(actual, chance)
    return _binned(chance.ravel(), actual.ravel(), bins)


def _sparse_reliability(truth: sparse.csr_array, probabilities: Any, bins: int) -> FloatArray:
    """The same of many labels: dense probabilities are looked at some documents at a time."""
    if not is_sparse(probabilities):
        probabilities = np.asarray(probabilities)
    check_same_shape(truth, probabilities)
    table = np.zeros((bins, 3))
    for start in range(0, truth.shape[0], ROWS_PER_BLOCK):
        chance = canonical(probabilities[start : start + ROWS_PER_BLOCK])
        rows, columns = chance.nonzero()
        positives = truth[start : start + ROWS_PER_BLOCK]
        table += _binned(chance.data, values_at(positives, rows, columns), bins)
        # All other pairs have the probability 0.
        found = int(values_at(chance, *positives.nonzero()).astype(bool).sum())
        table[0] += (chance.shape[0] * chance.shape[1] - chance.nnz, 0, positives.nnz - found)
    return table


def _binned(chance: FloatArray, actual: NDArray[np.bool_], bins: int) -> FloatArray:
    """The pairs of each bin, the sum of their probabilities, and how many are positive."""
    if not ((chance >= 0) & (chance <= 1)).all():
        raise InputError("probabilities must lie between 0 and 1. Give calibrated posteriors, not scores.")
    bin_of_pair = np.minimum((chance * bins).astype(int), bins - 1)
    columns = (None, chance, actual)
    return np.column_stack([np.bincount(bin_of_pair, weights, bins) for weights in columns]).astype(float)


class CalibrationBin(TypedDict("_Bounds", {"from": float, "to": float})):
    """The labels assigned at probabilities between two bounds, and how many of them are correct."""

    n_predicted: int
    n_correct: int


def calibration_bins(
    truth: Indicators, predicted: Indicators, probabilities: Any, bins: int = 10
) -> list[CalibrationBin]:
    """How many of the labels that were assigned are correct, by their probability; no bin is empty.

    >>> calibration_bins([[1, 0], [1, 0]], [[1, 0], [0, 1]], np.array([[0.9, 0.1], [0.4, 0.75]]), bins=2)
    [{'from': 0.5, 'to': 1.0, 'n_predicted': 2, 'n_correct': 1}]
    """
    actual, guess = both_indicators(truth, predicted)
    if is_sparse(probabilities):
        probabilities = canonical(probabilities)
    rows, columns = guess.nonzero()
    correct = np.asarray(values_at(actual, rows, columns)).astype(bool)
    table = _binned(np.asarray(values_at(probabilities, rows, columns), dtype=float), correct, bins)
    return [
        {"from": place / bins, "to": (place + 1) / bins, "n_predicted": int(number), "n_correct": int(right)}
        for place, (number, _, right) in enumerate(table)
        if number
    ]


def calibration_error(table: ArrayLike) -> float:
    """How far probabilities are from frequencies, from a table of `reliability`."""
    pairs, expected, positives = np.asarray(table, dtype=float).T
    return float(np.abs(expected - positives).sum() / pairs.sum())


def expected_calibration_error(
    truth: Indicators, probabilities: ArrayLike | sparse.csr_array, bins: int = 10
) -> float:
    """How far probabilities are from frequencies: the mean gap over all document-label pairs.

    Pairs fall into bins of equal width, [0, .1) to [.9, 1] for ten; a bin's gap between mean
    probability and frequency of positives weighs as much as it has pairs.

    >>> expected_calibration_error([[1], [0], [0], [0]], [[0.25], [0.25], [0.25], [0.25]])
    0.0
    >>> expected_calibration_error([[1], [0]], [[0.0], [1.0]])
    1.0
    """
    return calibration_error(reliability(truth, probabilities, bins))
