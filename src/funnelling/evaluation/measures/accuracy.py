"""Accuracy: the share of documents whose one label is right."""

import numpy as np

from funnelling.evaluation.counts import Counts, FloatArray


def accuracy(counts: Counts) -> FloatArray:
    """The share of documents that got their one label, of documents that have one label each.

    A document whose label is none of those counted can only be wrong.

    >>> accuracy(Counts.of([[1, 0], [1, 0], [0, 1], [0, 0]], [[1, 0], [0, 1], [0, 1], [0, 1]]))
    array(0.5)
    """
    return np.asarray(counts.tp.sum(axis=0) / counts.documents)
