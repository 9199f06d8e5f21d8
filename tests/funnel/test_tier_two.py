"""Tier 2 judges itself on documents that neither tier has seen."""

import numpy as np
import numpy.typing as npt

from funnelling.funnel import FunnellingClassifier
from funnelling.funnel.tier_one import fit_tier_one
from funnelling.funnel.tier_two import aligned_scores
from funnelling.svm import SVM
from funnelling.svm.calibration import fit_calibration
from tests.artificial import vector_corpus

Array = npt.NDArray[np.float64]


def test_aligned_scores_join_the_folds_of_both_tiers() -> None:
    drawn = vector_corpus(("it",), documents=50)
    X, targets, folds = drawn.X["it"], drawn.y["it"].astype(bool), np.arange(50) % 5
    _, posteriors = fit_tier_one(SVM(1.0).problem(X, targets), folds, "platt")
    learner = SVM(1.0, gamma=1 / 3)
    fit = learner.problem(posteriors.training, targets).fit(folds)
    scores = aligned_scores(fit, folds, posteriors.held_out)
    for fold in range(5):
        others = folds != fold
        alone = learner.problem(posteriors.training[others], targets[others]).fit(folds[others])
        expected = alone.scorer().scores(posteriors.held_out[~others])
        np.testing.assert_allclose(scores[~others], expected, atol=1e-2)


def noisy_corpus(documents: int, seed: int) -> tuple[dict[str, Array], dict[str, npt.NDArray[np.int64]]]:
    """More features than documents, and labels they hardly tell: easily learnt by heart."""
    X, y = {}, {}
    for language in ("en", "it"):
        rng = np.random.default_rng([seed, *language.encode()])
        vectors = rng.normal(size=(documents, 200)) / 14
        y[language] = (4 * vectors[:, :3] + rng.normal(size=(documents, 3)) > 0.3).astype(int)
        X[language] = vectors
    return X, y


def calibration_error(probabilities: Array, truth: npt.NDArray[np.int64]) -> float:
    """How far the share of positives is from the probability, over ten bins of probability."""
    bins = np.minimum((probabilities * 10).astype(int), 9)
    return sum(
        abs(probabilities[bins == bin_].sum() - truth[bins == bin_].sum()) for bin_ in np.unique(bins)
    ) / len(truth)


def test_probabilities_hold_where_those_of_tier_two_s_own_cross_validation_would_not() -> None:
    """Tier 1 knows its training documents by heart, so tier 2's held-out documents look easy."""
    X, y = noisy_corpus(150, seed=0)
    new_X, new_y = noisy_corpus(500, seed=1)
    model = FunnellingClassifier(meta_C=1.0, random_state=0).fit(X, y)
    truth = np.vstack(list(new_y.values())).ravel()
    scores = np.vstack(list(model.decision_function(new_X).values()))
    honest = np.vstack(list(model.predict_proba(new_X).values())).ravel()

    posteriors = np.vstack([model.base_[language].posteriors(X[language]) for language in X])
    targets = np.vstack(list(y.values())).astype(bool)
    own = SVM(1.0, gamma=1 / 3).problem(posteriors, targets).fit(np.arange(300) % 5)
    naive = fit_calibration("platt", own.held_out, targets)(scores).ravel()

    assert calibration_error(honest, truth) < 0.08
    assert calibration_error(naive, truth) > 2 * calibration_error(honest, truth)
    assert np.mean(np.abs(naive - 0.5)) > np.mean(np.abs(honest - 0.5)), "overconfident"
