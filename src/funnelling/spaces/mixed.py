"""Words and runs of characters side by side in one space: what a document is about, and how it is spelled."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from scipy import sparse

from funnelling.matrices import Matrix, Targets
from funnelling.runtime.progress import progress_bar
from funnelling.runtime.threads import in_threads
from funnelling.spaces.base import Documents, Resources, Space, check_texts
from funnelling.spaces.characters import CharacterSpace
from funnelling.spaces.pooled import PooledSpace
from funnelling.state import empty_row, expect
from funnelling.text.languages import is_language
from funnelling.text.tfidf import Places, TfidfVectorizer

HALF = np.float32(np.sqrt(0.5))  # each half of a vector has this length: the whole has 1, if neither is empty


class MixedSpace(Space):
    """Documents as tf-idf vectors over words and over runs of characters, one vocabulary for all languages.

    Words are reduced as in ``pooled``, but rare ones stay: what they share with others their characters say.
    """

    dense = False
    _begun: dict[str, Any]
    _jobs: int | None = None

    def __init__(self, verbose: int = 0) -> None:
        self.verbose = verbose

    @classmethod
    def as_view(cls, resources: Resources, seed: int) -> Self:
        space = super().as_view(resources, seed)
        space._begun, space._jobs = resources.begun, resources.n_jobs
        return space

    def fit(self, documents: Mapping[str, Documents], targets: Mapping[str, Targets]) -> Mapping[str, Matrix]:
        """Learn the space, or take it from one of the kind that has learned it from these documents."""
        begun = getattr(self, "_begun", {})
        if not begun or not _are_same(begun["documents"], documents):
            begun |= {"documents": dict(documents), "vectors": self._fit(documents, targets), "space": self}
        self.words_, self.characters_ = begun["space"].words_, begun["space"].characters_
        vectors: Mapping[str, Matrix] = begun["vectors"]
        return vectors

    def _fit(
        self, documents: Mapping[str, Documents], targets: Mapping[str, Targets]
    ) -> Mapping[str, Matrix]:
        check_texts(documents, "mixed", "the vocabulary")
        size = sum(map(len, documents.values()))
        self.words_ = PooledSpace(vectorizer=TfidfVectorizer(min_df=rarest_word(size)))
        self.characters_ = CharacterSpace.as_view(Resources(), 0)
        spaces = (self.words_, self.characters_)
        with progress_bar("words and characters", size, bool(self.verbose), "documents") as advance:
            words, characters = in_threads(lambda each: spaces[each].fit(documents, targets), 2, self._jobs)
            advance(size)
        return {language: _beside(words[language], characters[language]) for language in documents}

    def vectors(self, language: str, documents: Documents) -> Matrix:
        return _beside(
            self.words_.vectors(language, documents), self.characters_.vectors(language, documents)
        )

    def all_vectors(self, documents: Mapping[str, Documents]) -> Mapping[str, Matrix]:
        """Vectors in the space, or those that another space of the kind has made of these documents."""
        begun = getattr(self, "_begun", {})
        vectors: Mapping[str, Matrix]
        asked, vectors = begun.get("asked", ({}, {}))
        if not asked or not _are_same(asked, documents) or begun["space"].words_ is not self.words_:
            words, characters = (half.all_vectors(documents) for half in (self.words_, self.characters_))
            vectors = {language: _beside(words[language], characters[language]) for language in documents}
            if begun:
                begun["asked"] = dict(documents), vectors
        return vectors

    def check_space(self, languages: Sequence[str], features: int | None) -> Matrix:
        halves = (self.words_, self.characters_)
        expect(
            isinstance(self.words_, PooledSpace) and isinstance(self.characters_, CharacterSpace),
            "the halves of a space",
        )
        widths = [half.check_space(languages, features).shape[1] for half in halves]
        expect(all(isinstance(half.vectorizer_, TfidfVectorizer) for half in halves), "the halves of a space")
        both: Matrix = empty_row(sum(widths))
        return both

    def feature_names(self) -> Sequence[str] | None:
        return [*(self.words_.feature_names() or []), *(self.characters_.feature_names() or [])]

    def places(self, language: str, text: str) -> Places | None:
        words, characters = self.words_.places(language, text), self.characters_.places(language, text)
        assert words is not None
        assert characters is not None  # both are of our own vectorizers
        known: TfidfVectorizer = self.words_.vectorizer_
        shifted = characters._replace(columns=characters.columns + len(known.vocabulary_))
        return Places(*map(np.concatenate, zip(words, shifted, strict=True)))

    def serves(self, language: str) -> bool:
        return is_language(language)


def _are_same(some: Mapping[str, Documents], others: Mapping[str, Documents]) -> bool:
    """Whether these are the very same documents, not only equal ones."""
    return list(some) == list(others) and all(some[tag] is others[tag] for tag in some)


def rarest_word(documents: int) -> int:
    """In how many documents a word must be: where they are few, a word of one says much.

    >>> rarest_word(1_000), rarest_word(10_000), rarest_word(100_000)
    (1, 2, 3)
    """
    return 1 if documents < 2_000 else 2 if documents < 50_000 else 3


def _beside(words: Any, characters: Any) -> Matrix:
    beside: Matrix = sparse.hstack([words * HALF, characters * HALF], format="csr")
    return beside
