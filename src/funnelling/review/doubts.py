"""How unsure a model is of documents: by what the views of tier 1 say together, and what tier 2 makes of it.

A doubt is an entropy in bits: 1 where yes and no are as likely. Labels that a document may have together are
in doubt each by itself, those that exclude each other as a whole.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from funnelling.method.explanation import Opinions

Array = npt.NDArray[np.float64]
TINY = 1e-9
OF_RARITY = 0.25  # the power of a label's labelled documents by which a doubt about it counts less
OF_LABELS = 0.4  # the power of the labels that a document may be expected to have, by which its doubt does


@dataclass(frozen=True)
class Doubts:
    """How unsure a model is of some documents in one language.

    ``by_label`` (documents, labels) has the doubt about each label, ``undecided`` how near it is to being
    given, 1 at its threshold, and ``disagreement`` by how much a view of tier 1 and tier 2 differ on it, from
    0 to 1. ``total`` is the doubt about each document as a whole. Where a document may have several labels,
    rare ones weigh more, and of two documents in as much doubt that with fewer labels: else those with many
    would be chosen, and a model that learns from these gives too many.
    """

    by_label: Array
    undecided: Array
    disagreement: Array
    total: Array


def doubts_of(opinions: Opinions, exclusive: bool, examples: npt.ArrayLike | None = None) -> Doubts:
    """How unsure a model is by its opinions, with the number of ``examples`` that it knows of each label."""
    final = _probabilities(opinions.decisions.probabilities)
    views = [_probabilities(posteriors) for posteriors in opinions.views.values()]
    believed = _probabilities(opinions.believed)
    if exclusive:
        believed = believed / believed.sum(axis=1, keepdims=True)
        by_label = undecided = -believed * np.log2(believed)
    else:
        by_label = entropy(believed)
        undecided = entropy(at_half(final, opinions.decisions.thresholds))
    disagreement = np.max([np.abs(view - final) for view in views], axis=0, initial=0) if views else 0 * final
    total = by_label.sum(axis=1)
    if not exclusive:
        total = by_label @ _rarity(examples, by_label.shape[1]) / believed.sum(axis=1) ** OF_LABELS
    return Doubts(by_label, undecided, disagreement, total)


def _rarity(examples: npt.ArrayLike | None, labels: int) -> Array:
    """What a doubt about each label counts, 1 for one with as many labelled documents as all on average."""
    if examples is None:
        return np.ones(labels)
    known = np.asarray(examples, dtype=np.float64) + 1
    rarity: Array = (known.mean() / known) ** OF_RARITY
    return rarity


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
