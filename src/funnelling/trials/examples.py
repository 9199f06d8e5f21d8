"""How many documents each label had in training, which measures of rare labels have to know."""

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from funnelling.corpus import Corpus
from funnelling.evaluation.ranking import Examples

if TYPE_CHECKING:
    from funnelling.method.base import Method


def examples_of(method: "Method") -> Examples | None:
    """Those that a fitted method learned from, of each class, where it keeps that."""
    counts: Any = method.label_counts()
    targets = getattr(getattr(method, "training_", None), "targets", None)
    if counts is None and targets and {each.shape[1] for each in targets.values()} == {len(method.classes_)}:
        counts = sum(np.asarray(each.sum(axis=0)) for each in targets.values())
    return None if counts is None else Examples(sum(method.documents_.values()), np.asarray(counts))


def examples_in(train: Corpus, classes: Sequence[str]) -> Examples:
    """Those of a corpus, of each class.

    >>> corpus = Corpus(["1", "2"], ["en", "en"], ["", ""], [("cat",), ("cat", "dog")])
    >>> examples_in(corpus, ["cat", "dog", "pet"])
    Examples(documents=2, of_labels=array([2, 1, 0]))
    """
    counts = Counter(chain.from_iterable(map(set, train.label_lists())))
    return Examples(len(train), np.array([counts[label] for label in classes], dtype=np.int64))
