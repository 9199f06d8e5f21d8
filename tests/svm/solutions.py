"""Whole solutions, with every score of every fold, for tests that look at more than a fit keeps."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from funnelling.svm.kernels import Kernel
from funnelling.svm.solver import Problems


@dataclass
class Solution:
    """The solved problems of one call: axis 0 is the label, axis 1 the fold, axis 2 the document.

    ``unfinished`` says which labels have a problem that was given up before it was solved.
    """

    coefficients: npt.NDArray[np.float64]
    bias: npt.NDArray[np.float64]
    scores: npt.NDArray[np.float32]
    unfinished: npt.NDArray[np.bool_]


def solve(
    kernel: Kernel,
    targets: npt.NDArray[np.bool_],
    active: npt.NDArray[np.bool_],
    C: float,
    *,
    start: npt.NDArray[np.float64] | None = None,
    stop: npt.NDArray[np.uint8] | None = None,
) -> Solution:
    """Solve all problems of `Problems`; ``start`` has the axes of a solution's coefficients."""
    problems = Problems(kernel, targets, active, stop)
    labels, shape = targets.shape[1], active.shape
    starts = np.zeros((labels, *shape)) if start is None else start.copy()
    by_label = [problems.solve(label, C, starts[label]) for label in range(labels)]
    return Solution(
        starts,
        np.stack([solution.bias for solution in by_label]),
        np.stack([solution.scores for solution in by_label]),
        np.array([solution.unfinished for solution in by_label]),
    )
