"""Accuracy: the share of documents whose one label is right."""

from funnelling.evaluation.counts import Counts


def accuracy(counts: Counts) -> float:
    """The share of documents that got their one label, of documents that have one label each.

    A document whose label is none of those counted can only be wrong.

    >>> accuracy(Counts.of([[1, 0], [1, 0], [0, 1], [0, 0]], [[1, 0], [0, 1], [0, 1], [0, 1]]))
    0.5
    """
    return float(counts.tp.sum() / counts.documents)
