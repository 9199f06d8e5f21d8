"""The SVMs of all labels for several values of C, each from the one before, planned by the memory limit."""

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from funnelling.errors import InputError
from funnelling.matrices import Floats, Folds, Matrix, Targets, is_sparse
from funnelling.runtime.progress import Advance, no_progress
from funnelling.runtime.spread import is_local, map_chunks, workers
from funnelling.runtime.threads import map_threads
from funnelling.svm.kernels import Kernel, aligned
from funnelling.svm.solver import TOLERANCE, Problems

PIECES_PER_WORKER = 4  # per worker: with fewer, all wait longer for the last

Coefficients = Any  # a sparse matrix (documents, labels): what each document adds to each label's classifier

logger = logging.getLogger(__name__)


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
    if tolerance <= TOLERANCE:  # else it is rough anyway
        for C, solution in zip(Cs, solutions, strict=True):
            _warn_of_unfinished(C, solution.unfinished)
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


def _warn_of_unfinished(C: float, unfinished: npt.NDArray[np.bool_]) -> None:
    """Warn of labels that have a problem which was given up."""
    if unfinished.any():
        logger.warning(
            "The SVMs of %d of %d labels with C = %g were left unfinished. "
            "Scale the features to about 1 or choose a smaller C.",
            np.count_nonzero(unfinished),
            len(unfinished),
            C,
        )


MAX_LANDMARKS = 500  # of the Nyström map, where memory allows
MIN_LANDMARKS = 32  # landmarks worth a map
GRAM_PAYS = 16  # how many numbers of a Gram are read as fast as one of a sparse vector


@dataclass(frozen=True)
class Plan:
    """Solve over the Gram, over the vectors (the same optimum) or over a Nyström map (an approximation).

    ``reason`` is set where the memory limit rules out the Gram, and says so.
    """

    form: Literal["gram", "vectors", "nystrom"]
    landmarks: int = 0
    reason: str = ""


def plan_linear(X: Matrix, memory_limit: float) -> Plan:
    """The vectors where they take less to read than their Gram; else as memory allows.

    A row of the Gram is read in one sweep, a sparse vector here and there, and the solver that reads the Gram
    takes fewer steps: measured on words and on characters, the two even out where a row has sixteen times
    the numbers of a sparse vector.
    """
    documents, width = X.shape
    matrix: Any = X
    size = (2 * matrix.nnz if is_sparse(X) else documents * width) * GRAM_PAYS
    if size <= documents**2:
        return Plan("vectors")
    if gram_bytes(documents) <= memory_limit:
        return Plan("gram")
    return Plan(
        "vectors", reason=f"{_too_large(documents, memory_limit)}; its vectors give the same optimum."
    )


def plan_rbf(documents: int, memory_limit: float, what: str) -> Plan:
    """The Gram, or a Nyström map where the Gram would pass the limit; refused where not even a map fits."""
    if gram_bytes(documents) <= memory_limit:
        return Plan("gram")
    landmarks = min(MAX_LANDMARKS, int(memory_limit / (4 * documents)))
    if landmarks < MIN_LANDMARKS:
        raise InputError(
            f"{what}: {documents:,} documents need {amount(4 * documents * MIN_LANDMARKS)}, over the "
            f"memory_limit of {amount(memory_limit)}. Raise memory_limit or train on fewer documents."
        )
    return Plan(
        "nystrom",
        landmarks,
        f"{_too_large(documents, memory_limit)}; {landmarks:,} landmarks approximate it.",
    )


def labels_at_once(documents: int, folds: int, memory_limit: float) -> int:
    """The most labels whose solution keeps within the limit; at least 1, which is always tried."""
    return max(1, int(memory_limit / _solution_bytes(documents, 1, folds)))


def check_solution_size(documents: int, labels: int, folds: int, memory_limit: float, what: str) -> None:
    """Refuse a problem whose solution alone would pass the limit."""
    needed = _solution_bytes(documents, labels, folds)
    if needed > memory_limit:
        raise InputError(
            f"{what}: the solution for {documents:,} documents and {labels:,} labels needs {amount(needed)}, "
            f"over the memory_limit of {amount(memory_limit)}. Raise memory_limit or train on fewer "
            "documents."
        )


def amount(size: float) -> str:
    """A number of bytes as people read it.

    >>> amount(1.6e11), amount(1234), amount(12)
    ('160.0 GB', '1.2 KB', '12 bytes')
    """
    for unit, bytes_ in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if size >= bytes_:
            return f"{size / bytes_:,.1f} {unit}"
    return f"{size:.0f} bytes"


def _solution_bytes(documents: int, labels: int, folds: int) -> int:
    return 12 * documents * labels * folds


def gram_bytes(documents: int) -> int:
    """The bytes of a kernel matrix."""
    return 4 * documents * documents


def largest_gram(memory_limit: float) -> int:
    """The most documents whose kernel matrix keeps within the limit."""
    return math.isqrt(int(memory_limit / 4))


def _too_large(documents: int, memory_limit: float) -> str:
    return (
        f"the kernel matrix of {documents:,} documents would take {amount(gram_bytes(documents))}, over the "
        f"memory_limit of {amount(memory_limit)}"
    )
