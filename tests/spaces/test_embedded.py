"""MLE's space: means of word vectors, coverage told, languages without training documents."""

import logging
from pathlib import Path

import numpy as np
import pytest

from funnelling.corpus.reference import Reference
from funnelling.errors import InputError
from funnelling.spaces.embedded import EmbeddedSpace
from funnelling.spaces.word_vectors import WordVectors, write_vectors

VECTORS = {
    "en": {"cat": [1, 0], "dog": [0, 1], "horse": [0.5, 0.5]},
    "it": {"gatto": [1, 0], "cane": [0, 1], "caffè": [2, 2]},
    "fr": {"chat": [1, 0], "chien": [0, 1], "maison": [-1, 0]},
}
DOCUMENTS = {"en": ["cat cat", "dog", "cat dog unicorn"], "it": ["gatto", "cane", "caffè"]}
NO_TARGETS = {language: np.zeros((3, 1), dtype=bool) for language in DOCUMENTS}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for language, vectors in VECTORS.items():
        matrix = np.array(list(vectors.values()), dtype=np.float32)
        write_vectors(
            tmp_path / f"{language}.vec", WordVectors(list(vectors), matrix, np.arange(len(vectors)))
        )
    return tmp_path


def test_a_document_is_the_tf_idf_weighted_mean_of_its_words(folder: Path) -> None:
    vectors = EmbeddedSpace(folder).fit(DOCUMENTS, NO_TARGETS)
    np.testing.assert_allclose(vectors["en"][0], [1, 0])
    np.testing.assert_allclose(vectors["en"][1], [0, 1])
    np.testing.assert_allclose(vectors["en"][2], [0.5, 0.5], atol=1e-6)  # the idf of both is log(3/2)
    np.testing.assert_allclose(vectors["it"], [[1, 0], [0, 1], [2, 2]])  # accents kept, nothing normalised


def test_words_without_a_vector_are_told_as_coverage(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    space = EmbeddedSpace(folder)
    with caplog.at_level(logging.INFO, "funnelling"):
        space.fit(DOCUMENTS, NO_TARGETS)
    assert space.coverage_ == {"en": 0.8, "it": 1.0}  # four of five words, each once a document
    assert "Words of the training documents that have a vector: en 80 %, it 100 %" in caplog.text


def test_a_language_without_training_documents(folder: Path) -> None:
    space = EmbeddedSpace(folder)
    space.fit(DOCUMENTS, NO_TARGETS)
    np.testing.assert_allclose(space.vectors("fr", ["chat"]), [[1, 0]])
    assert space.serves("fr")
    assert space.serves("fr_CA")
    assert not space.serves("de")
    np.testing.assert_array_equal(space.vectors("fr_CA", ["un chien"]), space.vectors("fr", ["un chien"]))


def test_its_idf_is_the_reference_corpus_or_else_the_rank(folder: Path) -> None:
    reference = Reference(
        ["a", "b", "c"], {"en": [""] * 3, "fr": ["chat maison", "chat", "chien chat maison"]}
    )
    by_rank, by_reference = EmbeddedSpace(folder), EmbeddedSpace(folder, reference)
    for space in (by_rank, by_reference):
        space.fit(DOCUMENTS, NO_TARGETS)
    assert by_rank.vectorizers_["fr"].vocabulary_ == ["chat", "chien", "maison"]
    np.testing.assert_allclose(by_rank.vectorizers_["fr"].idf_, np.log([2, 3, 4]))
    # Of three documents "chat" is in all, "chien" in one, "maison" in two.
    np.testing.assert_allclose(by_reference.vectorizers_["fr"].idf_, np.log([4 / 3.5, 4 / 1.5, 4 / 2.5]))


def test_only_so_many_words_of_it_are_kept(folder: Path) -> None:
    space = EmbeddedSpace(folder, unseen_words=1)
    space.fit(DOCUMENTS, NO_TARGETS)
    assert space.vectorizers_["fr"].vocabulary_ == ["chat"]


def test_documents_without_a_known_word_are_zeros(folder: Path) -> None:
    space = EmbeddedSpace(folder)
    space.fit(DOCUMENTS, NO_TARGETS)
    assert not space.vectors("en", ["", "unicorn"]).any()


def test_languages_that_have_no_vectors(folder: Path) -> None:
    assert EmbeddedSpace(folder).usable(["en", "it_CH", "ja"]) == ["en", "it_CH"]


def test_what_it_cannot_do_without(folder: Path) -> None:
    with pytest.raises(InputError, match=r"^No word vectors were given\. Give embeddings, or"):
        EmbeddedSpace().usable(["en"])
    with pytest.raises(InputError, match=r"^mle needs texts, to find their words in the word vectors"):
        EmbeddedSpace(folder).fit({"en": np.ones((2, 3))}, {"en": np.ones((2, 1), dtype=bool)})


def test_languages_alike_have_documents_of_length_one_and_the_same_idf_whether_seen_or_not(
    folder: Path,
) -> None:
    space = EmbeddedSpace(folder, alike=True)
    vectors = space.fit(DOCUMENTS, NO_TARGETS)
    np.testing.assert_allclose(np.linalg.norm(np.vstack(list(vectors.values())), axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(space.vectorizers_["en"].idf_, np.log([2, 3, 4]))
    again = EmbeddedSpace(folder, alike=True)
    again.fit({"it": DOCUMENTS["it"]}, {"it": NO_TARGETS["it"]})
    np.testing.assert_array_equal(again.vectors("en", DOCUMENTS["en"]), vectors["en"])
    assert space.coverage_ == {"en": 0.8, "it": 1.0}
