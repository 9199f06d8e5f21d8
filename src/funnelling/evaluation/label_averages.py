"""From a measure of each label to one number: micro averages pool labels, macro averages weigh all alike."""

from collections.abc import Callable

import numpy as np

from funnelling.evaluation.counts import Counts, FloatArray

OfLabels = Callable[[Counts], FloatArray]  # one value per label
OfAll = Callable[[Counts], float]


def micro(of_labels: OfLabels) -> OfAll:
    """The measure of all labels' counts together: frequent labels decide."""
    return lambda counts: float(of_labels(counts.pooled())[0])


def macro(of_labels: OfLabels) -> OfAll:
    """The mean of the measure over labels: rare labels weigh as much as frequent ones."""
    return lambda counts: float(of_labels(counts).mean())


def macro_present(of_labels: OfLabels) -> OfAll:
    """The mean over labels with a positive in truth; over all labels where there is none.

    Absent labels that are left alone count as right in the paper's macro averages, which flatters a
    classifier that says no to everything.
    """

    def mean(counts: Counts) -> float:
        present = counts.tp + counts.fn > 0
        if not present.any():
            present = np.ones_like(present)
        return float(of_labels(counts)[present].mean())

    return mean
