"""Thresholds tuned for a goal, a label at a time where there is enough to go by.

They are tuned on posteriors of documents that neither tier saw. A rare label's own best threshold is
mostly chance, so each is drawn towards the one that is best for all labels together: by how much is chosen
by cross-validation, on the goal itself, averaged over languages as reports do. Tuning for macro-F1 stays
close to the best micro-F1 that one common threshold has, for few would give that away.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit

from funnelling.errors import InputError
from funnelling.evaluation.counts import Counts
from funnelling.evaluation.registry import PAPER_MEASURES, measure_counts
from funnelling.svm import Calibration

GOALS = tuple(measure.replace("_", "-") for measure in PAPER_MEASURES)
RECALL = "recall"
# How many positives a label needs for its own threshold to weigh as much as the common one.
PULLS = (np.inf, 3_000.0, 1_000.0, 300.0, 100.0, 30.0, 10.0, 3.0)
# Even in log-odds: the best threshold for K is about as small as the share of documents with a label.
GRID = expit(np.linspace(-7, 4, 111))
EDGE = 1e-6  # thresholds keep this distance from 0 and 1
LOSS = 0.005  # of that micro-F1

Array = npt.NDArray[np.float64]
Targets = npt.NDArray[np.bool_]


class Goal(NamedTuple):
    """What is to be as high as possible: a measure, or recall of at least ``recall``."""

    measure: str
    recall: float | None = None


def parse_goal(text: str) -> Goal:
    """A goal from ``macro-f1`` or ``recall=0.9``.

    >>> parse_goal("macro-f1"), parse_goal("recall=.9")
    (Goal(measure='macro_f1', recall=None), Goal(measure='micro_f1', recall=0.9))
    >>> parse_goal("recall=2")
    Traceback (most recent call last):
    funnelling.errors.InputError: 'recall=2' is nothing to optimise. Use micro-f1, macro-f1, micro-k, \
macro-k or recall=R, with R between 0 and 1.
    """
    name, _, value = text.partition("=")
    if text in GOALS:
        return Goal(text.replace("-", "_"))
    if name == RECALL:
        try:
            recall = float(value)
        except ValueError:
            recall = np.nan
        if 0 < recall < 1:
            return Goal("micro_f1", recall)
    raise InputError(
        f"{text!r} is nothing to optimise. Use {', '.join(GOALS)} or recall=R, with R between 0 and 1."
    )


def tuned_cuts(
    head: Calibration,
    scores: npt.NDArray[np.floating],
    targets: Targets,
    folds: npt.NDArray[np.intp],
    languages: npt.NDArray[np.intp],
    goal: Goal,
) -> Array:
    """The score of each label above which the answer is yes, tuned on honest scores."""
    probabilities = head(scores)
    pull = _choose_pull(probabilities, targets, folds, languages, goal)
    thresholds = Tuned.on(probabilities, targets, goal).thresholds(pull)
    cuts = (logit(thresholds) - head.offset) / head.slope
    cuts[head.trivial] = 0.0
    return np.asarray(cuts, dtype=np.float64)


class Tuned(NamedTuple):
    """The threshold that is best for all labels together, each label's own, and what that rests on."""

    common: Array
    own: Array
    positives: npt.NDArray[np.intp]

    @classmethod
    def on(cls, probabilities: Array, targets: Targets, goal: Goal) -> "Tuned":
        return cls(
            _common_threshold(probabilities, targets, goal),
            _own_thresholds(probabilities, targets, goal),
            targets.sum(axis=0),
        )

    def thresholds(self, pull: float) -> Array:
        """A threshold a label, its own and the common one averaged by the number of its positives."""
        weight = np.where(self.positives > 0, self.positives / (self.positives + pull), 0.0)
        own = np.where(self.positives > 0, self.own, self.common)
        mixed: Array = expit(weight * logit(_inside(own)) + (1 - weight) * logit(_inside(self.common)))
        return mixed


def _choose_pull(
    probabilities: Array,
    targets: Targets,
    folds: npt.NDArray[np.intp],
    languages: npt.NDArray[np.intp],
    goal: Goal,
) -> float:
    """The pull whose thresholds do best on folds that they were not tuned on; the strongest of equals."""
    parts = np.unique(folds)
    if len(parts) < 2:
        return PULLS[0]
    tuned = [Tuned.on(probabilities[folds != part], targets[folds != part], goal) for part in parts]
    rows = [languages == language for language in np.unique(languages)]
    best, chosen, floor = -np.inf, PULLS[0], 0.0
    for pull in PULLS:
        decided = np.zeros(targets.shape, dtype=bool)
        for part, found in zip(parts, tuned, strict=True):
            decided[folds == part] = probabilities[folds == part] > found.thresholds(pull)
        measured = [measure_counts(Counts.of(targets[part], decided[part])) for part in rows]
        micro = float(np.mean([part["micro_f1"] for part in measured]))
        recall = float((decided & targets).sum() / max(1, targets.sum()))
        if pull == PULLS[0] and goal.measure == "macro_f1":
            floor = micro - LOSS
        # Nothing makes up for recall that is missing, or micro-F1.
        lack = max(0.0, (goal.recall or 0.0) - recall) + max(0.0, floor - micro)
        value = float(np.mean([part[goal.measure] for part in measured])) - 100 * lack
        if value > best + 1e-9:
            best, chosen = value, pull
    return chosen


def _common_threshold(probabilities: Array, targets: Targets, goal: Goal) -> Array:
    if goal.recall is not None:
        found = probabilities[targets]
        return np.array(_lowest_kept(found, goal.recall) if len(found) else 0.5)
    # One threshold for all labels serves micro-F1 best; own ones are there for the rest.
    measure = "micro_f1" if goal.measure == "macro_f1" else goal.measure
    values = [measure_counts(Counts.of(targets, probabilities > t))[measure] for t in GRID]
    return np.array(GRID[int(np.argmax(values))])


def _own_thresholds(probabilities: Array, targets: Targets, goal: Goal) -> Array:
    """For each label the threshold with the best F1 or K of its own, or with enough recall."""
    if goal.recall is not None:
        own = np.full(targets.shape[1], 0.5)
        for label in np.flatnonzero(targets.any(axis=0)):
            own[label] = _lowest_kept(probabilities[targets[:, label], label], goal.recall)
        return own
    order = np.argsort(-probabilities, axis=0, kind="stable")
    ranked = np.take_along_axis(probabilities, order, axis=0)
    hits = np.cumsum(np.take_along_axis(targets, order, axis=0), axis=0)
    assigned = np.arange(1, len(ranked) + 1)[:, None]
    positives = targets.sum(axis=0)
    if goal.measure.endswith("f1"):
        quality = 2 * hits / (assigned + positives)
    else:
        quality = hits / np.maximum(positives, 1) - (assigned - hits) / np.maximum(
            len(targets) - positives, 1
        )
    # A cut between two equal probabilities cannot be made.
    below = np.vstack([ranked[1:], np.zeros((1, ranked.shape[1]))])
    quality = np.where(ranked > below, quality, -np.inf)
    best = np.argmax(quality, axis=0)
    columns = np.arange(ranked.shape[1])
    between: Array = (ranked[best, columns] + below[best, columns]) / 2
    return between


def _lowest_kept(positives: Array, recall: float) -> float:
    """A threshold just below the positives that must be found."""
    missed = int(np.floor((1 - recall) * len(positives)))
    return float(np.sort(positives)[missed]) * (1 - 1e-9)


def _inside(probability: Array) -> Array:
    inside: Array = np.clip(probability, EDGE, 1 - EDGE)
    return inside
