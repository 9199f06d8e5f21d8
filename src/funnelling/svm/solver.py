"""Many binary SVM problems over the same documents, for one C after the other.

They are solved in C code where the package was built with it, and by scikit-learn elsewhere.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from funnelling.errors import InputError
from funnelling.matrices import Floats, Folds, Targets, is_sparse
from funnelling.runtime.progress import Advance, no_progress
from funnelling.runtime.spread import is_local, map_chunks, workers
from funnelling.runtime.threads import map_threads
from funnelling.svm import kernels
from funnelling.svm.kernels import Kernel, Vectors, aligned

INSTALL_COMPILER = "Install a C compiler, then pip install --no-cache-dir --force-reinstall funnelling."
TOLERANCE = 1e-3
EXHAUSTED, NOT_FINITE = 3, 4  # statuses of the native solver: out of steps; values that are not finite
MAX_STEPS = 1_000_000  # of a problem of few documents that does not end: a second of work, or less
PIECES_PER_WORKER = 4  # per worker: with fewer, all wait longer for the last
UNUSABLE_FEATURES = (
    "The features hold values that are not finite, or too large to be summed. "
    "Remove them, and scale the features to about 1."
)

logger = logging.getLogger(__name__)


def solver_name() -> str:
    """Which solver does the work: "native" (the C code) or "scikit-learn" (equal results, far slower)."""
    return "scikit-learn" if kernels.native is None else "native"


@cache
def _warn_of_fallback() -> None:
    logger.warning(
        "The compiled solver is missing, so scikit-learn's SVC is used: equal results, far slower. %s",
        INSTALL_COMPILER,
    )


class LabelSolution(NamedTuple):
    """The solved problems of one label: axis 0 is the fold, axis 1 the document."""

    bias: npt.NDArray[np.float64]
    scores: npt.NDArray[np.float32]
    unfinished: bool


class Problems:
    """One C-SVM for every label and every fold over the same documents, to be solved one label at a time.

    Parameters
    ----------
    kernel : (documents, documents) kernel values, or the vectors whose dot products they are
    targets : (documents, labels) which document has which label
    active : (folds, documents) which documents each problem is trained on; the others are only scored
    stop : one byte; when another thread raises it, the work ends and the solution is void
    tolerance : how far from the optimum a solution may be, in scores; the duality gap widens with it
    roughness : how far all problems but the first may be, as a share of the standard deviation of the label,
        where that is wider and the gap does not decide: the rarer a label, the less its scores differ.
        scikit-learn's solver does without it

    A problem whose active documents all have, or all lack, the label scores them +1 or -1.
    """

    def __init__(
        self,
        kernel: Kernel,
        targets: npt.NDArray[np.bool_],
        active: npt.NDArray[np.bool_],
        stop: npt.NDArray[np.uint8] | None = None,
        tolerance: float = TOLERANCE,
        roughness: float = 0.0,
    ) -> None:
        if not isinstance(kernel, Vectors) and not np.isfinite(kernel.diagonal()).all():
            raise InputError(UNUSABLE_FEATURES)
        if kernels.native is None:
            _warn_of_fallback()
        self._kernel = kernel
        self._active = active
        self._signs = np.where(targets.T, 1, -1).astype(np.int8, order="C")
        self._masks = np.ascontiguousarray(active, dtype=np.uint8)
        self._stop = np.zeros(1, dtype=np.uint8) if stop is None else stop
        self._tolerance = tolerance
        share = targets.mean(axis=0)
        self._fold_tolerances = np.maximum(tolerance, roughness * np.sqrt(share * (1 - share)))

    def solve(self, label: int, C: float, coefficients: npt.NDArray[np.float64]) -> LabelSolution:
        """Solve a label's problems; ``coefficients`` (folds, documents) are the start, then the solution."""
        folds, documents = self._active.shape
        signs, kernel = self._signs[label], self._kernel
        bias, scores = np.zeros(folds), np.zeros((folds, documents), dtype=np.float32)
        if kernels.native is None:
            for fold in range(folds):
                bias[fold] = _solve_with_sklearn(
                    kernel, signs, self._active[fold], C, self._tolerance, coefficients[fold], scores[fold]
                )
            return LabelSolution(bias, scores, False)
        steps = max(MAX_STEPS, 1_000 * documents)
        tolerances = self._tolerance, float(self._fold_tolerances[label])
        arguments = signs, self._masks, self._stop, coefficients, scores, bias, C, *tolerances, steps
        if isinstance(kernel, Vectors):
            status = kernels.native.solve_vectors(
                kernel.values, kernel.columns, kernel.starts, kernel.width, *arguments
            )
        else:
            status = kernels.native.solve_gram(kernel, *arguments)
        if status == NOT_FINITE:
            raise InputError(UNUSABLE_FEATURES)
        return LabelSolution(bias, scores, status == EXHAUSTED)


def _solve_with_sklearn(
    kernel: Kernel,
    signs: npt.NDArray[np.int8],
    active: npt.NDArray[np.bool_],
    C: float,
    tolerance: float,
    coefficients: npt.NDArray[np.float64],
    scores: npt.NDArray[np.float32],
) -> float:
    from sklearn.svm import SVC

    coefficients[:] = 0
    rows = np.flatnonzero(active)
    if len(np.unique(signs[rows])) < 2:
        only = 1.0 if (signs[rows] > 0).any() else -1.0
        scores[:] = only
        return only
    # With a large C a small slack makes a wide duality gap.
    if C > 10:
        tolerance *= min(1e-2, 0.2 / C)
    if isinstance(kernel, Vectors):
        X = kernel.matrix().astype(np.float64)
        svc = SVC(kernel="linear", C=C, tol=tolerance, cache_size=500).fit(X[rows], signs[rows])
    else:
        svc = SVC(kernel="precomputed", C=C, tol=tolerance, cache_size=500)
        svc.fit(kernel[np.ix_(rows, rows)].astype(np.float64), signs[rows])
    support, bias = rows[svc.support_], float(svc.intercept_[0])
    dual = svc.dual_coef_.toarray()[0] if is_sparse(svc.dual_coef_) else svc.dual_coef_[0]
    coefficients[support] = dual
    if isinstance(kernel, Vectors):
        scores[:] = X @ (X[support].T @ dual) + bias
    else:
        scores[:] = kernel[:, support].astype(np.float64) @ dual + bias
    return bias


Coefficients = Any  # a sparse matrix (documents, labels): what each document adds to each label's classifier


@dataclass
class SparseSolution:
    """The solved problems of some labels for one C: trained on everything, then on all but each fold.

    Only the scores that are used later are kept, and of the coefficients those that are not zero: most
    documents support no label.
    """

    problems: int  # per label
    support: sparse.csr_array[np.float64]  # (labels · problems, documents), label by label
    bias: npt.NDArray[np.float64]  # (labels, problems)
    scores: Floats  # (labels, documents), of the classifiers trained on everything
    held_out: Floats | None  # (labels, documents), of those that did not see the document's fold
    unfinished: npt.NDArray[np.bool_]  # (labels,)

    @classmethod
    def of_labels(cls, labels: Sequence["_Label"], shape: tuple[int, int]) -> "SparseSolution":
        """The solutions of single labels as one; ``shape`` is that of a label's coefficients."""
        problems, documents = shape
        places = [number * problems * documents + label.places for number, label in enumerate(labels)]
        rows, columns = np.divmod(np.concatenate(places), documents)
        starts = np.searchsorted(rows, np.arange(len(labels) * problems + 1))
        values = np.concatenate([label.values for label in labels])
        held_out = [label.held_out for label in labels if label.held_out is not None]
        return cls(
            problems,
            sparse.csr_array((values, columns, starts), (len(labels) * problems, documents)),
            np.stack([label.bias for label in labels]),
            np.stack([label.scores for label in labels]),
            np.stack(held_out) if held_out else None,
            np.array([label.unfinished for label in labels]),
        )

    def coefficients(self, problem: int) -> "sparse.csr_array[np.float64]":
        """The (labels, documents) coefficients of a problem: 0 is on everything, 1 without the first fold."""
        return self.support[problem :: self.problems]

    def of_label(self, label: int, problems: int) -> npt.NDArray[np.float64]:
        """The (problems, documents) coefficients of a label, zeros included."""
        assert problems == self.problems, "other folds"
        dense: npt.NDArray[np.float64] = self.support[
            label * self.problems : (label + 1) * self.problems
        ].toarray()
        return dense


@dataclass(frozen=True)
class Start:
    """Coefficients to begin with: of classifiers trained on everything, with which all problems begin."""

    support: sparse.csr_array[np.float64]  # (labels, documents)

    @classmethod
    def near(cls, coefficients: Coefficients, targets: Targets, C: float) -> "Start":
        """Coefficients (documents, labels) of another problem, moved to where they are possible in this one.

        They have the sign of their document, C at most, and those of a label sum to 0.
        """
        support = sparse.csr_array(coefficients.T, dtype=np.float64)
        labels = np.repeat(np.arange(targets.shape[1]), np.diff(support.indptr))
        signs = np.where(targets[support.indices, labels], 1.0, -1.0)
        sizes = np.clip(support.data * signs, 0, C)
        sides = np.stack([np.bincount(labels, sizes * (signs == side), targets.shape[1]) for side in (1, -1)])
        shares = sides.min(axis=0) / np.maximum(sides, np.finfo(np.float64).tiny)
        support.data = signs * sizes * shares[(signs < 0).astype(np.intp), labels]
        support.eliminate_zeros()
        return cls(support)

    def of_label(self, label: int, problems: int) -> npt.NDArray[np.float64]:
        """The (problems, documents) coefficients of a label, zeros included."""
        return np.repeat(self.support[[label]].toarray(), problems, axis=0)


class _Label(NamedTuple):
    """The solved problems of one label for one C, in arrays: a sparse matrix per label would take longer."""

    places: npt.NDArray[np.intp]  # of the coefficients that are not zero, counted through all problems
    values: npt.NDArray[np.float64]
    bias: npt.NDArray[np.float64]
    scores: Floats
    held_out: Floats | None
    unfinished: bool


def solve_path(
    kernel: Kernel,
    targets: Targets,
    active: Targets,
    Cs: Sequence[float],
    *,
    folds: Folds | None = None,
    start: SparseSolution | Start | None = None,
    n_jobs: int | None = None,
    advance: Advance = no_progress,
    stop: npt.NDArray[np.uint8] | None = None,
    tolerance: float = TOLERANCE,
    roughness: float = 0.0,
) -> list[SparseSolution]:
    """Solve the problems of all labels for each C: the first from ``start``, each other from the one before.

    Parameters
    ----------
    kernel, targets, stop, tolerance, roughness : see `Problems`; a cluster solves as usual
    active : (problems, documents) which documents each problem is trained on: everything, then all but
        each of the ``folds``, where there are any
    advance : called with the number of problems solved
    """
    labels = targets.shape[1]
    stop = np.zeros(1, dtype=np.uint8) if stop is None else stop
    documents = np.arange(len(targets))
    own = None if folds is None else (1 + np.unique(folds, return_inverse=True)[1]) * len(targets) + documents
    # Frequent labels take longest; begun first, they let all threads end at nearly the same time.
    order = np.argsort(-targets.sum(axis=0), kind="stable")
    paths: list[list[_Label]] = [[] for _ in range(labels)]
    if is_local():
        problems = Problems(kernel, targets, active, stop, tolerance, roughness)

        def solve_one(k: int) -> list[_Label]:
            return _solve_label(problems, order[k], active.shape, own, Cs, start)

        for k, path in enumerate(map_threads(solve_one, labels, n_jobs, stop)):
            paths[order[k]] = path
            advance(len(active) * len(Cs))
    else:
        count = min(labels, PIECES_PER_WORKER * workers())
        pieces = [order[k::count] for k in range(count)]
        data = (kernel, targets, active, own, Cs, start)
        for k, of_piece in map_chunks(_solve_labels, data, [(piece,) for piece in pieces]):
            for label, path in zip(pieces[k], of_piece, strict=True):
                paths[label] = path
            advance(len(active) * len(Cs) * len(pieces[k]))
    solutions = [SparseSolution.of_labels([path[k] for path in paths], active.shape) for k in range(len(Cs))]
    for C, solution in zip(Cs, solutions, strict=True):
        if tolerance <= TOLERANCE and solution.unfinished.any():  # else it is rough anyway
            logger.warning(
                "The SVMs of %d of %d labels with C = %g were left unfinished. "
                "Scale the features to about 1 or choose a smaller C.",
                np.count_nonzero(solution.unfinished),
                labels,
                C,
            )
    return solutions


def _solve_labels(
    kernel: Kernel,
    targets: Targets,
    active: Targets,
    own: Folds | None,
    Cs: Sequence[float],
    start: SparseSolution | Start | None,
    labels: npt.NDArray[np.intp],
) -> list[list[_Label]]:
    """The solutions of some labels: one list per label, with one solution per C."""
    problems = Problems(aligned(kernel), targets, active)
    return [_solve_label(problems, label, active.shape, own, Cs, start) for label in labels]


def _solve_label(
    problems: Problems,
    label: int,
    shape: tuple[int, int],
    own: Folds | None,
    Cs: Sequence[float],
    start: SparseSolution | Start | None,
) -> list[_Label]:
    """The solutions of one label, one per C.

    ``own`` says where each document's score by the problem that held it out stands among all scores.
    """
    coefficients = np.zeros(shape) if start is None else start.of_label(label, shape[0])
    path = []
    for C in Cs:
        solution = problems.solve(label, C, coefficients)
        places = np.flatnonzero(coefficients != 0)  # several times as fast as without the comparison
        path.append(
            _Label(
                places,
                coefficients.take(places),
                solution.bias,
                solution.scores[0].copy(),
                None if own is None else solution.scores.take(own),
                solution.unfinished,
            )
        )
    return path
