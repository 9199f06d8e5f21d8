"""Decisions against truth, counted: all that a measure needs to know of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from funnelling.errors import InputError
from funnelling.matrices import AnyTargets, canonical, is_sparse, like

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Columns = slice | list[int] | NDArray[np.bool_]  # some of those that were counted
ALL = slice(None)
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
    return actual, guess if is_sparse(actual) == is_sparse(guess) else like(actual, guess)


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
