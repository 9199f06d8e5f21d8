"""Probabilities ranked label by label and fold by fold: what thresholds are tuned on, with or without a fold.

The best place to cut a ranking is just below a document that has the label: another one above the cut only
does harm. So all there is to know are, for each label of each document, how many documents and how many right
ones are at least as likely, and who comes next: counted fold by fold, and added up over the folds that count.
"""

from collections.abc import Iterable
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from funnelling.evaluation.measures import Counts
from funnelling.matrices import Folds, Targets
from funnelling.svm.compiled import sigmoid

# Even in log-odds: the best threshold for K is about as small as the share of documents with a label.
GRID = sigmoid(np.linspace(-7, 4, 111))

# By how much F1 or K of a label with one document may differ by chance; with n, by that over √n. Of 0, .03,
# .05, .07, .1 and more .05 is nowhere worse than 0 by cross-validation on four corpora, and mostly better.
CHANCE_OF_LABEL = 0.05
EDGE = 1e-6  # probabilities keep this distance from 0 and 1

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]


class Cuts(NamedTuple):
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


class Ranking:
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

    def cuts(self, fold: int | None) -> Cuts:
        """Where each label's ranking may be cut, without the documents of a fold."""
        kept, folds = self.learned(fold), self.without(fold)
        return Cuts(
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

    return np.asarray(logit(np.clip(probability, EDGE, 1 - EDGE)), dtype=np.float64)


def _above_grid(columns: Iterable[Array]) -> list[Integers]:
    return [len(column) - np.searchsorted(column, GRID, side="right") for column in columns]


def _highest(values: Array, most: int) -> Array:
    return values if len(values) <= most else np.partition(values, -most)[-most:]
