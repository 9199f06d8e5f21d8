"""A fitted view that all languages share."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from funnelling.funnel.design import Learner
from funnelling.funnel.inheritance import NEAR, Inheritance
from funnelling.funnel.tier_one import (
    BoundLearner,
    FitOnFolds,
    Posteriors,
    TierOne,
    fit_tier_one,
)
from funnelling.matrices import (
    Floats,
    Folds,
    Rows,
    Targets,
    check_vectors,
    is_sparse,
    stacked,
)
from funnelling.methods.learning import scores_after_learning
from funnelling.methods.training_set import TrainingSet
from funnelling.plain import clone
from funnelling.spaces import Space
from funnelling.state import expect, expect_strings
from funnelling.svm import SVM, CSetting, Scorer
from funnelling.svm.calibration import REJECTED
from funnelling.svm.learner import Problem as SVMProblem

# C of base classifiers under an RBF kernel, where 1 is too small; like other base classifiers' it is not
# searched for. The best of 1, 10 and 100 over embeddings, on training documents of the Debian corpus.
DENSE_C = 10.0


@dataclass(frozen=True)
class SharedView:
    """A space, and one set of base classifiers in it, which learned from some ``languages``."""

    space: Space
    tier: TierOne
    languages: list[str]

    def serves(self, language: str) -> bool:
        """Whether documents in a language can be seen."""
        return language in self.languages or self.space.serves(language)

    def check_view(self, features: int | None) -> int:
        """Refuse a state that could not see documents; how many labels there are."""
        expect_strings(self.languages, "the languages of a view")
        expect(isinstance(self.space, Space) and isinstance(self.tier, TierOne), "a view")
        return self.tier.check_tier(self.space.check_space(self.languages, features))


def fit_shared_view(
    space: Space,
    training: TrainingSet,
    learner: Learner,
    folds: Folds,
    calibration: str,
    kfcv: Folds | None = None,
    dense_C: CSetting = DENSE_C,
) -> tuple[SharedView, dict[str, Posteriors]]:
    """Fit a space and its base classifiers, and give their posteriors of each language's documents.

    A space that learns from labels is fitted anew without each fold: held-out posteriors owe nothing to
    the labels of their documents.
    """
    problem: BoundLearner
    if space.supervised:
        problem = RefittedProblem(space, training, learner, dense_C)
    else:
        problem = _problem(space, training, learner, dense_C)
    tier, posteriors = fit_tier_one(problem, folds, calibration, kfcv, learner.n_jobs)
    return SharedView(space, tier, list(training.targets)), posteriors.by_language(training.sizes)


def refit_shared_view(
    name: str, space: Space, training: TrainingSet, learner: Learner, inherited: Inheritance
) -> tuple[SharedView, dict[str, Posteriors]] | None:
    """What `fit_shared_view` gives, from a view that is ``inherited`` and few changes; None if it cannot be.

    A label that had no positives, or only those, has no sigmoid to go on with.
    """
    view: SharedView | None = inherited.shared.get(name)
    if view is None or not inherited.is_small or space.supervised or not isinstance(learner, SVM):
        return None
    targets = training.stacked_targets()
    calibration = view.tier.calibration
    told_apart = targets.any(axis=0) & ~targets.all(axis=0)
    start = inherited.start(name, list(training.targets))
    if start is None or (told_apart == calibration.trivial).any():
        return None
    problem = _problem(space, training, learner, DENSE_C)
    if problem.learner.given_c is None:
        return None
    fit = problem.fit_whole(start=start, tolerance=NEAR)
    posteriors = Posteriors(
        calibration(fit.scores).astype(np.float32),
        inherited.held_out_posteriors(name, training),
        fit.coefficients,
    )
    tier = TierOne(fit.scorer(), calibration)
    return SharedView(space, tier, list(training.targets)), posteriors.by_language(training.sizes)


def _problem(space: Space, training: TrainingSet, learner: Learner, dense_C: CSetting) -> Any:
    """The learner bound to the vectors of a space, which is fitted first."""
    X = check_vectors(stacked(space.fit(training.documents, training.targets))).astype(np.float32)
    if isinstance(learner, SVM) and not is_sparse(X):
        learner = replace(learner.over_dense(X), C=dense_C)
    return learner.problem(X, training.stacked_targets(), "tier 1")


@dataclass
class RefittedProblem:
    """Documents in a space that learns from labels: to hold some out, the space is fitted without them."""

    space: Space
    training: TrainingSet
    learner: Learner
    dense_C: CSetting  # noqa: N815

    @property
    def targets(self) -> Targets:
        return self.training.stacked_targets()

    def fit(self, folds: Folds, within: Rows | None = None, start: Any = None) -> "RefittedFit":  # noqa: ARG002
        """Fit on all documents, and on all but each fold; see `funnelling.svm.Problem.fit`."""
        everyone = np.ones(len(folds), dtype=bool) if within is None else within
        scores, scorer = self._fit_on(everyone, folds, self.space if within is None else clone(self.space))
        held_out = np.full(scores.shape, REJECTED, dtype=np.float32)  # where there is nothing to learn from
        for fold in np.unique(folds):
            others = everyone & (folds != fold)
            if others.any():
                rows = folds == fold
                held_out[rows] = self._fit_on(others, folds, clone(self.space))[0][rows]
        return RefittedFit(scores, held_out, scorer)

    def _fit_on(self, rows: Rows, folds: Folds, space: Space) -> tuple[Floats, Scorer]:
        """Scores of all documents after learning from some, and what gave them."""

        def fit(space: Space, learning: TrainingSet) -> FitOnFolds:
            problem = _problem(space, learning, self.learner, self.dense_C)
            chooses = isinstance(problem, SVMProblem) and problem.learner.given_c is None
            fitted: FitOnFolds = problem.fit(folds[rows]) if chooses else problem.fit_whole()
            return fitted

        return scores_after_learning(space, self.training, rows, fit)


@dataclass(frozen=True)
class RefittedFit:
    """A fitted `RefittedProblem`, with what tier 1 asks of a fit."""

    scores: Floats
    held_out: Floats
    everything: Scorer

    def scorer(self) -> Scorer:
        return self.everything
