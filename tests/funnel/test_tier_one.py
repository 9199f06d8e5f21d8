"""Tier 1: base classifiers, their calibration, and the posteriors of the training documents."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.linear_model import LogisticRegression

from funnelling.funnel.learners import EstimatorLearner
from funnelling.funnel.tier_one import fit_tier_one
from funnelling.svm import SVM
from funnelling.svm.calibration import fit_calibration
from tests.artificial import vector_corpus

CALIBRATIONS = ["platt", "fixed", "none"]
LEARNERS = [SVM(1.0), EstimatorLearner(LogisticRegression(), (0, "it"))]

each_learner = pytest.mark.parametrize("learner", LEARNERS, ids=["svm", "foreign"])
each_calibration = pytest.mark.parametrize("calibration", CALIBRATIONS)


def corpus(labels: int = 3) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.intp]]:
    drawn = vector_corpus(("it",), documents=60, labels=labels)
    return drawn.X["it"], drawn.y["it"].astype(bool), np.arange(60) % 5


@each_learner
@each_calibration
def test_tat_posteriors_come_from_the_classifiers_trained_on_everything(
    learner: Any, calibration: str
) -> None:
    X, targets, folds = corpus()
    tier_one, posteriors = fit_tier_one(learner.problem(X, targets), folds, calibration)
    fit = learner.problem(X, targets).fit(folds)
    calibrate = fit_calibration(calibration, fit.held_out, targets)
    np.testing.assert_allclose(posteriors.training, calibrate(fit.scores), atol=1e-6)
    np.testing.assert_allclose(posteriors.held_out, calibrate(fit.held_out), atol=1e-6)
    # New documents pass the same classifiers: a training document gets its training posterior again.
    np.testing.assert_allclose(tier_one.posteriors(X), posteriors.training, atol=1e-4)


@each_learner
@each_calibration
def test_kfcv_posteriors_come_from_classifiers_trained_and_calibrated_on_the_other_folds(
    learner: Any, calibration: str
) -> None:
    X, targets, folds = corpus()
    kfcv = np.arange(60) // 15
    tier_one, posteriors = fit_tier_one(learner.problem(X, targets), folds, calibration, kfcv)
    for fold in range(4):
        inside = kfcv != fold
        alone, _ = fit_tier_one(learner.problem(X[inside], targets[inside]), folds[inside], calibration)
        np.testing.assert_allclose(posteriors.training[~inside], alone.posteriors(X[~inside]), atol=2e-2)
    everything, tat = fit_tier_one(learner.problem(X, targets), folds, calibration)
    np.testing.assert_array_equal(tier_one.posteriors(X), everything.posteriors(X))
    np.testing.assert_array_equal(posteriors.held_out, tat.held_out)


@each_learner
@each_calibration
def test_a_label_without_positives_in_the_other_folds_takes_the_tat_posterior(
    learner: Any, calibration: str
) -> None:
    X, targets, folds = corpus()
    kfcv = np.arange(60) % 3
    targets[:, 1] = False
    targets[[0, 3, 6], 1] = True  # all of them in fold 0
    _, posteriors = fit_tier_one(learner.problem(X, targets), folds, calibration, kfcv)
    _, tat = fit_tier_one(learner.problem(X, targets), folds, calibration)
    np.testing.assert_array_equal(posteriors.training[kfcv == 0, 1], tat.training[kfcv == 0, 1])
    assert (posteriors.training[kfcv != 0, 1] != tat.training[kfcv != 0, 1]).all()
    assert (posteriors.training[kfcv == 0, 0] != tat.training[kfcv == 0, 0]).all()


def test_all_documents_in_one_fold_are_fun_tat() -> None:
    X, targets, folds = corpus()
    problem = SVM(1.0).problem(X, targets)
    _, posteriors = fit_tier_one(problem, folds, "platt", np.full(60, 7))
    np.testing.assert_array_equal(posteriors.training, fit_tier_one(problem, folds, "platt")[1].training)


@each_learner
@pytest.mark.parametrize("kfcv", [None, np.arange(60) % 4])
@pytest.mark.parametrize(("calibration", "rejected"), [("platt", 0), ("fixed", 0), ("none", 0)])
def test_a_trivial_rejector_feeds_a_constant(
    learner: Any, kfcv: npt.NDArray[np.intp] | None, calibration: str, rejected: int
) -> None:
    X, targets, folds = corpus()
    targets[:, 0], targets[:, 2] = False, True
    tier_one, posteriors = fit_tier_one(learner.problem(X, targets), folds, calibration, kfcv)
    for found in (posteriors.training, posteriors.held_out, tier_one.posteriors(X[:5] * 100)):
        assert (found[:, 0] == rejected).all()
        assert (found[:, 2] == 1).all()


def test_posteriors_are_single_precision() -> None:
    X, targets, folds = corpus()
    tier_one, posteriors = fit_tier_one(SVM(1.0).problem(X, targets), folds, "platt")
    assert (
        posteriors.training.dtype == posteriors.held_out.dtype == tier_one.posteriors(X).dtype == np.float32
    )
