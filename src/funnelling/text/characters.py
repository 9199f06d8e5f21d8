"""Texts to vectors over runs of characters, which related words share, in one language or in several."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from funnelling.errors import InputError
from funnelling.text.tfidf import TfidfVectorizer, WordCounts
from funnelling.text.tokens import fold_accents, lower, tidy

EDGE = " "  # stands before and after a chunk, so that its runs show where it begins and ends
BREAK = "\n"  # between chunks, none of which has one


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
        """How often each text has each run. Those of a text are a sum over its chunks."""
        chunks = super().count(texts)
        of_chunks, names = self._runs_of(chunks.words)
        of_texts = csr_array(
            (chunks.frequencies, (chunks.rows, chunks.columns)), (chunks.documents, len(chunks.words))
        )
        found = (of_texts @ of_chunks).tocoo()
        return WordCounts(chunks.documents, names, found.row.astype(np.intp), found.col, found.data)

    def _runs_of(self, chunks: Sequence[str]) -> tuple[csr_array[np.intc], list[str]]:
        """How often each chunk, a row, has each run, and the runs.

        All chunks are cut at once, into runs of one character more at a time: a run is numbered by the number
        of all but its last character, and that one.
        """
        words, owners = self._words(chunks)
        text = "".join(words)
        sizes = np.fromiter(map(len, words), np.intp, len(words))
        ends, sizes, owners = (np.repeat(each, sizes) for each in (np.cumsum(sizes), sizes, owners))
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
        alphabet, letters = np.unique(codes, return_inverse=True)
        starts, numbers, bound = np.arange(len(text)), np.zeros(len(text), np.int64), 1
        names: list[str] = []
        rows, columns = [np.empty(0, np.intp)], [np.empty(0, np.int64)]
        for size in range(1, self._longest() + 1):
            inside = starts + size <= ends[starts]
            starts = starts[inside]
            numbers = numbers[inside] * len(alphabet) + letters[starts + size - 1]
            bound *= len(alphabet)
            if size >= self.length or bound * len(alphabet) >= 2**63:
                _, first, numbers = np.unique(numbers, return_index=True, return_inverse=True)
                bound = len(numbers)
            cut, found = starts, numbers
            if size < self.length:  # a word that is too short is one run
                short = sizes[starts] == size
                cut = starts[short]
                _, first, found = np.unique(numbers[short], return_index=True, return_inverse=True)
            rows.append(owners[cut])
            columns.append(found + len(names))
            names += [text[start : start + size] for start in cut[first].tolist()]
        ones: npt.NDArray[np.intc] = np.ones(sum(map(len, rows)), dtype=np.intc)
        places = (np.concatenate(rows), np.concatenate(columns).astype(np.intc))
        return csr_array((ones, places), (len(chunks), len(names))), names

    def _longest(self) -> int:
        longest = self.length if self.longest is None else self.longest
        if longest < self.length:
            raise InputError(f"longest must be at least length, {self.length}, found {longest}.")
        return longest

    def _words(self, chunks: Sequence[str]) -> tuple[list[str], npt.NDArray[np.intp]]:
        """What is cut, with its edges, and of which chunk each is: one may be spelled as several words."""
        spell = _in_latin if self.latin else fold_accents
        lines = spell(BREAK.join(chunks)).split(BREAK) if chunks else []
        words = [line.split() if self.latin else [line] for line in lines]
        owners = np.repeat(np.arange(len(words)), [len(each) for each in words])
        return [f"{EDGE}{word}{EDGE}" for each in words for word in each], owners

    def _analyser(self, language: str | None) -> Callable[[str], list[str]]:  # noqa: ARG002
        return lambda text: lower(text).split()

    def _least_df(self, df: npt.NDArray[np.intp], n: int) -> int:
        if self.min_df is not None:
            return super()._least_df(df, n)
        least = 5 if n >= 5_000 else 3 if n >= 2_000 else 2 if n >= 30 else 1
        return min(least, int(df.max(initial=1)))


class _Latin(dict[int, str]):
    """How characters are spelled, for ``translate``: letters in Latin ones without accents; signs stay."""

    def __missing__(self, code: int) -> str:
        from anyascii import anyascii  # its tables are not needed before

        character = chr(code)
        self[code] = anyascii(character) if unicodedata.category(character)[0] in "LMN" else character
        return self[code]


_latin = _Latin()


def _in_latin(text: str) -> str:
    """A text with its letters spelled in Latin ones, whatever their script."""
    return text if text.isascii() else lower(tidy(text).translate(_latin))
