"""Precision and recall: the share of answers that are right, and the share of labels that were found."""

import numpy as np
from numpy.typing import ArrayLike

from funnelling.evaluation.counts import Counts, FloatArray, ratio


def precision(tp: ArrayLike, fp: ArrayLike, fn: ArrayLike) -> FloatArray:
    """Precision of each label: TP / (TP + FP).

    Where none was given it is, as F1 is, 1 if there was nothing to find, and 0 if something was missed.

    >>> precision([3, 0, 0], [1, 0, 0], [2, 0, 2])
    array([0.75, 1.  , 0.  ])
    """
    hits = np.asarray(tp, dtype=float)
    given = hits + np.asarray(fp)
    return np.where(given > 0, ratio(hits, given), np.asarray(fn) == 0)


def recall(tp: ArrayLike, fp: ArrayLike, fn: ArrayLike) -> FloatArray:
    """Recall of each label: TP / (TP + FN), and without anything to find 1 if nothing was given, else 0.

    >>> recall([3, 0, 0], [1, 0, 2], [2, 0, 0])
    array([0.6, 1. , 0. ])
    """
    return precision(tp, fn, fp)


def precision_of_labels(counts: Counts) -> FloatArray:
    """Precision of each label that was counted."""
    return precision(counts.tp, counts.fp, counts.fn)


def recall_of_labels(counts: Counts) -> FloatArray:
    """Recall of each label that was counted."""
    return recall(counts.tp, counts.fp, counts.fn)
