"""Texts to vectors in which thousands of labels can be told apart: words, and runs of their characters."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from funnelling.matrices import canonical
from funnelling.state import expect
from funnelling.text.characters import CharacterVectorizer
from funnelling.text.tfidf import Places, TfidfVectorizer

# The share of words in the squared length of a vector, and the characters of a run. Chosen on held-out
# training titles of three languages: one length does nearly as well as three to six, for a third of the work.
WORDS = 0.3
RUN = 4


@dataclass(frozen=True)
class TextVectors:
    """Vectors of unit length: the tf-idf of words, reduced to lemmas, beside that of runs of characters.

    A word that one document has stays: a rare label may have no other.
    """

    words: TfidfVectorizer
    characters: CharacterVectorizer

    @classmethod
    def fitted(cls, texts: list[str], language: str) -> tuple[Self, Any]:
        """Learned from the texts of a language, and their vectors; names of labels may be among them."""
        made = cls(TfidfVectorizer(language, min_df=1), CharacterVectorizer(RUN, min_df=2))
        return made, _beside(made.words.fit_transform(texts), made.characters.fit_transform(texts))

    def __call__(self, texts: list[str]) -> Any:
        """The vectors of texts."""
        return _beside(self.words.transform(texts), self.characters.transform(texts))

    @property
    def width(self) -> int:
        return len(self.words.vocabulary_) + len(self.characters.vocabulary_)

    def names(self) -> list[str]:
        """What the columns stand for: words, then runs of characters, which begin with a tab here.

        A run may be spelled like a word, and is another feature.
        """
        return [*self.words.vocabulary_, *(f"\t{run}" for run in self.characters.vocabulary_)]

    def places(self, text: str) -> Places:
        """Where the features of a text stand in it."""
        words, runs = self.words.places(text), self.characters.places(text)
        shifted = runs._replace(columns=runs.columns + len(self.words.vocabulary_))
        return Places(*map(np.concatenate, zip(words, shifted, strict=True)))

    def check(self) -> int:
        """Refuse a state that could not make vectors; how wide they are."""
        expect(isinstance(self.words, TfidfVectorizer), "the words of a view")
        expect(isinstance(self.characters, CharacterVectorizer), "the characters of a view")
        self.words.check_words()
        self.characters.check_words()
        return self.width


def unit_rows(X: Any) -> Any:
    """A user's own vectors, sparse, brought to length 1, which weights and prototypes are made for.

    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).toarray().round(2).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    rows: Any = canonical(X).astype(np.float64)
    sizes = np.diff(rows.indptr)
    numbers = np.repeat(np.arange(len(sizes)), sizes)
    lengths = np.sqrt(np.bincount(numbers, rows.data**2, minlength=len(sizes)))
    return sparse.csr_array(
        ((rows.data / lengths[numbers]).astype(np.float32), rows.indices, rows.indptr), rows.shape
    )


def _beside(words: Any, characters: Any) -> Any:
    """Two halves of a vector, which has length 1 even where one of them is empty."""
    shares = np.array([WORDS, 1 - WORDS])
    filled = np.column_stack([np.diff(half.indptr) > 0 for half in (words, characters)])
    lengths = np.sqrt((filled * shares).sum(axis=1))
    scales: npt.NDArray[np.float64] = np.sqrt(shares) / np.where(lengths > 0, lengths, 1)[:, None]
    scaled = [
        sparse.csr_array(
            (
                half.data * np.repeat(scale, np.diff(half.indptr)).astype(np.float32),
                half.indices,
                half.indptr,
            ),
            half.shape,
        )
        for half, scale in zip((words, characters), scales.T, strict=True)
    ]
    return sparse.csr_array(sparse.hstack(scaled, format="csr"))
