"""Any scikit-learn classifier as a base or meta learner, one clone per label."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from funnelling.errors import InputError
from funnelling.matrices import Floats, Folds, Matrix, Rows, Targets
from funnelling.plain import clone
from funnelling.randomness import stream
from funnelling.runtime.progress import Advance, quietly
from funnelling.state import expect, expect_numbers, filled_row


@dataclass(frozen=True)
class EstimatorScorer:
    """One fitted estimator per label; a number where training had only one class."""

    estimators: Sequence[Any]

    def scores(self, X: Matrix) -> Floats:
        """Scores of documents: decision values, or log-odds of probabilities."""
        columns = [_scores(estimator, X) for estimator in self.estimators]
        scores = np.column_stack(columns).astype(np.float32)
        if not np.isfinite(scores).all():
            raise InputError("A classifier gives scores that are no finite numbers. Choose another one.")
        return scores

    def check_scores(self, example: Any) -> int:
        """Refuse estimators that cannot score the example: what they hold, only they know."""
        expect(isinstance(self.estimators, list) and self.estimators, "the estimators of a classifier")
        if example is None:
            return len(self.estimators)
        scores = self.scores(filled_row(example))
        expect_numbers(scores, (1, len(self.estimators)), "what an estimator says")
        return len(self.estimators)


def _scores(estimator: Any, X: Matrix) -> npt.NDArray[Any]:
    if isinstance(estimator, float):
        return np.full(X.shape[0], estimator)
    if hasattr(estimator, "decision_function"):
        return np.ravel(estimator.decision_function(X))
    from scipy.special import logit

    positive = int(np.flatnonzero(estimator.classes_)[0])
    return logit(np.clip(estimator.predict_proba(X)[:, positive], 1e-6, 1 - 1e-6))  # type: ignore[no-any-return]


@dataclass(frozen=True)
class EstimatorLearner:
    """A scikit-learn estimator in the place of the built-in SVM."""

    estimator: Any
    keys: tuple[object, ...]  # of the random streams: the seed and what the learner is for
    n_jobs: int | None = None
    advance: Advance = quietly

    def __post_init__(self) -> None:
        if not hasattr(self.estimator, "decision_function") and not hasattr(self.estimator, "predict_proba"):
            raise InputError(
                f"{type(self.estimator).__name__} gives neither scores nor probabilities: choose a "
                "classifier with decision_function or predict_proba."
            )

    def problem(self, X: Matrix, targets: Targets, what: str = "training") -> "EstimatorProblem":
        """Bind the learner to documents."""
        return EstimatorProblem(self, X, targets, what)

    def reporting(self, advance: Advance) -> "EstimatorLearner":
        """This learner, reporting its fits to ``advance``."""
        return replace(self, advance=advance)

    def with_threads(self, n_jobs: int) -> "EstimatorLearner":
        """This learner, with so many threads."""
        return replace(self, n_jobs=n_jobs)

    def problems_solved(self, labels: int, folds: int) -> int:
        """How many times one fit calls ``advance``."""
        return labels * (folds + 1)


@dataclass
class EstimatorProblem:
    """Documents and labels that an estimator is fitted on."""

    learner: EstimatorLearner
    X: Matrix
    targets: Targets
    what: str

    def fit(self, folds: Folds, within: Rows | None = None, start: Any = None) -> "EstimatorFit":  # noqa: ARG002
        """Fit on all documents, and on all but each fold; see `funnelling.svm.Problem.fit`."""
        everyone = np.ones(len(folds), dtype=bool) if within is None else within
        without = {
            int(fold): self._scorer(everyone & (folds != fold), int(fold)) for fold in np.unique(folds)
        }
        return EstimatorFit(self, folds, self._scorer(everyone, -1), without)

    def fit_whole(self) -> "EstimatorFit":
        """Fit on all documents and on no folds."""
        documents = len(self.targets)
        everything = self._scorer(np.ones(documents, dtype=bool), -1)
        return EstimatorFit(self, np.zeros(documents, dtype=np.intp), everything, {})

    def _scorer(self, active: Rows, fold: int) -> EstimatorScorer:
        import joblib

        X = self.X[np.flatnonzero(active)]
        estimators = joblib.Parallel(n_jobs=self.learner.n_jobs, prefer="threads")(
            joblib.delayed(_fit_one)(self._clone(label, fold), X, self.targets[active, label])
            for label in range(self.targets.shape[1])
        )
        self.learner.advance(self.targets.shape[1])
        return EstimatorScorer(estimators)

    def _clone(self, label: int, fold: int) -> Any:
        estimator = clone(self.learner.estimator)
        if estimator.get_params().get("random_state", 0) is None:
            rng = stream(*self.learner.keys, self.what, label, fold)
            estimator.set_params(random_state=int(rng.integers(2**31)))
        return estimator


def _fit_one(estimator: Any, X: Matrix, targets: Targets) -> Any:
    if targets.all() or not targets.any():
        return 1.0 if targets.any() else -1.0
    return estimator.fit(X, targets.astype(int))


@dataclass
class EstimatorFit:
    """A fitted `EstimatorProblem`, with the face of `funnelling.svm.Fit`."""

    problem: EstimatorProblem
    folds: Folds
    everything: EstimatorScorer
    without: dict[int, EstimatorScorer]  # by fold: trained on all others

    @cached_property
    def scores(self) -> Floats:
        return self.everything.scores(self.problem.X)

    @cached_property
    def held_out(self) -> Floats:
        scores = np.empty(self.problem.targets.shape, dtype=np.float32)
        for fold, scorer in self.without.items():
            rows = np.flatnonzero(self.folds == fold)
            scores[rows] = scorer.scores(self.problem.X[rows])
        return scores

    def scorer(self) -> EstimatorScorer:
        return self.everything

    def scorer_without(self, fold: int) -> EstimatorScorer:
        return self.without[fold]
