"""K as the paper defines it: how much better than chance, whatever the frequency of a label."""

import numpy as np
from numpy.typing import ArrayLike

from funnelling.evaluation.counts import Counts, FloatArray, ratio


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
