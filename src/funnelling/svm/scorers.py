"""Fitted SVMs, which score new documents for all labels at once."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy import sparse

from funnelling.matrices import Floats, Matrix, is_sparse, one_blas_thread, product
from funnelling.svm.kernels import rbf_blocks


class Scorer(Protocol):
    """Scores documents: one row per document, one column per label."""

    def scores(self, X: Matrix) -> Floats: ...


@dataclass(frozen=True)
class LinearScorer:
    """A linear SVM for each label."""

    weights: Floats  # (features, labels)
    bias: Floats

    def scores(self, X: Matrix) -> Floats:
        """Scores of sparse or dense documents; a document's bits do not depend on its neighbours."""
        return product(X, self.weights) + self.bias


@dataclass(frozen=True)
class KernelScorer:
    """An RBF-kernel SVM for each label over one set of support vectors."""

    support: Floats  # (support vectors, dimensions)
    coefficients: npt.NDArray[np.float64]  # (support vectors, labels)
    bias: Floats
    gamma: float

    @cached_property
    def _by_label(self) -> Any:
        """The coefficients, one row per label; most labels have few support vectors of their own."""
        non_zeros = np.count_nonzero(self.coefficients)
        if non_zeros < self.coefficients.size / 4:
            return sparse.csr_array(self.coefficients.T)
        return np.ascontiguousarray(self.coefficients.T)

    def scores(self, X: Matrix) -> Floats:
        """Scores of dense documents, in kernel blocks of fixed shape."""
        matrix: Any = X
        points = np.asarray(matrix.toarray() if is_sparse(X) else matrix, dtype=np.float32)
        scores = np.empty((len(points), len(self.bias)), dtype=np.float32)
        with one_blas_thread():
            for rows, block in rbf_blocks(points, self.support, self.gamma):
                # Large C makes large coefficients of both signs: summed in double.
                values = self._by_label @ block.astype(np.float64)
                scores[rows] = values.T[: rows.stop - rows.start] + self.bias
        return scores
