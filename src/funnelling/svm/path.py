"""The SVMs of all labels for one C after the other, label by label: in threads, or spread over workers."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from funnelling.matrices import Floats, Folds, Targets
from funnelling.svm.kernels import Kernel, aligned
from funnelling.svm.solver import Problems
from funnelling.work.progress import Advance, quietly
from funnelling.work.spread import in_pieces, is_local, workers
from funnelling.work.threads import in_threads

PIECES = 4  # for each worker: the fewer, the longer all wait for the last

logger = logging.getLogger(__name__)


@dataclass
class Solved:
    """The problems of some labels for one C: on everything, then on all but each fold.

    Of the scores only those are kept that anyone asks for, and of the coefficients those that are not zero:
    most documents support no label.
    """

    problems: int  # of a label
    support: sparse.csr_array[np.float64]  # (labels · problems, documents), label by label
    bias: npt.NDArray[np.float64]  # (labels, problems)
    scores: Floats  # (labels, documents), of the classifiers trained on everything
    held_out: Floats | None  # the same, of those that did not see the document's fold
    unfinished: npt.NDArray[np.bool_]  # (labels,)

    @classmethod
    def joined(cls, parts: Sequence["Solved"]) -> "Solved":
        """Those of several sets of labels below each other."""
        return cls(
            parts[0].problems,
            sparse.vstack([part.support for part in parts], format="csr"),
            np.concatenate([part.bias for part in parts]),
            np.concatenate([part.scores for part in parts]),
            None if parts[0].held_out is None else np.concatenate([part.held_out for part in parts]),
            np.concatenate([part.unfinished for part in parts]),
        )

    @classmethod
    def of_labels(cls, found: Sequence["_Label"], shape: tuple[int, int]) -> "Solved":
        """What was found for each label, all at once; ``shape`` is that of a label's coefficients."""
        problems, documents = shape
        places = [label * problems * documents + each.places for label, each in enumerate(found)]
        rows, columns = np.divmod(np.concatenate(places), documents)
        starts = np.searchsorted(rows, np.arange(len(found) * problems + 1))
        values = np.concatenate([each.values for each in found])
        return cls(
            problems,
            sparse.csr_array((values, columns, starts), (len(found) * problems, documents)),
            np.stack([each.bias for each in found]),
            np.stack([each.scores for each in found]),
            None if found[0].held_out is None else np.stack([each.held_out for each in found]),  # type: ignore[misc]
            np.array([each.unfinished for each in found]),
        )

    def coefficients(self, problem: int) -> "sparse.csr_array[np.float64]":
        """(labels, documents) of one problem: 0 was trained on everything, 1 without the first fold."""
        return self.support[problem :: self.problems]

    def of_label(self, label: int) -> npt.NDArray[np.float64]:
        """(problems, documents) of one label, with all zeros."""
        dense: npt.NDArray[np.float64] = self.support[
            label * self.problems : (label + 1) * self.problems
        ].toarray()
        return dense


class _Label(NamedTuple):
    """What one label's problems leave behind for one C; building a matrix for each would take longer."""

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
    start: Solved | None = None,
    n_jobs: int | None = None,
    advance: Advance = quietly,
    stop: npt.NDArray[np.uint8] | None = None,
) -> list[Solved]:
    """Solve the problems of all labels for each C, the first from ``start``, the others from the one before.

    Parameters
    ----------
    kernel, targets, stop : see `solve`
    active : (problems, documents) which documents each problem is trained on: everything, then all but
        each of the ``folds``, where there are any
    advance : called with the number of problems solved
    """
    labels = targets.shape[1]
    stop = np.zeros(1, dtype=np.uint8) if stop is None else stop
    documents = np.arange(len(targets))
    own = None if folds is None else (1 + np.unique(folds, return_inverse=True)[1]) * len(targets) + documents
    # Frequent labels take longest, and whoever begins with them ends nearly together.
    order = np.argsort(-targets.sum(axis=0), kind="stable")
    solved: list[list[_Label]] = [[] for _ in range(labels)]
    if is_local():
        problems = Problems(kernel, targets, active, stop)

        def solve_one(k: int) -> list[_Label]:
            return _solve_label(problems, order[k], active.shape, own, Cs, start)

        for k, path in enumerate(in_threads(solve_one, labels, n_jobs, stop)):
            solved[order[k]] = path
            advance(len(active) * len(Cs))
    else:
        count = min(labels, PIECES * workers())
        pieces = [order[k::count] for k in range(count)]
        shared = (kernel, targets, active, own, Cs, start)
        for k, paths in in_pieces(_solve_labels, shared, [(piece,) for piece in pieces]):
            for label, path in zip(pieces[k], paths, strict=True):
                solved[label] = path
            advance(len(active) * len(Cs) * len(pieces[k]))
    for_each_c = [Solved.of_labels([path[k] for path in solved], active.shape) for k in range(len(Cs))]
    for C, of_all in zip(Cs, for_each_c, strict=True):
        tell_unfinished(C, of_all.unfinished)
    return for_each_c


def _solve_labels(
    kernel: Kernel,
    targets: Targets,
    active: Targets,
    own: Folds | None,
    Cs: Sequence[float],
    start: Solved | None,
    labels: npt.NDArray[np.intp],
) -> list[list[_Label]]:
    """For each of some labels what is found for each C."""
    problems = Problems(aligned(kernel), targets, active)
    return [_solve_label(problems, label, active.shape, own, Cs, start) for label in labels]


def _solve_label(
    problems: Problems,
    label: int,
    shape: tuple[int, int],
    own: Folds | None,
    Cs: Sequence[float],
    start: Solved | None,
) -> list[_Label]:
    """What is found for each C; ``own`` are the places of scores by the problem that held a document out."""
    coefficients = np.zeros(shape) if start is None else start.of_label(label)
    path = []
    for C in Cs:
        found = problems.solve(label, C, coefficients)
        places = np.flatnonzero(coefficients)
        path.append(
            _Label(
                places,
                coefficients.take(places),
                found.bias,
                found.scores[0].copy(),
                None if own is None else found.scores.take(own),
                found.unfinished,
            )
        )
    return path


def tell_unfinished(C: float, unfinished: npt.NDArray[np.bool_]) -> None:
    """Warn of labels whose problems were given up."""
    if unfinished.any():
        logger.warning(
            "The SVMs of %d of %d labels with C = %g were left unfinished. "
            "Scale the features to about 1 or choose a smaller C.",
            np.count_nonzero(unfinished),
            len(unfinished),
            C,
        )
