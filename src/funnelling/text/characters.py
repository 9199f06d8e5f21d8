"""Texts to vectors over runs of characters, which related words share, in one language or in several."""

from __future__ import annotations

import unicodedata
from array import array
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from funnelling.estimator import check_fitted
from funnelling.text.tfidf import TfidfVectorizer, WordCounts
from funnelling.text.tokens import fold_accents, lower, tidy

EDGE = " "  # stands before and after a chunk, so that its runs show where it begins and ends
LONGEST_CACHED = 16  # characters of a chunk whose runs are cached: those of all chunks take 80 MB at most


class CharacterVectorizer(TfidfVectorizer):
    """Turn texts into tf-idf vectors over the runs of characters between their blanks.

    Texts are lower-cased and stripped of accents; no language needs to be known. Punctuation stays, for
    ``c++`` and ``x86-64`` mean something. Weights are those of `TfidfVectorizer`.

    Parameters
    ----------
    length, longest : int, int or None
        Runs have ``length`` to ``longest`` characters; None means that all have ``length``.
    min_df : int or None
        Runs in fewer training texts are left out. None means 5 from 5,000 texts on, 3 from 2,000 on, 2 from
        30 on, else 1.
    latin : bool
        Whether other scripts are spelled in Latin letters, so that names and loan words meet.

    Examples
    --------
    >>> CharacterVectorizer(min_df=1).fit(["Musik", "música", "C++"]).vocabulary_
    [' c++', ' mus', 'c++ ', 'ica ', 'musi', 'sica', 'sik ', 'usic', 'usik']
    >>> CharacterVectorizer(5, latin=True, min_df=3).fit(["Telefon", "телефон", "τηλέφωνο"]).vocabulary_
    ['lefon']
    """

    language = None

    def __init__(
        self, length: int = 4, min_df: int | None = None, longest: int | None = None, latin: bool = False
    ) -> None:
        self.length = length
        self.min_df = min_df
        self.longest = longest
        self.latin = latin

    def count(self, texts: Iterable[str], languages: Sequence[str] | None = None) -> WordCounts:  # noqa: ARG002
        """How often each text has each run."""
        return self._count(texts)

    def transform(
        self,
        texts: Iterable[str],
        *,
        languages: Sequence[str] | None = None,  # noqa: ARG002
    ) -> csr_array[np.float32]:
        """Return one row per text, as `TfidfVectorizer` does; runs that are not known are not kept."""
        check_fitted(self, "idf_")
        return self.weigh(self._count(texts, self._column_of()))

    def _count(self, texts: Iterable[str], known: Container[str] | None = None) -> WordCounts:
        """Runs are cut once from each different chunk: those of a text are a sum over its chunks."""
        chunks = super().count(texts)
        of_chunks, names = self._runs_of(chunks.words, known)
        of_texts = csr_array(
            (chunks.frequencies, (chunks.rows, chunks.columns)), (chunks.documents, len(chunks.words))
        )
        found = (of_texts @ of_chunks).tocoo()
        return WordCounts(chunks.documents, names, found.row.astype(np.intp), found.col, found.data)

    def _runs_of(
        self, chunks: Iterable[str], known: Container[str] | None
    ) -> tuple[csr_array[np.intc], list[str]]:
        """How often each chunk has each run, and the runs: all, or those that are known."""
        columns: defaultdict[str, int] = defaultdict()
        columns.default_factory = columns.__len__
        ends, numbers = array("q", [0]), array("i")
        longest = self.length if self.longest is None else self.longest
        for chunk in chunks:
            cut = _cached_runs if len(chunk) <= LONGEST_CACHED else runs
            found: Iterable[str] = cut(chunk, self.length, longest, self.latin)
            if known is not None:
                found = filter(known.__contains__, found)
            numbers.extend(map(columns.__getitem__, found))
            ends.append(len(numbers))
        ones: npt.NDArray[np.intc] = np.ones(len(numbers), dtype=np.intc)
        matrix = csr_array((ones, np.asarray(numbers), np.asarray(ends)), (len(ends) - 1, len(columns)))
        matrix.sum_duplicates()
        return matrix, list(columns)

    def _analyser(self, language: str | None) -> Callable[[str], list[str]]:  # noqa: ARG002
        return lambda text: lower(text).split()

    def _least_df(self, df: npt.NDArray[np.intp], n: int) -> int:
        if self.min_df is not None:
            return super()._least_df(df, n)
        least = 5 if n >= 5_000 else 3 if n >= 2_000 else 2 if n >= 30 else 1
        return min(least, int(df.max(initial=1)))


def runs(chunk: str, length: int, longest: int, latin: bool = False) -> Iterator[str]:
    """The runs of ``length`` to ``longest`` characters in a chunk and its edges; one too short is one run.

    >>> list(runs("cafe", 4, 4)), list(runs("кофе", 5, 6, latin=True))
    ([' caf', 'cafe', 'afe '], [' kofe', 'kofe ', ' kofe '])
    """
    for word in _in_latin(chunk).split() if latin else [fold_accents(chunk)]:
        text = f"{EDGE}{word}{EDGE}"
        if len(text) <= length:
            yield text
            continue
        for size in range(length, min(longest, len(text)) + 1):
            for start in range(len(text) - size + 1):
                yield text[start : start + size]


@lru_cache(maxsize=20_000)
def _cached_runs(chunk: str, length: int, longest: int, latin: bool) -> Iterable[str]:
    return tuple(runs(chunk, length, longest, latin))


def _in_latin(chunk: str) -> str:
    """A chunk with its letters spelled in Latin ones without accents, whatever their script; signs stay."""
    if chunk.isascii():
        return chunk
    from anyascii import anyascii  # its tables are not needed before

    spelled = (anyascii(each) if unicodedata.category(each)[0] in "LMN" else each for each in tidy(chunk))
    return lower("".join(spelled))
