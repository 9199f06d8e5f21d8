"""Contributions: they add up to the score, and are what integrating the gradient gives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from funnelling.svm.scorers import KernelDecomposition, KernelScorer, LinearScorer, linear_contributions


def made_scorer(seed: int, gamma: float, supports: int = 30, dimensions: int = 6) -> KernelScorer:
    rng = np.random.default_rng(seed)
    return KernelScorer(
        rng.random((supports, dimensions), dtype=np.float32),
        rng.normal(size=(supports, 3)),
        rng.normal(size=3).astype(np.float32),
        gamma,
    )


@given(st.integers(0, 99), st.floats(1e-4, 50), st.floats(0, 2))
def test_contributions_to_a_kernel_score_add_up_to_it(seed: int, gamma: float, size: float) -> None:
    scorer = made_scorer(seed, gamma)
    x = (size * np.random.default_rng(seed).random(6)).astype(np.float32)
    origin, contributions = KernelDecomposition(scorer).contributions(x, np.arange(3))
    assert origin == pytest.approx(scorer.scores(np.zeros((1, 6)))[0], abs=1e-4)
    assert origin + contributions.sum(axis=1) == pytest.approx(scorer.scores(x[None])[0], abs=1e-4)


def test_they_are_the_gradient_integrated_along_the_line() -> None:
    scorer = made_scorer(0, 0.7)
    x = np.random.default_rng(1).random(6)
    steps = (np.arange(2_000) + 0.5) / 2_000
    difference = x * steps[:, None] - scorer.support[:, None]
    kernel = np.exp(-0.7 * (difference**2).sum(axis=2))
    gradient = -2 * 0.7 * np.einsum("s,st,std->d", scorer.coefficients[:, 1], kernel, difference) / len(steps)
    _, contributions = KernelDecomposition(scorer).contributions(x, np.array([1]))
    assert contributions[0] == pytest.approx(x * gradient, rel=1e-5)


def test_a_dimension_that_is_zero_contributes_nothing() -> None:
    x = np.array([0.5, 0, 0.2, 0, 0, 0])
    _, contributions = KernelDecomposition(made_scorer(0, 0.2)).contributions(x, np.arange(3))
    assert (contributions[:, x == 0] == 0).all()
    assert (contributions[:, x > 0] != 0).all()


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_contributions_to_a_linear_score_add_up_to_it(form: type) -> None:
    rng = np.random.default_rng(0)
    scorer = LinearScorer(rng.normal(size=(5, 2)).astype(np.float32), rng.normal(size=2).astype(np.float32))
    row = np.array([[0.0, 2.0, 0.0, -1.0, 0.5]], dtype=np.float32)
    features, contributions = linear_contributions(scorer, form(row), 1)
    assert features.tolist() == [1, 3, 4]
    assert contributions.sum() + scorer.bias[1] == pytest.approx(scorer.scores(form(row))[0, 1], abs=1e-6)
