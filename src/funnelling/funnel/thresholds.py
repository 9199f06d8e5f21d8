"""Thresholds tuned for a goal, label by label where there is enough to go by.

They are tuned on posteriors of documents that neither tier saw. A rare label's own best threshold is
mostly chance, so each is drawn towards the one that is best for all labels together: by how much is chosen
by cross-validation, on the goal itself, averaged over languages as reports do. Tuning for macro-F1 stays
close to the best micro-F1 that one common threshold has, for few would give that away. Where recall or
precision is to be so high, all thresholds then move together until it is.

The best place to cut a ranking is just below a document that has the label: another one above the cut only
does harm. So all there is to know are, for each label of each document, how many documents and how many right
ones are at least as likely, and who comes next: counted fold by fold, and added up over the folds that count.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from funnelling.errors import InputError
from funnelling.evaluation.measures import ALL_LABELS, Counts
from funnelling.evaluation.registry import MEASURES, PAPER_MEASURES
from funnelling.matrices import Folds, Targets
from funnelling.svm import Calibration
from funnelling.svm.calibration import sigmoid

# Even in log-odds: the best threshold for K is about as small as the share of documents with a label.
THRESHOLD_GRID = sigmoid(np.linspace(-7, 4, 111))

# By how much F1 or K of a label with one document may differ by chance; with n, by that over √n. Of 0, .03,
# .05, .07, .1 and more .05 is nowhere worse than 0 by cross-validation on four corpora, and mostly better.
CHANCE_OF_LABEL = 0.05
CLIP_EPS = 1e-6  # probabilities keep this distance from 0 and 1

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]


class ThresholdCandidates(NamedTuple):
    """Places to cut at, one per label of a document: by label, and there from the likeliest document down.

    Of each: the label, the document's probability, the next lower one, and what is above the cut.
    """

    labels: Integers
    probabilities: Array
    below: Array
    assigned: Integers
    right: Integers

    def thresholds(self, quality: Array, labels: int) -> Array:
        """The threshold of each label amid the places that are as good as its best; .5 where there is none.

        F1 is flat around its highest value, so the best place of all is chance's choice, and another one when
        a few documents more are known. Chance shrinks as labels have more documents; see `CHANCE_OF_LABEL`.
        """
        thresholds = np.full(labels, 0.5)
        if len(quality):
            starts = np.flatnonzero(np.append(True, np.diff(self.labels) > 0))
            positives = np.diff(np.append(starts, len(quality)))
            least = np.maximum.reduceat(quality, starts) - CHANCE_OF_LABEL / np.sqrt(positives)
            good = quality >= np.repeat(least, positives)
            middles = np.where(good, odds((self.probabilities + self.below) / 2), 0.0)
            sums, places = np.add.reduceat(middles, starts), np.add.reduceat(good.astype(np.intp), starts)
            thresholds[self.labels[starts]] = sigmoid(sums / places)
        return thresholds


class LabelThresholdCurves:
    """Honest probabilities of labels, their truth, and the fold of each document."""

    def __init__(self, probabilities: Array, targets: Targets, folds: Folds) -> None:
        self.probabilities, self.targets, self.folds = probabilities, targets, folds
        self.numbers: list[int] = np.unique(folds).tolist()
        rows, labels = np.nonzero(targets)
        likely = probabilities[rows, labels]
        order = np.lexsort((-likely, labels))
        self.rows, self.labels, self.likely = rows[order], labels[order], likely[order]
        self._columns = [np.sort(probabilities[folds == fold].T, axis=1) for fold in self.numbers]
        ends = np.searchsorted(self.labels, np.arange(targets.shape[1] + 1))
        own_folds = folds[self.rows]
        shape = (len(self.numbers), len(self.likely))
        self._assigned, self._right = np.empty(shape, dtype=np.intp), np.empty(shape, dtype=np.intp)
        self._below = np.zeros(shape)
        self._likeliest: dict[int, list[Array]] = {}
        self._positives = []  # of each fold the probabilities of each label's right ones, in order
        for k, columns in enumerate(self._columns):
            right = [
                self.likely[start:end][own_folds[start:end] == self.numbers[k]][::-1]
                for start, end in pairwise(ends.tolist())
            ]
            self._positives.append(right)
            for label in np.flatnonzero(np.diff(ends)):
                column, places = columns[label], slice(ends[label], ends[label + 1])
                likely, of_label = self.likely[places], right[label]
                at = np.searchsorted(column, likely)
                self._assigned[k, places] = len(column) - at
                self._below[k, places] = np.where(at > 0, column[np.maximum(at, 1) - 1], 0.0)
                self._right[k, places] = len(of_label) - np.searchsorted(of_label, likely)

    def without(self, fold: int | None) -> npt.NDArray[np.bool_]:
        """Which folds count, as flags of ``numbers``."""
        return np.array([number != fold for number in self.numbers])

    def documents(self, fold: int | None) -> int:
        """How many documents there are, without those of a fold."""
        return int(np.count_nonzero(self.folds != fold)) if fold is not None else len(self.folds)

    def positives(self, fold: int | None) -> Integers:
        """How many documents have each label, without those of a fold."""
        return np.bincount(self.labels[self.learned(fold)], minlength=self.targets.shape[1])

    def learned(self, fold: int | None) -> npt.NDArray[np.bool_]:
        """Which labels of documents count, without those of a fold."""
        return np.ones(len(self.rows), dtype=bool) if fold is None else self.folds[self.rows] != fold

    def likeliest_wrong(self, most: int, fold: int | None) -> Array:
        """The highest probabilities of labels that documents lack, at least so many, without a fold."""
        if most not in self._likeliest:
            self._likeliest[most] = [_highest(self._wrong_of(number), most) for number in self.numbers]
        folds = np.flatnonzero(self.without(fold))
        return np.concatenate([self._likeliest[most][k] for k in folds])

    def _wrong_of(self, fold: int) -> Array:
        rows = self.folds == fold
        wrong: Array = self.probabilities[rows][~self.targets[rows]]
        return wrong

    def wrong_above(self, thresholds: Array, fold: int | None) -> tuple[Integers, Integers]:
        """Rows and labels that are wrong and above thresholds, without the documents of a fold."""
        rows, labels = np.nonzero((self.probabilities > thresholds) & ~self.targets)
        kept = np.ones(len(rows), dtype=bool) if fold is None else self.folds[rows] != fold
        return rows[kept], labels[kept]

    def candidates(self, fold: int | None) -> ThresholdCandidates:
        """Where each label's ranking may be cut, without the documents of a fold."""
        kept, folds = self.learned(fold), self.without(fold)
        return ThresholdCandidates(
            self.labels[kept],
            self.likely[kept],
            self._below[folds].max(axis=0)[kept],
            self._assigned[folds].sum(axis=0)[kept],
            self._right[folds].sum(axis=0)[kept],
        )

    def counts_on_grid(self, fold: int | None) -> Counts:
        """Each label's counts at each threshold of the grid, by label and threshold, without a fold."""
        kept = self.without(fold)
        assigned, right = (np.sum(each, axis=0, where=kept[:, None, None]) for each in self._above_grid)
        missed = self.positives(fold)[:, None] - right
        return Counts(right, assigned - right, missed, self.documents(fold) - assigned - missed)

    @cached_property
    def _above_grid(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """How many documents, and right ones, are above each threshold of the grid, by fold and label."""
        return (
            np.array([_above_grid(columns) for columns in self._columns]),
            np.array([_above_grid(columns) for columns in self._positives]),
        )


def odds(probability: Any) -> Array:
    """The log-odds of probabilities."""
    from scipy.special import logit

    return np.asarray(logit(np.clip(probability, CLIP_EPS, 1 - CLIP_EPS)), dtype=np.float64)


def _above_grid(columns: Iterable[Array]) -> list[Integers]:
    return [len(column) - np.searchsorted(column, THRESHOLD_GRID, side="right") for column in columns]


def _highest(values: Array, most: int) -> Array:
    return values if len(values) <= most else np.partition(values, -most)[-most:]


GOALS = tuple(measure.replace("_", "-") for measure in PAPER_MEASURES)
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
    """What is to be as high as possible: a measure, where recall or precision are to be at least so high.

    That is asked of all labels together, or ``per_label`` of each on its own. No threshold is below
    ``floor``.
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
DEFAULT_GOAL = Goal("macro_f1", min_threshold=0.1)


def parse_goal(text: str) -> Goal:
    """A goal from ``macro-f1``, ``recall=0.9`` or ``precision=0.9 per label``.

    >>> parse_goal("macro-f1") == Goal("macro_f1"), parse_goal("recall=.9") == Goal("micro_f1", recall=0.9)
    (True, True)
    >>> parse_goal("precision=.9 per label") == Goal("recall", precision=0.9, per_label=True)
    True
    >>> parse_goal("recall=2")
    Traceback (most recent call last):
    funnelling.errors.InputError: 'recall=2' is nothing to optimise. Use micro-f1, macro-f1, micro-k, \
macro-k, recall=R or precision=P, with R and P between 0 and 1.
    """
    whole = text.removesuffix(PER_LABEL)
    name, _, value = whole.partition("=")
    if whole in GOALS:
        return Goal(whole.replace("-", "_"), per_label=whole != text)
    if name in (RECALL, PRECISION):
        try:
            share = float(value)
        except ValueError:
            share = np.nan
        if 0 < share < 1 and name == RECALL:
            return Goal("micro_f1", recall=share, per_label=whole != text)
        if 0 < share < 1:
            return Goal(RECALL, precision=share, per_label=whole != text)
    raise InputError(
        f"{text!r} is nothing to optimise. Use {', '.join(GOALS)}, recall=R or precision=P, with R and P "
        "between 0 and 1."
    )


class TunedThresholds(NamedTuple):
    """The probability of each label above which the answer is yes, and what such thresholds decide.

    ``decided`` is honest: of each fold's documents, by thresholds that the other folds gave.
    """

    thresholds: Array
    decided: Targets

    def in_scores(self, calibration: Calibration, columns: Any = ALL_LABELS) -> Array:
        """The score of each label above which the answer is yes; the labels are those of some columns."""
        from scipy.special import logit

        scores = (logit(self.thresholds) - calibration.offset[columns]) / calibration.slope[columns]
        scores[calibration.trivial[columns]] = 0.0
        return np.asarray(scores, dtype=np.float64)


def tuned_for(ranking: LabelThresholdCurves, languages: npt.NDArray[np.intp], goal: Goal) -> TunedThresholds:
    """Thresholds for a goal, from honest probabilities; ``languages`` numbers that of each document."""
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
    return (
        (0.0,) if goal.per_label else SHRINKAGE_STRENGTHS
    )  # what is to reach the goal on its own is drawn nowhere


def _tunings(ranking: LabelThresholdCurves, goal: Goal) -> "list[ThresholdTuner]":
    """Tuned without one fold after the other; where there is only one fold, on all documents."""
    folds = ranking.numbers if len(ranking.numbers) > 1 else [None]
    return [ThresholdTuner.on(ranking, goal, fold) for fold in folds]


def _decided(ranking: LabelThresholdCurves, tunings: "Sequence[ThresholdTuner]", pull: float) -> Targets:
    """What each fold's documents get by thresholds that the other folds gave."""
    decided = np.empty(ranking.targets.shape, dtype=bool)
    for fold, tuning in zip(ranking.numbers, tunings, strict=True):
        rows = ranking.folds == fold
        decided[rows] = ranking.probabilities[rows] > tuning.thresholds(pull)
    return decided


class ThresholdTuner(NamedTuple):
    """The threshold that is best for all labels together, each label's own, and what that rests on."""

    common: float
    own: Array
    positives: npt.NDArray[np.intp]
    goal: Goal
    likely: "ExpectedCounts | None"

    @classmethod
    def on(cls, ranking: LabelThresholdCurves, goal: Goal, without: int | None = None) -> "ThresholdTuner":
        """Tuned on all documents, or on those that are not in a fold."""
        own, positives = _own_thresholds(ranking, goal, without), ranking.positives(without)
        if goal.share is None:
            return cls(_common_threshold(ranking, goal, without), own, positives, goal, None)
        common = sigmoid(np.array([ExpectedCounts.whatever_label(ranking, goal, without).cut(goal)])).item()
        if goal.per_label:
            return cls(common, own, positives, goal, None)
        lowest = np.where(positives > 0, np.minimum(own, common), common)
        return cls(common, own, positives, goal, ExpectedCounts.above(ranking, goal, without, lowest))

    def thresholds(self, pull: float) -> Array:
        """One threshold per label: its own and the common one, averaged by the number of its positives."""
        weight = np.where(self.positives > 0, self.positives / np.maximum(self.positives + pull, 1), 0.0)
        own = np.where(self.positives > 0, self.own, self.common)
        mixed = weight * odds(own) + (1 - weight) * odds(self.common)
        if self.likely is not None:
            mixed += self.likely.cut(self.goal, mixed)
        return np.maximum(sigmoid(mixed), self.goal.min_threshold)


class ExpectedCounts(NamedTuple):
    """What may be above thresholds: the log-odds of right and of wrong labels, and which label each is."""

    right: Array
    labels: npt.NDArray[np.intp]
    wrong: Array
    labels_of_wrong: npt.NDArray[np.intp]

    @classmethod
    def whatever_label(
        cls, ranking: LabelThresholdCurves, goal: Goal, without: int | None
    ) -> "ExpectedCounts":
        """All that one threshold for all labels may assign."""
        right = odds(ranking.likely[ranking.learned(without)])
        wrong = np.empty(0)
        if goal.precision is not None:
            wrong = odds(ranking.likeliest_wrong(_most_wrong(len(ranking.likely), goal.precision), without))
        return cls(right, np.zeros(len(right), dtype=np.intp), wrong, np.zeros(len(wrong), dtype=np.intp))

    @classmethod
    def above(
        cls, ranking: LabelThresholdCurves, goal: Goal, without: int | None, lowest: Array
    ) -> "ExpectedCounts":
        """All that thresholds above the ``lowest`` may assign, or somewhat below."""
        learned = ranking.learned(without)
        rows, labels = np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
        if goal.precision is not None:  # in recall, what is wrong has no part
            rows, labels = ranking.wrong_above(sigmoid(odds(lowest) - MAX_LOG_ODDS_SHIFT), without)
        wrong = odds(ranking.probabilities[rows, labels])
        return cls(odds(ranking.likely[learned]), ranking.labels[learned], wrong, labels)

    def cut(self, goal: Goal, thresholds: Array | None = None) -> float:
        """How far thresholds, in log-odds, must move for the share that is asked for."""
        right, wrong = self.right, self.wrong
        if thresholds is not None:
            right, wrong = right - thresholds[self.labels], wrong - thresholds[self.labels_of_wrong]
        right = np.sort(right)
        if goal.recall is not None:
            return float(right[_missed(len(right), goal.recall)]) - 1e-9 if len(right) else 0.0
        assert goal.precision is not None
        most = _most_wrong(len(right), goal.precision)
        wrong = np.sort(wrong if len(wrong) <= most else np.partition(wrong, -most)[-most:])
        places = right if thresholds is None else right[right >= -MAX_LOG_ODDS_SHIFT]
        if not len(places):
            return 0.0
        found, at = len(right) - np.searchsorted(right, places), np.searchsorted(wrong, places)
        quality = _precise(found, found + len(wrong) - at, goal.precision)
        best = len(places) - 1 - int(np.argmax(quality[::-1]))  # the highest of equals
        next_right = right[len(right) - found[best] - 1] if found[best] < len(right) else -np.inf
        next_wrong = wrong[at[best] - 1] if at[best] else -np.inf
        return float(places[best] + max(next_right, next_wrong, places[best] - MAX_LOG_ODDS_SHIFT)) / 2


def _select_shrinkage(
    ranking: LabelThresholdCurves,
    tunings: Sequence[ThresholdTuner],
    languages: npt.NDArray[np.intp],
    goal: Goal,
) -> float:
    """The strongest pull whose thresholds do as well as any, but for chance, on folds unknown to them."""
    # Documents of a language and a fold side by side, so that each is looked at once for each pull.
    places = {number: place for place, number in enumerate(ranking.numbers)}
    order = np.lexsort((ranking.folds, languages))
    probabilities, labels = ranking.probabilities[order], ranking.targets.shape[1]
    keys = np.stack([languages[order], [places[fold] for fold in ranking.folds[order].tolist()]])
    ends = np.flatnonzero(np.append((np.diff(keys) != 0).any(axis=0), True)) + 1
    blocks = [(slice(a, b), keys[1, a]) for a, b in pairwise([0, *ends.tolist()])]
    numbers, sizes = np.unique(languages, return_counts=True)
    of_block = np.searchsorted(numbers, [keys[0, rows.start] for rows, _ in blocks])
    folds_of_right = np.searchsorted(ranking.numbers, ranking.folds[ranking.rows])
    in_table = np.searchsorted(numbers, languages[ranking.rows]) * labels + ranking.labels
    positives = np.bincount(in_table, minlength=len(numbers) * labels).reshape(-1, labels)
    values, floor = [], 0.0
    for pull in SHRINKAGE_STRENGTHS:
        thresholds = np.array([tuning.thresholds(pull) for tuning in tunings])
        found = ranking.likely > thresholds[folds_of_right, ranking.labels]
        right = np.bincount(in_table[found], minlength=len(numbers) * labels).reshape(-1, labels)
        assigned = np.zeros_like(right)
        for (rows, place), language in zip(blocks, of_block, strict=True):
            assigned[language] += np.count_nonzero(probabilities[rows] > thresholds[place], axis=0)
        missed, wrong = positives - right, assigned - right
        rest = sizes[:, None] - right - missed - wrong
        measures = _measures(goal, Counts(right.T, wrong.T, missed.T, rest.T))
        micro = float(measures["micro_f1"].mean())
        if pull == SHRINKAGE_STRENGTHS[0] and goal.measure == "macro_f1":
            floor = micro - MAX_MICRO_F1_LOSS
        value = float(measures[goal.measure].mean()) - LOSS_PENALTY * max(0.0, floor - micro)
        if goal.share is not None:
            of = positives if goal.recall is not None else assigned
            lack = max(0.0, goal.share[1] - MAX_MICRO_F1_LOSS - float(right.sum() / max(1, of.sum())))
            value -= 100 * lack  # nothing makes up for it
        values.append(value)
    good = np.flatnonzero(np.array(values) >= max(values) - MIN_SHRINKAGE_GAIN)
    return SHRINKAGE_STRENGTHS[int(good[0])]


def _measures(goal: Goal, counts: Counts) -> dict[str, Array]:
    """The goal's measure and micro-F1 of each language; counts are by label and language."""
    return {name: MEASURES[name].of(counts) for name in (goal.measure, "micro_f1")}


def _common_threshold(ranking: LabelThresholdCurves, goal: Goal, without: int | None) -> float:
    # One threshold for all labels serves micro-F1 best; own ones are there for the rest.
    measure = "micro_f1" if goal.measure == "macro_f1" else goal.measure
    values = MEASURES[measure].of(ranking.counts_on_grid(without))
    best = np.flatnonzero(values >= values.max() - 1e-12)
    return float(THRESHOLD_GRID[best[len(best) // 2]])  # of equals the middle one, far from both sides


def _own_thresholds(ranking: LabelThresholdCurves, goal: Goal, without: int | None) -> Array:
    """For each label the threshold with the best F1 or K of its own, or with enough recall or precision."""
    cuts, positives = ranking.candidates(without), ranking.positives(without)
    of_label = positives[cuts.labels]
    if goal.recall is not None:
        own = np.full(len(positives), 0.5)
        found = np.flatnonzero(positives)
        last = np.cumsum(positives)[found] - 1  # the least likely of each label
        lowest = cuts.probabilities[last - _missed(positives[found], goal.recall)]
        own[found] = lowest * (1 - 1e-9)  # just below those that must be found
        return own
    if goal.precision is not None:
        quality = _precise(cuts.right, cuts.assigned, goal.precision)
    elif goal.measure.endswith("f1"):
        quality = 2 * cuts.right / (cuts.assigned + of_label)
    else:
        others = np.maximum(ranking.documents(without) - of_label, 1)
        quality = cuts.right / of_label - (cuts.assigned - cuts.right) / others
    return cuts.thresholds(quality, len(positives))


def _precise(right: npt.NDArray[np.intp], assigned: npt.NDArray[np.intp], precision: float) -> Array:
    """How good it is to assign so many: as many right ones as precision allows, or else precision itself."""
    share = right / assigned
    return np.where(share >= precision, 1.0 + right, share)


def _most_wrong(right: int, precision: float) -> int:
    """More wrong ones, and one, than this cannot be assigned beside so many right ones."""
    return int(right * (1 - precision) / precision) + 2


def _missed(positives: Any, recall: float) -> Any:
    """How many of so many need not be found."""
    return np.floor((1 - recall) * positives).astype(np.intp)
