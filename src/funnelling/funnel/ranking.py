"""Labels of documents by their probability: where thresholds may lie, and what each of them assigns.

The best threshold of a label lies just below a document that has it: another document above the threshold
only does harm. So all there is to know are, for each label of each document, how many documents and how many
right ones are at least as likely, and which comes next: counted fold by fold, and added up over the folds
that count.
"""

from collections.abc import Iterable
from functools import cached_property, partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from funnelling.evaluation.measures import Counts
from funnelling.funnel.learners import log_odds
from funnelling.matrices import Folds, Targets
from funnelling.svm.calibration import sigmoid

# Even in log-odds: the best threshold for K is about as small as the share of documents with a label.
THRESHOLD_GRID = sigmoid(np.linspace(-7, 4, 111))

# By how much F1 or K of a label with one document may differ by chance; with n, by that over √n. Of 0, .03,
# .05, .07, .1 and more .05 is nowhere worse than 0 by cross-validation on four corpora, and mostly better.
CHANCE_OF_LABEL = 0.05
odds = partial(log_odds, edge=1e-6)

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]


class ThresholdCandidates(NamedTuple):
    """Documents that a label's threshold may lie below: by label, and there from the likeliest one down.

    Each has its label, its probability, the next lower one, and how many documents, and right ones, a
    threshold there assigns. ``positives`` has the documents of each label, ``documents`` their number.
    """

    labels: Integers
    probabilities: Array
    below: Array
    assigned: Integers
    right: Integers
    positives: Integers
    documents: int

    def thresholds(self, quality: Array) -> Array:
        """The threshold of each label amid the places that are as good as its best; .5 where there is none.

        F1 is flat around its highest value, so the best place of all is chance's choice, and another one when
        a few documents more are known. Chance shrinks as labels have more documents; see `CHANCE_OF_LABEL`.
        """
        thresholds = np.full(len(self.positives), 0.5)
        if len(quality):
            found = np.flatnonzero(self.positives)
            positives = self.positives[found]
            starts = np.cumsum(positives) - positives
            least = np.maximum.reduceat(quality, starts) - CHANCE_OF_LABEL / np.sqrt(positives)
            good = quality >= np.repeat(least, positives)
            middles = np.where(good, odds((self.probabilities + self.below) / 2), 0.0)
            sums, places = np.add.reduceat(middles, starts), np.add.reduceat(good.astype(np.intp), starts)
            thresholds[found] = sigmoid(sums / places)
        return thresholds


class LabelThresholdCurves:
    """Out-of-fold probabilities of labels, their truth, and the fold of each document.

    Methods that take a ``fold`` leave its documents out; None leaves out none.
    """

    def __init__(self, probabilities: Array, targets: Targets, folds: Folds) -> None:
        self.probabilities, self.targets, self.folds = probabilities, targets, folds
        self.numbers: list[int] = np.unique(folds).tolist()
        rows, labels = np.nonzero(targets)
        likely = probabilities[rows, labels]
        order = np.lexsort((-likely, labels))
        self._rows, self._labels, self._likely = rows[order], labels[order], likely[order]
        shape = (len(self.numbers), len(likely))
        self._assigned, self._right = np.empty(shape, dtype=np.intp), np.empty(shape, dtype=np.intp)
        self._below = np.empty(shape)
        # Of each fold and label, all probabilities and those of the right documents, in order
        self._columns = [np.sort(probabilities[folds == number].T, axis=1) for number in self.numbers]
        self._positives: list[list[Array]] = [[] for _ in self.numbers]
        ends = np.searchsorted(self._labels, np.arange(targets.shape[1] + 1)).tolist()
        for k, number in enumerate(self.numbers):
            for column, (start, end) in zip(self._columns[k], pairwise(ends), strict=True):
                likely = self._likely[start:end]
                right = likely[folds[self._rows[start:end]] == number][::-1]
                at = np.searchsorted(column, likely)
                self._assigned[k, start:end] = len(column) - at
                self._right[k, start:end] = len(right) - np.searchsorted(right, likely)
                self._below[k, start:end] = np.where(at > 0, column[np.maximum(at, 1) - 1], 0.0)
                self._positives[k].append(right)
        self._likeliest_wrong: dict[int, list[Array]] = {}

    def candidates(self, fold: int | None) -> ThresholdCandidates:
        """Where each label's threshold may lie."""
        kept, folds = self.folds[self._rows] != fold, self._without(fold)
        labels = self._labels[kept]
        return ThresholdCandidates(
            labels,
            self._likely[kept],
            self._below[folds].max(axis=0)[kept],
            self._assigned[folds].sum(axis=0)[kept],
            self._right[folds].sum(axis=0)[kept],
            np.bincount(labels, minlength=self.targets.shape[1]),
            int(np.count_nonzero(self.folds != fold)),
        )

    def counts_on_grid(self, fold: int | None) -> Counts:
        """Each label's counts at each threshold of the grid, by label and threshold."""
        kept, cuts = self._without(fold), self.candidates(fold)
        assigned, right = (np.sum(each, axis=0, where=kept[:, None, None]) for each in self._above_grid)
        missed = cuts.positives[:, None] - right
        return Counts(right, assigned - right, missed, cuts.documents - assigned - missed)

    def likeliest_wrong(self, most: int, fold: int | None) -> Array:
        """The highest probabilities of labels that documents lack, at least so many."""
        if most not in self._likeliest_wrong:
            of_folds = [self.folds == number for number in self.numbers]
            wrong = [self.probabilities[rows][~self.targets[rows]] for rows in of_folds]
            self._likeliest_wrong[most] = [highest(each, most) for each in wrong]
        folds = np.flatnonzero(self._without(fold))
        return np.concatenate([self._likeliest_wrong[most][k] for k in folds])

    def wrong_above(self, thresholds: Array, fold: int | None) -> tuple[Array, Integers]:
        """The probabilities above thresholds of labels that documents lack, and the labels."""
        rows, labels = np.nonzero((self.probabilities > thresholds) & ~self.targets)
        kept = self.folds[rows] != fold
        return self.probabilities[rows[kept], labels[kept]], labels[kept]

    def _without(self, fold: int | None) -> npt.NDArray[np.bool_]:
        """Which folds count, as flags of ``numbers``."""
        return np.array([number != fold for number in self.numbers])

    @cached_property
    def _above_grid(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """How many documents, and right ones, are above each threshold of the grid, by fold and label."""
        return (
            np.array([_above_grid(columns) for columns in self._columns]),
            np.array([_above_grid(columns) for columns in self._positives]),
        )


def highest(values: Array, most: int) -> Array:
    """So many of the highest values, or all, in any order."""
    return values if len(values) <= most else np.partition(values, -most)[-most:]


def _above_grid(columns: Iterable[Array]) -> list[Integers]:
    return [len(column) - np.searchsorted(column, THRESHOLD_GRID, side="right") for column in columns]
