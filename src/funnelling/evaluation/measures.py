"""F1 and K as the paper defines them, micro and macro, over all labels at once.

Both measures differ from scikit-learn's where a label is absent: a classifier that leaves an absent
label alone is right, and scores 1.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from funnelling.errors import InputError

MEASURES = ("micro_f1", "macro_f1", "micro_k", "macro_k")  # the paper's four

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class LanguageMeasures(TypedDict):
    """The measures of each language, with its number of documents, and their plain mean."""

    average: dict[str, float]
    languages: dict[str, dict[str, float]]


@dataclass(frozen=True, slots=True)
class Counts:
    """True and false positives and negatives, one number a label.

    >>> Counts.of([[1, 0], [1, 0], [0, 0]], [[1, 0], [0, 1], [0, 0]])
    Counts(tp=array([1, 0]), fp=array([0, 1]), fn=array([1, 0]), tn=array([1, 2]))
    """

    tp: IntArray
    fp: IntArray
    fn: IntArray
    tn: IntArray

    @classmethod
    def of(cls, truth: ArrayLike, predicted: ArrayLike) -> "Counts":
        """Compare two indicator matrices of documents by labels."""
        actual, guess = _indicators(truth), _indicators(predicted)
        _check_same_shape(actual, guess)
        tp = np.count_nonzero(actual & guess, axis=0)
        fp = np.count_nonzero(guess, axis=0) - tp
        fn = np.count_nonzero(actual, axis=0) - tp
        return cls(tp, fp, fn, len(actual) - tp - fp - fn)

    @classmethod
    def from_table(cls, table: ArrayLike) -> "Counts":
        """From a table with a row for each kind of count."""
        return cls(*np.asarray(table, dtype=np.int64))

    def table(self) -> IntArray:
        """A row for each kind of count, a column a label."""
        return np.vstack([self.tp, self.fp, self.fn, self.tn])

    def pooled(self) -> "Counts":
        """The counts of all labels together, as micro averages need them."""
        return Counts(*(np.array([count.sum()]) for count in (self.tp, self.fp, self.fn, self.tn)))

    def f1(self) -> FloatArray:
        """F1 of each label."""
        return f1(self.tp, self.fp, self.fn)

    def k(self) -> FloatArray:
        """K of each label."""
        return k(self.tp, self.fp, self.fn, self.tn)


def f1(tp: ArrayLike, fp: ArrayLike, fn: ArrayLike) -> FloatArray:
    """F1 of each label: 2TP / (2TP + FP + FN), and 1 where there was nothing to find and nothing was found.

    >>> f1([3, 0, 0], [1, 0, 2], [2, 0, 0])
    array([0.66666667, 1.        , 0.        ])
    """
    hits = 2 * np.asarray(tp, dtype=float)
    return _ratio(hits, hits + np.asarray(fp) + np.asarray(fn))


def k(tp: ArrayLike, fp: ArrayLike, fn: ArrayLike, tn: ArrayLike) -> FloatArray:
    """K of each label: sensitivity + specificity - 1, from -1 to 1; chance is 0.

    Where a label has no positives, or no negatives, the one rate that exists stands for both. Without
    any document neither exists: then, by the same convention as F1's, K is 1.

    >>> k([3, 0, 4], [1, 2, 0], [1, 0, 1], [3, 6, 0])
    array([0.5, 0.5, 0.6])
    """
    tp, tn = np.asarray(tp, dtype=float), np.asarray(tn, dtype=float)
    positives, negatives = tp + np.asarray(fn), tn + np.asarray(fp)
    sensitivity, specificity = _ratio(tp, positives), _ratio(tn, negatives)
    return (
        np.where(positives > 0, sensitivity, specificity)
        + np.where(negatives > 0, specificity, sensitivity)
        - 1
    )


def measure(truth: ArrayLike, predicted: ArrayLike) -> dict[str, float]:
    """The four measures of the paper, and the two macro averages over labels with a positive in truth.

    Absent labels that are left alone count as right in the paper's macro averages, which flatters a
    classifier that says no to everything; the ``_present`` ones leave them out. Where truth has no
    positive at all, they run over all labels.

    >>> for name, value in measure([[1, 0], [1, 0], [0, 0]], [[1, 0], [0, 0], [0, 0]]).items():
    ...     print(f"{name:17}{value:.3f}")
    micro_f1         0.667
    macro_f1         0.833
    micro_k          0.500
    macro_k          0.750
    macro_f1_present 0.667
    macro_k_present  0.500
    >>> measure([[1, 0]], [[1]])
    Traceback (most recent call last):
    funnelling.errors.InputError: truth has shape (1, 2) and prediction (1, 1): they must be alike.
    """
    return measure_counts(Counts.of(truth, predicted))


def measure_counts(counts: Counts) -> dict[str, float]:
    """The same, of decisions that were counted."""
    pooled, f1s, ks = counts.pooled(), counts.f1(), counts.k()
    present = counts.tp + counts.fn > 0
    if not present.any():
        present = np.ones_like(present)
    return {
        "micro_f1": float(pooled.f1()[0]),
        "macro_f1": float(f1s.mean()),
        "micro_k": float(pooled.k()[0]),
        "macro_k": float(ks.mean()),
        "macro_f1_present": float(f1s[present].mean()),
        "macro_k_present": float(ks[present].mean()),
    }


def measure_languages(
    truth: ArrayLike, predicted: ArrayLike, languages: Iterable[str | None]
) -> LanguageMeasures:
    """The measures of each language's documents, and their plain mean over languages.

    >>> result = measure_languages([[1], [1], [1]], [[1], [1], [0]], ["it", "it", "en"])
    >>> result["average"]["micro_f1"], result["languages"]["it"]["documents"]
    (0.5, 2)
    """
    actual, guess = _indicators(truth), _indicators(predicted)
    _check_same_shape(actual, guess)
    tags = list(languages)
    if len(tags) != len(actual):
        raise InputError(f"{len(actual)} documents have {len(tags)} languages: they must be alike.")
    if None in tags:
        raise InputError(f"row {tags.index(None)} has no language. Add or detect it.")
    column = np.array(tags, dtype=object)
    measures: dict[str, dict[str, float]] = {}
    for language in sorted(tag for tag in set(tags) if tag is not None):
        rows = column == language
        measures[language] = {**measure(actual[rows], guess[rows]), "documents": int(rows.sum())}
    return averaged(measures)


def counts_by_language(
    targets: Mapping[str, NDArray[np.bool_]], decided: NDArray[np.bool_]
) -> dict[str, IntArray]:
    """The counts of each language, as tables; ``decided`` has the languages below each other."""
    counts, start = {}, 0
    for language, truth in targets.items():
        counts[language] = Counts.of(truth, decided[start : start + len(truth)]).table()
        start += len(truth)
    return counts


def mean_measures(targets: Mapping[str, NDArray[np.bool_]], decided: NDArray[np.bool_]) -> dict[str, float]:
    """The measures averaged over languages; ``decided`` has the languages below each other."""
    counts = counts_by_language(targets, decided)
    measures = {language: measure_counts(Counts.from_table(table)) for language, table in counts.items()}
    return averaged(measures)["average"]


def mean_of_four(measures: Mapping[str, float]) -> float:
    """One number to choose by: the mean of the paper's four measures."""
    return float(np.mean([measures[name] for name in MEASURES]))


def averaged(languages: dict[str, dict[str, float]]) -> LanguageMeasures:
    """Measures by language, with their plain mean beside them."""
    names = [name for name in next(iter(languages.values())) if name != "documents"]
    average = {name: float(np.mean([each[name] for each in languages.values()])) for name in names}
    return {"average": average, "languages": languages}


def expected_calibration_error(truth: ArrayLike, probabilities: ArrayLike, bins: int = 10) -> float:
    """How far probabilities are from frequencies: the mean gap over all document-label pairs.

    Pairs fall into bins of equal width, [0, .1) to [.9, 1] for ten; a bin's gap between mean
    probability and frequency of positives weighs as much as it has pairs.

    >>> expected_calibration_error([[1], [0], [0], [0]], [[0.25], [0.25], [0.25], [0.25]])
    0.0
    >>> expected_calibration_error([[1], [0]], [[0.0], [1.0]])
    1.0
    """
    return calibration_error(reliability(truth, probabilities, bins))


def calibration_error(table: ArrayLike) -> float:
    """The same, of a table that `reliability` gave."""
    pairs, expected, found = np.asarray(table, dtype=float).T
    return float(np.abs(expected - found).sum() / pairs.sum())


def reliability(truth: ArrayLike, probabilities: ArrayLike, bins: int = 10) -> FloatArray:
    """What a reliability diagram shows: for each bin its pairs, the positives expected and those found.

    >>> reliability([[1], [0]], [[0.75], [0.25]], bins=2)
    array([[1.  , 0.25, 0.  ],
           [1.  , 0.75, 1.  ]])
    """
    if bins < 1:
        raise InputError(f"bins must be at least 1, found {bins}.")
    actual, chance = _indicators(truth), np.asarray(probabilities, dtype=float)
    _check_same_shape(actual, chance)
    if not ((chance >= 0) & (chance <= 1)).all():
        raise InputError("probabilities must lie between 0 and 1. Give calibrated posteriors, not scores.")
    bin_of_pair = np.minimum((chance * bins).astype(int), bins - 1).ravel()
    columns = (None, chance.ravel(), actual.ravel())
    return np.column_stack([np.bincount(bin_of_pair, weights, bins) for weights in columns]).astype(float)


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    ratio = np.ones(np.broadcast_shapes(part.shape, whole.shape))
    np.divide(part, whole, out=ratio, where=whole > 0)
    return ratio


def _indicators(matrix: ArrayLike) -> NDArray[np.bool_]:
    values = np.asarray(matrix)
    if values.ndim != 2 or values.size == 0:
        raise InputError(
            f"an indicator matrix of documents by labels is needed, at least one of each, "
            f"found shape {values.shape}."
        )
    if values.dtype != bool and not np.isin(values, (0, 1)).all():
        raise InputError("an indicator matrix holds only 0 and 1. Compare scores with a threshold first.")
    return values.astype(bool, copy=False)


def _check_same_shape(truth: NDArray[np.bool_], prediction: NDArray[np.generic]) -> None:
    if truth.shape != prediction.shape:
        raise InputError(
            f"truth has shape {truth.shape} and prediction {prediction.shape}: they must be alike."
        )
