"""Many binary SVM problems over one Gram matrix, solved in C where the package was built with it."""

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any

import joblib
import numpy as np
import numpy.typing as npt

from funnelling.progress import Advance, quietly

try:
    from funnelling.svm import _native  # type: ignore[attr-defined]
except ImportError:  # installed where there was no compiler
    _native = None

TOLERANCE = 1e-3
EXHAUSTED = 3  # the native solver's word for "out of steps"

logger = logging.getLogger(__name__)


@dataclass
class Solution:
    """All problems of one call: axis 0 the fold, axis 1 the label, axis 2 the document."""

    coefficients: npt.NDArray[np.float64]
    bias: npt.NDArray[np.float64]
    scores: npt.NDArray[np.float32]


def solver_name() -> str:
    """Which solver does the work: "native" (the C code) or "scikit-learn" (its slow equal)."""
    return "scikit-learn" if _native is None else "native"


@cache
def _tell_fallback() -> None:
    logger.warning(
        "The compiled solver is missing, so scikit-learn's SVC is used: equal results, far slower. "
        "Install a C compiler and reinstall funnelling."
    )


def solve(
    gram: npt.NDArray[np.float32],
    targets: npt.NDArray[np.bool_],
    active: npt.NDArray[np.bool_],
    C: float,
    *,
    start: npt.NDArray[np.float64] | None = None,
    n_jobs: int | None = None,
    advance: Advance = quietly,
) -> Solution:
    """Solve one C-SVM for every fold and every label.

    Parameters
    ----------
    gram : (documents, documents) kernel values, symmetric to the bit
    targets : (documents, labels) which document has which label
    active : (folds, documents) which documents a fold is trained on; the others are only scored
    C : the bound of the dual variables
    start : (folds, labels, documents) coefficients to begin from, of a smaller C
    advance : called with 1 after each problem

    A problem whose active documents all have, or all lack, the label scores them +1 or -1.
    """
    folds, documents = active.shape
    labels = targets.shape[1]
    solution = Solution(
        np.zeros((folds, labels, documents)) if start is None else start.copy(),
        np.zeros((folds, labels)),
        np.zeros((folds, labels, documents), dtype=np.float32),
    )
    signs = np.where(targets.T, 1, -1).astype(np.int8, order="C")
    masks = np.ascontiguousarray(active, dtype=np.uint8)
    stop = np.zeros(1, dtype=np.uint8)
    most_steps = max(1_000_000, 100 * documents)
    exhausted = np.zeros((folds, labels), dtype=bool)

    def solve_one(problem: int) -> None:
        fold, label = divmod(problem, labels)
        coefficients, scores = solution.coefficients[fold, label], solution.scores[fold, label]
        if _native is None:
            bias = _solve_with_sklearn(gram, signs[label], active[fold], C, coefficients, scores)
        else:
            status, bias = _native.solve(
                gram, signs[label], masks[fold], stop, coefficients, scores, C, TOLERANCE, most_steps
            )
            exhausted[fold, label] = status == EXHAUSTED
        solution.bias[fold, label] = bias

    if _native is None:
        _tell_fallback()
    for _ in in_threads(solve_one, folds * labels, n_jobs, stop):
        advance(1)
    if exhausted.any():
        logger.warning(
            "%d of %d SVM problems with C = %g were left unfinished after %d steps. "
            "Scale the features to about 1 or choose a smaller C.",
            np.count_nonzero(exhausted),
            exhausted.size,
            C,
            most_steps,
        )
    return solution


def in_threads(
    work: Callable[[int], Any], count: int, n_jobs: int | None, stop: npt.NDArray[np.uint8]
) -> Iterator[Any]:
    """Do ``work(0)`` … ``work(count - 1)`` in threads, in order of results; Ctrl-C raises ``stop``."""
    with ThreadPoolExecutor(joblib.effective_n_jobs(n_jobs)) as executor:
        try:
            yield from executor.map(work, range(count))
        except BaseException:
            stop[0] = 1
            executor.shutdown(wait=True, cancel_futures=True)
            raise


def _solve_with_sklearn(
    gram: npt.NDArray[np.float32],
    signs: npt.NDArray[np.int8],
    active: npt.NDArray[np.bool_],
    C: float,
    coefficients: npt.NDArray[np.float64],
    scores: npt.NDArray[np.float32],
) -> float:
    from sklearn.svm import SVC

    coefficients[:] = 0
    used = np.flatnonzero(active)
    if len(np.unique(signs[used])) < 2:
        only = 1.0 if (signs[used] > 0).any() else -1.0
        scores[:] = only
        return only
    svc = SVC(kernel="precomputed", C=C, tol=TOLERANCE, cache_size=500)
    svc.fit(gram[np.ix_(used, used)].astype(np.float64), signs[used])
    support = used[svc.support_]
    coefficients[support] = svc.dual_coef_[0]
    bias = float(svc.intercept_[0])
    scores[:] = gram[:, support].astype(np.float64) @ svc.dual_coef_[0] + bias
    return bias
