"""Texts to vectors over runs of characters, which related words share, in one language or in several."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from funnelling.text.tfidf import TfidfVectorizer
from funnelling.text.tokens import fold_accents, lower

EDGE = " "  # stands before and after a chunk, so that its runs show where it begins and ends
LONGEST_CACHED = 50  # characters of a chunk whose runs are cached


class CharacterVectorizer(TfidfVectorizer):
    """Turn texts into tf-idf vectors over the runs of ``length`` characters between their blanks.

    Texts are lower-cased and stripped of accents; no language needs to be known. Punctuation stays, for
    ``c++`` and ``x86-64`` mean something. Weights are those of `TfidfVectorizer`.

    >>> CharacterVectorizer(min_df=1).fit(["Musik", "música", "C++"]).vocabulary_
    [' c++', ' mus', 'c++ ', 'ica ', 'musi', 'sica', 'sik ', 'usic', 'usik']
    """

    language = None

    def __init__(self, length: int = 4, min_df: int | None = None) -> None:
        self.length = length
        self.min_df = min_df

    def _analyser(self, language: str | None) -> Callable[[str], list[str]]:  # noqa: ARG002
        return self._runs

    def _runs(self, text: str) -> list[str]:
        chunks = fold_accents(lower(text)).split()
        return [
            run
            for chunk in chunks
            for run in (_cached_runs if len(chunk) <= LONGEST_CACHED else runs)(chunk, self.length)
        ]


def runs(chunk: str, length: int) -> tuple[str, ...]:
    """The runs of ``length`` characters in a chunk and its edges; a chunk too short for that is one run.

    >>> runs("cafe", 4)
    (' caf', 'cafe', 'afe ')
    """
    text = f"{EDGE}{chunk}{EDGE}"
    return tuple(text[start : start + length] for start in range(max(1, len(text) - length + 1)))


_cached_runs = lru_cache(maxsize=200_000)(runs)
