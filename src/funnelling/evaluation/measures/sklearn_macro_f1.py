"""Macro-F1 as scikit-learn defines it, for documents with one label each."""

from funnelling.evaluation.counts import Counts
from funnelling.evaluation.measures.f1 import f1_of_labels


def sklearn_macro_f1(counts: Counts) -> float:
    """The mean F1 of the labels that occur, in truth or among the answers.

    It is `sklearn.metrics.f1_score(truth, answers, average="macro")`. The paper's macro-F1 runs over all
    labels of training instead, and takes one that does not occur for right.

    >>> sklearn_macro_f1(Counts.of([[1, 0, 0], [0, 1, 0]], [[1, 0, 0], [1, 0, 0]]))
    0.3333333333333333
    """
    occurs = counts.tp + counts.fp + counts.fn > 0
    return float(f1_of_labels(counts)[occurs].mean()) if occurs.any() else 1.0
