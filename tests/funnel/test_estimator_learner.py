"""Any scikit-learn classifier can be a base or meta learner."""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import sparse
from scipy.special import logit
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from funnelling.errors import InputError
from funnelling.funnel.estimator import FunnelEstimator
from funnelling.funnel.learners import EstimatorLearner
from funnelling.svm import SVM
from tests.artificial import text_corpus, vector_corpus
from tests.funnels import any_funnel

CORPUS = vector_corpus()
FOREST = RandomForestClassifier(n_estimators=5)


def fit(**parameters: Any) -> FunnelEstimator:
    return any_funnel(views=None, random_state=0, **parameters).fit(CORPUS.X, CORPUS.y)


def probabilities(model: FunnelEstimator) -> npt.NDArray[np.float64]:
    return np.vstack(list(model.predict_proba(CORPUS.X).values()))


def share_right(model: FunnelEstimator) -> float:
    return float(np.mean((probabilities(model) > 0.5) == CORPUS.indicator))


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(),
        GaussianNB(),
        FOREST,
        make_pipeline(StandardScaler(), LogisticRegression()),
        SVC(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
@pytest.mark.parametrize("variant", ["tat", "kfcv"])
def test_a_classifier_in_either_tier_or_both(estimator: Any, variant: str) -> None:
    for parameters in (
        {"base_estimator": estimator, "meta_C": 1.0},
        {"final_estimator": estimator},
        {"base_estimator": estimator, "final_estimator": estimator},
    ):
        model = fit(variant=variant, folds=3, **parameters)
        assert np.isfinite(probabilities(model)).all()
        assert share_right(model) > 0.65
    assert not hasattr(estimator, "classes_"), "the user's own is left unfitted"


def test_the_built_in_svms_are_scikit_learns() -> None:
    """The paper's recipe, spelled out, gives what the built-in learners give."""
    recipe = fit(base_estimator=SVC(kernel="linear"), final_estimator=SVC(gamma=1 / 3))
    np.testing.assert_allclose(probabilities(fit(meta_C=1.0)), probabilities(recipe), atol=2e-2)


def test_a_classifier_for_each_language() -> None:
    some = fit(base_estimator={"it": LogisticRegression()}, meta_C=1.0)
    none, every = fit(meta_C=1.0), fit(base_estimator=LogisticRegression(), meta_C=1.0)
    for language, like in (("en", none), ("it", every)):
        np.testing.assert_array_equal(
            some.model_.fitted.learned.views.own[language].posteriors(CORPUS.X[language]),
            like.model_.fitted.learned.views.own[language].posteriors(CORPUS.X[language]),
        )


def test_texts_may_be_learnt_by_any_classifier_of_sparse_vectors() -> None:
    texts, labels, languages = text_corpus(60)
    model = any_funnel(views=None, base_estimator=MultinomialNB(alpha=0.1), random_state=0)
    model.fit(texts, labels, languages=languages)
    assert model.score(texts, labels, languages=languages) > 0.8


def test_scores_are_decision_values_or_log_odds() -> None:
    X, y = CORPUS.X["it"], CORPUS.y["it"].astype(bool)
    folds = np.arange(40) % 5
    for estimator, expected in (
        (LogisticRegression(), lambda fitted: fitted.decision_function(X)),
        (GaussianNB(), lambda fitted: np.diff(fitted.predict_log_proba(X), axis=1)[:, 0]),
    ):
        scores = EstimatorLearner(estimator, (0,)).problem(X, y).fit(folds).scores
        for label in range(3):
            by_hand = expected(type(estimator)().fit(X, y[:, label]))
            np.testing.assert_allclose(
                scores[:, label], by_hand.clip(*logit([1e-6, 1 - 1e-6])), rtol=1e-3, atol=1e-3
            )


def test_certain_probabilities_have_finite_scores() -> None:
    X, y = np.arange(20.0)[:, None], np.arange(20)[:, None] < 10
    fitted = (
        EstimatorLearner(DummyClassifier(strategy="most_frequent"), (0,)).problem(X, y).fit(np.arange(20) % 5)
    )
    assert np.isfinite(fitted.scores).all()


@pytest.mark.parametrize("learner", [SVM(1.0), EstimatorLearner(LogisticRegression(), (0,))])
def test_a_foreign_learner_has_the_face_of_the_svm(learner: Any) -> None:
    X, y = CORPUS.X["it"], CORPUS.y["it"].astype(bool)
    folds = np.arange(40) % 4
    steps: list[int] = []
    fitted = replace(learner, advance=steps.append).problem(X, y).fit(folds)
    assert sum(steps) == learner.problems_solved(labels=3, folds=4)
    for fold in range(4):
        rows = folds == fold
        np.testing.assert_allclose(
            fitted.scorer_without(fold).scores(X[rows]), fitted.held_out[rows], atol=1e-4
        )
    np.testing.assert_allclose(fitted.scorer().scores(X), fitted.scores, atol=1e-4)
    within = np.arange(40) < 30
    inside = learner.problem(X[within], y[within]).fit(folds[within])
    np.testing.assert_allclose(
        learner.problem(X, y).fit(folds, within=within).scorer().scores(X),
        inside.scorer().scores(X),
        atol=2e-2,
    )


def test_labels_of_one_class_are_plus_or_minus_one() -> None:
    y = np.tile([True, False], (20, 1))
    fitted = EstimatorLearner(LogisticRegression(), (0,)).problem(np.eye(20), y).fit(np.arange(20) % 5)
    assert fitted.scores.tolist() == [[1, -1]] * 20
    one = EstimatorLearner(LogisticRegression(), (0,)).problem(np.eye(1), y[:1]).fit(np.array([0]))
    assert one.held_out.tolist() == [[-1, -1]]


def test_random_learners_repeat_and_do_not_share_their_stream() -> None:
    first, second = fit(base_estimator=FOREST), fit(base_estimator=FOREST, n_jobs=2)
    np.testing.assert_array_equal(probabilities(first), probabilities(second))
    seeds = [tree.random_state for tree in first.model_.fitted.learned.views.own["it"].scorer.estimators]
    seeds += [tree.random_state for tree in first.model_.fitted.learned.views.own["en"].scorer.estimators]
    assert len(set(seeds)) == len(seeds)
    assert FOREST.random_state is None


def test_a_seed_of_the_learner_s_own_is_kept() -> None:
    model = fit(base_estimator=RandomForestClassifier(n_estimators=2, random_state=7))
    assert {tree.random_state for tree in model.model_.fitted.learned.views.own["it"].scorer.estimators} == {
        7
    }


def test_what_gives_no_scores_is_refused() -> None:
    with pytest.raises(
        InputError,
        match=r"^LinearRegression gives neither scores nor probabilities: choose a classifier with "
        r"decision_function or predict_proba\.$",
    ):
        fit(base_estimator=LinearRegression())


def test_a_classifier_of_dense_vectors_says_so_itself() -> None:
    X = {language: sparse.csr_array(part) for language, part in CORPUS.X.items()}
    with pytest.raises(TypeError, match="dense"):
        any_funnel(views=None, base_estimator=GaussianNB()).fit(X, CORPUS.y)
