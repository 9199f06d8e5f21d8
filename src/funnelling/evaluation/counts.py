"""Decisions against truth, counted: all that a measure needs to know of them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from funnelling.errors import InputError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Columns = slice | list[int] | NDArray[np.bool_]  # some of those that were counted
ALL = slice(None)


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
    def of(cls, truth: ArrayLike, predicted: ArrayLike) -> "Counts":
        """Compare two indicator matrices of documents by labels."""
        actual, guess = indicators(truth), indicators(predicted)
        check_same_shape(actual, guess)
        tp = np.count_nonzero(actual & guess, axis=0)
        fp = np.count_nonzero(guess, axis=0) - tp
        fn = np.count_nonzero(actual, axis=0) - tp
        return cls(tp, fp, fn, len(actual) - tp - fp - fn)

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


def indicators(matrix: ArrayLike) -> NDArray[np.bool_]:
    """An indicator matrix of documents by labels, checked."""
    values = np.asarray(matrix)
    if values.ndim != 2 or values.size == 0:
        raise InputError(
            f"an indicator matrix of documents by labels is needed, at least one of each, "
            f"found shape {values.shape}."
        )
    if values.dtype != bool and not np.isin(values, (0, 1)).all():
        raise InputError("an indicator matrix holds only 0 and 1. Compare scores with a threshold first.")
    return values.astype(bool, copy=False)


def check_same_shape(truth: NDArray[np.bool_], prediction: NDArray[np.generic]) -> None:
    """Refuse a prediction of other documents or labels than the truth has."""
    if truth.shape != prediction.shape:
        raise InputError(
            f"truth has shape {truth.shape} and prediction {prediction.shape}: they must be alike."
        )
