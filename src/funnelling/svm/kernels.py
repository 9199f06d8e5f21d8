"""Kernel values: the Gram of training documents, a map that approximates it, and what memory allows.

Bits: a product of matrices may round differently with its shape and with the number of BLAS threads,
so every product here has a shape that depends on the training data alone and runs on one thread.

The Nyström map turns a document's kernel values with a sample of the documents, the landmarks, into a vector,
such that dot products of these vectors approximate the kernel (Williams and Seeger 2001).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from funnelling.errors import InputError
from funnelling.matrices import Floats, Matrix, is_sparse, one_blas_thread, squared_norms
from funnelling.runtime.threads import map_threads

native: Any  # the C code; None where the package was installed without a compiler
try:
    from funnelling.svm import _native as native  # type: ignore[attr-defined, no-redef]
except ImportError:
    native = None

GRAM_ROWS = 256  # of a block of training documents: as many as fit into cache
WEIGHT_COLUMNS = 10_000  # of a block of weights
FREQUENT_SHARE = 1 / 6  # of the documents: columns that more of them have are multiplied densely


@dataclass(frozen=True)
class Vectors:
    """Documents as rows whose dot products are the kernel, in the form the solver reads."""

    documents: int
    width: int
    values: Floats
    columns: npt.NDArray[np.int32] | None = None  # None where the rows are dense
    starts: npt.NDArray[np.int64] | None = None

    @classmethod
    def of(cls, X: Matrix) -> "Vectors":
        """The rows of a sparse or dense matrix."""
        documents, width = X.shape
        if not is_sparse(X):
            return cls(documents, width, np.ascontiguousarray(X, dtype=np.float32))
        matrix: Any = X
        rows = sparse.csr_array(matrix)
        rows.sum_duplicates()
        return cls(
            documents,
            width,
            rows.data.astype(np.float32, copy=False),
            rows.indices.astype(np.int32, copy=False),
            rows.indptr.astype(np.int64, copy=False),
        )

    def matrix(self) -> Matrix:
        """The rows as a matrix again."""
        if self.columns is None:
            return self.values
        assert self.starts is not None
        starts = self.starts.astype(np.int32) if len(self.values) < 2**31 else self.starts
        return sparse.csr_array((self.values, self.columns, starts), (self.documents, self.width))


Kernel = Floats | Vectors


def aligned(kernel: Kernel) -> Kernel:
    """A kernel where the compiled code can read it: what came over a wire may lie anywhere in memory."""
    if not isinstance(kernel, Vectors):
        return np.require(kernel, requirements="A")
    arrays: dict[str, Any] = {k: part for k, part in vars(kernel).items() if isinstance(part, np.ndarray)}
    return replace(kernel, **{name: np.require(part, requirements="A") for name, part in arrays.items()})


def linear_gram(X: Matrix, n_jobs: int | None = None) -> Floats:
    """All dot products of the rows of X, symmetric to the bit.

    Columns that many documents have are multiplied as a dense matrix: among characters they are the most of
    the work, and many times faster that way.
    """
    rare: Any = None
    by_column: Any = None
    frequent: Any = X
    if is_sparse(X):
        rows: Any = sparse.csr_array(frequent)
        documents_with = np.bincount(rows.indices, minlength=rows.shape[1])
        least = rows.shape[0] * FREQUENT_SHARE
        if np.count_nonzero(documents_with > least) > rows.shape[0]:  # they would take more than the Gram
            least = np.partition(documents_with, -rows.shape[0])[-rows.shape[0]]
        many = documents_with > least
        frequent, rare = rows[:, many].toarray(), Vectors.of(rows[:, ~many])
        by_column = Vectors.of(rare.matrix().T)
    dense = np.ascontiguousarray(frequent, dtype=np.float32)

    def block(start: int, stop: int) -> Floats:
        products: Floats = dense[start:stop] @ dense[start:].T
        if rare is not None:
            _add_dots(products, start, stop, rare, by_column)
        return products

    return _symmetric(len(dense), block, n_jobs)


def _add_dots(products: Floats, start: int, stop: int, rows: Vectors, columns: Vectors) -> None:
    """Add sparse vectors' dot products, from the diagonal on, to rows of a Gram, from column start on."""
    if native is None:
        products += (rows.matrix()[start:stop] @ columns.matrix()).tocsc()[:, start:].toarray()
        return
    of_rows = (rows.values, rows.columns, rows.starts)
    native.add_dots(products, start, stop, *of_rows, columns.values, columns.columns, columns.starts)


def weighted_sums(X: Matrix, coefficients: Any, n_jobs: int | None = None) -> Floats:
    """All documents' vectors times their coefficients for each label, summed in double: (columns, labels).

    ``coefficients`` are sparse, one row per label.
    """
    vectors: Any = X
    if native is None or not is_sparse(X):
        with one_blas_thread():
            sums = vectors.T @ np.ascontiguousarray(coefficients.toarray().T)
        return np.ascontiguousarray(sums, dtype=np.float32)
    columns, of_documents = Vectors.of(vectors.T), sparse.csr_array(coefficients.T)
    places, starts = of_documents.indices.astype(np.int32), of_documents.indptr.astype(np.int64)
    weights = np.empty((columns.documents, of_documents.shape[1]), dtype=np.float32)

    def fill(number: int) -> None:
        start = number * WEIGHT_COLUMNS
        part = weights[start : start + WEIGHT_COLUMNS]
        native.sum_weights(
            *(part, start, start + len(part), part.shape[1]),
            *(columns.values, columns.columns, columns.starts),
            *(of_documents.data, places, starts),
        )

    for _ in map_threads(fill, -(-len(weights) // WEIGHT_COLUMNS), n_jobs):
        pass
    return weights


def rbf(A: Floats, B: Floats, norms_a: Floats, norms_b: Floats, gamma: float) -> Floats:
    """exp(-gamma ||a - b||²) for all rows of A and B, given their squared norms.

    The squared distance comes from the dot products.
    """
    block = A @ B.T
    if native is not None:
        native.rbf(block, norms_a, norms_b, gamma)
        return block
    block *= -2
    block += norms_b + norms_a[:, None]
    np.maximum(block, 0, out=block)  # rounding may take a distance of zero below it
    block *= -np.float32(gamma)
    np.exp(block, out=block)
    return block


def scaled_gamma(X: Matrix) -> float:
    """The RBF kernel's default gamma for dense vectors: 1 / (dimensions · variance of all values)."""
    assert isinstance(X, np.ndarray)
    variance = float(np.var(X, dtype=np.float64))
    return 1 / (X.shape[1] * variance) if variance > 0 else 1.0


def rbf_gram(X: Floats, gamma: float, n_jobs: int | None = None) -> Floats:
    """All RBF kernel values of the rows of X, symmetric to the bit, with an exact diagonal."""
    norms = squared_norms(X)
    gram = _symmetric(
        len(X),
        lambda start, stop: rbf(X[start:stop], X[start:], norms[start:stop], norms[start:], gamma),
        n_jobs,
    )
    np.fill_diagonal(gram, 1)
    return gram


def _symmetric(n: int, block: Callable[[int, int], Floats], n_jobs: int | None) -> Floats:
    """A symmetric matrix, given ``block(start, stop)``: those rows, from the diagonal on."""
    gram = np.empty((n, n), dtype=np.float32)

    def fill(number: int) -> None:
        start = number * GRAM_ROWS
        stop = min(start + GRAM_ROWS, n)
        gram[start:stop, start:] = block(start, stop)
        if native is not None:
            native.mirror(gram, start, stop)
            return
        gram[stop:, start:stop] = gram[start:stop, stop:].T
        square = gram[start:stop, start:stop]
        square[:] = np.triu(square) + np.triu(square, 1).T

    with one_blas_thread():
        for _ in map_threads(fill, -(-n // GRAM_ROWS), n_jobs):
            pass
    return gram


# The least eigenvalue that is used, relative to the largest: below, single precision is noise
MIN_RELATIVE_EIGENVALUE = 1e-6


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
        large = values > MIN_RELATIVE_EIGENVALUE * values[-1]
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
            for _ in map_threads(fill, -(-len(X) // GRAM_ROWS), n_jobs):
                pass
        return vectors


MAX_LANDMARKS = 500  # of the Nyström map, where memory allows
MIN_LANDMARKS = 32  # landmarks worth a map
GRAM_PAYS = 16  # how many numbers of a Gram are read as fast as one of a sparse vector


@dataclass(frozen=True)
class Plan:
    """Solve over the Gram, over the vectors (the same optimum) or over a Nyström map (an approximation).

    ``reason`` is set where the memory limit rules out the Gram, and says so.
    """

    form: Literal["gram", "vectors", "nystrom"]
    landmarks: int = 0
    reason: str = ""


def plan_linear(X: Matrix, memory_limit: float) -> Plan:
    """The vectors where they take less to read than their Gram; else as memory allows.

    A row of the Gram is read in one sweep, a sparse vector here and there, and the solver that reads the Gram
    takes fewer steps: measured on words and on characters, the two even out where a row has sixteen times
    the numbers of a sparse vector.
    """
    documents, width = X.shape
    matrix: Any = X
    size = (2 * matrix.nnz if is_sparse(X) else documents * width) * GRAM_PAYS
    if size <= documents**2:
        return Plan("vectors")
    if gram_bytes(documents) <= memory_limit:
        return Plan("gram")
    return Plan(
        "vectors", reason=f"{_too_large(documents, memory_limit)}; its vectors give the same optimum."
    )


def plan_rbf(documents: int, memory_limit: float, what: str) -> Plan:
    """The Gram, or a Nyström map where the Gram would pass the limit; refused where not even a map fits."""
    if gram_bytes(documents) <= memory_limit:
        return Plan("gram")
    landmarks = min(MAX_LANDMARKS, int(memory_limit / (4 * documents)))
    if landmarks < MIN_LANDMARKS:
        raise InputError(
            f"{what}: {documents:,} documents need {amount(4 * documents * MIN_LANDMARKS)}, over the "
            f"memory_limit of {amount(memory_limit)}. Raise memory_limit or train on fewer documents."
        )
    return Plan(
        "nystrom",
        landmarks,
        f"{_too_large(documents, memory_limit)}; {landmarks:,} landmarks approximate it.",
    )


def labels_at_once(documents: int, folds: int, memory_limit: float) -> int:
    """The most labels whose solution keeps within the limit; at least 1, which is always tried."""
    return max(1, int(memory_limit / _solution_bytes(documents, 1, folds)))


def check_solution_size(documents: int, labels: int, folds: int, memory_limit: float, what: str) -> None:
    """Refuse a problem whose solution alone would pass the limit."""
    needed = _solution_bytes(documents, labels, folds)
    if needed > memory_limit:
        raise InputError(
            f"{what}: the solution for {documents:,} documents and {labels:,} labels needs {amount(needed)}, "
            f"over the memory_limit of {amount(memory_limit)}. Raise memory_limit or train on fewer "
            "documents."
        )


def amount(size: float) -> str:
    """A number of bytes as people read it.

    >>> amount(1.6e11), amount(1234), amount(12)
    ('160.0 GB', '1.2 KB', '12 bytes')
    """
    for unit, bytes_ in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if size >= bytes_:
            return f"{size / bytes_:,.1f} {unit}"
    return f"{size:.0f} bytes"


def _solution_bytes(documents: int, labels: int, folds: int) -> int:
    return 12 * documents * labels * folds


def gram_bytes(documents: int) -> int:
    """The bytes of a kernel matrix."""
    return 4 * documents * documents


def largest_gram(memory_limit: float) -> int:
    """The most documents whose kernel matrix keeps within the limit."""
    return math.isqrt(int(memory_limit / 4))


def _too_large(documents: int, memory_limit: float) -> str:
    return (
        f"the kernel matrix of {documents:,} documents would take {amount(gram_bytes(documents))}, over the "
        f"memory_limit of {amount(memory_limit)}"
    )
