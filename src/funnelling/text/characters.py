"""Texts to vectors over character n-grams, which related words share, in one language or in several."""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Annotated, Any, NamedTuple, Self, overload

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from funnelling.errors import InputError
from funnelling.matrices import MAX_INT32_ENTRIES, Matrix, downcast_indices
from funnelling.plain import Estimator, check_fitted, without_caches
from funnelling.runtime.threads import raise_if_cancelled
from funnelling.state import (
    MAX_COLUMNS,
    MIN_DIVISOR,
    Between,
    Foreign,
    Keys,
    Table,
    empty_row,
    expect,
)
from funnelling.text.alignment import aligned
from funnelling.text.counts import WordCounts
from funnelling.text.excerpts import start_within
from funnelling.text.tfidf import FeatureSpans, Idf, TfidfVectorizer
from funnelling.text.tokens import fold_accents, lower, tidy

MAX_NGRAM_LENGTH = 100  # of an n-gram: work grows with them
WORD_BOUNDARY = " "  # stands before and after a chunk, so that its n-grams show where it begins and ends
CHUNK_BREAK = "\n"  # between chunks, none of which has one

# The distinct chunks of one text are cut until they have so many bytes of UTF-8.
MAX_CHUNK_BYTES = 250_000

_word = re.compile(r"\S+")
RunLength = Annotated[int, Between(1, MAX_NGRAM_LENGTH)]


class CharacterVectorizer(TfidfVectorizer):
    """Turn texts into tf-idf vectors over the character n-grams between their blanks.

    Texts are lower-cased and stripped of accents; no language needs to be known. Punctuation stays, for
    ``c++`` and ``x86-64`` mean something. Weights are those of `TfidfVectorizer`. Of a text with
    more distinct chunks between its blanks than `MAX_CHUNK_BYTES`, those that come last are left out, so that
    no text takes long.

    Parameters
    ----------
    length, longest : int, int or None
        N-grams have ``length`` to ``longest`` characters; None means that all have ``length``.
    min_df : int or None
        N-grams in fewer training texts are left out. None means 5 from 5,000 texts on, 3 from 2,000 on, 2
        from 30 on, else 1.
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
        self,
        length: RunLength = 4,
        min_df: int | None = None,
        longest: RunLength | None = None,
        latin: bool = False,
    ) -> None:
        self.length = length
        self.min_df = min_df
        self.longest = longest
        self.latin = latin

    def cut(self, pieces: Sequence[str]) -> _Cut:
        """How often each chunk has each word, and each word each n-gram."""
        words_of_chunks, words = self._words(pieces)
        return _Cut(words_of_chunks, *self._ngrams_of(words))

    def count_in(self, pieces: WordCounts, cut: _Cut) -> WordCounts:
        """How often each text has each n-gram. Those of a text are a sum over its chunks."""
        of_texts = csr_array(
            (pieces.frequencies, (pieces.rows, pieces.columns)), (pieces.documents, len(pieces.words))
        )
        found = (of_texts @ cut.words_of_chunks @ cut.ngrams_of_words).tocoo()
        return WordCounts(pieces.documents, cut.ngrams, found.row.astype(np.intp), found.col, found.data)

    def _ngrams_of(self, words: Sequence[str]) -> tuple[csr_array[np.intc], _NGrams]:
        """How often each word, a row, has each n-gram, and the n-grams."""
        owners = np.repeat(np.arange(len(words), dtype=np.intc), [len(word) for word in words])
        known = _NGrams("".join(words))
        rows, columns = [np.empty(0, np.intc)], [np.empty(0, np.intc)]
        for size, starts, numbers, first in self._cut(words):
            rows.append(owners[starts])
            columns.append((numbers + len(known)).astype(np.intc))
            known.add(first, size)
        ones: npt.NDArray[np.intc] = np.ones(sum(map(len, rows)), dtype=np.intc)
        places = (np.concatenate(rows), np.concatenate(columns))
        return downcast_indices(csr_array((ones, places), (len(words), len(known)))), known

    def _cut(
        self, words: Sequence[str]
    ) -> Iterator[tuple[int, npt.NDArray[np.intp], npt.NDArray[np.int64], npt.NDArray[np.intp]]]:
        """The n-grams of words, size by size: where each starts in all words together, and its number; where
        each number starts first.

        All words are cut at once, into n-grams of one character more at a time: each is numbered by the
        number of all but its last character, and that one.
        """
        text = "".join(words)
        sizes = np.fromiter(map(len, words), np.intp, len(words))
        ends, sizes = np.repeat(np.cumsum(sizes), sizes), np.repeat(sizes, sizes)
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
        alphabet, letters = np.unique(codes, return_inverse=True)
        starts, numbers, bound = np.arange(len(text)), np.zeros(len(text), np.int64), 1
        for size in range(1, self._longest() + 1):
            raise_if_cancelled()
            inside = starts + size <= ends[starts]
            starts = starts[inside]
            numbers = numbers[inside] * len(alphabet) + letters[starts + size - 1]
            bound *= len(alphabet)
            if size >= self.length or bound * len(alphabet) >= 2**63:
                _, first, numbers = np.unique(numbers, return_index=True, return_inverse=True)
                bound = len(numbers)
            cut, found = starts, numbers
            if size < self.length:  # a word that is too short is one n-gram
                short = sizes[starts] == size
                cut = starts[short]
                _, first, found = np.unique(numbers[short], return_index=True, return_inverse=True)
            yield size, cut, found, cut[first]

    def places(self, text: str, language: str | None = None) -> FeatureSpans:
        """Where the n-grams of a text stand in it; edges of words take no room."""
        check_fitted(self, "idf_")
        lowered = aligned(text, lower)
        spelled = aligned(lowered.text, self._spell)
        found = list(_word.finditer(spelled.text))
        words = [f"{WORD_BOUNDARY}{word[0]}{WORD_BOUNDARY}" for word in found]
        # For each character of the words, edges included, where it starts and ends in the text.
        ends = np.array([word.end() for word in found], dtype=np.intp)
        sizes = np.array([len(word) for word in words], dtype=np.intp)
        beyond = np.repeat(np.cumsum(sizes), sizes) - np.arange(int(sizes.sum())) - 1  # before the word's end
        sizes, ends = np.repeat(sizes, sizes), np.repeat(ends, sizes)
        inner = ends - np.clip(beyond, 1, sizes - 2)
        first = lowered.starts[spelled.starts[inner]]
        last = lowered.ends[spelled.ends[inner] - 1]
        first, last = np.where(beyond == 0, last, first), np.where(beyond == sizes - 1, first, last)
        column_of = self._column_of()
        places = [FeatureSpans(*np.empty((3, 0), dtype=np.intp))]
        together = "".join(words)
        for size, cut, numbers, starts in self._cut(words):
            names = (together[start : start + size] for start in starts.tolist())
            columns = np.array([column_of.get(name, -1) for name in names], dtype=np.intp)[numbers]
            known = cut[columns >= 0]
            places.append(FeatureSpans(columns[columns >= 0], first[known], last[known + size - 1]))
        return FeatureSpans(*map(np.concatenate, zip(*places, strict=True)))

    def check_words(self) -> Any:
        self._longest()
        return super().check_words()

    def _longest(self) -> int:
        longest = self.length if self.longest is None else self.longest
        if longest < self.length:
            raise InputError(f"longest must be at least length, {self.length}, found {longest}.")
        return longest

    def _words(self, chunks: Sequence[str]) -> tuple[csr_array[np.intc], list[str]]:
        """How often each chunk, a row, has each word, and the words with their edges: what is cut."""
        lines = self._spell(CHUNK_BREAK.join(chunks)).split(CHUNK_BREAK) if chunks else []
        words = [line.split() if self.latin else [line] for line in lines]
        number_of: defaultdict[str, int] = defaultdict()
        number_of.default_factory = number_of.__len__
        columns = np.array([number_of[word] for each in words for word in each], dtype=np.intc)
        starts = np.concatenate([[0], np.cumsum([len(each) for each in words], dtype=np.intc)])
        ones: npt.NDArray[np.intc] = np.ones(len(columns), dtype=np.intc)
        counts = csr_array((ones, columns, starts), (len(words), len(number_of)))
        return counts, [f"{WORD_BOUNDARY}{word}{WORD_BOUNDARY}" for word in number_of]

    def _spell(self, text: str) -> str:
        return _in_latin(text) if self.latin else fold_accents(text)

    def _analyser(self, language: str | None) -> Callable[[str], list[str]]:
        return _chunks

    def _least_df(self, df: npt.NDArray[np.intp], n: int) -> int:
        if self.min_df is not None:
            return super()._least_df(df, n)
        least = 5 if n >= 5_000 else 3 if n >= 2_000 else 2 if n >= 30 else 1
        return min(least, int(df.max(initial=1)))


class _NGrams(Sequence[str]):
    """Distinct n-grams of a text, each cut when it is asked for: most are too rare for any vocabulary."""

    def __init__(self, text: str) -> None:
        self._text = text
        # A single number of an `array` is read several times as fast as one of NumPy's.
        self._starts, self._sizes = array("i" if len(text) < MAX_INT32_ENTRIES else "q"), array("b")

    def add(self, starts: npt.NDArray[np.intp], size: int) -> None:
        """Add n-grams of one size."""
        self._starts.frombytes(starts.astype(self._starts.typecode).tobytes())
        self._sizes.extend(repeat(size, len(starts)))

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, number: int) -> str: ...
    @overload
    def __getitem__(self, number: slice) -> list[str]: ...
    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(len(self)))]
        start = self._starts[number]
        return self._text[start : start + self._sizes[number]]


class _Cut(NamedTuple):
    """What chunks consist of: words with their edges, and these of n-grams."""

    words_of_chunks: csr_array[np.intc]
    ngrams_of_words: csr_array[np.intc]
    ngrams: _NGrams


def _chunks(text: str) -> list[str]:
    """What stands between the blanks of a text, in lower case, as far as it is cut."""
    chunks = lower(text).split()
    if len(text) <= MAX_CHUNK_BYTES // 4:  # none has more bytes
        return chunks
    distinct = list(dict.fromkeys(chunks))
    kept = start_within(CHUNK_BREAK.join(distinct), MAX_CHUNK_BYTES).split(CHUNK_BREAK)
    return list(filter(None, map(dict(zip(distinct, kept, strict=False)).get, chunks)))


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


@dataclass(eq=False, repr=False)
class WordsAndCharactersVectorizer(Estimator):
    """Turn texts into scikit-learn's tf-idf of words, beside its tf-idf of two to five characters of a word.

    The vectors are those of a `FeatureUnion`. It is kept as terms and their idf: saved as it is, each of its
    hundreds of thousands of terms would be an object of its own. ``sublinear_tf`` and ``min_df`` are its.

    >>> vectorizer = WordsAndCharactersVectorizer().fit(["Black tea"])
    >>> vectorizer.terms_["words"], vectorizer.terms_["characters"][:4]
    (['black', 'tea'], [' b', ' bl', ' bla', ' blac'])
    """

    sublinear_tf: bool = True
    min_df: Annotated[int, Between(1, MAX_COLUMNS)] = 1
    terms_: Annotated[dict[str, list[str]], Keys("parts")] = field(init=False)
    idf_: Annotated[dict[str, Annotated[Idf, Table((None,), least=MIN_DIVISOR)]], Keys("parts")] = field(
        init=False
    )

    __getstate__ = without_caches

    def fit(self, texts: Sequence[str], y: object = None) -> Self:
        """Learn terms and their idf."""
        self.fit_transform(texts)
        return self

    def fit_transform(self, texts: Sequence[str], y: object = None) -> Matrix:
        """Learn terms and their idf, and return the texts' vectors."""
        union = self._unfitted_union()
        try:
            X: Matrix = union.fit_transform(texts)
        except ValueError as error:  # scikit-learn takes no word of one letter
            raise InputError(
                f"no word of two letters or more is in {self.min_df} of the training documents. Give longer "
                "texts or more, or choose another method."
            ) from error
        self.terms_ = {name: list(part.get_feature_names_out()) for name, part in union.transformer_list}
        self.idf_ = {name: np.asarray(part.idf_) for name, part in union.transformer_list}
        self._union = union
        return X

    def transform(self, texts: Sequence[str]) -> Matrix:
        """Return one row per text."""
        X: Matrix = self._fitted_union().transform(texts)
        return X

    def check_words(self) -> Any:
        """Refuse a state that could not make vectors; gives the vector of a text without a known term."""
        expect(self.idf_.keys() == {"words", "characters"}, "the idf of terms")
        for name, terms in self.terms_.items():
            expect(len(set(terms)) == len(terms) == len(self.idf_[name]) > 0, "the terms of a vocabulary")
        return empty_row(sum(map(len, self.terms_.values())))

    def get_feature_names_out(self, input_features: object = None) -> npt.NDArray[np.object_]:
        """Return the terms as scikit-learn names them, ``words__tea`` or ``characters__ea``."""
        names: npt.NDArray[np.object_] = self._fitted_union().get_feature_names_out()
        return names

    def _fitted_union(self) -> Any:
        """The fitted union, made anew where the terms come from a saved model."""
        check_fitted(self, "idf_")
        union: Any = getattr(self, "_union", None)
        if union is None:
            union = self._unfitted_union()
            for name, part in union.transformer_list:
                part.set_params(vocabulary=self.terms_[name])
                part.idf_ = self.idf_[name]
            self._union = union
        return union

    def _unfitted_union(self) -> Any:
        """The union, not yet fitted."""
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.pipeline import FeatureUnion

        given = {"sublinear_tf": self.sublinear_tf, "min_df": self.min_df}
        return FeatureUnion(
            [
                ("words", TfidfVectorizer(**given)),
                ("characters", TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), **given)),
            ]
        )


# What makes vectors of texts, and what such is cloned from: one for all languages, or each its own.
Vectorizer = Annotated[Any, TfidfVectorizer | CharacterVectorizer | WordsAndCharactersVectorizer | Foreign]
Template = Annotated[Any, Mapping[str, Vectorizer | None] | Vectorizer | None]
