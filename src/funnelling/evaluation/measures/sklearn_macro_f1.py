"""Macro-F1 as scikit-learn defines it, for documents with one label each."""

from funnelling.evaluation.counts import Counts, FloatArray
from funnelling.evaluation.label_averages import mean_over
from funnelling.evaluation.measures.f1 import f1_of_labels


def sklearn_macro_f1(counts: Counts) -> FloatArray:
    """The mean F1 of the labels that occur, in truth or among the answers.

    It is `sklearn.metrics.f1_score(truth, answers, average="macro")`. The paper's macro-F1 runs over all
    labels of training instead, and takes one that does not occur for right.

    >>> sklearn_macro_f1(Counts.of([[1, 0, 0], [0, 1, 0]], [[1, 0, 0], [1, 0, 0]]))
    array(0.33333333)
    """
    return mean_over(counts.tp + counts.fp + counts.fn > 0, f1_of_labels(counts))
