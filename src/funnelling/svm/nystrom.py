"""The Nyström map: the RBF kernel past the size at which its Gram fits into memory.

Every document is described by its kernel values to a sample of the documents, the landmarks, turned so
that dot products of the descriptions approximate the kernel (Williams and Seeger 2001).
"""

from dataclasses import dataclass

import numpy as np

from funnelling.matrices import Floats, one_blas_thread, squared_norms
from funnelling.svm.kernels import GRAM_ROWS, rbf, rbf_gram
from funnelling.work.threads import in_threads

SMALLEST = 1e-6  # of an eigenvalue, relative to the largest: below, single precision holds only noise


@dataclass(frozen=True)
class NystromMap:
    """Landmarks, and what turns kernel values to them into vectors."""

    landmarks: Floats
    basis: Floats  # (landmarks, dimensions)
    gamma: float

    @classmethod
    def fit(cls, X: Floats, gamma: float, landmarks: int, n_jobs: int | None = None) -> "NystromMap":
        """Landmarks are taken at even distances, so every language gives its share."""
        sample = X[np.linspace(0, len(X) - 1, landmarks).round().astype(np.intp)]
        gram = rbf_gram(sample, gamma, n_jobs)
        with one_blas_thread():
            values, vectors = np.linalg.eigh(gram.astype(np.float64))
        kept = values > SMALLEST * values[-1]
        return cls(sample, (vectors[:, kept] / np.sqrt(values[kept])).astype(np.float32), gamma)

    def vectors(self, X: Floats, n_jobs: int | None = None) -> Floats:
        """Rows whose dot products approximate the kernel values of the rows of X."""
        norms = squared_norms(self.landmarks)
        mapped = np.empty((len(X), self.basis.shape[1]), dtype=np.float32)

        def fill(block: int) -> None:
            rows = slice(block * GRAM_ROWS, (block + 1) * GRAM_ROWS)
            values = rbf(X[rows], self.landmarks, squared_norms(X[rows]), norms, self.gamma)
            mapped[rows] = values @ self.basis

        with one_blas_thread():
            for _ in in_threads(fill, -(-len(X) // GRAM_ROWS), n_jobs):
                pass
        return mapped
