"""Pooled: one vocabulary for all languages, so that a word that two languages share is one feature."""

from collections.abc import Mapping, Sequence
from typing import Any

from funnelling.matrices import Matrix, Targets
from funnelling.spaces.base import Documents, Space, are_texts, check_one_width
from funnelling.state import empty_row, expect
from funnelling.text.languages import is_language
from funnelling.text.tfidf import (
    Places,
    TfidfVectorizer,
    all_shared_vectors,
    check_vectorizer,
    feature_names,
    feature_places,
    fit_shared,
    shared_vectors,
)


class PooledSpace(Space):
    """Documents as tf-idf vectors over one vocabulary.

    It takes any language: names, numbers and loan words are known in all.
    """

    dense = False

    def __init__(self, name: str = "pooled", vectorizer: Any = None, verbose: int = 0) -> None:
        self.name = name
        self.vectorizer = vectorizer
        self.verbose = verbose

    def fit(self, documents: Mapping[str, Documents], targets: Mapping[str, Targets]) -> Mapping[str, Matrix]:  # noqa: ARG002
        if are_texts(documents):
            self.vectorizer_, vectors = fit_shared(documents, self.vectorizer, bool(self.verbose))
            return vectors
        check_one_width(documents, self.name)
        self.vectorizer_ = None  # the user gave vectors
        return dict(documents)

    def vectors(self, language: str, documents: Documents) -> Matrix:
        X: Matrix = (
            documents if self.vectorizer_ is None else shared_vectors(self.vectorizer_, language, documents)
        )
        return X

    def all_vectors(self, documents: Mapping[str, Documents]) -> Mapping[str, Matrix]:
        if not isinstance(self.vectorizer_, TfidfVectorizer):
            return super().all_vectors(documents)
        return all_shared_vectors(self.vectorizer_, documents)

    def check_space(self, languages: Sequence[str], features: int | None) -> Matrix:  # noqa: ARG002
        expect((self.vectorizer_ is None) == (features is not None), "the vocabulary of a space")
        vectors: Matrix = check_vectorizer(self.vectorizer_) if features is None else empty_row(features)
        return vectors

    def feature_names(self) -> Sequence[str] | None:
        return feature_names(self.vectorizer_)

    def places(self, language: str, text: str) -> Places | None:
        return feature_places(self.vectorizer_, text, language)

    def serves(self, language: str) -> bool:
        # Vectors of the user's own may come from a language of any name, and mean anything.
        return is_language(language) and getattr(self, "vectorizer_", True) is not None
