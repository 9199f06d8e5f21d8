"""From scores to probabilities: Platt's sigmoid for all labels at once, and one temperature."""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt

from funnelling.matrices import Scores, Targets
from funnelling.runtime.threads import map_threads
from funnelling.state import Between, expect, numbers
from funnelling.svm import kernels

Array = npt.NDArray[np.float64]

MAX_STEPS = 100
HESSIAN_RIDGE = 1e-12
MIN_SLOPE = 1e-8
CalibrationKind = Literal["platt", "fixed", "none"]
# Of a label that no training document has: the score, by libsvm's rule, and the posterior. In the paper both
# are 0; a score of 0 is no posterior of 0 under a sigmoid, so the posterior stands by itself.
REJECTED, ABSENT = -1.0, 0.0
VALUES_PER_BLOCK = 2**16  # scores that are fitted together: as many as fit into cache


def sigmoid(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """1 / (1 + exp(-value)), whatever values stand beside it.

    It differs from scipy's ``expit`` by at most 1e-15 and is several times as fast. Importing
    ``scipy.special`` would take a large part of a prediction.

    >>> sigmoid(np.array([[0.0, -1000.0]])).tolist()
    [[0.5, 0.0]]
    """
    if kernels.native is None:
        from scipy.special import expit

        return np.asarray(expit(values))
    posteriors = np.array(values, dtype=np.float64, order="C")
    kernels.native.sigmoid(posteriors)
    return posteriors


@dataclass(frozen=True)
class Calibration:
    """What turns one classifier's scores into posteriors, label by label.

    ``kind`` is "platt" (the paper's Calib), "fixed" (its NoCalib, 1 / (1 + e^-h); the sign in the
    paper is a slip) or "none" (its NoProb: the scores themselves). ``constant`` holds the posterior of
    each label that no training document has (0: a trivial rejector) or that all have (1), and NaN for the
    others.
    """

    kind: Annotated[str, CalibrationKind]
    slope: Annotated[Array, numbers("labels", least=MIN_SLOPE)]
    offset: Annotated[Array, numbers("labels")]
    constant: Annotated[Array, numbers("labels", least=0, most=1, nan=True)]

    def __call__(self, scores: Scores) -> npt.NDArray[np.float64]:
        """The posteriors of (documents, labels) scores."""
        if self.kind == "none":
            posteriors = scores.astype(np.float64)
        else:
            posteriors = sigmoid(scores * self.slope + self.offset)
        posteriors[:, self.trivial] = self.constant[self.trivial]
        return posteriors

    def check_labels(self, labels: int) -> None:
        """Refuse a state that could not make posteriors of so many labels' scores."""
        expect(len(self.slope) == labels, "the labels of a calibration")

    def of_labels(self, columns: npt.NDArray[np.int64]) -> "Calibration":
        """What is left of it for some labels."""
        return Calibration(self.kind, self.slope[columns], self.offset[columns], self.constant[columns])

    @property
    def trivial(self) -> npt.NDArray[np.bool_]:
        """Which labels have a constant posterior."""
        return ~np.isnan(self.constant)

    @property
    def even_scores(self) -> Array:
        """The score of each label at which its posterior is .5."""
        return -self.offset / self.slope


@dataclass(frozen=True)
class Temperature:
    """One slope for all labels: keeps the order of the scores, so the highest stays the highest.

    For single-label problems: with one sigmoid per label, the most probable label could differ from the one
    that the highest score decides on.
    """

    slope: Annotated[float, Between(MIN_SLOPE)]

    def __call__(self, scores: Scores) -> npt.NDArray[np.float64]:
        """Probabilities that sum to 1 over the labels; where there is one column, those of its label."""
        scaled = scores.astype(np.float64) * self.slope
        if scaled.shape[1] == 1:
            return sigmoid(scaled)
        powers = np.exp(scaled - scaled.max(axis=1, keepdims=True))
        probabilities: Array = powers / powers.sum(axis=1, keepdims=True)
        return probabilities

    def check_labels(self, labels: int) -> None:
        """Refuse nothing: it knows no labels."""

    def of_labels(self, columns: npt.NDArray[np.int64]) -> "Temperature":
        """The same: it knows no labels."""
        return self


def fit_calibration(kind: str, held_out: Scores, targets: Targets, n_jobs: int | None = None) -> Calibration:
    """Fit the calibration of the given kind on held-out scores."""
    labels = targets.shape[1]
    constant = np.full(labels, np.nan)
    constant[~targets.any(axis=0)] = ABSENT
    constant[targets.all(axis=0)] = 1
    slope, offset = np.ones(labels), np.zeros(labels)
    if kind == "platt":
        fitted = np.isnan(constant)
        slope[fitted], offset[fitted] = fit_platt(held_out[:, fitted], targets[:, fitted], n_jobs)
    return Calibration(kind, slope, offset, constant)


def fit_platt(scores: Scores, targets: Targets, n_jobs: int | None = None) -> tuple[Array, Array]:
    """Slopes and offsets of Platt's sigmoids, P = 1 / (1 + exp(-(slope · score + offset))).

    Newton's method with backtracking on Platt's smoothed targets (Lin, Lin and Weng 2007), for all
    labels at once. A sigmoid must rise with the score; where the few positives of a label say
    otherwise, it takes the median slope of the others and an offset of its own.
    """
    scores_by_label: Array = scores.T.astype(np.float64, order="C")
    targets = targets.T
    positives = targets.sum(axis=1)
    negatives = targets.shape[1] - positives
    goal = np.where(
        targets, ((positives + 1.0) / (positives + 2.0))[:, None], (1.0 / (negatives + 2.0))[:, None]
    )
    start = np.log((positives + 1.0) / (negatives + 1.0))
    slope, offset = np.zeros(len(goal)), start.copy()

    labels = max(1, VALUES_PER_BLOCK // goal.shape[1])  # per block

    def fit(block: int) -> None:
        rows = slice(block * labels, (block + 1) * labels)
        slope[rows], offset[rows] = _newton(
            scores_by_label[rows], goal[rows], slope[rows], offset[rows], free_slope=True
        )

    for _ in map_threads(fit, -(-len(goal) // labels), n_jobs):
        pass
    falling = slope <= MIN_SLOPE
    if falling.any():
        common = np.median(slope[~falling]) if not falling.all() else 1.0
        slope[falling] = common
        _, offset[falling] = _newton(
            scores_by_label[falling], goal[falling], slope[falling], start[falling], free_slope=False
        )
    return slope, offset


def _newton(scores: Array, goal: Array, slope: Array, offset: Array, free_slope: bool) -> tuple[Array, Array]:
    """Minimise the cross-entropy of each label; labels that have converged leave the work.

    The loss is convex, so a step is short enough if the loss rises at its end no more steeply than it fell
    at its beginning. Checking that takes only the gradient, which the next step needs anyway.
    """
    slope, offset = slope.copy(), offset.copy()
    active = np.arange(len(scores))
    point = _Point.at(scores, goal, slope, offset)
    for _ in range(MAX_STEPS):
        steep = (np.abs(point.offset_gradient) >= 1e-5) | (
            free_slope & (np.abs(point.slope_gradient) >= 1e-5)
        )
        if not steep.all():
            active, scores, goal, point = active[steep], scores[steep], goal[steep], point.of(steep)
        if not len(active):
            break
        step_a, step_b = point.newton_step(scores, free_slope)
        falls = point.along(step_a, step_b)
        size = np.ones(len(active))
        pending = np.arange(len(active))
        while len(pending):
            a = slope[active[pending]] + size[pending] * step_a[pending]
            b = offset[active[pending]] + size[pending] * step_b[pending]
            whole = len(pending) == len(active)
            there = _Point.at(scores if whole else scores[pending], goal if whole else goal[pending], a, b)
            short = there.along(step_a[pending], step_b[pending]) <= -0.9 * falls[pending]
            slope[active[pending[short]]], offset[active[pending[short]]] = a[short], b[short]
            if whole and short.all():
                point = there
                break
            point.replace(pending[short], there.of(short))
            pending = pending[~short]
            size[pending] /= 2
    return slope, offset


@dataclass
class _Point:
    """Where the descent stands: probabilities, and the gradient of each label's loss."""

    probabilities: Array
    slope_gradient: Array
    offset_gradient: Array

    @classmethod
    def at(cls, scores: Array, goal: Array, slope: Array, offset: Array) -> "_Point":
        p = sigmoid(scores * slope[:, None] + offset[:, None])
        residual = p - goal
        return cls(p, np.einsum("ij,ij->i", residual, scores), residual.sum(axis=1))

    def newton_step(self, scores: Array, free_slope: bool) -> tuple[Array, Array]:
        """The step for slope and offset, or for the offset alone.

        libsvm's ridge keeps the Hessian regular. Its determinant over the offset's entry is the spread of the
        scores about their centre; computed as a difference of products, it would be 0 for many equal scores.
        """
        weight = self.probabilities * (1 - self.probabilities)
        curvature = weight.sum(axis=1) + HESSIAN_RIDGE
        if not free_slope:
            return np.zeros(len(curvature)), -self.offset_gradient / curvature
        centre = np.einsum("ij,ij->i", weight, scores) / curvature
        spread = np.einsum("ij,ij->i", weight, (scores - centre[:, None]) ** 2) + HESSIAN_RIDGE
        slope: Array = -(self.slope_gradient - centre * self.offset_gradient) / spread
        return slope, -self.offset_gradient / curvature - centre * slope

    def along(self, step_a: Array, step_b: Array) -> Array:
        """How fast the loss grows in the direction of a step."""
        growth: Array = self.slope_gradient * step_a + self.offset_gradient * step_b
        return growth

    def of(self, which: npt.NDArray[np.bool_]) -> "_Point":
        return _Point(self.probabilities[which], self.slope_gradient[which], self.offset_gradient[which])

    def replace(self, which: npt.NDArray[np.intp], others: "_Point") -> None:
        self.probabilities[which] = others.probabilities
        self.slope_gradient[which] = others.slope_gradient
        self.offset_gradient[which] = others.offset_gradient


def fit_temperature(scores: Scores, targets: Targets) -> Temperature:
    """The slope with the least cross-entropy on held-out scores, between 1/20 and 100."""
    from scipy.optimize import minimize_scalar
    from scipy.special import log_softmax

    scores = scores.astype(np.float64)

    def loss(log_slope: float) -> float:
        logits = scores * np.exp(log_slope)
        if logits.shape[1] == 1:
            return float((np.logaddexp(0, logits) - targets * logits).mean())
        return float(-log_softmax(logits, axis=1)[targets].mean())

    minimum = minimize_scalar(loss, bounds=(np.log(1 / 20), np.log(100)), method="bounded")
    return Temperature(float(np.exp(minimum.x)))
