"""How unsure a model is of documents, and which few documents stand for many others.

A doubt is an entropy in bits: 1 where yes and no are as likely. Labels that a document may have together are
in doubt each by itself, those that exclude each other as a whole.

What is taken next is the document that adds most: to how much each document, weighted, is like one that is
taken, or learned already. A sum that grows less and less (a facility location), of which the greedy choice is
within 1 - 1/e of the best. It favours documents that many others are like, and the second of two that say the
same adds nothing.
"""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from funnelling.methods.explanation import ViewPredictions

Array = npt.NDArray[np.float64]
CLIP_EPS = 1e-9
RARITY_EXPONENT = 0.25  # the power of a label's labelled documents by which a doubt about it counts less
# The power of the labels that a document may be expected to have, by which its doubt does
CARDINALITY_EXPONENT = 0.4


@dataclass(frozen=True)
class Uncertainty:
    """How unsure a model is of some documents in one language.

    ``by_label`` (documents, labels) has the doubt about each label, ``margin_entropy`` how near it is to
    being given, 1 at its threshold, and ``disagreement`` by how much a view of tier 1 and tier 2 differ on
    it, from 0 to 1. ``total`` is the doubt about each document as a whole. Where a document may have several
    labels, rare ones weigh more, and of two documents in as much doubt that with fewer labels: else those
    with many would be chosen, and a model that learns from these gives too many.
    """

    by_label: Array
    margin_entropy: Array
    disagreement: Array
    total: Array


def estimate_uncertainty(
    opinions: ViewPredictions, single_label: bool, examples: npt.ArrayLike | None = None
) -> Uncertainty:
    """How unsure a model is by its opinions, with the number of ``examples`` that it knows of each label."""
    final = _probabilities(opinions.decisions.probabilities)
    views = [_probabilities(posteriors) for posteriors in opinions.views.values()]
    believed = _probabilities(opinions.mean_posterior)
    if single_label:
        believed = believed / believed.sum(axis=1, keepdims=True)
        by_label = undecided = -believed * np.log2(believed)
    else:
        by_label = entropy(believed)
        undecided = entropy(rescale_to_threshold(final, opinions.decisions.thresholds))
    disagreement = np.max([np.abs(view - final) for view in views], axis=0, initial=0) if views else 0 * final
    total = by_label.sum(axis=1)
    if not single_label:
        # A label with as many labelled documents as all on average counts 1.
        known = np.ones(by_label.shape[1]) if examples is None else np.asarray(examples, dtype=np.float64) + 1
        rarity = (known.mean() / known) ** RARITY_EXPONENT
        total = by_label @ rarity / believed.sum(axis=1) ** CARDINALITY_EXPONENT
    return Uncertainty(by_label, undecided, disagreement, total)


def entropy(probabilities: Array) -> Array:
    """How open a question is whose answer is yes with a probability, in bits.

    >>> entropy(np.array([0.5, 0.9])).round(2).tolist()
    [1.0, 0.47]
    """
    p = _probabilities(probabilities)
    return -p * np.log2(p) - (1 - p) * np.log2(1 - p)


def rescale_to_threshold(probabilities: Array, thresholds: Array) -> Array:
    """Probabilities whose odds are those against the odds of their thresholds: .5 at the threshold.

    >>> rescale_to_threshold(np.array([[0.2, 0.8]]), np.array([0.2, 0.5])).round(2).tolist()
    [[0.5, 0.8]]
    """
    yes, no = _probabilities(probabilities), 1 - _probabilities(probabilities)
    limits = _probabilities(thresholds)
    for_yes, for_no = yes * (1 - limits), no * limits
    return for_yes / (for_yes + for_no)


def _probabilities(values: npt.ArrayLike) -> Array:
    """Probabilities whose logarithms exist."""
    return np.clip(np.asarray(values, dtype=np.float64), CLIP_EPS, 1 - CLIP_EPS)


SIMILARITY_CUTOFF = 0.2  # from this cosine on one is like another
DUPLICATE_CUTOFF = 0.9  # from this cosine on two documents say the same
VALUES_PER_BLOCK = 2**23  # cosines that are held at a time, with their places: 130 MB

Floats = npt.NDArray[np.float32]


class SelectedDocument(NamedTuple):
    """A document that is taken: its place, what it adds, and how many others it stands for."""

    place: int
    gain: float
    others: int


def cosine_similarities(vectors: Any, others: Any) -> Floats:
    """The cosines of documents with others, by vectors of length 1."""
    cosines = np.empty((vectors.shape[0], others.shape[0]), dtype=np.float32)
    for rows, block in _products(vectors, others):
        cosines[rows] = block.toarray()
    return cosines


def max_similarities(vectors: Any, others: Any) -> Floats:
    """For each document how much it is like that one of the others which is most like it; 0 if none is."""
    most = np.zeros(vectors.shape[0], dtype=np.float32)
    for rows, block in _products(vectors, others):
        most[rows] = block.max(axis=1).toarray().ravel()
    return most


def _products(vectors: Any, others: Any) -> Iterator[tuple[slice, Any]]:
    """The cosines of documents with others, some documents at a time: few are 0, and the others are many."""
    if not others.shape[0]:
        return
    turned = others.T.tocsr()
    step = max(VALUES_PER_BLOCK // others.shape[0], 1)
    for start in range(0, vectors.shape[0], step):
        rows = slice(start, start + step)
        yield rows, vectors[rows] @ turned


def select_greedily(cosines: Floats, covered: Floats, weights: Floats, number: int) -> list[SelectedDocument]:
    """So many documents, those that add most first; fewer, where all others say the same as some of them.

    Parameters
    ----------
    cosines : of all documents with each other
    covered : how much each is like one that is learned
    weights : what each counts
    number : how many to take

    Examples
    --------
    Two pairs and one apart: one of each pair, and the heavier of the pairs first.

    >>> cosines = np.eye(5, dtype=np.float32)
    >>> cosines[0, 1] = cosines[1, 0] = cosines[2, 3] = cosines[3, 2] = 0.95
    >>> weights = np.array([1, 1, 2, 3, 1], dtype=np.float32)
    >>> [taken.place for taken in select_greedily(cosines, np.zeros(5, np.float32), weights, 5)]
    [3, 0, 4]
    """

    def gain(place: int) -> float:
        return float(np.maximum(cosines[place] - covered, 0) @ weights)

    covered = covered.copy()
    # What a document adds never grows, so what it added before is a bound: most need not be asked again.
    bounds = [(-gain(place), place) for place in np.flatnonzero(covered < DUPLICATE_CUTOFF).tolist()]
    heapq.heapify(bounds)
    chosen: list[SelectedDocument] = []
    is_taken = np.zeros(len(cosines), dtype=bool)
    while bounds and len(chosen) < number:
        _, place = heapq.heappop(bounds)
        if is_taken.any() and cosines[place, is_taken].max() >= DUPLICATE_CUTOFF:
            continue
        added = gain(place)
        if bounds and -added > bounds[0][0]:
            heapq.heappush(bounds, (-added, place))
            continue
        nearer = cosines[place] > np.maximum(covered, SIMILARITY_CUTOFF)
        chosen.append(SelectedDocument(place, added, int(np.count_nonzero(nearer)) - bool(nearer[place])))
        is_taken[place] = True
        covered = np.maximum(covered, cosines[place])
    return chosen
