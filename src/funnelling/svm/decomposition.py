"""What each input contributes to a score, exactly, for linear and for RBF-kernel classifiers."""

from typing import Any

import numpy as np
import numpy.typing as npt

from funnelling.matrices import Matrix, is_sparse
from funnelling.svm.scorers import KernelScorer, LinearScorer

Array = npt.NDArray[np.float64]


def linear_contributions(scorer: LinearScorer, row: Matrix, label: int) -> tuple[npt.NDArray[np.intp], Array]:
    """The features of the one document in ``row``, and what each adds to a label's score.

    The contributions and the bias sum to the score.
    """
    document: Any = row
    features = document.indices if is_sparse(row) else np.flatnonzero(document[0])
    values = document.data if is_sparse(row) else document[0, features]
    weights: Any = scorer.weights[features, label]
    return features, np.asarray(values, dtype=np.float64) * weights


class KernelDecomposition:
    """Divides the score that an RBF-kernel classifier gives a point among the point's dimensions.

    Integrated gradients (Sundararajan, Taly and Yan 2017) along the straight line from the origin to the
    point, in closed form: with an RBF kernel the integrals over the line are Gaussian ones.
    """

    def __init__(self, scorer: KernelScorer) -> None:
        self._scorer = scorer
        self._support = scorer.support.astype(np.float64)
        self._sizes = np.einsum("ij,ij->i", self._support, self._support)
        self._at_origin = np.exp(-scorer.gamma * self._sizes)

    def contributions(self, point: npt.ArrayLike, labels: npt.NDArray[np.intp]) -> tuple[Array, Array]:
        """The scores of some labels at the origin, and what each dimension of a point adds to them.

        The scores at the origin, (labels,), and the contributions, (labels, dimensions), sum to the scores of
        the point.
        """
        from scipy.special import erf

        x = np.asarray(point, dtype=np.float64)
        coefficients = self._scorer.coefficients[:, labels]
        gamma, length = self._scorer.gamma, float(x @ x)
        origin: Array = self._at_origin @ coefficients + self._scorer.bias[labels]
        if length == 0:
            return origin, np.zeros((len(labels), len(x)))
        # The kernel along the line, at t from 0 to 1, is a Gaussian in t about ``centre``.
        along = self._support @ x
        centre, width = along / length, np.sqrt(gamma * length)
        peak = np.exp(-gamma * np.maximum(self._sizes - along * centre, 0))
        mass = peak * np.sqrt(np.pi) / (2 * width) * (erf(width * (1 - centre)) + erf(width * centre))
        at_end = np.exp(-gamma * np.maximum(length - 2 * along + self._sizes, 0))
        moment = centre * mass - (at_end - self._at_origin) / (2 * width**2)
        pull = (coefficients * mass[:, None]).T @ self._support - np.outer(moment @ coefficients, x)
        return origin, 2 * gamma * x * pull
