"""The multilabel SVM as a learner: bind it to documents and labels, fit it on folds."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from funnelling.progress import Advance, quietly
from funnelling.svm.calibration import fit_calibration
from funnelling.svm.gram import Floats, Matrix, check_gram_size, linear_gram, one_blas_thread, rbf_gram
from funnelling.svm.scorers import KernelScorer, LinearScorer, Scorer
from funnelling.svm.solver import Solution, solve

Targets = npt.NDArray[np.bool_]
Folds = npt.NDArray[np.intp]

C_GRID = (0.1, 1.0, 10.0, 100.0, 1_000.0, 10_000.0)


@dataclass(frozen=True)
class SVM:
    """A C-SVM with hinge loss and unpenalised bias for each label.

    ``gamma`` None is the linear kernel, a number the RBF kernel's. ``C`` None chooses it on ``grid`` by
    cross-validation: the micro-F1 of the held-out decisions decides, ties go to the smaller C.
    ``exclusive`` says that a document has exactly one label, so its highest score decides. ``calibrated``
    says that decisions will be made on calibrated posteriors, so they choose C too.
    """

    C: float | None = 1.0
    gamma: float | None = None
    grid: Sequence[float] = C_GRID
    exclusive: bool = False
    calibrated: bool = False
    memory_limit: float = 8e9
    n_jobs: int | None = None
    advance: Advance = field(default=quietly, compare=False)

    def problem(self, X: Matrix, targets: Targets, what: str = "training") -> "Problem":
        """Bind the learner to documents; their Gram is computed once, however often it is fitted."""
        check_gram_size(X.shape[0], self.memory_limit, what)
        return Problem(self, X, targets)

    def reporting(self, advance: Advance) -> "SVM":
        """The same learner, telling ``advance`` of each problem solved."""
        return replace(self, advance=advance)

    def problems_solved(self, labels: int, folds: int) -> int:
        """How many times one fit calls ``advance``."""
        return labels * (folds * (1 if self.C is not None else len(self.grid)) + 1)


@dataclass
class Problem:
    """Documents and labels, with the Gram that all fits over them share."""

    learner: SVM
    X: Matrix
    targets: Targets

    @cached_property
    def gram(self) -> Floats:
        if self.learner.gamma is None:
            return linear_gram(self.X)
        return rbf_gram(self.X, self.learner.gamma)

    def fit(self, folds: Folds, within: Targets | None = None) -> "Fit":
        """Fit on all documents, and on all but each fold.

        ``within`` restricts training to some documents; the others are scored only.
        """
        learner = self.learner
        everyone = np.ones(len(folds), dtype=bool) if within is None else within
        one_out = (folds != np.unique(folds)[:, None]) & everyone
        if learner.C is None:
            C, parts = self._search(folds, one_out, everyone)
        else:
            C, parts = learner.C, self._solve(one_out, learner.C)
        return Fit(self, C, folds, self._solve(everyone[None], C), parts)

    def _solve(self, active: Targets, C: float, start: Solution | None = None) -> Solution:
        return solve(
            self.gram,
            self.targets,
            active,
            C,
            start=None if start is None else start.coefficients,
            n_jobs=self.learner.n_jobs,
            advance=self.learner.advance,
        )

    def _search(self, folds: Folds, one_out: Targets, everyone: Targets) -> tuple[float, Solution]:
        """The best C of the grid and its solution; each C starts where the smaller one ended."""
        best: tuple[float, float, Solution] | None = None
        solution = None
        for C in sorted(self.learner.grid):
            solution = self._solve(one_out, C, solution)
            f1 = self._held_out_f1(_held_out(solution, folds)[everyone], self.targets[everyone])
            if best is None or f1 > best[0]:
                best = f1, C, solution
        assert best is not None
        return best[1], best[2]

    def _held_out_f1(self, scores: Floats, targets: Targets) -> float:
        if self.learner.calibrated and not self.learner.exclusive:
            return _micro_f1(targets, fit_calibration("platt", scores, targets)(scores) > 0.5)
        return _micro_f1(targets, decide(scores, self.learner.exclusive))


@dataclass
class Fit:
    """A solved problem: scores of the training documents, and scorers of new ones.

    ``scores`` are those of the classifiers trained on everything; ``held_out`` has each document scored
    by the classifiers that did not see its fold.
    """

    problem: Problem
    C: float
    folds: Folds
    everything: Solution
    parts: Solution

    @property
    def scores(self) -> Floats:
        scores: Floats = self.everything.scores[0].T
        return scores

    @cached_property
    def held_out(self) -> Floats:
        return _held_out(self.parts, self.folds)

    def scorer(self) -> Scorer:
        """What scores new documents, trained on everything."""
        return self._scorer(self.everything, 0)

    def scorer_without(self, fold: int) -> Scorer:
        """What scores new documents, trained on all but one fold."""
        return self._scorer(self.parts, int(np.searchsorted(np.unique(self.folds), fold)))

    def _scorer(self, solution: Solution, part: int) -> Scorer:
        coefficients, bias = solution.coefficients[part].T, solution.bias[part].astype(np.float32)
        X, gamma = self.problem.X, self.problem.learner.gamma
        if gamma is None:
            with one_blas_thread():
                return LinearScorer(np.ascontiguousarray(X.T @ coefficients, dtype=np.float32), bias)
        support = coefficients.any(axis=1)
        return KernelScorer(X[support], np.ascontiguousarray(coefficients[support]), bias, gamma)


def decide(scores: Floats, exclusive: bool) -> Targets:
    """Yes where the score is above 0; for exclusive labels, at the highest score of the document."""
    if not exclusive or scores.shape[1] == 1:
        return scores > 0
    decided = np.zeros(scores.shape, dtype=bool)
    decided[np.arange(len(scores)), scores.argmax(axis=1)] = True
    return decided


def _held_out(solution: Solution, folds: Folds) -> Floats:
    part = np.unique(folds, return_inverse=True)[1]
    return solution.scores[part, :, np.arange(len(folds))]


def _micro_f1(targets: Targets, decided: Targets) -> float:
    right = np.count_nonzero(targets & decided)
    total = np.count_nonzero(targets) + np.count_nonzero(decided)
    return 2 * right / total if total else 1.0
