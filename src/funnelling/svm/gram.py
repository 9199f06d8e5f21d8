"""Kernel values: the Gram of training documents and blocks of it for new ones.

Bits: a product of matrices may round differently with its shape and with the number of BLAS threads,
so every product here has a shape that depends on the training data alone and runs on one thread.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from threadpoolctl import ThreadpoolController

from funnelling.errors import InputError

Matrix = Any  # a scipy sparse matrix or a dense array, rows are documents
Floats = npt.NDArray[np.float32]

GRAM_ROWS = 256  # of a block of training documents: what fits into cache
ROWS = 32  # of a block of new documents, always filled up to this number


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[object]:
    """Keep BLAS to one thread while the body runs."""
    return _controller().limit(limits=1, user_api="blas")  # type: ignore[no-any-return]


def is_sparse(X: Matrix) -> bool:
    """Whether X is a scipy sparse matrix or array."""
    return bool(sparse.issparse(X))


def check_gram_size(documents: int, memory_limit: float, what: str) -> None:
    """Refuse a Gram that would pass the memory limit before any work is done."""
    needed = 4.0 * documents * documents
    if needed > memory_limit:
        raise InputError(
            f"{what}: the kernel matrix of {documents:,} documents needs {needed / 1e9:.1f} GB, over the "
            f"memory_limit of {memory_limit / 1e9:.1f} GB. Raise memory_limit or train on fewer documents."
        )


def linear_gram(X: Matrix) -> Floats:
    """All dot products of the rows of X."""
    if is_sparse(X):
        return np.ascontiguousarray((X @ X.T).toarray(), dtype=np.float32)
    dense: Floats = np.ascontiguousarray(X, dtype=np.float32)
    with one_blas_thread():
        gram: Floats = dense @ dense.T
    return gram


def _squared_norms(X: Floats) -> Floats:
    norms: Floats = np.einsum("ij,ij->i", X, X)
    return norms


def _rbf(A: Floats, B: Floats, norms: Floats, gamma: float) -> Floats:
    """exp(-gamma ||a - b||²) for all pairs; the squared distance comes from the dot products."""
    block = A @ B.T
    block *= -2
    block += norms
    block += _squared_norms(A)[:, None]
    np.maximum(block, 0, out=block)  # rounding may take a distance of zero below it
    block *= -np.float32(gamma)
    np.exp(block, out=block)
    return block


def rbf_gram(X: Floats, gamma: float) -> Floats:
    """All RBF kernel values of the rows of X, with an exact diagonal.

    Only the upper half is computed: the solver reads rows for columns, so K_ij must be K_ji to the bit.
    """
    n = len(X)
    gram = np.empty((n, n), dtype=np.float32)
    norms = _squared_norms(X)
    with one_blas_thread():
        for start in range(0, n, GRAM_ROWS):
            stop = start + GRAM_ROWS
            block = _rbf(X[start:stop], X[start:], norms[start:], gamma)
            gram[start:stop, start:] = block
            gram[stop:, start:stop] = block[:, GRAM_ROWS:].T
            square = gram[start:stop, start:stop]
            square[:] = np.triu(square) + np.triu(square, 1).T
    np.fill_diagonal(gram, 1)
    return gram


def rbf_blocks(X: Floats, support: Floats, gamma: float) -> Iterator[tuple[slice, Floats]]:
    """Kernel values between new documents and support vectors, ``ROWS`` documents at a time."""
    norms = _squared_norms(support)
    padded = np.zeros((ROWS, X.shape[1]), dtype=np.float32)
    for start in range(0, len(X), ROWS):
        rows = slice(start, min(start + ROWS, len(X)))
        count = rows.stop - rows.start
        padded[:count] = X[rows]
        padded[count:] = 0
        yield rows, _rbf(padded, support, norms, gamma)
