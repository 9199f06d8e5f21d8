"""Whole solutions, with every score of every fold, for tests that look at more than a fit keeps."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from funnelling.matrices import Floats, Targets
from funnelling.svm.kernels import Kernel
from funnelling.svm.solver import Problems
from funnelling.work.progress import Advance, quietly


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


def solve_on_device(
    gram: Any,
    targets: Targets,
    active: Targets,
    C: float,
    *,
    start: npt.NDArray[np.float64] | None = None,
    advance: Advance = quietly,
) -> Solution:
    """Solve one C-SVM for every label and every fold, on a device.

    ``advance`` is called with the number of problems solved.
    """
    from funnelling.svm.device.gram import on_device, on_host
    from funnelling.svm.device.solver import _label_blocks, _solve

    folds, documents = active.shape
    labels = targets.shape[1]
    shape = labels, folds, documents
    solution = Solution(
        np.empty(shape),
        np.empty((labels, folds)),
        np.empty(shape, dtype=np.float32),
        np.empty(labels, dtype=bool),
    )
    for block, sides in _label_blocks(gram, targets, active):
        beta = None if start is None else on_device(start[block], gram.device).view(-1, documents)
        results = _solve(gram, sides, beta, C, advance)
        solution.coefficients[block] = on_host(results.beta).reshape(-1, folds, documents)
        solution.bias[block] = on_host(results.bias).reshape(-1, folds)
        solution.scores[block] = on_host(results.scores).reshape(-1, folds, documents)
        solution.unfinished[block] = on_host(results.unfinished).reshape(-1, folds).any(axis=1)
    return solution


def device_gram(gram: Floats) -> Any:
    """Kernel values that are known already, on PyTorch's CPU."""
    from funnelling.svm.device.gram import DeviceGram, on_device

    return DeviceGram(on_device(gram, "cpu"))
