"""The view of word-class embeddings: a word is how strongly it goes with each label (Moreo et al. 2021)."""

from collections.abc import Mapping, Sequence

import numpy as np

from funnelling.matrices import Floats, Matrix, Targets, product, stacked, unit_rows
from funnelling.spaces.base import Documents
from funnelling.spaces.dci import correspondences
from funnelling.spaces.pooled import PooledSpace
from funnelling.state import empty_row, expect_numbers


class WCESpace(PooledSpace):
    """Documents as tf-idf-weighted sums of their words' embeddings, of unit length.

    A word's embedding is its correspondence with each label, over the documents of all languages, each
    dimension divided by its deviation over the words, so that rare labels count as much as frequent ones.
    """

    dense = True

    def __init__(self, verbose: int = 0) -> None:
        super().__init__("wce", verbose=verbose)

    @property
    def supervised(self) -> bool:
        return True

    def fit(self, documents: Mapping[str, Documents], targets: Mapping[str, Targets]) -> Mapping[str, Matrix]:
        vectors = super().fit(documents, targets)
        words = correspondences(stacked(vectors), np.vstack(list(targets.values())))
        # Texts may hold no word at all.
        deviations = words.std(axis=0, dtype=np.float64) if len(words) else np.ones(words.shape[1])
        self.words_ = (words / np.where(deviations > 0, deviations, 1)).astype(np.float32)
        return {language: self._embedded(X) for language, X in vectors.items()}

    def vectors(self, language: str, documents: Documents) -> Matrix:
        return self._embedded(super().vectors(language, documents))

    def check_space(self, languages: Sequence[str], features: int | None) -> Matrix:
        expect_numbers(
            self.words_, (super().check_space(languages, features).shape[1], None), "word embeddings"
        )
        embedded: Matrix = empty_row(self.words_.shape[1], dense=True)
        return embedded

    def feature_names(self) -> None:
        """A dimension stands for a label, not for a word."""

    def _embedded(self, X: Matrix) -> Floats:
        return unit_rows(product(X, self.words_))
