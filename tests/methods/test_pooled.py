"""Pooled: one vocabulary for all languages, so that what one learns of a word holds in all."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.svm import SVC

from funnelling.errors import InputError
from funnelling.methods.classifiers import NaiveClassifier, PooledClassifier
from tests.artificial import text_corpus, vector_corpus

CORPUS = vector_corpus()


def shared_name_corpus() -> tuple[list[str], list[list[str]], list[str]]:
    """The name "Unix" is met with its label in English only."""
    texts = ["unix kernel", "unix shell", "green tea", "black tea"] * 6 + [
        "tè verde",
        "tè nero",
        "pane",
        "vino",
    ] * 6
    labels = [["computing"], ["computing"], ["food"], ["food"]] * 6 + [["food"]] * 24
    return texts, labels, ["en"] * 24 + ["it"] * 24


@pytest.mark.parametrize("vectorizer", [None, CountVectorizer()])
def test_a_word_is_shared_across_languages(vectorizer: object) -> None:
    texts, labels, languages = shared_name_corpus()
    pooled = PooledClassifier(C=1.0, vectorizer=vectorizer, random_state=0).fit(texts, labels, languages)
    naive = NaiveClassifier(C=1.0, vectorizer=vectorizer, random_state=0).fit(texts, labels, languages)
    question = (["guida unix"], ["it"])
    computing = pooled.classes_.tolist().index("computing")
    assert pooled.predict(*question)[0, computing] == 1
    assert naive.predict(*question)[0, computing] == 0


def test_it_is_one_svc_for_each_label_over_all_documents() -> None:
    model = PooledClassifier(C=1.0, random_state=0).fit(CORPUS.X, CORPUS.y)
    scores = model.model_.fitted.scorer.scores(CORPUS.stacked)
    for label, target in enumerate(CORPUS.indicator.T):
        svc = SVC(kernel="linear", C=1.0, tol=1e-5).fit(CORPUS.stacked, target)
        np.testing.assert_allclose(scores[:, label], svc.decision_function(CORPUS.stacked), atol=1e-2)


@pytest.mark.parametrize("C", [1.0, None])
def test_it_says_yes_where_the_posterior_is_above_a_half(C: float | None) -> None:
    model = PooledClassifier(C, random_state=0).fit(CORPUS.X, CORPUS.y)
    decided, probabilities = model.model_.classify(CORPUS.X)
    for language in CORPUS.X:
        np.testing.assert_array_equal(decided[language], probabilities[language] > 0.5)
        np.testing.assert_allclose(model.thresholds_[language], 0.5)
    scores = model.model_.fitted.scorer.scores(CORPUS.stacked)
    assert not np.array_equal(np.vstack(list(decided.values())), scores > 0), "the cut is not at score 0"


def test_languages_that_share_no_space_are_refused() -> None:
    X = {"en": CORPUS.X["en"], "it": CORPUS.X["it"][:, :5]}
    with pytest.raises(InputError, match=r"^pooled needs one feature space"):
        PooledClassifier(C=1.0).fit(X, CORPUS.y)


@pytest.mark.parametrize("thin", [["en"], ["it"], ["en", "it"]])
def test_sparse_and_dense_languages_may_be_mixed(thin: list[str]) -> None:
    X = {code: sparse.csr_array(part) if code in thin else part for code, part in CORPUS.X.items()}
    mixed = PooledClassifier(C=1.0, random_state=0).fit(X, CORPUS.y).decision_function(X)
    dense = PooledClassifier(C=1.0, random_state=0).fit(CORPUS.X, CORPUS.y).decision_function(CORPUS.X)
    for language in X:
        np.testing.assert_allclose(mixed[language], dense[language], atol=2e-2)


def test_there_is_one_vocabulary() -> None:
    texts, labels, languages = text_corpus()
    model = PooledClassifier(C=1.0, random_state=0).fit(texts, labels, languages)
    assert {"cat", "gatto"} <= set(model.model_.fitted.space.vectorizer_.vocabulary_)


def test_one_c_serves_all_languages() -> None:
    model = PooledClassifier(random_state=0).fit(CORPUS.X, CORPUS.y)
    again = PooledClassifier(model.model_.fitted.final_c, random_state=0).fit(CORPUS.X, CORPUS.y)
    np.testing.assert_array_equal(
        model.model_.fitted.scorer.scores(CORPUS.stacked), again.model_.fitted.scorer.scores(CORPUS.stacked)
    )


@pytest.mark.parametrize("C", [0, "one", float("inf")])
def test_a_wrong_c_is_named(C: object) -> None:
    with pytest.raises(InputError, match=r"^C must be a positive number or grid, not "):
        PooledClassifier(C).fit(CORPUS.X, CORPUS.y)  # type: ignore[arg-type]


def test_what_is_neither_true_nor_false_is_refused() -> None:
    with pytest.raises(InputError, match=r"^calibrated must be true or false, not 'no'"):
        PooledClassifier(calibrated="no").fit(["a b", "c d"], [["x"], []], ["en", "en"])  # type: ignore[arg-type]
