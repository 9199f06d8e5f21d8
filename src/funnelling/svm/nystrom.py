"""The Nyström map: the RBF kernel past the size at which its Gram fits into memory.

A document's kernel values with a sample of the documents, the landmarks, are mapped to a vector, such that
dot products of these vectors approximate the kernel (Williams and Seeger 2001).
"""

from dataclasses import dataclass

import numpy as np

from funnelling.matrices import Floats, one_blas_thread, squared_norms
from funnelling.runtime.threads import in_threads
from funnelling.svm.kernels import GRAM_ROWS, rbf, rbf_gram

SMALLEST = 1e-6  # eigenvalue that is used, relative to the largest: below, single precision is noise


@dataclass(frozen=True)
class NystromMap:
    """Landmarks, and the basis that turns kernel values with them into vectors."""

    landmarks: Floats
    basis: Floats  # (landmarks, dimensions)
    gamma: float

    @classmethod
    def fit(cls, X: Floats, gamma: float, landmarks: int, n_jobs: int | None = None) -> "NystromMap":
        """Fit on landmarks taken at even distances, so that every language has its share of them."""
        sample = X[np.linspace(0, len(X) - 1, landmarks).round().astype(np.intp)]
        gram = rbf_gram(sample, gamma, n_jobs)
        with one_blas_thread():
            values, vectors = np.linalg.eigh(gram.astype(np.float64))
        large = values > SMALLEST * values[-1]
        return cls(sample, (vectors[:, large] / np.sqrt(values[large])).astype(np.float32), gamma)

    def vectors(self, X: Floats, n_jobs: int | None = None) -> Floats:
        """Rows whose dot products approximate the kernel values of the rows of X."""
        norms = squared_norms(self.landmarks)
        vectors = np.empty((len(X), self.basis.shape[1]), dtype=np.float32)

        def fill(block: int) -> None:
            rows = slice(block * GRAM_ROWS, (block + 1) * GRAM_ROWS)
            values = rbf(X[rows], self.landmarks, squared_norms(X[rows]), norms, self.gamma)
            vectors[rows] = values @ self.basis

        with one_blas_thread():
            for _ in in_threads(fill, -(-len(X) // GRAM_ROWS), n_jobs):
                pass
        return vectors
