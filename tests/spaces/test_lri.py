"""LRI's index vectors: two non-zeros each, no dimension empty."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from funnelling.spaces.labels import LRISpace, index_vectors
from funnelling.spaces.words import PooledSpace

TEXTS = {"en": ["unix kernel", "green tea", "unix tea"], "it": ["unix nero", "verde", "unix verde"]}
NO_TARGETS = {language: np.zeros((3, 1), dtype=bool) for language in TEXTS}


@given(st.integers(1, 300), st.integers(1, 200), st.integers(0, 5))
def test_an_index_vector_has_exactly_two_non_zeros_and_no_dimension_is_empty(
    words: int, dimensions: int, seed: int
) -> None:
    index = index_vectors(words, dimensions, seed).toarray()
    assert index.shape == (words, max(2, min(words, dimensions)))
    assert (np.count_nonzero(index, axis=1) == 2).all()
    np.testing.assert_allclose(np.abs(index[index != 0]), 1 / np.sqrt(2))
    assert index.any(axis=0).all()


def test_the_first_dimensions_go_round_and_the_second_are_drawn() -> None:
    index = index_vectors(1_000, 100, seed=0).toarray() != 0
    assert all(index[word, word % 100] for word in range(1_000))
    assert not np.array_equal(index, index_vectors(1_000, 100, seed=1).toarray() != 0)
    np.testing.assert_array_equal(index, index_vectors(1_000, 100, seed=0).toarray() != 0)


def test_a_document_is_the_weighted_sum_of_its_words() -> None:
    space = LRISpace(random_state=3)
    vectors = space.fit(TEXTS, NO_TARGETS)
    weights = PooledSpace().fit(TEXTS, NO_TARGETS)
    for language in TEXTS:
        expected = weights[language].toarray() @ space.index_.toarray()
        np.testing.assert_allclose(vectors[language].toarray(), expected, atol=1e-6)
        np.testing.assert_array_equal(
            vectors[language].toarray(), space.vectors(language, TEXTS[language]).toarray()
        )


def test_a_word_of_two_languages_is_one_feature() -> None:
    space = LRISpace(random_state=0)
    space.fit(TEXTS, NO_TARGETS)
    unix = [space.vectors(language, ["unix"]).toarray() for language in ("en", "it", "fr")]
    assert unix[0].any()
    np.testing.assert_array_equal(unix[0], unix[1])
    np.testing.assert_array_equal(unix[0], unix[2])


def test_texts_without_words_are_zeros() -> None:
    space = LRISpace(random_state=0)
    vectors = space.fit({"en": ["", ""]}, {"en": np.zeros((2, 1), dtype=bool)})
    assert vectors["en"].shape == (2, 2)
    assert vectors["en"].nnz == 0


@pytest.mark.parametrize(
    ("language", "served"), [("fr", True), ("pt_BR", True), ("xx", False), ("no one", False)]
)
def test_any_real_language_is_served(language: str, served: bool) -> None:
    assert LRISpace().serves(language) == served
