"""Documents that stand for others: a few of a language's, such that each other one is like one of them.

What is taken next is the document that adds most: to how much each document, weighted, is like one that is
taken, or learned already. A sum that grows less and less (a facility location), of which the greedy choice is
within 1 - 1/e of the best. It favours documents that many others are like, and the second of two that say the
same adds nothing.
"""

import heapq
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

LIKE = 0.2  # from this cosine on one is like another
ALIKE = 0.9  # from this cosine on two documents say the same
BLOCK = 2**23  # cosines that are held at a time, with their places: 130 MB

Floats = npt.NDArray[np.float32]


class Taken(NamedTuple):
    """A document that is taken: its place, what it adds, and how many others it stands for."""

    place: int
    gain: float
    others: int


def likeness(vectors: Any, others: Any) -> Floats:
    """The cosines of documents with others, by vectors of length 1."""
    cosines = np.empty((vectors.shape[0], others.shape[0]), dtype=np.float32)
    for rows, block in _products(vectors, others):
        cosines[rows] = block.toarray()
    return cosines


def covered_by(vectors: Any, others: Any) -> Floats:
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
    step = max(BLOCK // others.shape[0], 1)
    for start in range(0, vectors.shape[0], step):
        rows = slice(start, start + step)
        yield rows, vectors[rows] @ turned


def take_in_turn(cosines: Floats, covered: Floats, weights: Floats, number: int) -> list[Taken]:
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
    >>> [taken.place for taken in take_in_turn(cosines, np.zeros(5, np.float32), weights, 5)]
    [3, 0, 4]
    """

    def gain(place: int) -> float:
        return float(np.maximum(cosines[place] - covered, 0) @ weights)

    covered = covered.copy()
    # What a document adds never grows, so what it added before is a bound: most need not be asked again.
    bounds = [(-gain(place), place) for place in np.flatnonzero(covered < ALIKE).tolist()]
    heapq.heapify(bounds)
    chosen: list[Taken] = []
    is_taken = np.zeros(len(cosines), dtype=bool)
    while bounds and len(chosen) < number:
        _, place = heapq.heappop(bounds)
        if is_taken.any() and cosines[place, is_taken].max() >= ALIKE:
            continue
        added = gain(place)
        if bounds and -added > bounds[0][0]:
            heapq.heappush(bounds, (-added, place))
            continue
        nearer = cosines[place] > np.maximum(covered, LIKE)
        chosen.append(Taken(place, added, int(np.count_nonzero(nearer)) - bool(nearer[place])))
        is_taken[place] = True
        covered = np.maximum(covered, cosines[place])
    return chosen
