"""The solver for GPUs finds what the compiled one finds; here it runs on PyTorch's CPU."""

import logging
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from funnelling.errors import InputError
from funnelling.svm.device import DeviceGram, kernel_scores, solve_path_on_device, solver
from funnelling.svm.kernels import rbf_gram
from funnelling.svm.path import solve_path
from funnelling.svm.scorers import KernelScorer
from funnelling.svm.solver import TOLERANCE
from tests.svm.problems import BinaryProblem, degenerate_problems, rbf_problems, regular_problems
from tests.svm.solutions import Solution, device_gram, solve, solve_on_device

torch = pytest.importorskip("torch")

PROBLEMS = [*rbf_problems(), *regular_problems("gram"), *degenerate_problems("gram")]
each_problem = pytest.mark.parametrize("problem", PROBLEMS, ids=[problem.name for problem in PROBLEMS])


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Any:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def solved(problem: BinaryProblem, C: float, start: npt.NDArray[np.float64] | None = None) -> Solution:
    assert isinstance(problem.kernel, np.ndarray)
    gram = device_gram(problem.kernel)
    return solve_on_device(gram, problem.has_label[:, None], problem.active[None], C, start=start)


def violation(problem: BinaryProblem, C: float, solution: Solution) -> float:
    """How far the largest gradient that may rise is above the smallest that may fall."""
    beta = solution.coefficients[0, 0]
    upper = C * (problem.active & problem.has_label)
    lower = -C * (problem.active & ~problem.has_label)
    assert (beta >= lower).all()
    assert (beta <= upper).all()
    assert beta.sum() == pytest.approx(0, abs=1e-9 * C)
    gradient = problem.signs - problem.gram @ beta
    return float(gradient[beta < upper].max() - gradient[beta > lower].min())


@each_problem
@pytest.mark.parametrize("C", [1e-3, 1.0, 10.0])
def test_the_optimum_is_that_of_svc_and_of_the_compiled_solver(problem: BinaryProblem, C: float) -> None:
    solution = solved(problem, C)
    assert violation(problem, C, solution) <= TOLERANCE
    np.testing.assert_allclose(solution.scores[0, 0], problem.reference_scores(C), atol=1e-2)
    np.testing.assert_allclose(solution.scores, problem.solve(C).scores, atol=1e-2)
    outputs = problem.gram @ solution.coefficients[0, 0] + solution.bias[0, 0]
    np.testing.assert_allclose(solution.scores[0, 0], outputs, atol=1e-5)
    assert not solution.unfinished.any()


@each_problem
def test_large_c_leaves_a_small_duality_gap(problem: BinaryProblem) -> None:
    start = None
    for C in (30.0, 1e4):
        solution = solved(problem, C, start)
        assert problem.relative_gap(C, solution) <= 1e-3
        start = solution.coefficients


@pytest.mark.parametrize("C", [1.0, 1e4])
def test_a_start_changes_the_way_not_the_end(C: float) -> None:
    problem = PROBLEMS[1]
    cold = solved(problem, C)
    rng = np.random.default_rng(0)
    anything = rng.normal(scale=C, size=cold.coefficients.shape)  # neither within the bounds nor of sum 0
    for start in (solved(problem, C / 10).coefficients, cold.coefficients, anything):
        warm = solved(problem, C, start)
        assert violation(problem, C, warm) <= (TOLERANCE if C <= 10 else 0.3)
        assert problem.relative_gap(C, warm) <= 1e-3
        np.testing.assert_allclose(warm.scores, cold.scores, atol=1e-2 if C <= 10 else 0.1)


def drawn(
    documents: int, labels: int, seed: int
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_], npt.NDArray[np.bool_], npt.NDArray[np.intp]]:
    """Vectors, labels that they tell apart but for noise, and folds."""
    rng = np.random.default_rng(seed)
    X = rng.random((documents, 6)).astype(np.float32)
    directions = rng.normal(size=(6, labels))
    pull = (X - 0.5) @ directions + rng.normal(scale=0.2, size=(documents, labels))
    folds = rng.integers(3, size=documents)
    active = np.vstack([np.ones((1, documents), dtype=bool), folds != np.arange(3)[:, None]])
    return X, pull > np.linspace(-0.2, 1.5, labels), active, folds


@settings(max_examples=8, deadline=None)
@given(st.integers(2, 90), st.integers(0, 10**6), st.sampled_from([0.1, 1.0, 10.0]))
def test_all_labels_and_folds_are_solved_as_by_the_compiled_solver(
    documents: int, seed: int, C: float
) -> None:
    """Rare labels among them, which some folds or all lack."""
    X, targets, active, _ = drawn(documents, 4, seed)
    gram = rbf_gram(X, 0.5)
    expected = solve(gram, targets, active, C)
    solution = solve_on_device(device_gram(gram), targets, active, C)
    np.testing.assert_allclose(solution.scores, expected.scores, atol=1e-2)
    assert not solution.coefficients[:, ~active].any()


def test_one_class_is_a_constant() -> None:
    targets = np.array([[True], [True], [False], [False]])
    halves = np.array([[True, True, False, False], [False, False, True, True], [False] * 4, [True] * 4])
    steps: list[int] = []
    solution = solve_on_device(DeviceGram(torch.eye(4)), targets, halves, 1.0, advance=steps.append)
    assert solution.bias.ravel().tolist() == [1, -1, -1, 0]
    assert solution.scores[0, :3].tolist() == [[1] * 4, [-1] * 4, [-1] * 4]
    assert not solution.coefficients[0, :3].any()
    assert sum(steps) == 4


@pytest.mark.parametrize("C", [1.0, 1e3])
def test_blocks_of_labels_find_what_all_labels_find(C: float, monkeypatch: pytest.MonkeyPatch) -> None:
    X, targets, active, _ = drawn(60, 3, seed=3)
    gram = DeviceGram.rbf(X, 0.5, "cpu")
    whole = solve_on_device(gram, targets, active, C)
    monkeypatch.setattr("funnelling.svm.device.gram.CPU_MEMORY", 1e5)
    steps: list[int] = []
    assert len(list(solver._label_blocks(gram, targets, active))) == 3
    by_blocks = solve_on_device(gram, targets, active, C, advance=steps.append)
    assert sum(steps) == 12
    np.testing.assert_allclose(by_blocks.scores, whole.scores, atol=1e-2 if C <= 10 else 0.1)


def test_rounds_that_do_not_hold_all_support_vectors_get_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("funnelling.svm.device.solver.STEP", 16)
    monkeypatch.setattr("funnelling.svm.device.solver.SPARE", 0)
    monkeypatch.setattr("funnelling.svm.device.solver.MOST_VIOLATORS", 32)
    monkeypatch.setattr("funnelling.svm.device.solver.MOST", 32)
    monkeypatch.setattr("funnelling.svm.device.interior.BLOCK", 8)
    monkeypatch.setattr("funnelling.svm.device.starts.MANY", 20)
    monkeypatch.setattr("funnelling.svm.device.solver.ALONE", 0)
    problem = PROBLEMS[0]
    assert np.count_nonzero(problem.solve(1.0).coefficients) > 32
    assert violation(problem, 1.0, solved(problem, 1.0)) <= TOLERANCE
    assert problem.relative_gap(100.0, solved(problem, 100.0)) <= 1e-3


def test_bits_are_the_same_in_every_run() -> None:
    X, targets, active, _ = drawn(120, 4, seed=5)
    first, second = (solve_on_device(DeviceGram.rbf(X, 0.5, "cpu"), targets, active, 100.0) for _ in range(2))
    for name in ("coefficients", "bias", "scores"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


def test_a_path_is_that_of_the_compiled_solver() -> None:
    X, targets, active, folds = drawn(120, 4, seed=6)
    kernel = rbf_gram(X, 0.5)
    Cs = [0.1, 1.0, 10.0]
    expected = solve_path(kernel, targets, active, Cs, folds=folds)
    steps: list[int] = []
    gram = device_gram(kernel)
    path = solve_path_on_device(gram, targets, active, Cs, folds=folds, advance=steps.append)
    assert sum(steps) == 4 * 4 * 3
    for ours, theirs in zip(path, expected, strict=True):
        np.testing.assert_allclose(ours.scores, theirs.scores, atol=1e-2)
        np.testing.assert_allclose(ours.held_out, theirs.held_out, atol=1e-2)
        np.testing.assert_allclose(ours.bias, theirs.bias, atol=1e-2)
        assert ours.support.shape == theirs.support.shape
        outputs = kernel.astype(np.float64) @ ours.coefficients(0).toarray().T + ours.bias[:, 0]
        np.testing.assert_allclose(ours.scores.T, outputs, atol=1e-5)
    (again,) = solve_path_on_device(gram, targets, active, [10.0], start=path[1])
    assert again.held_out is None
    np.testing.assert_allclose(again.scores, path[2].scores, atol=1e-2)


def test_what_does_not_end_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    X, targets, active, _ = drawn(60, 2, seed=7)
    monkeypatch.setattr("funnelling.svm.device.solver.MOST_ROUNDS", 0)
    gram = DeviceGram.rbf(X, 0.5, "cpu")
    assert solve_on_device(gram, targets, active, 1.0).unfinished.tolist() == [True, False]
    with caplog.at_level(logging.WARNING):
        (path,) = solve_path_on_device(gram, targets, active, [1.0])
    assert np.isfinite(path.scores).all()
    assert caplog.records[0].message.startswith("The SVMs of 1 of 2 labels with C = 1 were left unfinished.")


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e30])
def test_features_that_are_no_numbers_are_refused(value: float) -> None:
    X, targets, active, _ = drawn(40, 2, seed=8)
    X[17, 3] = value
    grams = [DeviceGram.rbf(X, 0.5, "cpu")] if np.isnan(value) else []
    with np.errstate(all="ignore"):
        grams.append(device_gram((X @ X.T).astype(np.float32)))
    for gram in grams:
        with pytest.raises(InputError, match=r"^The features hold values that are not finite, or too large"):
            solve_on_device(gram, targets, active, 1.0)


@pytest.mark.parametrize("documents", [1, 3, 1023, 1025])
def test_the_gram_is_that_of_the_cpu(documents: int) -> None:
    X = np.random.default_rng(9).random((documents, 7)).astype(np.float32)
    gram = DeviceGram.rbf(X, 0.7, "cpu")
    values = gram.values.numpy()
    assert gram.documents == documents
    np.testing.assert_allclose(values, rbf_gram(X, 0.7), atol=1e-6)
    np.testing.assert_array_equal(values, values.T)
    np.testing.assert_array_equal(values.diagonal(), 1)


def drawn_scorer() -> tuple[KernelScorer, npt.NDArray[np.float32]]:
    """A scorer, and documents of more than two blocks."""
    rng = np.random.default_rng(10)
    coefficients = rng.normal(size=(70, 5)) * (rng.random((70, 5)) < 0.5)
    support, X = (rng.random((rows, 6)).astype(np.float32) for rows in (70, 1100))
    return KernelScorer(support, coefficients, rng.normal(size=5).astype(np.float32), 0.3), X


def test_scores_of_new_documents_are_those_of_the_scorer() -> None:
    scorer, X = drawn_scorer()
    scores = kernel_scores(scorer, X, "cpu")
    assert scores.dtype == np.float32
    np.testing.assert_allclose(scores, scorer.scores(X), atol=1e-4)


def test_a_score_does_not_depend_on_the_other_documents() -> None:
    scorer, X = drawn_scorer()
    scores = kernel_scores(scorer, X, "cpu")
    alone = np.vstack([kernel_scores(scorer, X[[row]], "cpu") for row in range(0, 1100, 89)])
    np.testing.assert_array_equal(alone, scores[::89])
    assert kernel_scores(scorer, X[:0], "cpu").shape == (0, 5)
