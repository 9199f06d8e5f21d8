"""Spaces in which a word is known by labels, or by a random index: LRI, DCI and word-class embeddings."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from funnelling.matrices import Floats, Matrix, Targets, product, stacked, unit_rows
from funnelling.randomness import stream
from funnelling.spaces.base import Documents, MonolingualBowSpace, Resources, width_of
from funnelling.spaces.words import PooledSpace
from funnelling.state import MIN_DIVISOR, Keys, Seed, empty_row, expect, matrix, numbers
from funnelling.text.characters import Template

Doubles = npt.NDArray[np.float64]


class LRISpace(PooledSpace):
    """Documents as tf-idf-weighted sums of their words' index vectors."""

    index_: Annotated[Any, matrix(None, None)]

    def __init__(
        self, dimensions: int = 25_000, vectorizer: Template = None, random_state: Seed = 0, verbose: int = 0
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
        return {language: self._projected(X) for language, X in vectors.items()}

    def check_space(self, languages: Sequence[str], features: int | None) -> Matrix:
        words = super().check_space(languages, features).shape[1]
        expect(self.index_.shape[0] == words, "the index of a space")
        return empty_row(self.index_.shape[1])

    def feature_names(self) -> None:
        """An index stands for many words."""

    def _projected(self, words: Any) -> "sparse.csr_array[np.float32]":
        indexed: sparse.csr_array[np.float32] = sparse.csr_array(words) @ self.index_
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


class DCISpace(MonolingualBowSpace):
    """Documents as tf-idf-weighted sums of their words' correspondences, standardised by language.

    Mean and deviation are those of the language's training documents. The authors take them from each
    batch, which would make a prediction depend on its neighbours.
    """

    profiles_: Annotated[dict[str, Annotated[Floats, numbers(None, "pivots")]], Keys("languages")]
    means_: Annotated[dict[str, Annotated[Doubles, numbers("pivots")]], Keys("languages")]
    deviations_: Annotated[
        dict[str, Annotated[Doubles, numbers("pivots", least=MIN_DIVISOR)]], Keys("languages")
    ]

    def __init__(self, vectorizer: Template = None, verbose: int = 0) -> None:
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
        deviations = {language: X.std(axis=0, dtype=np.float64) for language, X in sums.items()}
        # A dimension that does not vary is left as it is.
        self.deviations_ = {tag: np.where(each > 1e-9, each, 1.0) for tag, each in deviations.items()}
        return {language: self._standardised(language, X) for language, X in sums.items()}

    def check_space(self, languages: Sequence[str], features: int | None) -> Matrix:
        words = self._check_words(languages, features)
        return empty_row(width_of(self.profiles_, words), dense=True)

    def _projected(self, language: str, words: Any) -> Floats:
        return self._standardised(language, product(words, self.profiles_[language]))

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


class WCESpace(PooledSpace):
    """Documents as tf-idf-weighted sums of their words' embeddings, of unit length.

    A word's embedding is its correspondence with each label, over the documents of all languages, each
    dimension divided by its deviation over the words, so that rare labels count as much as frequent ones.
    """

    dense = True
    words_: Annotated[Floats, numbers(None, None)]

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
        return {language: self._projected(X) for language, X in vectors.items()}

    def check_space(self, languages: Sequence[str], features: int | None) -> Matrix:
        words = super().check_space(languages, features).shape[1]
        expect(len(self.words_) == words, "word embeddings")
        return empty_row(self.words_.shape[1], dense=True)

    def feature_names(self) -> None:
        """A dimension stands for a label, not for a word."""

    def _projected(self, words: Any) -> Floats:
        return unit_rows(product(words, self.words_))
