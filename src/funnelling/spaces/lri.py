"""LRI: the pooled vocabulary, each word an index vector of two non-zeros (Moreo, Esuli, Sebastiani 2016)."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from funnelling.matrices import Floats, Matrix, Targets
from funnelling.randomness import stream
from funnelling.spaces.base import Documents, Resources
from funnelling.spaces.pooled import PooledSpace
from funnelling.state import empty_row, expect_matrix


class LRISpace(PooledSpace):
    """Documents as tf-idf-weighted sums of their words' index vectors."""

    def __init__(
        self, dimensions: int = 25_000, vectorizer: Any = None, random_state: int = 0, verbose: int = 0
    ) -> None:
        super().__init__("lri", vectorizer, verbose)
        self.dimensions = dimensions
        self.random_state = random_state

    @classmethod
    def as_view(cls, resources: Resources, seed: int) -> "LRISpace":
        return cls(random_state=seed, verbose=resources.verbose)

    def fit(self, documents: Mapping[str, Documents], targets: Mapping[str, Targets]) -> Mapping[str, Matrix]:
        vectors = super().fit(documents, targets)
        words = next(iter(vectors.values())).shape[1]
        self.index_ = index_vectors(words, self.dimensions, self.random_state)
        return {language: self._indexed(X) for language, X in vectors.items()}

    def vectors(self, language: str, documents: Documents) -> Matrix:
        return self._indexed(super().vectors(language, documents))

    def check_space(self, languages: Sequence[str], features: int | None) -> Matrix:
        words = super().check_space(languages, features).shape[1]
        expect_matrix(self.index_, (words, None), "the index of a space")
        index: Matrix = empty_row(self.index_.shape[1])
        return index

    def feature_names(self) -> None:
        """An index stands for many words."""

    def _indexed(self, X: Any) -> "sparse.csr_array[np.float32]":
        indexed: sparse.csr_array[np.float32] = sparse.csr_array(X) @ self.index_
        indexed.sort_indices()
        return indexed


def index_vectors(words: int, dimensions: int, seed: int) -> Any:
    """One row per word: ±1/√2 in two different dimensions.

    The first dimension goes round, so that none stays empty; the second is drawn at random. There are
    no more dimensions than words, but at least the two that one word needs.

    >>> index_vectors(3, 25_000, seed=0).shape
    (3, 3)
    """
    dimensions = max(2, min(dimensions, words))
    rng = stream(seed, "lri")
    first = np.arange(words) % dimensions
    second = (first + rng.integers(1, dimensions, words)) % dimensions
    values: Floats = rng.choice(np.array([-1, 1]) / np.sqrt(2), (words, 2)).astype(np.float32)
    columns = np.column_stack([first, second]).astype(np.int32)
    starts = np.arange(0, 2 * words + 1, 2, dtype=np.int32)
    index = sparse.csr_array((values.ravel(), columns.ravel(), starts), (words, dimensions))
    index.sort_indices()
    return index
