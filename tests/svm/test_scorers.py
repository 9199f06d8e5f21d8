"""New documents get the scores of their own vectors, to the bit, whatever stands beside them."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from threadpoolctl import threadpool_limits

from funnelling.svm import KernelScorer, LinearScorer, Scorer

RNG = np.random.default_rng(0)
DOCUMENTS = RNG.random((70, 33)).astype(np.float32)
DOCUMENTS[::7] = 0


def linear(labels: int) -> LinearScorer:
    return LinearScorer(
        RNG.normal(size=(33, labels)).astype(np.float32), RNG.normal(size=labels).astype(np.float32)
    )


def kernel(labels: int) -> KernelScorer:
    return KernelScorer(
        RNG.random((41, 33)).astype(np.float32),
        RNG.normal(size=(41, labels)) * 1e4,
        RNG.normal(size=labels).astype(np.float32),
        0.3,
    )


SCORERS: list[tuple[Scorer, type]] = [
    (make(labels), form)
    for labels in (1, 2, 19)
    for make, form in ((linear, np.asarray), (linear, sparse.csr_array), (kernel, np.asarray))
]
each_scorer = pytest.mark.parametrize(("scorer", "form"), SCORERS)


@each_scorer
def test_scores_follow_their_definition(scorer: Scorer, form: type) -> None:
    if isinstance(scorer, LinearScorer):
        expected = DOCUMENTS.astype(np.float64) @ scorer.weights + scorer.bias
    else:
        assert isinstance(scorer, KernelScorer)
        distances = ((DOCUMENTS[:, None].astype(np.float64) - scorer.support) ** 2).sum(axis=2)
        expected = np.exp(-scorer.gamma * distances) @ scorer.coefficients + scorer.bias
    scores = scorer.scores(form(DOCUMENTS))
    assert scores.dtype == np.float32
    assert scores.shape == expected.shape
    np.testing.assert_allclose(scores, expected, rtol=1e-3, atol=1e-3 * np.abs(expected).max())


@each_scorer
@given(order=st.permutations(range(70)), first=st.integers(1, 69))
def test_a_score_has_the_same_bits_in_any_batch(
    scorer: Scorer, form: type, order: list[int], first: int
) -> None:
    together = scorer.scores(form(DOCUMENTS))
    shuffled = form(DOCUMENTS[order])
    np.testing.assert_array_equal(scorer.scores(shuffled), together[order])
    np.testing.assert_array_equal(scorer.scores(shuffled[:first]), together[order][:first])


@each_scorer
def test_a_document_alone_has_the_score_it_has_in_company(scorer: Scorer, form: type) -> None:
    together = scorer.scores(form(DOCUMENTS))
    alone = [scorer.scores(form(DOCUMENTS[[i]]))[0] for i in range(len(DOCUMENTS))]
    np.testing.assert_array_equal(alone, together)


@each_scorer
def test_blas_threads_change_no_bit(scorer: Scorer, form: type) -> None:
    with threadpool_limits(1):
        one = scorer.scores(form(DOCUMENTS))
    with threadpool_limits(2):
        np.testing.assert_array_equal(scorer.scores(form(DOCUMENTS)), one)


def test_without_support_vectors_the_bias_is_left() -> None:
    scorer = KernelScorer(np.zeros((0, 33), np.float32), np.zeros((0, 2)), np.array([1, -1], np.float32), 1.0)
    assert scorer.scores(DOCUMENTS[:3]).tolist() == [[1, -1]] * 3


def test_no_documents_have_no_scores() -> None:
    empty: npt.NDArray[np.float32] = DOCUMENTS[:0]
    assert linear(4).scores(empty).shape == (0, 4)
    assert linear(4).scores(sparse.csr_array(empty)).shape == (0, 4)
    assert kernel(4).scores(empty).shape == (0, 4)
