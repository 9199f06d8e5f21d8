"""Posteriors of several views to one row a document, the space that tier 2 learns in."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.optimize import nnls

from funnelling.matrices import Floats, unit_rows

COMBINATIONS = ("mean", "concat", "stacked")

Weights = npt.NDArray[np.float64]


def combined(
    parts: Sequence[Floats], combine: str, normalise: bool, weights: Weights | None = None
) -> Floats:
    """The posteriors of views as one: their mean, side by side, or weighted as `stacking_weights` found."""
    if normalise:
        parts = [unit_rows(part) for part in parts]
    if len(parts) == 1:
        return parts[0]
    if combine == "concat":
        return np.hstack(parts)
    shares = np.full(len(parts), 1 / len(parts)) if weights is None else weights
    total = sum(share * part.astype(np.float64) for share, part in zip(shares, parts, strict=True))
    return np.asarray(total, dtype=np.float32)


def stacking_weights(held_out: Sequence[Floats], targets: npt.NDArray[np.bool_]) -> Weights:
    """A weight a view, none below 0 and 1 together, whose mean of held-out posteriors errs least.

    Breiman's stacked regressions (1996): least squares under the bound, over all documents and labels.

    >>> truth = np.array([[True, False], [False, True]])
    >>> right, unsure = truth.astype(np.float32), np.full((2, 2), 0.5, np.float32)
    >>> stacking_weights([right, unsure], truth).round(2).tolist()
    [1.0, 0.0]
    """
    X = np.column_stack([part.ravel().astype(np.float64) for part in held_out])
    products = X.T @ X
    root = np.linalg.cholesky(products + 1e-9 * np.trace(products) * np.eye(len(products)))
    found, _ = nnls(root.T, np.linalg.solve(root, X.T @ targets.ravel()))
    total = found.sum()
    weights: Weights = found / total if total > 0 else np.full(len(found), 1 / len(found))
    return weights
