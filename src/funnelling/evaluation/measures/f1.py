"""F1 as the paper defines it: unlike scikit-learn's, it is 1 for an absent label that is left alone."""

import numpy as np
from numpy.typing import ArrayLike

from funnelling.evaluation.counts import Counts, FloatArray, ratio


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
