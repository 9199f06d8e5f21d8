"""How often texts have words, and counts that several vocabularies share."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

Documents = Mapping[str, Sequence[str]]  # texts by language
Languages = Sequence[str | None]  # one per text
Columns = npt.NDArray[np.int32]  # of words in a vocabulary, -1 where they have none


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

    def select(self, rows: npt.NDArray[np.bool_]) -> WordCounts:
        """The counts of some texts, over the same words."""
        return self.take(np.flatnonzero(rows))

    def take(self, places: npt.NDArray[np.intp]) -> WordCounts:
        """The counts of the texts at some places, in the order of the places, over the same words."""
        starts = np.searchsorted(self.rows, np.arange(self.documents + 1))
        sizes = np.diff(starts)[places]
        rows = np.repeat(np.arange(len(places)), sizes)
        entries = np.arange(len(rows)) + np.repeat(starts[places] - np.cumsum(sizes) + sizes, sizes)
        return WordCounts(len(places), self.words, rows, self.columns[entries], self.frequencies[entries])


class Counter(Protocol):
    """What counts the words of texts: their pieces, and then what each distinct piece consists of."""

    def way(self) -> Any:
        """How it counts, apart from the language; counters with equal ways count alike."""

    def count_pieces(self, texts: Sequence[str], languages: Languages) -> WordCounts:
        """How often each text has each piece."""

    def cut(self, pieces: Sequence[str]) -> Any:
        """What pieces consist of."""

    def count_in(self, pieces: WordCounts, cut: Any) -> WordCounts:
        """How often each text has each word, given its pieces and what all pieces consist of."""


def count(counter: Counter, texts: Sequence[str], languages: Languages) -> WordCounts:
    """How often each text has each word."""
    pieces = counter.count_pieces(texts, languages)
    return counter.count_in(pieces, counter.cut(pieces.words))


class _Batches:
    """Counts of texts that are asked for all together, again and again."""

    def __init__(self) -> None:
        self._counts: dict[Any, WordCounts] = {}

    def counts(self, counter: Counter, texts: Sequence[str], languages: Languages) -> WordCounts:
        key = (counter.way(), tuple(languages), tuple(texts))
        try:
            known = self._counts.get(key)
        except TypeError:  # of what cannot be hashed; a text could be
            return count(counter, texts, languages)
        if known is None:
            known = self._counts[key] = count(counter, texts, languages)
        return known


class _Texts:
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

    def knows(self, documents: Documents) -> bool:
        return all(pair in self._place_of for pair in _pairs(documents))

    def counts(self, counter: Counter, texts: Sequence[str], languages: Languages) -> WordCounts:
        try:
            places = [self._place_of[pair] for pair in zip(languages, texts, strict=True)]
        except (KeyError, TypeError, ValueError):  # other texts, or what is none
            return count(counter, texts, languages)
        way = counter.way()
        with self._counting:  # what one thread counts, another one waits for
            if way not in self._pieces:
                pieces = counter.count_pieces(self._texts, self._languages)
                self._pieces[way] = pieces, counter.cut(pieces.words)
            pieces, cut = self._pieces[way]
        return counter.count_in(pieces.take(np.array(places, dtype=np.intp)), cut)

    def note_columns(self, words: Sequence[str], vocabulary: Sequence[str], columns: Columns) -> None:
        """Keep the columns of words in the vocabulary that was learned last from their counts."""
        self._learned[id(words)] = words, vocabulary, columns

    def columns(self, words: Sequence[str], vocabulary: Sequence[str]) -> Columns | None:
        known = self._learned.get(id(words))
        return known[2] if known and known[0] is words and known[1] is vocabulary else None

    def clear(self) -> None:
        self._pieces.clear()
        self._learned.clear()


def _pairs(documents: Documents) -> Iterator[tuple[str, str]]:
    return ((language, text) for language, texts in documents.items() for text in texts)


_counted: ContextVar[_Batches | _Texts | None] = ContextVar("counted", default=None)


@contextmanager
def counted_once(documents: Documents | None = None) -> Iterator[None]:
    """While this lasts, texts are counted once, whatever is learned from them or says something of them.

    Without ``documents`` that holds for texts that several models label, all together each time: half of the
    work. With training documents it holds for any of these, in vocabularies that are learned, too.
    """
    before = _counted.get()
    known = documents is None or (isinstance(before, _Texts) and before.knows(documents))
    if before is None or not known:
        token = _counted.set(_Batches() if documents is None else _Texts(documents))
    else:
        token = _counted.set(before)
    try:
        yield
    finally:
        _counted.reset(token)


def forget_counts() -> None:
    """Free the memory that the counts of training documents take; what is asked for is counted anew."""
    if isinstance(store := _counted.get(), _Texts):
        store.clear()
        _return_freed_memory()


def _return_freed_memory() -> None:
    """Return freed memory to the system, where the C library keeps it: some 100 MB after 11,000 documents."""
    if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)):  # glibc's
        trim(0)


def counts_to_learn_from(counter: Counter, texts: Sequence[str], languages: Languages) -> WordCounts:
    """How often each text has each word; see `counted_once` with documents."""
    store = _counted.get()
    if not isinstance(store, _Texts):
        return count(counter, texts, languages)
    return store.counts(counter, texts, languages)


def counts_to_label(counter: Counter, texts: Sequence[str], languages: Languages) -> WordCounts:
    """How often each text has each word; see `counted_once`."""
    store = _counted.get()
    return count(counter, texts, languages) if store is None else store.counts(counter, texts, languages)


def note_columns(counts: WordCounts, vocabulary: Sequence[str], columns: Columns) -> None:
    """Keep, while training documents are counted once, the columns of all words in a vocabulary."""
    if isinstance(store := _counted.get(), _Texts):
        store.note_columns(counts.words, vocabulary, columns)


def noted_columns(counts: WordCounts, vocabulary: Sequence[str]) -> Columns | None:
    """The columns of all words in a vocabulary, where they are kept."""
    store = _counted.get()
    return store.columns(counts.words, vocabulary) if isinstance(store, _Texts) else None
