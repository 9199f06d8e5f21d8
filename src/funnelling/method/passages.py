"""What features added to a score, laid back onto the words of the text that they came from."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from funnelling.text.tfidf import Places
from funnelling.text.tokens import units

Array = npt.NDArray[np.float64]
Passage = list[Any]  # start and end in the text, and what the words there added: as JSON has it


class TextLayout:
    """A text, cut into words, and the features of its vector laid onto them.

    A feature is divided evenly over its occurrences in the text, and an occurrence over the words that it
    touches, by their characters within it: no more and no less than the feature itself is handed on. Of a
    script without blanks each character is a word, and so is a run of signs between words.
    """

    def __init__(self, text: str) -> None:
        starts, ends = np.array(units(text), dtype=np.intp).reshape(-1, 2).T
        self.starts: npt.NDArray[np.intp] = starts
        self.ends: npt.NDArray[np.intp] = ends

    def shares(self, features: npt.NDArray[np.intp], places: Places) -> sparse.csr_array[np.float64]:
        """The share of each feature, a column, that each word, a row, gets; all add up to 1, or to 0.

        ``features`` are the columns of the text's vector that are not zero, ``places`` where they stand.
        """
        order = np.argsort(features, kind="stable")
        at = np.searchsorted(features[order], places.columns)
        first = np.searchsorted(self.ends, places.starts, side="right")
        beyond = np.searchsorted(self.starts, places.ends, side="left")
        stand = (beyond > first) & (places.ends > places.starts) & np.isin(places.columns, features)
        if not stand.any():
            return sparse.csr_array((len(self.starts), len(features)), dtype=np.float64)
        numbers, first, touched = order[at[stand]], first[stand], (beyond - first)[stand]
        occurrence = np.repeat(np.arange(len(touched)), touched)
        words = (
            np.arange(len(occurrence)) - np.repeat(np.cumsum(touched) - touched, touched) + first[occurrence]
        )
        characters = np.minimum(self.ends[words], places.ends[stand][occurrence]) - np.maximum(
            self.starts[words], places.starts[stand][occurrence]
        )
        of_occurrence = np.bincount(occurrence, characters, minlength=len(touched))
        occurrences = np.bincount(numbers, minlength=len(features))
        values = characters / of_occurrence[occurrence] / occurrences[numbers][occurrence]
        return sparse.csr_array(
            (values, (words, numbers[occurrence])), (len(self.starts), len(features)), dtype=np.float64
        )

    def passages(self, amounts: Array) -> list[Passage]:
        """The words to which something was added, in the order of the text."""
        words = np.flatnonzero(amounts)
        columns = (self.starts[words].tolist(), self.ends[words].tolist(), amounts[words].tolist())
        return list(map(list, zip(*columns, strict=True)))


class LaidView:
    """One view's features of a text, as they lie on its words; ``share`` is what the view counts."""

    def __init__(
        self, layout: TextLayout, features: npt.NDArray[np.intp], places: Places | None, share: float
    ) -> None:
        self._words = len(layout.starts)
        self._share = share
        self._shares = None if places is None else layout.shares(features, places)
        placed = 0 if self._shares is None else np.diff(self._shares.tocsc().indptr)
        self._unplaced = np.broadcast_to(placed == 0, len(features))

    def lay(self, contributions: Array) -> tuple[Array, float]:
        """What each word gets of what the features added, and what has no place."""
        amounts: Any = np.zeros(self._words) if self._shares is None else self._shares @ contributions
        return self._share * amounts, self._share * float(contributions[self._unplaced].sum())


def laid_passages(
    layout: TextLayout, views: Sequence[LaidView], contributions: Sequence[Array]
) -> tuple[list[Passage], float]:
    """The passages of a text, all views together, and what has no place in it."""
    laid = [view.lay(each) for view, each in zip(views, contributions, strict=True)]
    return layout.passages(sum((words for words, _ in laid), np.zeros(len(layout.starts)))), sum(
        rest for _, rest in laid
    )
