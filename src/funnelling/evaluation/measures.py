"""Decisions against truth: the counts behind every measure, the measures, and their averages over labels."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from funnelling.errors import InputError
from funnelling.matrices import AnyTargets, canonical, is_sparse, match_format

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Columns = slice | list[int] | NDArray[np.bool_]  # some of those that were counted
ALL_LABELS = slice(None)
Indicators = ArrayLike | sparse.csr_array  # documents by labels; of many labels sparse


@dataclass(frozen=True, slots=True)
class Counts:
    """True and false positives and negatives, one number per label.

    Labels run along the first axis. There may be more axes, as of languages or of draws: every measure
    takes all of them at once, and gives one value for each place on them.

    >>> Counts.of([[1, 0], [1, 0], [0, 0]], [[1, 0], [0, 1], [0, 0]])
    Counts(tp=array([1, 0]), fp=array([0, 1]), fn=array([1, 0]), tn=array([1, 2]))
    """

    tp: IntArray
    fp: IntArray
    fn: IntArray
    tn: IntArray

    @classmethod
    def of(cls, truth: Indicators, predicted: Indicators) -> "Counts":
        """Compare two indicator matrices of documents by labels, both dense or both sparse."""
        actual, guess = both_indicators(truth, predicted)
        tp = _in_columns(actual.multiply(guess) if is_sparse(actual) else actual & guess)
        fp = _in_columns(guess) - tp
        fn = _in_columns(actual) - tp
        return cls(tp, fp, fn, actual.shape[0] - tp - fp - fn)

    @classmethod
    def from_table(cls, table: ArrayLike) -> "Counts":
        """From a table with one row per kind of count."""
        return cls(*np.asarray(table, dtype=np.int64))

    def table(self) -> IntArray:
        """One row per kind of count, one column per label."""
        return np.stack(self._kinds())

    @property
    def documents(self) -> IntArray:
        """How many documents were counted."""
        return np.asarray(sum(count[0] for count in self._kinds()))

    def of_labels(self, labels: Columns) -> "Counts":
        """The counts of some labels."""
        return Counts(*(count[labels] for count in self._kinds()))

    def of_both(self) -> "Counts":
        """The counts of two classes that exclude each other, from those of the second.

        >>> Counts.of([[1], [0], [0]], [[1], [0], [1]]).of_both()
        Counts(tp=array([1, 1]), fp=array([0, 1]), fn=array([1, 0]), tn=array([1, 1]))
        """
        tp, fp, fn, tn = self.table()
        return Counts.from_table(np.hstack([[tn, fn, fp, tp], [tp, fp, fn, tn]]))

    def pooled(self) -> "Counts":
        """The counts of all labels together, as micro averages need them."""
        return Counts(*(count.sum(axis=0, keepdims=True) for count in self._kinds()))

    def _kinds(self) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        return self.tp, self.fp, self.fn, self.tn


def ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """A share of what there is, and 1 where there is nothing: leaving alone what is absent is right.

    >>> ratio(np.array([1.0, 0.0]), np.array([4.0, 0.0]))
    array([0.25, 1.  ])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.asarray(numerator / denominator)
    np.copyto(ratios, 1.0, where=denominator <= 0)
    return ratios


def both_indicators(truth: Indicators, predicted: Indicators) -> tuple[Any, Any]:
    """Two indicator matrices of the same documents and labels, checked: sparse where the truth is."""
    actual, guess = indicators(truth), indicators(predicted)
    check_same_shape(actual, guess)
    return actual, guess if is_sparse(actual) == is_sparse(guess) else match_format(actual, guess)


def indicators(matrix: Indicators) -> AnyTargets:
    """An indicator matrix of documents by labels, checked; a sparse one is canonical."""
    if is_sparse(matrix):
        ours = canonical(matrix)
        _check_indicators(ours.data, ours.shape)
        return ours.astype(bool, copy=False)
    values = np.asarray(matrix)
    _check_indicators(values, values.shape)
    return values.astype(bool, copy=False)


def _check_indicators(values: NDArray[Any], shape: tuple[int, ...]) -> None:
    if len(shape) != 2 or 0 in shape:
        raise InputError(
            f"an indicator matrix of documents by labels is needed, at least one of each, "
            f"found shape {shape}."
        )
    if values.dtype != bool and not np.isin(values, (0, 1)).all():
        raise InputError("an indicator matrix holds only 0 and 1. Compare scores with a threshold first.")


def _in_columns(cells: Any) -> IntArray:
    """How many cells of each column are true."""
    counts: IntArray = (
        np.bincount(cells.tocoo().col, minlength=cells.shape[1])
        if is_sparse(cells)
        else np.count_nonzero(cells, axis=0)
    )
    return counts


def check_same_shape(truth: Any, prediction: Any) -> None:
    """Refuse a prediction of other documents or labels than the truth has."""
    if truth.shape != prediction.shape:
        raise InputError(
            f"truth has shape {truth.shape} and prediction {prediction.shape}: they must be alike."
        )


def f1(tp: ArrayLike, fp: ArrayLike, fn: ArrayLike) -> FloatArray:
    """F1 of each label: 2TP / (2TP + FP + FN), and 1 where there was nothing to find and nothing was found.

    >>> f1([3, 0, 0], [1, 0, 2], [2, 0, 0])
    array([0.66666667, 1.        , 0.        ])
    """
    hits = 2 * np.asarray(tp, dtype=float)
    return ratio(hits, hits + np.asarray(fp) + np.asarray(fn))


def f1_of_labels(counts: Counts) -> FloatArray:
    """F1 of each label that was counted."""
    return f1(counts.tp, counts.fp, counts.fn)


def k(tp: ArrayLike, fp: ArrayLike, fn: ArrayLike, tn: ArrayLike) -> FloatArray:
    """K of each label: sensitivity + specificity - 1, from -1 to 1; chance is 0.

    Where a label has no positives, or no negatives, the one rate that exists stands for both. Without
    any document neither exists: then, by the same convention as F1's, K is 1.

    >>> k([3, 0, 4], [1, 2, 0], [1, 0, 1], [3, 6, 0])
    array([0.5, 0.5, 0.6])
    """
    tp, tn = np.asarray(tp, dtype=float), np.asarray(tn, dtype=float)
    positives, negatives = tp + np.asarray(fn), tn + np.asarray(fp)
    sensitivity, specificity = ratio(tp, positives), ratio(tn, negatives)
    return (
        np.where(positives > 0, sensitivity, specificity)
        + np.where(negatives > 0, specificity, sensitivity)
        - 1
    )


def k_of_labels(counts: Counts) -> FloatArray:
    """K of each label that was counted."""
    return k(counts.tp, counts.fp, counts.fn, counts.tn)


def accuracy(counts: Counts) -> FloatArray:
    """The share of documents that got their one label, of documents that have one label each.

    A document whose label is none of those counted can only be wrong.

    >>> accuracy(Counts.of([[1, 0], [1, 0], [0, 1], [0, 0]], [[1, 0], [0, 1], [0, 1], [0, 1]]))
    array(0.5)
    """
    return np.asarray(counts.tp.sum(axis=0) / counts.documents)


def precision(counts: Counts) -> FloatArray:
    """Precision of each label: TP / (TP + FP).

    Where none was given it is, as F1 is, 1 if there was nothing to find, and 0 if something was missed.

    >>> precision(Counts.from_table([[3, 0, 0], [1, 0, 0], [2, 0, 2], [0, 6, 4]]))
    array([0.75, 1.  , 0.  ])
    """
    hits = np.asarray(counts.tp, dtype=float)
    given = hits + np.asarray(counts.fp, dtype=float)
    return np.where(given > 0, ratio(hits, given), counts.fn == 0)


def recall(counts: Counts) -> FloatArray:
    """Recall of each label: TP / (TP + FN), and without anything to find 1 if nothing was given, else 0.

    >>> recall(Counts.from_table([[3, 0, 0], [1, 0, 2], [2, 0, 0], [0, 6, 4]]))
    array([0.6, 1. , 0. ])
    """
    return precision(Counts(counts.tp, counts.fn, counts.fp, counts.tn))


OfLabels = Callable[[Counts], FloatArray]  # one value per label
OfAll = Callable[[Counts], FloatArray]  # one value, or as many as the counts have further axes


def micro(of_labels: OfLabels) -> OfAll:
    """The measure of all labels' counts together: frequent labels decide."""
    return lambda counts: of_labels(counts.pooled())[0]


def macro(of_labels: OfLabels) -> OfAll:
    """The mean of the measure over labels: rare labels weigh as much as frequent ones."""
    return lambda counts: of_labels(counts).mean(axis=0)


def macro_present(of_labels: OfLabels) -> OfAll:
    """The mean over labels with a positive in truth; over all labels where there is none.

    Absent labels that are left alone count as right in the paper's macro averages, which flatters a
    classifier that says no to everything.
    """

    def mean(counts: Counts) -> FloatArray:
        present = counts.tp + counts.fn > 0
        return mean_over(present | ~present.any(axis=0), of_labels(counts))

    return mean


def mean_over(labels: NDArray[np.bool_], values: FloatArray) -> FloatArray:
    """The mean of the values of some labels, 1 where there are none.

    >>> mean_over(np.array([True, False, True]), np.array([0.5, 0.5, 1.0]))
    array(0.75)
    """
    if values.ndim == 1:  # added up as `mean` does, to the last bit
        return np.asarray(values[labels].mean() if labels.any() else 1.0)
    return ratio((values * labels).sum(axis=0), labels.sum(axis=0))
