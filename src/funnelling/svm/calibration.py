"""From scores to probabilities: Platt's sigmoid for all labels at once, and one temperature."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import expit, log_softmax, softmax

Array = npt.NDArray[np.float64]
Scores = npt.NDArray[np.floating]
Targets = npt.NDArray[np.bool_]

MAX_STEPS = 100
RIDGE = 1e-12
SMALLEST_SLOPE = 1e-8


@dataclass(frozen=True)
class Calibration:
    """What turns one classifier's scores into posteriors, label by label.

    ``kind`` is "platt" (the paper's Calib), "fixed" (its NoCalib, 1 / (1 + e^-h); the sign in the
    paper is a slip) or "none" (its NoProb: the scores themselves). ``constant`` holds the posterior of
    a label that training gave no choice about (0 for a trivial rejector, 1 where every document has the
    label; -1 and 1 under "none"), NaN for the others.
    """

    kind: str
    slope: Array
    offset: Array
    constant: Array

    def __call__(self, scores: Scores) -> npt.NDArray[np.float64]:
        """The posteriors of (documents, labels) scores."""
        if self.kind == "none":
            posteriors = scores.astype(np.float64)
        else:
            posteriors = expit(scores * self.slope + self.offset)
        posteriors[:, self.trivial] = self.constant[self.trivial]
        return posteriors

    @property
    def trivial(self) -> npt.NDArray[np.bool_]:
        """Which labels have a constant posterior."""
        return ~np.isnan(self.constant)


@dataclass(frozen=True)
class Temperature:
    """One slope for all labels: keeps the order of the scores, so the highest stays the highest.

    For single-label problems, where per-label sigmoids could make the most probable label another than
    the one decided on.
    """

    slope: float

    def __call__(self, scores: Scores) -> npt.NDArray[np.float64]:
        """Probabilities that sum to 1 over the labels; of the one label where there is one column."""
        scaled = scores.astype(np.float64) * self.slope
        probabilities: Array = expit(scaled) if scaled.shape[1] == 1 else softmax(scaled, axis=1)
        return probabilities


def fit_calibration(kind: str, held_out: Scores, targets: Targets) -> Calibration:
    """Fit the calibration of the given kind on held-out scores."""
    labels = targets.shape[1]
    constant = np.full(labels, np.nan)
    constant[~targets.any(axis=0)] = -1 if kind == "none" else 0
    constant[targets.all(axis=0)] = 1
    slope, offset = np.ones(labels), np.zeros(labels)
    if kind == "platt":
        learnt = np.isnan(constant)
        slope[learnt], offset[learnt] = fit_platt(held_out[:, learnt], targets[:, learnt])
    return Calibration(kind, slope, offset, constant)


def fit_platt(scores: Scores, targets: Targets) -> tuple[Array, Array]:
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
    slope, offset = _newton(scores_by_label, goal, np.zeros(len(goal)), start, free_slope=True)
    falling = slope <= SMALLEST_SLOPE
    if falling.any():
        common = np.median(slope[~falling]) if not falling.all() else 1.0
        slope[falling] = common
        _, offset[falling] = _newton(
            scores_by_label[falling], goal[falling], slope[falling], start[falling], free_slope=False
        )
    return slope, offset


def _newton(scores: Array, goal: Array, slope: Array, offset: Array, free_slope: bool) -> tuple[Array, Array]:
    """Minimise the cross-entropy of each label; labels that have converged leave the work.

    The exponentials of a point that was accepted serve the next step too: nearly all the time is in them.
    """
    slope, offset = slope.copy(), offset.copy()
    active = np.arange(len(scores))
    point = _Point.at(scores, goal, slope, offset)
    for _ in range(MAX_STEPS):
        if not len(active):
            break
        s, g = scores[active], goal[active]
        p = point.probabilities()
        residual, weight = p - g, p * (1 - p)
        # libsvm's ridge keeps the Hessian regular. The spread about the centre is its determinant over
        # h_bb; as a difference of products it would come out as 0 for many equal scores.
        h_bb = weight.sum(axis=1) + RIDGE
        g_b = residual.sum(axis=1)
        g_a = step_a = centre = np.zeros(len(active))
        if free_slope:
            g_a = np.einsum("ij,ij->i", residual, s)
            centre = np.einsum("ij,ij->i", weight, s) / h_bb
            spread = np.einsum("ij,ij->i", weight, (s - centre[:, None]) ** 2) + RIDGE
            step_a = -(g_a - centre * g_b) / spread
        step_b = -g_b / h_bb - centre * step_a
        descent = g_a * step_a + g_b * step_b
        size = np.ones(len(active))
        pending = np.arange(len(active))
        after = _Point.at(s, g, slope[active] + step_a, offset[active] + step_b)
        while True:
            # Next to the optimum a gain drowns in rounding: a step that small is taken as it is.
            enough = point.loss[pending] + 1e-4 * size[pending] * descent[pending]
            negligible = -descent[pending] < 1e-12 * point.loss[pending]
            pending = pending[~((after.loss[pending] < enough) | negligible)]
            pending = pending[size[pending] > 1e-10]
            if not len(pending):
                break
            size[pending] /= 2
            moved = active[pending]
            a, b = (
                slope[moved] + size[pending] * step_a[pending],
                offset[moved] + size[pending] * step_b[pending],
            )
            after.replace(pending, _Point.at(s[pending], g[pending], a, b))
        slope[active] += size * step_a
        offset[active] += size * step_b
        steep = ((np.abs(g_a) >= 1e-5) | (np.abs(g_b) >= 1e-5)) & (size > 1e-10)
        steep &= -descent >= 1e-12 * point.loss
        active, point = active[steep], after.of(steep)
    return slope, offset


@dataclass
class _Point:
    """Where the descent stands: log-odds, e to the minus their size, and the cross-entropy of each label."""

    logits: Array
    decay: Array
    loss: Array

    @classmethod
    def at(cls, scores: Array, goal: Array, slope: Array, offset: Array) -> "_Point":
        logits = scores * slope[:, None] + offset[:, None]
        decay = np.exp(-np.abs(logits))  # neither overflows nor cancels
        losses = np.log1p(decay) + np.maximum(logits, 0) - goal * logits
        return cls(logits, decay, losses.sum(axis=1))

    def probabilities(self) -> Array:
        p: Array = np.where(self.logits >= 0, 1.0, self.decay) / (1 + self.decay)
        return p

    def of(self, which: npt.NDArray[np.bool_]) -> "_Point":
        return _Point(self.logits[which], self.decay[which], self.loss[which])

    def replace(self, which: npt.NDArray[np.intp], others: "_Point") -> None:
        self.logits[which], self.decay[which], self.loss[which] = others.logits, others.decay, others.loss


def fit_temperature(scores: Scores, targets: Targets) -> Temperature:
    """The slope with the least cross-entropy on held-out scores, between 1/20 and 100."""
    from scipy.optimize import minimize_scalar

    scores = scores.astype(np.float64)

    def loss(log_slope: float) -> float:
        logits = scores * np.exp(log_slope)
        if logits.shape[1] == 1:
            return float((np.logaddexp(0, logits) - targets * logits).mean())
        return float(-log_softmax(logits, axis=1)[targets].mean())

    found = minimize_scalar(loss, bounds=(np.log(1 / 20), np.log(100)), method="bounded")
    return Temperature(float(np.exp(found.x)))
