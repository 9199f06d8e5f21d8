"""Many binary SVM problems over the same documents, solved in C where the package was built with it."""

import logging
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from funnelling.errors import InputError
from funnelling.matrices import is_sparse
from funnelling.svm import kernels
from funnelling.svm.kernels import Kernel, Vectors

INSTALL_COMPILER = "Install a C compiler, then pip install --no-cache-dir --force-reinstall funnelling."
TOLERANCE = 1e-3
EXHAUSTED, NOT_FINITE = 3, 4  # statuses of the native solver: out of steps; values that are not finite
MAX_STEPS = 1_000_000  # of a problem of few documents that does not end: a second of work, or less
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
