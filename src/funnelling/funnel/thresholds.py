"""Thresholds tuned for a goal, label by label where there is enough to go by.

They are tuned on posteriors of documents that neither tier saw. A rare label's own best threshold is
mostly chance, so each is drawn towards the one that is best for all labels together: by how much is chosen
by cross-validation, on the goal itself, averaged over languages as reports do. Tuning for macro-F1 stays
close to the best micro-F1 that one common threshold has, for few would give that away. Where recall or
precision is to be so high, all thresholds then move together until it is.
"""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from funnelling.errors import InputError, did_you_mean
from funnelling.evaluation.measures import ALL_LABELS, Counts
from funnelling.evaluation.registry import MEASURES, PAPER_MEASURES
from funnelling.funnel.ranking import (
    THRESHOLD_GRID,
    Array,
    Integers,
    LabelThresholdCurves,
    ThresholdCandidates,
    highest,
    odds,
)
from funnelling.matrices import Targets
from funnelling.plain import Estimator
from funnelling.state import Between
from funnelling.svm import Calibration
from funnelling.svm.calibration import sigmoid

GOALS = {measure.removesuffix("_paper").replace("_", "-"): measure for measure in PAPER_MEASURES}
RECALL, PRECISION = "recall", "precision"
PER_LABEL = " per label"
# How many positives a label needs for its own threshold to weigh as much as the common one.
SHRINKAGE_STRENGTHS = (np.inf, 3_000.0, 1_000.0, 300.0, 100.0, 30.0, 10.0, 3.0)
# Of that micro-F1; and of a share that is asked for, which differs as much by chance
MAX_MICRO_F1_LOSS = 0.005
# How much dearer micro-F1 is beyond that loss; a border that none may pass would make pulls jump
LOSS_PENALTY = 5.0
MIN_SHRINKAGE_GAIN = 0.001  # of a measure: a pull that is better by less is not better
# How far thresholds go down together, in log-odds; the common one, and own ones, meet the goal
MAX_LOG_ODDS_SHIFT = 1.0


class Goal(NamedTuple):
    """The measure to maximise, and the recall or precision that is to be reached.

    It is to be reached by all labels together, or ``per_label`` by each on its own.
    """

    measure: str
    recall: float | None = None
    min_threshold: float = 0.0
    precision: float | None = None
    per_label: bool = False

    @property
    def share(self) -> tuple[str, float] | None:
        """Which share is to be at least how high, if any is."""
        if self.recall is not None:
            return RECALL, self.recall
        return None if self.precision is None else (PRECISION, self.precision)


# What people expect where they ask for nothing: good F1, rare labels found too, and nothing assigned that is
# ten times as likely wrong as right.
DEFAULT_GOAL = Goal("macro_f1_paper", min_threshold=0.1)


def parse_goal(text: str) -> Goal:
    """A goal from ``macro-f1``, ``recall=0.9`` or ``precision=0.9 per label``.

    >>> parse_goal("macro-f1"), parse_goal("recall=.9") == Goal("micro_f1", recall=0.9)
    (Goal(measure='macro_f1_paper', recall=None, min_threshold=0.0, precision=None, per_label=False), True)
    >>> parse_goal("precision=.9 per label") == Goal("recall", precision=0.9, per_label=True)
    True
    >>> parse_goal("recall=2")
    Traceback (most recent call last):
    funnelling.errors.InputError: no goal 'recall=2'. Use micro-f1, macro-f1, micro-k, macro-k, \
recall=R or precision=P, with R and P between 0 and 1.
    """
    whole = text.removesuffix(PER_LABEL)
    name, _, value = whole.partition("=")
    if whole in GOALS:
        return Goal(GOALS[whole], per_label=whole != text)
    if name in (RECALL, PRECISION):
        try:
            share = float(value)
        except ValueError:
            share = np.nan
        if 0 < share < 1 and name == RECALL:
            return Goal("micro_f1", recall=share, per_label=whole != text)
        if 0 < share < 1:
            return Goal(RECALL, precision=share, per_label=whole != text)
    meant = did_you_mean(name, (RECALL, PRECISION) if value else GOALS)
    if meant and name not in (RECALL, PRECISION):
        raise InputError(f"no goal {text!r}{meant}")
    raise InputError(
        f"no goal {text!r}. Use {', '.join(GOALS)}, recall=R or precision=P, with R and P between 0 and 1."
    )


@dataclass(repr=False)
class ThresholdTuning(Estimator):
    """A goal that the threshold of each label is tuned for, on documents held out from both tiers.

    Parameters
    ----------
    goal : "macro-f1", "micro-f1", "macro-k", "micro-k", "recall=R" or "precision=P"
        The best F1 with that recall, or the best recall with that precision.
    per_label : whether each label is to reach the goal, instead of all labels together
    min_threshold : the lowest probability that a label may be assigned for

    Examples
    --------
    >>> ThresholdTuning("recall=.9", per_label=True)
    ThresholdTuning(goal='recall=.9', per_label=True)
    """

    goal: str = "macro-f1"
    _: KW_ONLY
    per_label: bool = False
    min_threshold: Annotated[float, Between(0, 1)] = DEFAULT_GOAL.min_threshold

    def parsed(self) -> Goal:
        """The goal in parts; one that cannot be is refused."""
        if not 0 <= self.min_threshold < 1:
            raise InputError(f"min_threshold must be from 0 to below 1, not {self.min_threshold!r}.")
        goal = parse_goal(self.goal)
        per_label = goal.per_label or self.per_label
        return goal._replace(per_label=per_label, min_threshold=self.min_threshold)


class TunedThresholds(NamedTuple):
    """The probability of each label above which it is assigned, and what such thresholds decide.

    ``decided`` is out of fold: of each fold's documents, by thresholds of the other folds.
    """

    thresholds: Array
    decided: Targets

    def in_scores(self, calibration: Calibration, columns: Any = ALL_LABELS) -> Array:
        """The score of each label above which it is assigned; the labels are those of some columns."""
        from scipy.special import logit

        scores = (logit(self.thresholds) - calibration.offset[columns]) / calibration.slope[columns]
        scores[calibration.trivial[columns]] = 0.0
        return np.asarray(scores, dtype=np.float64)


def tuned_for(ranking: LabelThresholdCurves, languages: Integers, goal: Goal) -> TunedThresholds:
    """Thresholds for a goal, from out-of-fold probabilities; ``languages`` numbers that of each document."""
    pulls, tunings = _pulls(goal), _tunings(ranking, goal)
    alone = len(pulls) == 1 or len(ranking.numbers) < 2
    pull = pulls[0] if alone else _select_shrinkage(ranking, tunings, languages, goal)
    return TunedThresholds(
        ThresholdTuner.on(ranking, goal).thresholds(pull), _decided(ranking, tunings, pull)
    )


def tuned_as(
    ranking: LabelThresholdCurves, goal: Goal, matches: Callable[[TunedThresholds], bool]
) -> TunedThresholds | None:
    """Thresholds for a goal that are known already, for less work; None where no pull gives them."""
    whole = ThresholdTuner.on(ranking, goal)
    for pull in _pulls(goal):
        tuned = TunedThresholds(whole.thresholds(pull), ranking.targets)
        if matches(tuned):
            return tuned._replace(decided=_decided(ranking, _tunings(ranking, goal), pull))
    return None


def _pulls(goal: Goal) -> tuple[float, ...]:
    """The pulls to choose from: labels that are to reach the goal on their own are drawn nowhere."""
    return (0.0,) if goal.per_label else SHRINKAGE_STRENGTHS


def _tunings(ranking: LabelThresholdCurves, goal: Goal) -> "list[ThresholdTuner]":
    """Tuned without one fold after the other; where there is only one fold, on all documents."""
    folds = ranking.numbers if len(ranking.numbers) > 1 else [None]
    return [ThresholdTuner.on(ranking, goal, fold) for fold in folds]


def _decided(ranking: LabelThresholdCurves, tunings: "Sequence[ThresholdTuner]", pull: float) -> Targets:
    """What each fold's documents get by thresholds of the other folds."""
    decided = np.empty(ranking.targets.shape, dtype=bool)
    for fold, tuning in zip(ranking.numbers, tunings, strict=True):
        rows = ranking.folds == fold
        decided[rows] = ranking.probabilities[rows] > tuning.thresholds(pull)
    return decided


class LikelyLabels(NamedTuple):
    """Labels that documents may get, in any order: the log-odds of each, and its column."""

    odds: Array
    columns: Integers

    def above(self, thresholds: Array) -> Array:
        """How far each label is above its threshold."""
        return self.odds - thresholds[self.columns]


class ThresholdTuner(NamedTuple):
    """The threshold that is best for all labels together, each label's own, and what that rests on.

    Where all thresholds are to move until a share is reached, ``right`` and ``wrong`` are the labels that
    they may assign then.
    """

    common: float
    own: Array
    positives: Integers
    goal: Goal
    right: LikelyLabels | None = None
    wrong: LikelyLabels | None = None

    @classmethod
    def on(cls, ranking: LabelThresholdCurves, goal: Goal, without: int | None = None) -> "ThresholdTuner":
        """Tuned on all documents, or on those that are not in a fold."""
        cuts = ranking.candidates(without)
        own, positives = _own_thresholds(cuts, goal), cuts.positives
        if goal.share is None:
            return cls(_common_threshold(ranking, goal, without), own, positives, goal)
        right = LikelyLabels(odds(cuts.probabilities), cuts.labels)
        wrong = np.empty(0)  # in recall it has no part
        if goal.precision is not None:
            most = _most_wrong(int(np.count_nonzero(ranking.targets)), goal.precision)
            wrong = odds(ranking.likeliest_wrong(most, without))
        common = sigmoid(np.array([_shift(right.odds, wrong, goal)])).item()
        if goal.per_label:
            return cls(common, own, positives, goal)
        probabilities, columns = np.empty(0), np.empty(0, dtype=np.intp)
        if goal.precision is not None:
            lowest = np.where(positives > 0, np.minimum(own, common), common)
            lowest = sigmoid(odds(lowest) - MAX_LOG_ODDS_SHIFT)
            probabilities, columns = ranking.wrong_above(lowest, without)
        return cls(common, own, positives, goal, right, LikelyLabels(odds(probabilities), columns))

    def thresholds(self, pull: float) -> Array:
        """One threshold per label: its own and the common one, averaged by the number of its positives."""
        weight = np.where(self.positives > 0, self.positives / np.maximum(self.positives + pull, 1), 0.0)
        own = np.where(self.positives > 0, self.own, self.common)
        mixed = weight * odds(own) + (1 - weight) * odds(self.common)
        if self.right is not None and self.wrong is not None:
            mixed += _shift(self.right.above(mixed), self.wrong.above(mixed), self.goal, -MAX_LOG_ODDS_SHIFT)
        return np.maximum(sigmoid(mixed), self.goal.min_threshold)


def _shift(right: Array, wrong: Array, goal: Goal, least: float = -np.inf) -> float:
    """How far thresholds must move, in log-odds, for the share that is asked for.

    ``right`` and ``wrong`` are how far labels that documents have, and lack, are above them.
    """
    right = np.sort(right)
    if goal.recall is not None:
        return float(right[_missed(len(right), goal.recall)]) - 1e-9 if len(right) else 0.0
    assert goal.precision is not None
    wrong = np.sort(highest(wrong, _most_wrong(len(right), goal.precision)))
    places = right[right >= least]
    if not len(places):
        return 0.0
    found, at = len(right) - np.searchsorted(right, places), np.searchsorted(wrong, places)
    quality = _precise(found, found + len(wrong) - at, goal.precision)
    best = len(places) - 1 - int(np.argmax(quality[::-1]))  # the highest of equals
    next_right = right[len(right) - found[best] - 1] if found[best] < len(right) else -np.inf
    next_wrong = wrong[at[best] - 1] if at[best] else -np.inf
    return float(places[best] + max(next_right, next_wrong, places[best] - MAX_LOG_ODDS_SHIFT)) / 2


def _select_shrinkage(
    ranking: LabelThresholdCurves, tunings: Sequence[ThresholdTuner], languages: Integers, goal: Goal
) -> float:
    """The strongest pull whose thresholds do as well as any, but for chance, on folds unknown to them."""
    rows_of = [np.flatnonzero(languages == language) for language in np.unique(languages)]
    truth = [ranking.targets[rows] for rows in rows_of]
    values, floor = [], 0.0
    for pull in SHRINKAGE_STRENGTHS:
        decided = _decided(ranking, tunings, pull)
        tables = [Counts.of(own, decided[rows]).table() for own, rows in zip(truth, rows_of, strict=True)]
        counts = Counts.from_table(np.stack(tables, axis=-1))
        measures = _measures(goal, counts)
        micro = float(measures["micro_f1"].mean())
        if pull == SHRINKAGE_STRENGTHS[0] and goal.measure == "macro_f1_paper":
            floor = micro - MAX_MICRO_F1_LOSS
        value = float(measures[goal.measure].mean()) - LOSS_PENALTY * max(0.0, floor - micro)
        if goal.share is not None:
            of = counts.tp + (counts.fn if goal.recall is not None else counts.fp)
            reached = float(counts.tp.sum() / max(1, of.sum()))
            value -= 100 * max(0.0, goal.share[1] - MAX_MICRO_F1_LOSS - reached)  # nothing makes up for it
        values.append(value)
    good = np.flatnonzero(np.array(values) >= max(values) - MIN_SHRINKAGE_GAIN)
    return SHRINKAGE_STRENGTHS[int(good[0])]


def _measures(goal: Goal, counts: Counts) -> dict[str, Array]:
    """Compute the goal's metric and micro-F1 of each language, from counts by label and language."""
    return {name: MEASURES[name].of(counts) for name in (goal.measure, "micro_f1")}


def _common_threshold(ranking: LabelThresholdCurves, goal: Goal, without: int | None) -> float:
    # One threshold for all labels serves micro-F1 best; own ones are there for the rest.
    measure = "micro_f1" if goal.measure == "macro_f1_paper" else goal.measure
    values = MEASURES[measure].of(ranking.counts_on_grid(without))
    best = np.flatnonzero(values >= values.max() - 1e-12)
    return float(THRESHOLD_GRID[best[len(best) // 2]])  # of equals the middle one, far from both sides


def _own_thresholds(cuts: ThresholdCandidates, goal: Goal) -> Array:
    """For each label the threshold with the best F1 or K of its own, or with enough recall or precision."""
    of_label = cuts.positives[cuts.labels]
    if goal.recall is not None:
        own = np.full(len(cuts.positives), 0.5)
        found = np.flatnonzero(cuts.positives)
        last = np.cumsum(cuts.positives)[found] - 1  # the least likely of each label
        lowest = cuts.probabilities[last - _missed(cuts.positives[found], goal.recall)]
        own[found] = lowest * (1 - 1e-9)  # just below those that must be found
        return own
    if goal.precision is not None:
        quality = _precise(cuts.right, cuts.assigned, goal.precision)
    elif "f1" in goal.measure:
        quality = 2 * cuts.right / (cuts.assigned + of_label)
    else:
        others = np.maximum(cuts.documents - of_label, 1)
        quality = cuts.right / of_label - (cuts.assigned - cuts.right) / others
    return cuts.thresholds(quality)


def _precise(right: Integers, assigned: Integers, precision: float) -> Array:
    """How good it is to assign so many: as many right ones as precision allows, or else precision itself."""
    share = right / assigned
    return np.where(share >= precision, 1.0 + right, share)


def _most_wrong(right: int, precision: float) -> int:
    """More wrong ones, and one, than this cannot be assigned beside so many right ones."""
    return int(right * (1 - precision) / precision) + 2


def _missed(positives: Any, recall: float) -> Any:
    """How many of so many need not be found."""
    return np.floor((1 - recall) * positives).astype(np.intp)
