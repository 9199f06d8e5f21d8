"""Thresholds tuned for a goal, label by label where there is enough to go by.

They are tuned on posteriors of documents that neither tier saw. A rare label's own best threshold is
mostly chance, so each is drawn towards the one that is best for all labels together: by how much is chosen
by cross-validation, on the goal itself, averaged over languages as reports do. Tuning for macro-F1 stays
close to the best micro-F1 that one common threshold has, for few would give that away.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from funnelling.errors import InputError
from funnelling.evaluation.counts import Counts
from funnelling.evaluation.registry import MEASURES, PAPER_MEASURES, measure_counts
from funnelling.matrices import Folds, Targets
from funnelling.svm import Calibration
from funnelling.svm.compiled import sigmoid

GOALS = tuple(measure.replace("_", "-") for measure in PAPER_MEASURES)
RECALL = "recall"
# How many positives a label needs for its own threshold to weigh as much as the common one.
PULLS = (np.inf, 3_000.0, 1_000.0, 300.0, 100.0, 30.0, 10.0, 3.0)
# Even in log-odds: the best threshold for K is about as small as the share of documents with a label.
GRID = sigmoid(np.linspace(-7, 4, 111))
EDGE = 1e-6  # thresholds keep this distance from 0 and 1
LOSS = 0.005  # of that micro-F1

Array = npt.NDArray[np.float64]


class Goal(NamedTuple):
    """What is to be as high as possible: a measure, or recall of at least ``recall``.

    No threshold is below ``floor``.
    """

    measure: str
    recall: float | None = None
    floor: float = 0.0


# What people expect where they ask for nothing: good F1, rare labels found too, and nothing assigned that is
# ten times as likely wrong as right.
EXPECTED = Goal("macro_f1", floor=0.1)


def parse_goal(text: str) -> Goal:
    """A goal from ``macro-f1`` or ``recall=0.9``.

    >>> parse_goal("macro-f1"), parse_goal("recall=.9")
    (Goal(measure='macro_f1', recall=None, floor=0.0), Goal(measure='micro_f1', recall=0.9, floor=0.0))
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


def tuned_thresholds(
    calibration: Calibration,
    scores: npt.NDArray[np.floating],
    targets: Targets,
    folds: Folds,
    languages: npt.NDArray[np.intp],
    goal: Goal,
) -> Array:
    """The score of each label above which the answer is yes, tuned on honest scores."""
    from scipy.special import logit

    probabilities = calibration(scores)
    pull = _choose_pull(probabilities, targets, folds, languages, goal)
    thresholds = np.maximum(Tuning.on(probabilities, targets, goal).thresholds(pull), goal.floor)
    in_scores = (logit(thresholds) - calibration.offset) / calibration.slope
    in_scores[calibration.trivial] = 0.0
    return np.asarray(in_scores, dtype=np.float64)


class Tuning(NamedTuple):
    """The threshold that is best for all labels together, each label's own, and what that rests on."""

    common: Array
    own: Array
    positives: npt.NDArray[np.intp]

    @classmethod
    def on(cls, probabilities: Array, targets: Targets, goal: Goal) -> "Tuning":
        return cls(
            _common_threshold(probabilities, targets, goal),
            _own_thresholds(probabilities, targets, goal),
            targets.sum(axis=0),
        )

    def thresholds(self, pull: float) -> Array:
        """One threshold per label: its own and the common one, averaged by the number of its positives."""
        from scipy.special import logit

        weight = np.where(self.positives > 0, self.positives / (self.positives + pull), 0.0)
        own = np.where(self.positives > 0, self.own, self.common)
        mixed: Array = sigmoid(weight * logit(_inside(own)) + (1 - weight) * logit(_inside(self.common)))
        return mixed


def _choose_pull(
    probabilities: Array,
    targets: Targets,
    folds: Folds,
    languages: npt.NDArray[np.intp],
    goal: Goal,
) -> float:
    """The pull whose thresholds do best on folds that they were not tuned on; the strongest of equals."""
    numbers = np.unique(folds)
    if len(numbers) < 2:
        return PULLS[0]
    tunings = {
        fold: Tuning.on(probabilities[folds != fold], targets[folds != fold], goal) for fold in numbers
    }
    rows = [languages == language for language in np.unique(languages)]
    best, chosen, floor = -np.inf, PULLS[0], 0.0
    for pull in PULLS:
        decided = np.zeros(targets.shape, dtype=bool)
        for fold, tuning in tunings.items():
            thresholds = np.maximum(tuning.thresholds(pull), goal.floor)
            decided[folds == fold] = probabilities[folds == fold] > thresholds
        measures = [measure_counts(Counts.of(targets[each], decided[each])) for each in rows]
        micro = float(np.mean([each["micro_f1"] for each in measures]))
        recall = float((decided & targets).sum() / max(1, targets.sum()))
        if pull == PULLS[0] and goal.measure == "macro_f1":
            floor = micro - LOSS
        # Nothing makes up for recall that is missing, or micro-F1.
        lack = max(0.0, (goal.recall or 0.0) - recall) + max(0.0, floor - micro)
        value = float(np.mean([each[goal.measure] for each in measures])) - 100 * lack
        if value > best + 1e-9:
            best, chosen = value, pull
    return chosen


def _common_threshold(probabilities: Array, targets: Targets, goal: Goal) -> Array:
    if goal.recall is not None:
        positives = probabilities[targets]
        return np.array(_lowest_passing(positives, goal.recall) if len(positives) else 0.5)
    # One threshold for all labels serves micro-F1 best; own ones are there for the rest.
    measure = "micro_f1" if goal.measure == "macro_f1" else goal.measure
    values = np.array([MEASURES[measure].of(counts) for counts in _counts_on_grid(probabilities, targets)])
    best = np.flatnonzero(values >= values.max() - 1e-12)
    return np.array(GRID[best[len(best) // 2]])  # of equals the middle one, far from both sides


def _counts_on_grid(probabilities: Array, targets: Targets) -> Iterator[Counts]:
    """The counts of each label at each threshold of the grid, with one look at the probabilities."""
    documents, labels = targets.shape
    passed = np.searchsorted(GRID, probabilities) + (len(GRID) + 1) * np.arange(labels)

    def above(places: npt.NDArray[np.intp]) -> npt.NDArray[np.int64]:
        """How many of them pass each threshold, by threshold and label."""
        found = np.bincount(places, minlength=(len(GRID) + 1) * labels).reshape(labels, -1)
        return np.ascontiguousarray(found[:, :0:-1].cumsum(axis=1)[:, ::-1].T)

    positives = targets.sum(axis=0)
    for assigned, tp in zip(above(passed.ravel()), above(passed[targets]), strict=True):
        yield Counts(tp, assigned - tp, positives - tp, documents - positives - (assigned - tp))


def _own_thresholds(probabilities: Array, targets: Targets, goal: Goal) -> Array:
    """For each label the threshold with the best F1 or K of its own, or with enough recall."""
    if goal.recall is not None:
        own = np.full(targets.shape[1], 0.5)
        for label in np.flatnonzero(targets.any(axis=0)):
            own[label] = _lowest_passing(probabilities[targets[:, label], label], goal.recall)
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


def _lowest_passing(positives: Array, recall: float) -> float:
    """A threshold just below the positives that must be found."""
    missed = int(np.floor((1 - recall) * len(positives)))
    return float(np.sort(positives)[missed]) * (1 - 1e-9)


def _inside(probability: Array) -> Array:
    inside: Array = np.clip(probability, EDGE, 1 - EDGE)
    return inside
