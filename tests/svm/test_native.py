"""The compiled functions give the same with every instruction set, whatever stands beside a value."""

import pickle
from collections.abc import Iterator

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit

from funnelling.svm import KernelScorer, kernels
from funnelling.svm.calibration import sigmoid
from funnelling.svm.kernels import native

RNG = np.random.default_rng(0)

needs_native = pytest.mark.skipif(native is None, reason="nothing compiled")


@pytest.fixture(params=["avx512", "avx2", "base", "plain"])
def _instructions(request: pytest.FixtureRequest) -> Iterator[None]:
    usual = native.instructions()
    try:
        native.instructions(request.param)
    except ValueError:
        pytest.skip(f"this processor or build has no {request.param}")
    yield
    native.instructions(usual)


@needs_native
@pytest.mark.usefixtures("_instructions")
class TestSigmoid:
    def test_it_is_the_logistic_function(self) -> None:
        values = np.concatenate([RNG.normal(size=10_000) * scale for scale in (1, 30, 300)])
        np.testing.assert_allclose(sigmoid(values), expit(values), rtol=1e-15, atol=1e-300)

    def test_ends_and_what_is_no_number(self) -> None:
        values = np.array([np.inf, 1e9, 0.0, -0.0, -1e9, -np.inf, np.nan])
        np.testing.assert_array_equal(sigmoid(values), [1, 1, 0.5, 0.5, 0, 0, np.nan])

    def test_a_value_does_not_depend_on_those_beside_it(self) -> None:
        values = RNG.normal(size=40) * 5
        alone = np.concatenate([sigmoid(values[place : place + 1]) for place in range(40)])
        for size in range(41):
            np.testing.assert_array_equal(sigmoid(values[:size]), alone[:size])


@needs_native
@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 255, 256, 257])
def test_a_kernel_matrix_is_mirrored(n: int) -> None:
    symmetric = RNG.normal(size=(n, n)).astype(np.float32)
    symmetric += symmetric.T
    half = np.triu(symmetric)
    for start in range(0, n, 100):
        native.mirror(half, start, min(start + 100, n))
    np.testing.assert_array_equal(half, symmetric)


@needs_native
@pytest.mark.parametrize(("start", "stop"), [(-1, 2), (2, 1), (0, 4)])
def test_rows_outside_the_matrix_are_refused(start: int, stop: int) -> None:
    with pytest.raises(ValueError, match="do not agree"):
        native.mirror(np.zeros((3, 3), np.float32), start, stop)


def kernel_scorer() -> KernelScorer:
    """Few coefficients per label, so that they are kept sparse."""
    coefficients = sparse.random_array((50, 7), density=0.1, rng=RNG).toarray() * 1e4
    support = RNG.random((50, 5)).astype(np.float32)
    return KernelScorer(support, coefficients, RNG.normal(size=7).astype(np.float32), 0.3)


@needs_native
@pytest.mark.usefixtures("_instructions")
def test_rows_are_summed_as_scipy_sums_them() -> None:
    coefficients = sparse.csr_array(kernel_scorer().coefficients.T)
    block = RNG.random((50, 32)).astype(np.float32)
    sums = np.empty((7, 32))
    arrays = coefficients.data, coefficients.indices.astype(np.int32), coefficients.indptr.astype(np.int64)
    native.sum_rows(sums, block, *arrays)
    np.testing.assert_allclose(sums, coefficients @ block.astype(np.float64), rtol=1e-12, atol=1e-9)


@needs_native
@pytest.mark.parametrize("place", [-1, 2])
def test_places_outside_the_rows_are_refused(place: int) -> None:
    places, starts = np.array([place], np.int32), np.array([0, 1])
    with pytest.raises(ValueError, match="do not agree"):
        native.sum_rows(np.empty((1, 32)), np.zeros((2, 32), np.float32), np.ones(1), places, starts)


@needs_native
def test_a_scorer_that_was_used_scores_where_nothing_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    scorer = kernel_scorer()
    documents = RNG.random((9, 5)).astype(np.float32)
    unused = len(pickle.dumps(scorer))
    scores = scorer.scores(documents)
    pickled = pickle.dumps(scorer)
    assert len(pickled) == unused
    monkeypatch.setattr(kernels, "native", None)
    for other in (scorer, pickle.loads(pickled)):
        np.testing.assert_allclose(other.scores(documents), scores, rtol=1e-4, atol=1e-2)
