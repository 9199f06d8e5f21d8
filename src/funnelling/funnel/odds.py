"""A tier 2 that can do little harm: one weight per view on posteriors' log-odds.

It is a logistic regression; where a document has one label, multinomial and with an offset per label. It
learns from posteriors of documents that tier 1 had not seen. With so few numbers to learn it needs few
documents, and where the views say all there is to say it leaves them as they are; what labels say of each
other it does not learn.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import expit, log_expit, log_softmax, logit

from funnelling.matrices import Floats, Folds, Matrix, Targets, one_blas_thread
from funnelling.work.progress import Advance, quietly

EDGE = 1e-3  # posteriors closer to 0 or 1 say no more than this
RIDGE = 1e-4  # keeps apart from infinity what the documents leave open

Array = npt.NDArray[np.float64]


def log_odds(posteriors: Floats) -> Array:
    """The log-odds of posteriors, between those of `EDGE`.

    >>> log_odds(np.array([[0.5, 0.0]], np.float32)).round(2).tolist()
    [[0.0, -6.91]]
    """
    odds: Array = logit(np.clip(posteriors.astype(np.float64), EDGE, 1 - EDGE))
    return odds


def fit_weights(held_out: Sequence[Floats], targets: Targets, exclusive: bool) -> Array:
    """One weight per view, none negative, under which the held-out labels are most likely.

    >>> truth = np.array([[True, False], [False, True]] * 9)
    >>> right, unsure = np.where(truth, 0.8, 0.1).astype(np.float32), np.full((18, 2), 0.5, np.float32)
    >>> fit_weights([right, unsure], truth, exclusive=True).round(1).tolist()[1]
    0.0
    """
    return _most_likely([log_odds(each) for each in held_out], targets, exclusive)[0]


def _most_likely(views: Sequence[Array], targets: Targets, exclusive: bool) -> tuple[Array, Array]:
    """Weights of views and offsets of labels; nothing is random here, and all on one thread.

    Only labels that exclude each other have offsets: others are calibrated as they come, and get a sigmoid of
    their own later. Those without positives, which views reject as it is, have no say in the weights.
    """
    if not exclusive:
        present = targets.any(axis=0)
        views, targets = [view[:, present] for view in views], targets[:, present]
    count, documents = len(views), max(len(targets), 1)
    free = targets.shape[1] if exclusive else 0  # offsets to be learned

    def loss(parameters: Array) -> tuple[float, Array]:
        weights, offsets = parameters[:count], parameters[count:]
        scores = sum(weight * view for weight, view in zip(weights, views, strict=True))
        if exclusive:
            scores = scores + offsets
        if free > 1:
            logs = log_softmax(scores, axis=1)
            likelihood, slope = logs[targets].sum(), np.exp(logs) - targets
        else:
            likelihood, slope = log_expit(np.where(targets, scores, -scores)).sum(), expit(scores) - targets
        gradient = [*(np.vdot(slope, view) for view in views), *(slope.sum(axis=0) if exclusive else ())]
        return (
            -likelihood / documents + RIDGE * float(parameters @ parameters),
            np.array(gradient) / documents + 2 * RIDGE * parameters,
        )

    start = np.concatenate([np.full(count, 1 / count), np.zeros(free)])
    bounds = [(0, None)] * count + [(None, None)] * free
    with one_blas_thread():
        found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return found[:count], found[count:]


@dataclass(frozen=True)
class OffsetScorer:
    """Scores that are the points themselves, but for an offset per label."""

    offset: Floats

    def scores(self, X: Matrix) -> Floats:
        points: Any = X
        return np.asarray(points + self.offset, dtype=np.float32)


@dataclass(frozen=True)
class OddsLearner:
    """Learns the offsets, with the face of `funnelling.svm.SVM`; the points are held-out log-odds."""

    exclusive: bool
    advance: Advance = quietly

    def problem(self, X: Matrix, targets: Targets, what: str = "") -> "OddsProblem":  # noqa: ARG002
        return OddsProblem(np.asarray(X), targets, self)

    def reporting(self, advance: Advance) -> "OddsLearner":
        return OddsLearner(self.exclusive, advance)

    def problems_solved(self, labels: int, folds: int) -> int:  # noqa: ARG002
        return folds + 1


@dataclass(frozen=True)
class OddsProblem:
    """Points and labels, whose offsets are to be learned."""

    points: Floats
    targets: Targets
    learner: OddsLearner

    def fit(self, folds: Folds) -> "OddsFit":
        """Offsets learned from all documents, and from all but each fold."""
        without = {int(fold): self._scorer(folds != fold) for fold in np.unique(folds)}
        return OddsFit(self.points, self._scorer(np.ones(len(folds), dtype=bool)), without)

    def fit_whole(self) -> "OddsFit":
        """Offsets learned from all documents."""
        return OddsFit(self.points, self._scorer(np.ones(len(self.points), dtype=bool)), {})

    def _scorer(self, rows: npt.NDArray[np.bool_]) -> OffsetScorer:
        self.learner.advance(1)
        if not self.learner.exclusive:
            return OffsetScorer(np.zeros(self.targets.shape[1], dtype=np.float32))
        points = self.points[rows].astype(np.float64)
        weights, offset = _most_likely([points], self.targets[rows], exclusive=True)
        return OffsetScorer((offset / max(weights[0], EDGE)).astype(np.float32))


@dataclass(frozen=True)
class OddsFit:
    """Learned offsets, with the face of `funnelling.svm.Fit`."""

    points: Floats
    everything: OffsetScorer
    without: dict[int, OffsetScorer]

    @property
    def scores(self) -> Floats:
        return self.everything.scores(self.points)

    @property
    def held_out(self) -> Floats:
        return self.scores  # the points are held out, and offsets hardly tell of single documents

    def scorer(self) -> OffsetScorer:
        return self.everything

    def scorer_without(self, fold: int) -> OffsetScorer:
        return self.without[fold]
