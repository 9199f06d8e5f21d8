"""DCI: a word is how strongly it goes with each label, the pivots (Moreo, Esuli, Sebastiani 2016)."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from funnelling.matrices import Floats, Matrix, Targets, product
from funnelling.spaces.base import Documents, OwnWordsSpace
from funnelling.state import SMALLEST, empty_row, expect, expect_by, expect_numbers


class DCISpace(OwnWordsSpace):
    """Documents as tf-idf-weighted sums of their words' correspondences, standardised by language.

    Mean and deviation are those of the language's training documents. The authors take them from each
    batch, which would make a prediction depend on its neighbours.
    """

    def __init__(self, vectorizer: Any = None, verbose: int = 0) -> None:
        self.vectorizer = vectorizer
        self.verbose = verbose

    @property
    def supervised(self) -> bool:
        return True

    def fit(self, documents: Mapping[str, Documents], targets: Mapping[str, Targets]) -> Mapping[str, Matrix]:
        vectors = self._fit_words(documents)
        self.profiles_ = {tag: correspondences(X, targets[tag]) for tag, X in vectors.items()}
        sums = {language: product(X, self.profiles_[language]) for language, X in vectors.items()}
        self.means_ = {language: X.mean(axis=0, dtype=np.float64) for language, X in sums.items()}
        self.deviations_ = {language: _deviations(X) for language, X in sums.items()}
        return {language: self._standardised(language, X) for language, X in sums.items()}

    def vectors(self, language: str, documents: Documents) -> Matrix:
        return self._standardised(
            language, product(self._words(language, documents), self.profiles_[language])
        )

    def check_space(self, languages: Sequence[str], features: int | None) -> Matrix:
        words = self._check_words(languages, features)
        profiles = expect_by(self.profiles_, words, "the profiles of words")
        means = expect_by(self.means_, words, "the means of languages")
        deviations = expect_by(self.deviations_, words, "the deviations of languages")
        expect(words, "the languages of a space")
        width = next(iter(profiles.values())).shape[1]
        for language, columns in words.items():
            expect_numbers(profiles[language], (columns, width), "the profiles of words")
            expect_numbers(means[language], (width,), "the means of a language")
            expect_numbers(deviations[language], (width,), "the deviations of a language", least=SMALLEST)
        pivots: Matrix = empty_row(width, dense=True)
        return pivots

    def _standardised(self, language: str, sums: Floats) -> Floats:
        standardised: Floats = ((sums - self.means_[language]) / self.deviations_[language]).astype(
            np.float32
        )
        return standardised


def correspondences(X: Any, targets: Targets) -> Floats:
    """The linear correspondence of each word f with each label c: P(f|c) + P(not f|not c) - 1.

    The probabilities are shares of documents; for a label that none or all documents have it is 0.

    >>> X = np.array([[1, 1], [1, 0], [0, 1], [0, 0]])
    >>> correspondences(X, np.array([[True], [True], [True], [False]])).astype(float).round(2).tolist()
    [[0.67], [0.67]]
    """
    has = sparse.csr_array(X, dtype=np.float64, copy=True)
    has.data = (has.data != 0).astype(np.float64)
    both = has.T @ targets.astype(np.float64)
    only_word = has.sum(axis=0)[:, None] - both
    positives = targets.sum(axis=0)
    negatives = len(targets) - positives
    # P(not f|not c) - 1 is -P(f|not c).
    values = both / np.maximum(positives, 1) - only_word / np.maximum(negatives, 1)
    values[:, (positives == 0) | (negatives == 0)] = 0
    return values.astype(np.float32)  # type: ignore[no-any-return]


def _deviations(sums: Floats) -> Any:
    """The deviation of each dimension; one that does not vary is left as it is."""
    deviations = sums.std(axis=0, dtype=np.float64)
    return np.where(deviations > 1e-9, deviations, 1.0)
