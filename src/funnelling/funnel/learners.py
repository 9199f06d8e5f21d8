"""Learners beside the SVM: a small weighing of views for tier 2, and any classifier of scikit-learn's.

The weighing is a logistic regression; where a document has one label, multinomial, and with an offset per
label, to which each language adds a little. It learns from posteriors of documents that tier 1 had not seen.
With so few numbers to learn it needs few documents, and where the views say all there is to say it leaves
them as they are; which labels go together it does not learn.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from funnelling.errors import InputError
from funnelling.matrices import Floats, Folds, Matrix, Rows, Targets, one_blas_thread
from funnelling.plain import clone
from funnelling.randomness import stream
from funnelling.runtime.progress import Advance, no_progress
from funnelling.state import Foreign, HasShape, expect, filled_row, numbers
from funnelling.svm.calibration import sigmoid

CLIP_EPS = 1e-3  # posteriors closer to 0 or 1 say no more than this
L2_PENALTY = 1e-4  # keeps apart from infinity what the documents leave open
SHRINKAGE = 100.0  # draws a language's own offsets to 0, in the loss of all documents together
ANY_LANGUAGE = ""  # the language of offsets for those without their own

Array = npt.NDArray[np.float64]


def log_odds(posteriors: npt.ArrayLike, edge: float = CLIP_EPS) -> Array:
    """The log-odds of posteriors, between those of the ``edge``.

    >>> log_odds(np.array([[0.5, 0.0]], np.float32)).round(2).tolist()
    [[0.0, -6.91]]
    """
    from scipy.special import logit

    odds: Array = logit(np.clip(np.asarray(posteriors, dtype=np.float64), edge, 1 - edge))
    return odds


def by_class(values: npt.NDArray[Any]) -> Array:
    """One column per class: two classes come in one, the second's."""
    columns = values.astype(np.float64)
    return np.hstack([1 - columns, columns]) if columns.shape[1] == 1 else columns


def balance(truth: Targets) -> Array:
    """What each document of a language counts where it has one label, 1 in the mean.

    One half is for documents, one for labels, rare or not: accuracy asks for the one, macro-F1 for the other.

    >>> balance(np.array([[1, 0], [1, 0], [1, 0], [0, 1]], dtype=bool)).round(2).tolist()
    [0.83, 0.83, 0.83, 1.5]
    """
    classes = by_class(truth)
    share = len(truth) / classes.any(axis=0).sum() / np.maximum(classes.sum(axis=0), 1)
    weights: Array = (1 + classes @ share) / 2
    return weights


def fit_weights(
    held_out: Sequence[Mapping[str, Floats]], targets: Mapping[str, Targets], single_label: bool
) -> Array:
    """One weight per view, none negative, under which the held-out labels are most likely.

    Labels without positives, which views reject as it is, have no say in the weights.

    >>> truth = np.array([[True, False], [False, True]] * 9)
    >>> right, unsure = np.where(truth, 0.8, 0.1).astype(np.float32), np.full((18, 2), 0.5, np.float32)
    >>> fit_weights([{"en": right}, {"en": unsure}], {"en": truth}, single_label=True).round(1).tolist()[1]
    0.0
    """
    views = [log_odds(np.vstack([each[language] for language in targets])) for each in held_out]
    return _most_likely(views, targets, single_label)[0]


def fit_offsets(
    points: Mapping[str, Floats], targets: Mapping[str, Targets]
) -> tuple[float, dict[str, Floats]]:
    """What single labels need beyond their log-odds: a factor, and offsets by language.

    Languages differ in how often each label occurs, and base classifiers of all of them know little of that.
    `ANY_LANGUAGE` is for languages without offsets of their own. Each document has exactly one label.
    """
    stacked = np.vstack([points[language] for language in targets]).astype(np.float64)
    weights, offsets = _most_likely([stacked], targets, single_label=True)
    rows = zip((ANY_LANGUAGE, *targets), (offsets[0], *(offsets[0] + offsets[1:])), strict=True)
    return float(weights[0]), {language: each.astype(np.float32) for language, each in rows}


def _most_likely(
    views: Sequence[Array], targets: Mapping[str, Targets], single_label: bool
) -> tuple[Array, Array]:
    """Weights of views and offsets of labels, those of all languages, then what each of them adds.

    No language is without documents. Only single labels have offsets: others are calibrated
    as they come, and get a sigmoid of their own later. Nothing is random here, and all is on one thread.
    """
    from scipy.optimize import minimize
    from scipy.special import log_expit, log_softmax

    truth = np.vstack(list(targets.values()))
    if not single_label:
        present = truth.any(axis=0)
        views, truth = [view[:, present] for view in views], truth[:, present]
    documents, labels = truth.shape
    counts = (
        np.concatenate([balance(each) for each in targets.values()]) if single_label else np.ones(documents)
    )
    ends = np.cumsum([0, *map(len, targets.values())])
    language = np.repeat(np.arange(len(targets)), np.diff(ends))
    rows = 1 + len(targets) if single_label else 0  # of offsets
    count = len(views)
    ridge = np.full(count + rows * labels, L2_PENALTY)
    ridge[count + labels :] = SHRINKAGE / documents

    def loss(parameters: Array) -> tuple[float, Array]:
        scores = sum(weight * view for weight, view in zip(parameters[:count], views, strict=True))
        if single_label:
            offsets = parameters[count:].reshape(rows, labels)
            scores = scores + offsets[0] + offsets[1:][language]
        if single_label and labels > 1:
            logs = log_softmax(scores, axis=1)
            likelihoods, slope = logs[truth], np.exp(logs) - truth
        else:
            likelihoods = log_expit(np.where(truth, scores, -scores)).sum(axis=1)
            slope = sigmoid(scores) - truth
        slope = slope * counts[:, None]
        gradient = np.array([np.vdot(slope, view) for view in views])
        if single_label:
            of_languages = np.add.reduceat(slope, ends[:-1], axis=0)
            gradient = np.concatenate([gradient, of_languages.sum(axis=0), of_languages.ravel()])
        return (
            float(-counts @ likelihoods / documents + ridge @ parameters**2),
            gradient / documents + 2 * ridge * parameters,
        )

    start = np.concatenate([np.full(count, 1 / count), np.zeros(rows * labels)])
    bounds = [(0, None)] * count + [(None, None)] * (rows * labels)
    with one_blas_thread():
        found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return found[:count], found[count:].reshape(rows, labels)


@dataclass(frozen=True)
class PointScorer:
    """Scores that are the points themselves."""

    def scores(self, X: Matrix) -> Floats:
        return np.asarray(X, dtype=np.float32)

    def check_scores(self, example: HasShape | None) -> int:
        assert example is not None
        return example.shape[1]


@dataclass(frozen=True)
class PointLearner:
    """Learns nothing, with the face of `funnelling.svm.SVM`: odds are combined already when they get here."""

    advance: Advance = no_progress

    def problem(self, X: Matrix, targets: Targets, what: str = "") -> "PointFit":
        return PointFit(np.asarray(X), self.advance)

    def problems_solved(self, labels: int, folds: int) -> int:
        return 1


@dataclass(frozen=True)
class PointFit:
    """Points as they are, with the face of `funnelling.svm.Problem` and of its fit."""

    scores: Floats
    advance: Advance

    def fit(self, folds: Folds) -> "PointFit":
        return self.fit_whole()

    def fit_whole(self) -> "PointFit":
        self.advance(1)
        return self

    @property
    def held_out(self) -> Floats:
        return self.scores

    def scorer(self) -> PointScorer:
        return PointScorer()

    def scorer_without(self, fold: int) -> PointScorer:
        return PointScorer()


@dataclass(frozen=True)
class EstimatorScorer:
    """One fitted estimator per label; a number where training had only one class."""

    estimators: list[float | Foreign]

    def scores(self, X: Matrix) -> Floats:
        """Scores of documents: decision values, or log-odds of probabilities."""
        columns = [_scores(estimator, X) for estimator in self.estimators]
        scores = np.column_stack(columns).astype(np.float32)
        if not np.isfinite(scores).all():
            raise InputError("A classifier gives scores that are no finite numbers. Choose another one.")
        return scores

    def check_scores(self, example: Any) -> int:
        """Refuse estimators that cannot score the example: what they hold, only they know."""
        expect(self.estimators, "the estimators of a classifier")
        if example is None:
            return len(self.estimators)
        scores = self.scores(filled_row(example))
        numbers(1, len(self.estimators)).check(scores, {}, "what an estimator says")
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
    advance: Advance = no_progress

    def __post_init__(self) -> None:
        if not hasattr(self.estimator, "decision_function") and not hasattr(self.estimator, "predict_proba"):
            raise InputError(
                f"{type(self.estimator).__name__} gives neither scores nor probabilities: choose a "
                "classifier with decision_function or predict_proba."
            )

    def problem(self, X: Matrix, targets: Targets, what: str = "training") -> "EstimatorProblem":
        """Bind the learner to documents."""
        return EstimatorProblem(self, X, targets, what)

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

    def fit(self, folds: Folds, within: Rows | None = None, start: Any = None) -> "EstimatorFit":
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
