"""Kernel values are right and symmetric to the bit."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from funnelling.svm import kernels
from funnelling.svm.kernels import Vectors, linear_gram, rbf_gram, weighted_sums


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


def coefficients(labels: int, documents: int) -> sparse.csr_array:
    return sparse.random_array((labels, documents), density=0.2, format="csr", rng=np.random.default_rng(1))


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix, np.asarray])
def test_weighted_sums_are_a_product_in_double(form: Any) -> None:
    X = words_and_characters(90, 20, 300)
    alpha = coefficients(7, 90)
    expected = (X.T.astype(float) @ alpha.T).toarray().astype(np.float32)
    given = form(X.toarray()) if form is np.asarray else form(X)
    np.testing.assert_allclose(weighted_sums(given, alpha), expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("columns", [1, 9_999, 10_001, 30_000])
def test_weighted_sums_are_the_same_by_threads_and_without_a_compiler(
    columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = sparse.random_array((40, columns), density=0.05, format="csr", dtype=np.float32)
    alpha = coefficients(5, 40)
    one, two = (weighted_sums(X, alpha, n_jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(one, two)
    monkeypatch.setattr(kernels, "native", None)
    np.testing.assert_allclose(weighted_sums(X, alpha), one, rtol=1e-6, atol=1e-7)


def test_the_linear_gram_is_the_same_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    X = words_and_characters(700, 20, 300)
    gram = linear_gram(X)
    monkeypatch.setattr(kernels, "native", None)
    plain = linear_gram(X)
    np.testing.assert_allclose(plain, gram, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(plain, plain.T)


@pytest.mark.skipif(kernels.native is None, reason="the package was installed without a compiler")
class TestNativeDoor:
    """What reaches the C code has been checked, so that no caller can make it read or write elsewhere."""

    @staticmethod
    def dots() -> dict[str, Any]:
        X = words_and_characters(8, 3, 5)
        rows, columns = Vectors.of(X), Vectors.of(X.T)
        return {
            "dots": np.zeros((4, 6), np.float32),
            "first": 2,
            "last": 6,
            "values": rows.values,
            "columns": rows.columns,
            "starts": rows.starts,
            "column_values": columns.values,
            "rows": columns.columns,
            "column_starts": columns.starts,
        }

    @staticmethod
    def sums() -> dict[str, Any]:
        X = words_and_characters(8, 3, 5)
        columns, alpha = Vectors.of(X.T), sparse.csr_array(coefficients(4, 8).T)
        return {
            "weights": np.zeros((5, 4), np.float32),
            "first": 2,
            "last": 7,
            "labels": 4,
            "values": columns.values,
            "columns": columns.columns,
            "starts": columns.starts,
            "coefficients": alpha.data,
            "coefficient_labels": alpha.indices.astype(np.int32),
            "coefficient_starts": alpha.indptr.astype(np.int64),
        }

    def test_what_fits_is_taken(self) -> None:
        kernels.native.add_dots(*self.dots().values())
        kernels.native.sum_weights(*self.sums().values())

    @pytest.mark.parametrize(
        ("name", "change"),
        [
            ("first", lambda _: -1),
            ("first", lambda _: 7),
            ("last", lambda _: 99),
            ("columns", lambda each: each + 99),
            ("columns", lambda each: each - 99),
            ("columns", lambda each: each[:-1]),
            ("values", lambda each: each[:-1]),
            ("values", lambda each: each.astype(np.float64)),
            ("starts", lambda each: each + 1_000),
            ("starts", lambda each: each[::-1].copy()),
            ("starts", lambda each: each[:0]),
            ("starts", lambda each: each - 1_000),
        ],
    )
    def test_what_does_not_fit_is_refused(self, name: str, change: Any) -> None:
        for function, arguments in (
            (kernels.native.add_dots, self.dots()),
            (kernels.native.sum_weights, self.sums()),
        ):
            with pytest.raises((TypeError, ValueError, BufferError)):
                function(*(arguments | {name: change(arguments[name])}).values())

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("dots", np.zeros((4, 5), np.float32)),
            ("rows", np.full(99, 0, np.int32)),
            ("column_starts", np.array([0, 99])),
        ],
    )
    def test_a_gram_that_does_not_fit_is_refused(self, name: str, value: Any) -> None:
        with pytest.raises((TypeError, ValueError, BufferError)):
            kernels.native.add_dots(*(self.dots() | {name: value}).values())

    def test_columns_out_of_order_are_refused(self) -> None:
        memory = np.zeros(64, np.float32)
        ones, starts = np.ones(4, np.float32), np.arange(5)
        rows = np.zeros(4, np.int32)
        for of_column in ([0, 3, 0], [3, 1, 2], [2, 2, 3]):
            with pytest.raises(ValueError, match="do not agree"):
                kernels.native.add_dots(
                    *(memory[32:36].reshape(2, 2), 2, 4, ones, rows, starts),
                    *(np.ones(3, np.float32), np.array(of_column, np.int32), np.array([0, 3])),
                )
        assert not memory.any()

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("weights", np.zeros((5, 3), np.float32)),
            ("weights", np.zeros(21, np.float32)),
            ("labels", 0),
            ("labels", 3),
            ("coefficient_labels", np.full(99, 0, np.int32)),
            ("coefficient_starts", np.array([0, 99])),
        ],
    )
    def test_weights_that_do_not_fit_are_refused(self, name: str, value: Any) -> None:
        with pytest.raises((TypeError, ValueError, BufferError)):
            kernels.native.sum_weights(*(self.sums() | {name: value}).values())
