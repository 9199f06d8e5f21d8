"""From a measure of each label to one number: micro averages pool labels, macro averages weigh all alike."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from funnelling.evaluation.counts import Counts, FloatArray, ratio

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
