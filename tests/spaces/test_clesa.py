"""CLESA: cosines with the reference documents of a document's own language."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import cosine_similarity

from funnelling.errors import InputError
from funnelling.spaces.reference import CLESASpace
from tests.spaces.translated import TOPICS, corpus, reference, text

REFERENCE = reference()
TEXTS, _, LANGUAGES = corpus()
DOCUMENTS = {code: [t for t, c in zip(TEXTS, LANGUAGES, strict=True) if c == code] for code in ("en", "it")}
NO_TARGETS = {language: np.zeros((len(part), 1), dtype=bool) for language, part in DOCUMENTS.items()}


def versions(language: str) -> list[str]:
    return [text(language, k % TOPICS, np.random.default_rng(k)) for k in range(30)]


def test_versions_of_a_document_have_the_same_vector_in_all_languages() -> None:
    space = CLESASpace(REFERENCE)
    translated = {code: versions(code) for code in ("en", "it")}
    vectors = space.fit(translated, {code: np.zeros((30, 1), dtype=bool) for code in translated})
    assert vectors["en"].shape == (30, len(REFERENCE.groups))
    np.testing.assert_allclose(vectors["en"], vectors["it"], atol=1e-6)
    # French has no training documents: its idf is the reference's, and close.
    french = space.vectors("fr", versions("fr"))
    assert (cosine_similarity(french, vectors["en"]).argmax(axis=1) == np.arange(30)).mean() > 0.8


def test_values_are_cosines_in_the_vocabulary_of_the_training_documents() -> None:
    vectorizer = TfidfVectorizer()
    space = CLESASpace(REFERENCE, vectorizer=vectorizer)
    vectors = space.fit(DOCUMENTS, NO_TARGETS)
    theirs = vectorizer.fit(DOCUMENTS["it"])
    expected = cosine_similarity(theirs.transform(DOCUMENTS["it"]), theirs.transform(REFERENCE.texts["it"]))
    np.testing.assert_allclose(vectors["it"], expected, atol=1e-6)


def test_no_more_reference_documents_than_asked_for() -> None:
    spaces = [CLESASpace(REFERENCE, 10, random_state=seed) for seed in (0, 0, 1)]
    first, again, other = (space.fit(DOCUMENTS, NO_TARGETS)["en"] for space in spaces)
    assert first.shape[1] == 10
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_which_languages_it_can_use_and_serve() -> None:
    space = CLESASpace(REFERENCE)
    assert space.usable(["en", "it_CH", "ja"]) == ["en", "it_CH"]
    assert [space.serves(language) for language in ("fr", "fr_CA", "ja")] == [True, True, False]
    space.fit(DOCUMENTS, NO_TARGETS)
    assert [space.serves(language) for language in ("fr", "fr_CA", "ja")] == [True, True, False]


def test_what_it_cannot_do_without() -> None:
    with pytest.raises(InputError, match=r"^clesa needs a reference corpus: give reference, or --reference"):
        CLESASpace().usable(["en"])
    with pytest.raises(InputError, match=r"^clesa needs texts, to find their words in the reference corpus"):
        CLESASpace(REFERENCE).fit({"en": np.ones((2, 3))}, {"en": np.ones((2, 1), dtype=bool)})
