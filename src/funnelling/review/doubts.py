"""How unsure a model is of documents: by what tier 2 says, and by what the views said before.

A doubt is an entropy in bits: 1 where yes and no are as likely. Labels that a document may have together are
in doubt each by itself, those that exclude each other as a whole.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from funnelling.method.explanation import Opinions

Array = npt.NDArray[np.float64]
TINY = 1e-9


@dataclass(frozen=True)
class Doubts:
    """How unsure a model is of some documents in one language.

    ``by_label`` (documents, labels) has the doubt about each label, ``undecided`` how near it is to being
    given, 1 at its threshold, and ``disagreement`` by how much a view of tier 1 and tier 2 differ on it, from
    0 to 1.
    """

    by_label: Array
    undecided: Array
    disagreement: Array

    @property
    def total(self) -> Array:
        """The doubt about each document, that about all labels together."""
        total: Array = self.by_label.sum(axis=1)
        return total


def doubts_of(opinions: Opinions, exclusive: bool) -> Doubts:
    """How unsure a model is, by its opinions on documents."""
    probabilities = _probabilities(opinions.decisions.probabilities)
    if exclusive:
        shares = probabilities / probabilities.sum(axis=1, keepdims=True)
        by_label = undecided = -shares * np.log2(shares)
    else:
        by_label = entropy(probabilities)
        undecided = entropy(at_half(probabilities, opinions.decisions.thresholds))
    disagreement = np.zeros_like(by_label)
    for posteriors in opinions.views.values():
        disagreement = np.maximum(disagreement, np.abs(_probabilities(posteriors) - probabilities))
    return Doubts(by_label, undecided, disagreement)


def entropy(probabilities: Array) -> Array:
    """How open a question is whose answer is yes with a probability, in bits.

    >>> entropy(np.array([0.5, 0.9])).round(2).tolist()
    [1.0, 0.47]
    """
    p = _probabilities(probabilities)
    entropies: Array = -p * np.log2(p) - (1 - p) * np.log2(1 - p)
    return entropies


def at_half(probabilities: Array, thresholds: Array) -> Array:
    """Probabilities whose odds are those against the odds of their thresholds: .5 at the threshold.

    >>> at_half(np.array([[0.2, 0.8]]), np.array([0.2, 0.5])).round(2).tolist()
    [[0.5, 0.8]]
    """
    yes, no = _probabilities(probabilities), 1 - _probabilities(probabilities)
    limits = _probabilities(thresholds)
    for_yes, for_no = yes * (1 - limits), no * limits
    moved: Array = for_yes / (for_yes + for_no)
    return moved


def _probabilities(values: npt.ArrayLike) -> Array:
    """Probabilities whose logarithms exist."""
    return np.clip(np.asarray(values, dtype=np.float64), TINY, 1 - TINY)
