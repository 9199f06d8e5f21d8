"""What is solved over what, at the border of the memory limit and past it."""

import logging

import numpy as np
import numpy.typing as npt
import pytest
from scipy import sparse
from sklearn.metrics import f1_score

from funnelling.errors import InputError
from funnelling.svm import SVM
from funnelling.svm.kernels import NystromMap, Plan, plan_linear, plan_rbf
from funnelling.svm.learner import Fit
from tests.svm.problems import tfidf_like

DOCUMENTS = 400
GRAM = 4 * DOCUMENTS**2


def posteriors(documents: int, seed: int) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
    """Documents as tier 2 sees them: noisy probabilities of labels that depend on each other."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(documents, 4)) @ np.random.default_rng(1).normal(size=(4, 12))
    targets = hidden + 0.5 * rng.normal(size=hidden.shape) > 1
    points = 1 / (1 + np.exp(-2 * (hidden + 1.5 * rng.normal(size=hidden.shape) - 1)))
    return points.astype(np.float32), targets


def test_rows_of_few_words_are_solved_as_they_are() -> None:
    texts = sparse.random_array((500, 4000), density=0.001, format="csr", rng=np.random.default_rng(0))
    assert plan_linear(texts, 8e9) == Plan("vectors")
    assert plan_linear(sparse.csr_array(np.ones((50, 400))), 8e9) == Plan("gram")


@pytest.mark.parametrize(("entries", "form"), [(128, "vectors"), (129, "gram")])
def test_of_sparse_rows_a_sixteenth_of_the_gram_is_the_border(entries: int, form: str) -> None:
    """An entry is two numbers, its value and its column: 2 · 128 · 16 = 64²."""
    X = sparse.csr_array((np.ones(entries), (np.arange(entries) % 64, np.arange(entries))), (64, entries))
    assert plan_linear(X, 8e9).form == form


@pytest.mark.parametrize(("width", "form"), [(4, "vectors"), (5, "gram")])
def test_of_dense_rows_too(width: int, form: str) -> None:
    assert plan_linear(np.ones((64, width)), 8e9).form == form


def test_the_limit_itself_is_allowed() -> None:
    wide = np.ones((DOCUMENTS, 1000))
    assert plan_linear(wide, GRAM).form == "gram"
    assert plan_linear(wide, GRAM - 1).form == "vectors"
    assert plan_rbf(DOCUMENTS, GRAM, "tier 2").form == "gram"
    assert plan_rbf(DOCUMENTS, GRAM - 1, "tier 2") == Plan(
        "nystrom",
        DOCUMENTS - 1,
        "the kernel matrix of 400 documents would take 640.0 KB, over the memory_limit of 640.0 KB; "
        "399 landmarks approximate it.",
    )


def test_landmarks_are_as_many_as_fit_up_to_five_hundred() -> None:
    assert plan_rbf(200_000, 8e9, "tier 2").landmarks == 500
    assert plan_rbf(200_000, 2e8, "tier 2").landmarks == 250
    with pytest.raises(
        InputError,
        match=r"^tier 2: 200,000 documents need 25\.6 MB, over the memory_limit of 20\.0 MB\. "
        r"Raise memory_limit or train on fewer documents\.$",
    ):
        plan_rbf(200_000, 2e7, "tier 2")


def test_a_solution_over_the_limit_is_refused_before_any_work() -> None:
    problem = SVM(memory_limit=1e5).problem(np.ones((1000, 3)), np.ones((1000, 40), bool), "language 'it'")
    with pytest.raises(
        InputError,
        match=r"^language 'it': the solution for 1,000 documents and 40 labels needs 2\.9 MB, over the ",
    ):
        problem.fit(np.arange(1000) % 5)


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_past_the_limit_tier_one_has_the_same_optimum(C: float) -> None:
    rng = np.random.default_rng(3)
    X = tfidf_like(DOCUMENTS, rng)
    targets = X @ rng.normal(size=(400, 6)) + 0.05 * rng.normal(size=(DOCUMENTS, 6)) > 0.2
    folds = np.arange(DOCUMENTS) % 5
    by_gram, by_vectors = (
        SVM(C, memory_limit=limit).problem(X, targets).fit(folds) for limit in (GRAM, GRAM - 1)
    )
    assert [fit.problem.plan.form for fit in (by_gram, by_vectors)] == ["gram", "vectors"]
    np.testing.assert_allclose(by_gram.scores, by_vectors.scores, atol=3e-3)
    np.testing.assert_allclose(by_gram.held_out, by_vectors.held_out, atol=3e-3)
    new = tfidf_like(100, rng)
    np.testing.assert_allclose(by_gram.scorer().scores(new), by_vectors.scorer().scores(new), atol=3e-3)


def f1(fit: Fit, points: npt.NDArray[np.float32], targets: npt.NDArray[np.bool_]) -> tuple[float, float]:
    decisions = fit.scorer().scores(points) > 0
    return tuple(f1_score(targets, decisions, average=average) for average in ("micro", "macro"))


@pytest.mark.parametrize("C", [1.0, 100.0, None])
def test_past_the_limit_tier_two_is_within_a_hundredth(C: float | None) -> None:
    points, targets = posteriors(1500, 0)
    new, truth = posteriors(1000, 7)
    folds = np.arange(1500) % 5
    limits = (8e9, 4 * 1500 * 250)
    exact, approximate = (
        SVM(C, gamma=1 / 12, grid=(1, 10), memory_limit=limit).problem(points, targets).fit(folds)
        for limit in limits
    )
    assert approximate.problem.plan.landmarks == 250
    np.testing.assert_allclose(f1(approximate, new, truth), f1(exact, new, truth), atol=0.01)
    np.testing.assert_allclose(approximate.scorer().scores(points), approximate.scores, atol=2e-2)


def test_the_switch_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    points, targets = posteriors(200, 0)
    with caplog.at_level(logging.WARNING):
        SVM(1.0, gamma=0.1, memory_limit=4 * 200 * 50).problem(points, targets, "tier 2")
        SVM(1.0, memory_limit=4 * 200 * 50).problem(np.ones((200, 300)), targets, "language 'it'")
    assert [record.message for record in caplog.records] == [
        "tier 2: the kernel matrix of 200 documents would take 160.0 KB, over the memory_limit of 40.0 KB; "
        "50 landmarks approximate it.",
        "language 'it': the kernel matrix of 200 documents would take 160.0 KB, over the memory_limit of "
        "40.0 KB; its vectors give the same optimum.",
    ]


def test_as_many_landmarks_as_documents_give_the_kernel_itself() -> None:
    points, _ = posteriors(120, 0)
    vectors = NystromMap.fit(points, 1 / 12, 120).vectors(points)
    distances = ((points[:, None] - points) ** 2).sum(axis=2)
    np.testing.assert_allclose(vectors @ vectors.T, np.exp(-distances / 12), atol=1e-3)


def test_documents_that_are_all_equal_have_a_map_of_one_dimension() -> None:
    same = np.full((60, 3), 0.3, dtype=np.float32)
    vectors = NystromMap.fit(same, 1.0, 40).vectors(same)
    assert vectors.shape == (60, 1)
    np.testing.assert_allclose(vectors @ vectors.T, 1, atol=1e-5)
