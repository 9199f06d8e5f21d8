"""Words and characters: what a user of scikit-learn would write is a method like any other."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import FeatureUnion
from sklearn.svm import SVC

from funnelling import InputError, load_model
from funnelling.methods.classifiers import WordsAndCharactersClassifier
from funnelling.storage import save_model
from tests.artificial import text_corpus, vector_corpus

TEXTS, LABELS, LANGUAGES = text_corpus(documents=60)
ONE_LABEL = [(labels or ["none"])[0] for labels in LABELS]
NEW = ["a Garden; a horse-cart", "il cavallo nel giardino", ""]


@pytest.fixture(scope="module")
def model() -> Any:
    return WordsAndCharactersClassifier(random_state=0).fit(TEXTS, LABELS, LANGUAGES)


def union(**given: Any) -> FeatureUnion:
    """The features as a user of scikit-learn would write them."""
    given = {"sublinear_tf": True, **given}
    return FeatureUnion(
        [
            ("words", TfidfVectorizer(**given)),
            ("characters", TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), **given)),
        ]
    )


@pytest.mark.parametrize("given", [{}, {"min_df": 2}, {"sublinear_tf": False}])
def test_features_are_scikit_learns(given: dict[str, Any]) -> None:
    model = WordsAndCharactersClassifier(C=1, random_state=0, **given).fit(TEXTS, LABELS, LANGUAGES)
    ours, theirs = model.model_.fitted.space, union(**given).fit(TEXTS)
    for texts in (TEXTS, NEW):
        np.testing.assert_array_equal(ours.vectors("en", texts).toarray(), theirs.transform(texts).toarray())
    assert ours.feature_names() == theirs.get_feature_names_out().tolist()


def test_it_is_one_svc_for_each_label_over_all_documents() -> None:
    model = WordsAndCharactersClassifier(C=1.0, random_state=0).fit(TEXTS, LABELS, LANGUAGES)
    X = union().fit_transform(TEXTS)
    scores = model.model_.fitted.scorer.scores(model.model_.fitted.space.vectors("en", TEXTS))
    for label, name in enumerate(model.classes_):
        svc = SVC(kernel="linear", C=1.0, tol=1e-5).fit(X, [name in labels for labels in LABELS])
        np.testing.assert_allclose(scores[:, label], svc.decision_function(X), atol=1e-2)


def test_c_is_chosen_from_a_small_grid(model: Any) -> None:
    assert model.model_.fitted.final_c in (0.1, 1.0, 10.0)
    assert (
        WordsAndCharactersClassifier(C=3, random_state=0).fit(TEXTS, LABELS, LANGUAGES).model_.fitted.final_c
        == 3
    )


def test_it_says_yes_where_the_posterior_is_above_a_half(model: Any) -> None:
    decided, probabilities = model.model_.classify(TEXTS, LANGUAGES)
    np.testing.assert_array_equal(decided, probabilities > 0.5)


def test_with_one_label_each_the_highest_score_decides() -> None:
    model = WordsAndCharactersClassifier(random_state=0).fit(TEXTS, ONE_LABEL, LANGUAGES)
    scores = model.decision_function(TEXTS, LANGUAGES)
    np.testing.assert_array_equal(model.predict(TEXTS, LANGUAGES), model.classes_[scores.argmax(axis=1)])


def test_languages_do_not_matter_and_unseen_ones_are_served(model: Any) -> None:
    np.testing.assert_array_equal(
        model.decision_function(NEW, ["en"] * 3), model.decision_function(NEW, ["it", "de", "sw"])
    )
    with pytest.raises(InputError, match="does not know the language 'xx'"):
        model.explain(["a"], ["xx"])


@pytest.mark.parametrize("labels", [LABELS, ONE_LABEL])
def test_saving_and_loading_changes_no_bit(labels: Any, tmp_path: Path) -> None:
    model = WordsAndCharactersClassifier(C=1, random_state=0).fit(TEXTS, labels, LANGUAGES)
    save_model(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert loaded.model_.fitted.space.feature_names() == model.model_.fitted.space.feature_names()
    for kept, given in zip(
        loaded.model_.classify(NEW, ["en"] * 3), model.model_.classify(NEW, ["en"] * 3), strict=True
    ):
        np.testing.assert_array_equal(kept, given)
    assert loaded.explain(NEW[:1], ["en"]) == model.explain(NEW[:1], ["en"])


def test_bits_depend_neither_on_threads_nor_on_neighbours(model: Any) -> None:
    other = WordsAndCharactersClassifier(random_state=0, n_jobs=2).fit(TEXTS, LABELS, LANGUAGES)
    scores = model.decision_function(TEXTS, LANGUAGES)
    np.testing.assert_array_equal(scores, other.decision_function(TEXTS, LANGUAGES))
    np.testing.assert_array_equal(scores[7:8], model.decision_function(TEXTS[7:8], LANGUAGES[7:8]))


def test_words_and_characters_explain_a_label(model: Any) -> None:
    (row,) = model.explain(["cat"], ["en"], labels=[model.classes_[0]])
    assert "words__cat" in str(row)
    assert "characters__cat" in str(row)


def test_vectors_are_refused() -> None:
    vectors = vector_corpus()
    with pytest.raises(InputError, match=r"^words-and-characters needs texts, to see their characters"):
        WordsAndCharactersClassifier().fit(vectors.X, vectors.y)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"min_df": 0}, "min_df must be a whole number from 1 on, not 0"),
        ({"sublinear_tf": "yes"}, "sublinear_tf must be true or false, not 'yes'"),
        ({"C": -1}, "C must be a positive number or grid, not -1"),
        ({}, "no word of two letters or more is in 1 of the training documents"),
        ({"min_df": 20}, "no word of two letters or more is in 20 of the training documents"),
    ],
)
def test_what_cannot_be_used_is_named(given: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        WordsAndCharactersClassifier(**given).fit(["a", "b"] * 5, [["x"], ["y"]] * 5, ["en"] * 10)
