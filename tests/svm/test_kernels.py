"""Kernel values are right and symmetric to the bit."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from funnelling.svm.kernels import linear_gram, rbf_gram


def vectors(documents: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random((documents, 7)).astype(np.float32)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_linear_gram_is_all_dot_products(form: type, dtype: type) -> None:
    X = vectors(50).astype(dtype)
    X[X < 0.5] = 0
    gram = linear_gram(form(X))
    assert gram.dtype == np.float32
    assert gram.flags.c_contiguous
    np.testing.assert_allclose(gram, X @ X.T, rtol=1e-5)
    np.testing.assert_array_equal(gram, gram.T)


def words_and_characters(documents: int, frequent: int, rare: int) -> sparse.csr_array:
    """Columns that half of the documents have, and columns that one in a hundred has."""
    rng = np.random.default_rng(0)
    parts = [
        sparse.random_array((documents, width), density=density, format="csr", rng=rng)
        for width, density in ((frequent, 0.5), (rare, 0.01))
    ]
    order = rng.permutation(frequent + rare)
    return sparse.csr_array(sparse.hstack(parts, format="csr")[:, order], dtype=np.float32)


@pytest.mark.parametrize("documents", [1, 256, 700])
@pytest.mark.parametrize(("frequent", "rare"), [(20, 300), (20, 0), (0, 300)])
def test_frequent_and_rare_columns_give_all_dot_products(documents: int, frequent: int, rare: int) -> None:
    X = words_and_characters(documents, frequent, rare)
    gram = linear_gram(X)
    assert gram.dtype == np.float32
    np.testing.assert_allclose(gram, (X.astype(float) @ X.astype(float).T).toarray(), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(gram, gram.T)


def test_threads_change_no_bit_of_the_linear_gram() -> None:
    X = words_and_characters(1_100, 20, 300)
    one, two = (linear_gram(X, n_jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(one, two)
    dense = X.toarray()
    np.testing.assert_array_equal(linear_gram(dense, n_jobs=1), linear_gram(dense, n_jobs=2))


@pytest.mark.parametrize("documents", [1, 3, 255, 256, 257, 1100])
def test_the_rbf_gram_is_scikit_learns(documents: int) -> None:
    X = vectors(documents)
    gram = rbf_gram(X, 0.7)
    assert gram.dtype == np.float32
    np.testing.assert_allclose(gram, rbf_kernel(X.astype(np.float64), gamma=0.7), atol=1e-5)
    np.testing.assert_array_equal(gram, gram.T)
    np.testing.assert_array_equal(gram.diagonal(), 1)


def test_equal_documents_have_a_kernel_value_of_one() -> None:
    """Rounding must not take a distance of zero below it."""
    X = np.repeat(vectors(5) * 100, 3, axis=0)
    gram = rbf_gram(X, 10.0)
    assert gram.max() <= 1
    np.testing.assert_allclose(gram[0, :3], 1, atol=0.1)
