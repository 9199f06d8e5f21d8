"""How often texts have words, and counts that several vocabularies share."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Documents = Mapping[str, Sequence[str]]  # texts by language
Languages = Sequence[str | None]  # one per text
Columns = npt.NDArray[np.int32]  # of words in a vocabulary, -1 where they have none
Counter = Any  # a `TfidfVectorizer`, which imports this module


class WordCounts(NamedTuple):
    """How often each text has each word: one entry per pair of text and word, text by text."""

    documents: int
    words: Sequence[str]
    rows: npt.NDArray[np.intp]
    columns: npt.NDArray[np.intc]
    frequencies: npt.NDArray[np.intc]

    def texts_with(self) -> npt.NDArray[np.intp]:
        """How many texts have each word."""
        return np.bincount(self.columns, minlength=len(self.words))

    def take(self, places: npt.NDArray[np.intp]) -> WordCounts:
        """The counts of the texts at some places, in the order of the places, over the same words."""
        starts = np.searchsorted(self.rows, np.arange(self.documents + 1))
        sizes = np.diff(starts)[places]
        rows = np.repeat(np.arange(len(places)), sizes)
        entries = np.arange(len(rows)) + np.repeat(starts[places] - np.cumsum(sizes) + sizes, sizes)
        return WordCounts(len(places), self.words, rows, self.columns[entries], self.frequencies[entries])


class SharedCounts:
    """Counts of texts that are asked for all together, again and again."""

    def __init__(self) -> None:
        self._counts: dict[Any, WordCounts] = {}

    def knows(self, documents: Documents | None) -> bool:
        """Whether these documents, or any batch of texts, are counted once already."""
        return documents is None

    def counts(self, counter: Counter, texts: Sequence[str], languages: Languages) -> WordCounts:
        """How often each text has each word."""
        key = (counter.way(), tuple(languages), tuple(texts))
        try:
            is_new = key not in self._counts
        except TypeError:  # of what cannot be hashed; a text could be
            counted: WordCounts = counter.count(texts, languages)
            return counted
        if is_new:
            self._counts[key] = counter.count(texts, languages)
        return self._counts[key]

    def note_columns(self, counts: WordCounts, vocabulary: Sequence[str], columns: Columns) -> None:
        """Keep the columns of words in the vocabulary that was learned last from their counts, if it pays."""

    def columns(self, counts: WordCounts, vocabulary: Sequence[str]) -> Columns | None:
        """The columns of all words in a vocabulary, where they are kept."""
        return None


class _CountsOfTexts(SharedCounts):
    """Counts of texts that are known beforehand, any of which may be asked for.

    Their pieces are kept, and what these consist of: far less than counts of character n-grams would be.
    """

    def __init__(self, documents: Documents) -> None:
        pairs = list(_pairs(documents))
        self._languages = [language for language, _ in pairs]
        self._texts = [text for _, text in pairs]
        self._place_of: dict[Any, int] = {pair: place for place, pair in enumerate(pairs)}
        self._pieces: dict[Any, tuple[WordCounts, Any]] = {}
        self._learned: dict[int, tuple[Sequence[str], Sequence[str], Columns]] = {}
        self._counting = Lock()

    def knows(self, documents: Documents | None) -> bool:
        return documents is None or all(pair in self._place_of for pair in _pairs(documents))

    def counts(self, counter: Counter, texts: Sequence[str], languages: Languages) -> WordCounts:
        try:
            places = [self._place_of[pair] for pair in zip(languages, texts, strict=True)]
        except (KeyError, TypeError, ValueError):  # other texts, or what is none
            counted: WordCounts = counter.count(texts, languages)
            return counted
        way = counter.way()
        with self._counting:  # what one thread counts, another one waits for
            if way not in self._pieces:
                pieces = counter.count_pieces(self._texts, self._languages)
                self._pieces[way] = pieces, counter.cut(pieces.words)
            pieces, cut = self._pieces[way]
        found: WordCounts = counter.count_in(pieces.take(np.array(places, dtype=np.intp)), cut)
        return found

    def note_columns(self, counts: WordCounts, vocabulary: Sequence[str], columns: Columns) -> None:
        self._learned[id(counts.words)] = counts.words, vocabulary, columns

    def columns(self, counts: WordCounts, vocabulary: Sequence[str]) -> Columns | None:
        known = self._learned.get(id(counts.words))
        return known[2] if known and known[0] is counts.words and known[1] is vocabulary else None

    def clear(self) -> None:
        self._pieces.clear()
        self._learned.clear()


def _pairs(documents: Documents) -> Iterator[tuple[str, str]]:
    return ((language, text) for language, texts in documents.items() for text in texts)


_shared: ContextVar[SharedCounts | None] = ContextVar("shared", default=None)
shared_counts = _shared.get  # the counts of texts that are counted once, None where none are


@contextmanager
def counted_once(documents: Documents | None = None) -> Iterator[None]:
    """While this lasts, texts are counted once, whatever is learned from them or says something of them.

    Without ``documents`` that holds for texts that several models label, all together each time: half of the
    work. With training documents it holds for any of these, in vocabularies that are learned, too.
    """
    store = _shared.get()
    if store is None or not store.knows(documents):
        store = SharedCounts() if documents is None else _CountsOfTexts(documents)
    token = _shared.set(store)
    try:
        yield
    finally:
        _shared.reset(token)


def forget_counts() -> None:
    """Free the memory that the counts of training documents take; what is asked for is counted anew.

    It returns to the system, where the C library would keep it: some 100 MB after 11,000 documents.
    """
    if isinstance(store := _shared.get(), _CountsOfTexts):
        store.clear()
        if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)):  # glibc's
            trim(0)
