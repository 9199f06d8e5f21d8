"""Naive: each language on its own, with a C of its own."""

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.svm import SVC

from funnelling.errors import InputError
from funnelling.methods.classifiers import NaiveClassifier
from funnelling.randomness import assign_folds
from funnelling.svm import SVM
from funnelling.svm.learner import C_GRID
from tests.artificial import VectorCorpus, vector_corpus

CORPUS = vector_corpus(("en", "fr", "it"))


def fit(corpus: VectorCorpus = CORPUS, C: float | None = 1.0) -> NaiveClassifier:
    return NaiveClassifier(C, random_state=0).fit(corpus.X, corpus.y)


def test_it_is_one_svc_for_each_language_and_label() -> None:
    scores = fit().decision_function(CORPUS.X)
    for language, X in CORPUS.X.items():
        for label, target in enumerate(CORPUS.y[language].T):
            expected = SVC(kernel="linear", C=1.0, tol=1e-5).fit(X, target).decision_function(X)
            np.testing.assert_allclose(scores[language][:, label], expected, atol=1e-2)


def test_no_language_helps_another() -> None:
    together = fit(C=None).predict_proba(CORPUS.X)
    for language in CORPUS.X:
        alone = VectorCorpus({language: CORPUS.X[language]}, {language: CORPUS.y[language]})
        np.testing.assert_array_equal(fit(alone, C=None).predict_proba(alone.X)[language], together[language])


def _two_tastes() -> VectorCorpus:
    """Clean vectors in one language, where any C will do, and a rare signal in large noise in another."""
    rng = np.random.default_rng(0)
    easy = np.repeat(np.eye(2), 30, axis=0)
    hard = rng.normal(size=(60, 2)) * [0.05, 1]
    y: dict[str, npt.NDArray[np.int64]] = {
        "easy": (np.arange(60) < 30).astype(int)[:, None],
        "hard": (hard[:, :1] > 0).astype(int),
    }
    return VectorCorpus({"easy": easy, "hard": hard}, y)


def test_every_language_has_the_c_that_suits_it() -> None:
    model = fit(_two_tastes(), C=None)
    assert set(model.model_.fitted.final_c) == {"easy", "hard"}
    assert model.model_.fitted.final_c["easy"] == min(C_GRID)
    assert model.model_.fitted.final_c["hard"] > 1
    given = NaiveClassifier(0.5, random_state=0).fit(CORPUS.X, CORPUS.y)
    assert set(given.model_.fitted.final_c.values()) == {0.5}


def test_single_labels_choose_c_by_the_highest_score() -> None:
    y = {language: part.sum(axis=1) for language, part in CORPUS.y.items()}
    model = NaiveClassifier(random_state=0).fit(CORPUS.X, y)
    for language, X in CORPUS.X.items():
        folds = assign_folds(5, 40, 0, "folds", language=language)
        targets = y[language][:, None] == model.classes_
        chosen = SVM(None, labels=model.model_.labels).problem(X, targets).fit(folds)
        assert model.model_.fitted.final_c[language] == chosen.C


def test_a_label_is_rejected_only_where_it_has_no_positives() -> None:
    y = {**CORPUS.y, "it": CORPUS.y["it"] * [0, 1, 1]}
    model = fit(VectorCorpus(CORPUS.X, y))
    probabilities = model.predict_proba(CORPUS.X)
    assert (probabilities["it"][:, 0] == 0).all()
    assert (probabilities["en"][:, 0] > 0).all()
    assert model.thresholds_["it"][0] == 0.5


@pytest.mark.parametrize("C", [0, -1.0, "one", float("nan"), float("inf")])
def test_a_wrong_c_is_named(C: object) -> None:
    with pytest.raises(InputError, match=r"^C must be a positive number or grid, not "):
        NaiveClassifier(C).fit(CORPUS.X, CORPUS.y)  # type: ignore[arg-type]
