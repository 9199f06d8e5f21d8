"""Words as numbers: which words have a vector of their own, and what is read of a document."""

from pathlib import Path

import numpy as np
import pytest

from funnelling.research.lstm_words import fit_vocabulary, number_words, read_words
from funnelling.spaces.word_vectors import WordVectors, write_vectors


@pytest.fixture
def path(tmp_path: Path) -> Path:
    vectors = WordVectors(["cat", "café", "dog"], np.eye(3, dtype=np.float32), np.arange(3))
    write_vectors(tmp_path / "en.vec", vectors)
    return tmp_path / "en.vec"


def test_words_are_read_as_they_stand() -> None:
    assert read_words("en", ["The cats, THE café", ""]) == [["the", "cats", "the", "café"], []]
    assert read_words("tr-TR", ["DIŞ"]) == [["dış"]]


def test_words_with_a_vector_and_words_that_are_no_rarities(path: Path) -> None:
    vocabulary = fit_vocabulary([["café", "unix", "cat"], ["unix", "unix", "cat"], ["solaris"]], path)
    assert vocabulary.words == ["café", "cat", "unix"]
    np.testing.assert_array_equal(vocabulary.table[:2], np.zeros((2, 3)))  # padding and unknown words
    np.testing.assert_array_equal(vocabulary.table[2:], [[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    assert vocabulary.coverage == 3 / 6


def test_documents_without_words(path: Path) -> None:
    vocabulary = fit_vocabulary([[], []], path)
    assert vocabulary.words == []
    assert vocabulary.table.shape == (2, 3)
    assert vocabulary.coverage == 1
    np.testing.assert_array_equal(number_words([[], []], vocabulary.words, 4), np.zeros((2, 4)))


def test_the_last_words_are_numbered() -> None:
    rows = number_words([["a", "b", "c"], ["b"]], ["b", "c"], length=2)
    np.testing.assert_array_equal(rows, [[2, 3], [2, 0]])
