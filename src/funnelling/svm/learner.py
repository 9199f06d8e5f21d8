"""The multilabel SVM as a learner: bound to documents and labels, then fitted on folds."""

import logging
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from funnelling.corpus.labels import MULTILABEL, LabelSpace
from funnelling.matrices import Floats, Folds, Matrix, Rows, Targets, one_blas_thread
from funnelling.runtime.progress import Advance, no_progress
from funnelling.runtime.spread import is_local
from funnelling.svm.calibration import fit_calibration
from funnelling.svm.kernels import (
    Kernel,
    NystromMap,
    Plan,
    Vectors,
    check_solution_size,
    linear_gram,
    plan_linear,
    plan_rbf,
    rbf_gram,
    scaled_gamma,
    weighted_sums,
)
from funnelling.svm.scorers import KernelScorer, LinearScorer, Scorer
from funnelling.svm.solver import TOLERANCE, Coefficients, SparseSolution, Start, solve_path

C_GRID = (0.1, 1.0, 10.0, 100.0, 1_000.0, 10_000.0)
CSetting = float | Literal["grid"] | None  # given, the best of the grid, or found by a search that ends early
# Cs worse than the best that end a search: the next ones would cost most, and be worse still
STOP_AFTER_WORSE_CS = 2
LOOSE_TOL = 50 * TOLERANCE  # enough to see whether a C is worse: F1 of many decisions is right to .002 or so
MIN_F1_DIFFERENCE = 0.003  # of F1
# F1 lost with the first worse one: a look that is right to .005 shows whether it goes on
STEEP_F1_LOSS = 0.01
LOOSEST_TOL = 500 * TOLERANCE
MIN_DECISIONS = 10_000  # documents times labels: with fewer, a handful of decisions would be as much

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class SVM:
    """One C-SVM per label, with hinge loss and unpenalised bias.

    Without ``gamma`` the kernel is linear, with it an RBF kernel. Without ``C`` the best of ``grid`` is
    chosen by cross-validation: the micro-F1 of the held-out decisions decides, ties go to the smaller C. The
    search goes up and ends when two Cs were worse than the best; one that may be the last is solved roughly
    at first. A ``C`` of "grid" tries them all. ``labels`` say what scores decide. ``calibrated`` says that
    decisions will be made on calibrated posteriors, so these choose C too. ``memory_limit`` is the most bytes
    of a kernel matrix; `funnelling.svm.kernels.Plan` says what is done past it. ``roughness`` says how well
    classifiers that do not see a fold are found, as in `funnelling.svm.solver.Problems`. ``advance`` is
    called with the number of problems solved. Raised by another thread, ``stop`` ends a fit, whose results
    are then void.
    """

    C: CSetting = 1.0
    gamma: float | None = None
    grid: Sequence[float] = C_GRID
    labels: LabelSpace = MULTILABEL
    calibrated: bool = False
    memory_limit: float = 8e9
    roughness: float = 0.0
    n_jobs: int | None = None
    advance: Advance = field(default=no_progress, compare=False)
    stop: npt.NDArray[np.uint8] = field(default_factory=lambda: np.zeros(1, np.uint8), compare=False)

    def problem(self, X: Matrix, targets: Targets, what: str = "training") -> "Problem":
        """Bind the learner to documents, whose kernel is computed once for all fits."""
        plan = self.plan(X, what)
        if plan.reason:
            logger.warning("%s: %s", what, plan.reason)
        return Problem(self, X, targets, plan, what)

    def plan(self, X: Matrix, what: str) -> Plan:
        """Over what a problem with these documents would be solved; refused where memory is too small."""
        if self.gamma is None:
            return plan_linear(X, self.memory_limit)
        return plan_rbf(X.shape[0], self.memory_limit, what)

    def over_dense(self, X: Matrix) -> "SVM":
        """This learner with the kernel that suits dense vectors: RBF, its gamma by their variance."""
        return replace(self, gamma=scaled_gamma(X))

    @property
    def given_c(self) -> float | None:
        """The C that was given; None where it is to be searched."""
        return None if self.C == "grid" else self.C

    def problems_solved(self, labels: int, folds: int) -> int:
        """How many problems one fit solves, at most."""
        return labels * (folds + 1) * (1 if self.given_c is not None else len(self.grid))


@dataclass
class Problem:
    """Documents and labels, with the kernel that all fits over them share."""

    learner: SVM
    X: Matrix
    targets: Targets
    plan: Plan
    what: str

    @cached_property
    def kernel(self) -> Kernel:
        """What the solver reads."""
        gamma, n_jobs = self.learner.gamma, self.learner.n_jobs
        if self.plan.form == "nystrom":
            return Vectors.of(self.map.vectors(self._dense, n_jobs))
        if self.plan.form == "vectors":
            return Vectors.of(self.X)
        return linear_gram(self.X, n_jobs) if gamma is None else rbf_gram(self._dense, gamma, n_jobs)

    @cached_property
    def map(self) -> NystromMap:
        assert self.learner.gamma is not None
        return NystromMap.fit(self._dense, self.learner.gamma, self.plan.landmarks, self.learner.n_jobs)

    @property
    def _dense(self) -> Floats:
        """The documents, which an RBF kernel takes as a dense array."""
        assert isinstance(self.X, np.ndarray)
        return self.X

    def fit(self, folds: Folds, within: Rows | None = None, start: "Fit | None" = None) -> "Fit":
        """Fit on all documents, and on all but each fold, with the learner's C or the best of its grid.

        ``within`` restricts training to some documents; the others are only scored. ``start`` is a fit of
        this problem on other documents, from which the solver begins.
        """
        C = self.learner.given_c
        if C is not None:
            return self._fits([C], folds, within, start)[0]
        rows = slice(None) if within is None else within
        return self.best(lambda fit: fit.held_out_f1(rows), folds, within, start)

    def fit_whole(
        self,
        within: Rows | None = None,
        start: "Fit | Coefficients | None" = None,
        tolerance: float = TOLERANCE,
    ) -> "Fit":
        """Fit on all documents and on no folds: a sixth of the work, and enough to score new documents.

        ``start`` may also be the coefficients of a problem like this one.
        """
        C = self.learner.given_c
        assert C is not None, "C is chosen by folds"
        return self._fits([C], None, within, start, tolerance)[0]

    def best(
        self,
        quality: Callable[["Fit"], float],
        folds: Folds,
        within: Rows | None = None,
        start: "Fit | None" = None,
    ) -> "Fit":
        """The fit of highest quality, each C of the grid tried until it pays no more."""
        best, search = None, Search()
        for fit in self.path(folds, within, start):
            if search.improves(quality(fit)) or best is None:
                best = fit
            if self.learner.C == "grid":
                continue
            if search.is_over or self._ends_next(fit, quality, search, within):
                break
        assert best is not None
        return best

    def _ends_next(
        self, fit: "Fit", quality: Callable[["Fit"], float], search: "Search", within: Rows | None
    ) -> bool:
        """Whether the next C, solved roughly, is clearly worse than the best, and need not be solved well.

        It is looked at after a fall and, over vectors, where the grid ends: there it takes longest.
        """
        beyond = [C for C in self.learner.grid if C > fit.C]
        over_vectors = self.plan.form == "vectors"
        if not beyond or not (search.worse or (len(beyond) == 1 and over_vectors)):
            return False
        if self.targets.size < MIN_DECISIONS or not is_local():
            return False
        steep = over_vectors and search.lost > STEEP_F1_LOSS
        tolerance, margin = (LOOSEST_TOL, STEEP_F1_LOSS) if steep else (LOOSE_TOL, MIN_F1_DIFFERENCE)
        rough = self._fits([min(beyond)], fit.folds, within, fit, tolerance, no_progress)[0]
        return quality(rough) < search.highest - margin

    def path(
        self, folds: Folds | None = None, within: Rows | None = None, start: "Fit | None" = None
    ) -> Iterator["Fit"]:
        """One fit per C of the grid, the smallest first, with or without folds, each begun when asked for."""
        Cs = sorted(self.learner.grid)
        if not is_local():  # where data would travel for each C
            yield from self._fits(Cs, folds, within, start)
            return
        problems = self.targets.shape[1] * (1 if folds is None else len(np.unique(folds)) + 1)
        for done, C in enumerate(Cs, 1):
            start = self._fits([C], folds, within, start)[0]
            try:
                yield start
            except GeneratorExit:
                self.learner.advance(problems * (len(Cs) - done))  # those that need not be solved
                raise

    def _fits(
        self,
        Cs: Sequence[float],
        folds: Folds | None,
        within: Rows | None = None,
        start: "Fit | Coefficients | None" = None,
        tolerance: float = TOLERANCE,
        advance: Advance | None = None,
    ) -> list["Fit"]:
        learner = self.learner
        documents, labels = self.targets.shape
        active = np.ones((1, documents), dtype=bool) if within is None else within[None]
        if folds is not None:
            active = np.vstack([active, (folds != np.unique(folds)[:, None]) & active])
        check_solution_size(documents, labels, len(active), learner.memory_limit, self.what)
        solved = start.solution if isinstance(start, Fit) else None
        solutions = solve_path(
            self.kernel,
            self.targets,
            active,
            Cs,
            folds=folds,
            start=solved if solved is not None or start is None else Start.near(start, self.targets, min(Cs)),
            n_jobs=learner.n_jobs,
            advance=advance or learner.advance,
            stop=learner.stop,
            tolerance=tolerance,
            roughness=learner.roughness,
        )
        return [Fit(self, C, folds, solution) for C, solution in zip(Cs, solutions, strict=True)]


@dataclass
class Fit:
    """A solved problem: scores of the training documents, and scorers of new ones.

    ``scores`` come from the classifiers trained on everything, ``held_out`` from those that did not see the
    fold of the document.
    """

    problem: Problem
    C: float
    folds: Folds | None
    solution: SparseSolution

    @property
    def scores(self) -> Floats:
        return self.solution.scores.T

    @property
    def coefficients(self) -> Coefficients:
        """What each document adds to the classifiers trained on everything: (documents, labels)."""
        return sparse.csr_array(self.solution.coefficients(0).T.astype(np.float32))

    @property
    def held_out(self) -> Floats:
        assert self.solution.held_out is not None, "fitted without folds"
        return self.solution.held_out.T

    def held_out_f1(self, rows: Rows | slice = slice(None)) -> float:
        """The micro-F1 of decisions on held-out scores, by which settings are chosen."""
        learner = self.problem.learner
        scores, targets = self.held_out[rows], self.problem.targets[rows]
        if learner.calibrated and learner.labels.has_thresholds:
            calibrate = fit_calibration("platt", scores, targets, learner.n_jobs)
            return _micro_f1(targets, calibrate(scores) > 0.5)
        return _micro_f1(targets, learner.labels.decide(scores))

    def scorer(self) -> Scorer:
        """The scorer of new documents that was trained on everything."""
        return self._scorer(0)

    def scorer_without(self, fold: int) -> Scorer:
        """The scorer of new documents that was trained on all but one fold."""
        assert self.folds is not None, "fitted without folds"
        return self._scorer(1 + int(np.searchsorted(np.unique(self.folds), fold)))

    def _scorer(self, number: int) -> Scorer:
        """The scorer of one problem; `SparseSolution.coefficients` says how they are numbered."""
        problem = self.problem
        X, gamma = problem.X, problem.learner.gamma
        coefficients = self.solution.coefficients(number)
        bias = self.solution.bias[:, number].astype(np.float32)
        if gamma is None:
            return LinearScorer(weighted_sums(X, coefficients, problem.learner.n_jobs), bias)
        if problem.plan.form == "nystrom":
            assert isinstance(problem.kernel, Vectors)
            with one_blas_thread():
                weights = problem.map.basis.astype(np.float64) @ (coefficients @ problem.kernel.values).T
            return KernelScorer(problem.map.landmarks, weights, bias, gamma)
        support, places = np.unique(coefficients.indices, return_inverse=True)
        weights = np.zeros((len(support), len(bias)))
        weights[places, np.repeat(np.arange(len(bias)), np.diff(coefficients.indptr))] = coefficients.data
        return KernelScorer(X[support], weights, bias, gamma)


class Search:
    """How a search for C goes: the highest quality, how many Cs were worse since, the last by how much."""

    def __init__(self) -> None:
        self.highest = -math.inf
        self.worse = 0
        self.lost = 0.0

    def improves(self, quality: float) -> bool:
        """Take down what the next C reaches, and say whether it is the best so far."""
        is_best = quality > self.highest
        if is_best:
            self.highest, self.worse = quality, 0
        self.lost = self.highest - quality
        self.worse += self.lost > 0
        return is_best

    @property
    def is_over(self) -> bool:
        return self.worse >= STOP_AFTER_WORSE_CS


def _micro_f1(targets: Targets, decisions: Targets) -> float:
    right = np.count_nonzero(targets & decisions)
    total = np.count_nonzero(targets) + np.count_nonzero(decisions)
    return 2 * right / total if total else 1.0
