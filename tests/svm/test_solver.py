"""The solver finds what scikit-learn's SVC finds, for all folds and labels, in any number of threads."""

import logging
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from funnelling.svm import solver
from funnelling.svm.solver import TOLERANCE, solve
from tests.svm.problems import BinaryProblem, degenerate_problems, make, regular_problems, tfidf_like

PROBLEMS = [*regular_problems(), *degenerate_problems()]
SMALL_C = [1e-3, 1e-2, 0.1, 1.0, 10.0]
LARGE_C = [30.0, 100.0, 1e3, 1e4]

each_problem = pytest.mark.parametrize("problem", PROBLEMS, ids=[problem.name for problem in PROBLEMS])


@each_problem
@pytest.mark.parametrize("C", SMALL_C)
def test_scores_are_those_of_svc_trained_without_the_documents_held_out(
    problem: BinaryProblem, C: float
) -> None:
    scores, expected = problem.solve(C).scores[0, 0], problem.reference_scores(C)
    np.testing.assert_allclose(scores, expected, atol=1e-2)


@each_problem
@pytest.mark.parametrize("C", LARGE_C)
def test_large_c_leaves_a_small_duality_gap(problem: BinaryProblem, C: float) -> None:
    assert problem.relative_gap(C, problem.solve(C)) <= 1e-3


@pytest.mark.parametrize("C", [*SMALL_C, *LARGE_C])
def test_decisions_are_those_of_svc(C: float) -> None:
    ours = np.concatenate([problem.solve(C).scores[0, 0] for problem in PROBLEMS])
    reference = np.concatenate([problem.reference_scores(C) for problem in PROBLEMS])
    clear = np.abs(reference) > 1e-2
    assert np.mean((ours > 0)[clear] == (reference > 0)[clear]) >= 0.999


def _vectors() -> st.SearchStrategy[npt.NDArray[np.float64]]:
    """Small whole numbers make duplicates, zero rows and dependent rows likely."""
    shapes = st.tuples(st.integers(2, 40), st.integers(1, 6))
    return hnp.arrays(np.int64, shapes, elements=st.integers(-2, 2)).map(lambda x: x / 2)


@settings(max_examples=200)
@given(_vectors(), st.sampled_from([1e-3, 0.1, 1.0, 10.0]), st.randoms(use_true_random=False))
def test_the_conditions_of_karush_kuhn_and_tucker_hold(
    vectors: npt.NDArray[np.float64], C: float, random: Any
) -> None:
    has_label = np.array([random.random() < 0.4 for _ in vectors])
    active = np.array([random.random() < 0.8 for _ in vectors])
    has_label[:2], active[:2] = [True, False], True
    problem = make("", vectors, has_label, active)
    solution = problem.solve(C)
    alpha = problem.signs * solution.coefficients[0, 0]
    assert np.all((alpha >= 0) & (alpha <= C))
    assert not alpha[~active].any()
    assert abs(solution.coefficients.sum()) <= 1e-9 * C * len(alpha)
    scores = problem.gram.astype(np.float64) @ solution.coefficients[0, 0] + solution.bias[0, 0]
    np.testing.assert_allclose(solution.scores[0, 0], scores, rtol=1e-5, atol=1e-5)
    margin = problem.signs * scores
    slack = 1.01 * TOLERANCE
    assert np.all(margin[active & (alpha == 0)] >= 1 - slack)
    assert np.all(margin[active & (alpha == C)] <= 1 + slack)
    assert np.all(np.abs(margin[active & (alpha > 0) & (alpha < C)] - 1) <= slack)


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_every_fold_and_label_is_a_problem_of_its_own(C: float) -> None:
    rng = np.random.default_rng(2)
    vectors = tfidf_like(80, rng)
    gram = (vectors @ vectors.T).astype(np.float32)
    targets = rng.random((80, 4)) < [0.5, 0.2, 0.05, 0.9]
    active = np.arange(80) % 3 != np.arange(3)[:, None]
    together = solve(gram, targets, active, C)
    for fold in range(3):
        for label in range(4):
            alone = solve(gram, targets[:, [label]], active[[fold]], C)
            np.testing.assert_array_equal(together.scores[fold, label], alone.scores[0, 0])
            np.testing.assert_array_equal(together.coefficients[fold, label], alone.coefficients[0, 0])
            assert together.bias[fold, label] == alone.bias[0, 0]


@each_problem
def test_a_warm_start_ends_at_the_same_optimum(problem: BinaryProblem) -> None:
    start = None
    for C in (0.1, 1.0, 10.0):
        warm = problem.solve(C, start)
        np.testing.assert_allclose(warm.scores, problem.solve(C).scores, atol=1e-2)
        start = warm.coefficients


def test_a_warm_start_is_left_as_it_was() -> None:
    problem = PROBLEMS[0]
    start = problem.solve(0.1).coefficients
    before = start.copy()
    problem.solve(1.0, start)
    np.testing.assert_array_equal(start, before)


def test_the_number_of_threads_changes_no_bit() -> None:
    rng = np.random.default_rng(3)
    vectors = tfidf_like(150, rng)
    gram = (vectors @ vectors.T).astype(np.float32)
    targets = rng.random((150, 12)) < 0.2
    active = np.arange(150) % 5 != np.arange(5)[:, None]
    one = solve(gram, targets, active, 1.0, n_jobs=1)
    for n_jobs in (2, 4):
        several = solve(gram, targets, active, 1.0, n_jobs=n_jobs)
        for name in ("coefficients", "bias", "scores"):
            np.testing.assert_array_equal(getattr(several, name), getattr(one, name))


@pytest.mark.parametrize(("has_label", "score"), [(True, 1.0), (False, -1.0)])
def test_a_problem_of_one_class_has_a_constant_score(has_label: bool, score: float) -> None:
    gram = np.eye(5, dtype=np.float32)
    targets = np.array([[has_label]] * 3 + [[not has_label]] * 2)
    solution = solve(gram, targets, np.arange(5)[None] < 3, 1.0)
    assert solution.scores.tolist() == [[[score] * 5]]
    assert solution.bias.tolist() == [[score]]
    assert not solution.coefficients.any()


def test_a_problem_without_documents_says_no() -> None:
    solution = solve(np.eye(2, dtype=np.float32), np.ones((2, 1), bool), np.zeros((1, 2), bool), 1.0)
    assert solution.scores.tolist() == [[[-1.0, -1.0]]]


@pytest.mark.parametrize("C", [1e-3, 0.01, 0.02])
@pytest.mark.parametrize("warm", [False, True])
def test_without_free_vectors_the_bias_is_libsvms_midpoint(C: float, warm: bool) -> None:
    """Classes of one size and a small C: every document is at the bound, any bias in a range is best."""
    rng = np.random.default_rng(4)
    problem = make("", tfidf_like(40, rng), np.arange(40) < 20)
    solution = problem.solve(C, problem.solve(C / 3).coefficients if warm else None)
    np.testing.assert_array_equal(solution.coefficients[0, 0], C * problem.signs)
    gradient = problem.signs - problem.gram.astype(np.float64) @ solution.coefficients[0, 0]
    midpoint = (gradient[~problem.has_label].max() + gradient[problem.has_label].min()) / 2
    assert solution.bias[0, 0] == pytest.approx(midpoint, abs=1e-9)
    np.testing.assert_allclose(solution.scores[0, 0], problem.reference_scores(C), atol=1e-6)


@pytest.mark.parametrize("documents", [1, 2, 3, 15, 16, 17, 31, 33])
def test_no_number_of_documents_is_special(documents: int) -> None:
    """The loops run over blocks of sixteen documents and a rest."""
    rng = np.random.default_rng(documents)
    vectors = rng.normal(size=(documents, 3))
    problem = make("", vectors, np.arange(documents) % 2 == 0)
    scores = problem.solve(1.0).scores[0, 0]
    expected = problem.reference_scores(1.0) if documents > 1 else np.ones(1)
    np.testing.assert_allclose(scores, expected, atol=1e-2)


@pytest.mark.parametrize("C", [1.0, 100.0, 1e4])
def test_thousands_of_documents_are_solved_by_parts(C: float) -> None:
    rng = np.random.default_rng(7)
    vectors = tfidf_like(2100, rng)
    has_label = vectors[:, :20].sum(axis=1) + 0.05 * rng.normal(size=2100) > 0.2
    problem = make("", vectors, has_label, rng.random(2100) < 0.8)
    solution = problem.solve(C)
    if C > 10:
        assert problem.relative_gap(C, solution) <= 1e-3
    else:
        np.testing.assert_allclose(solution.scores[0, 0], problem.reference_scores(C), atol=1e-2)
    warm = problem.solve(C, problem.solve(C / 10).coefficients)
    np.testing.assert_allclose(warm.scores, solution.scores, atol=1e-2 if C <= 10 else 0.1)


def test_a_problem_that_does_not_end_is_left_with_a_warning(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Features of very different scales, as they come out of a spreadsheet."""
    native = solver._native.solve

    class Impatient:
        @staticmethod
        def solve(*arguments: Any) -> Any:
            return native(*arguments[:-1], 100)

    monkeypatch.setattr(solver, "_native", Impatient)
    rng = np.random.default_rng(8)
    problem = make("", rng.normal(size=(60, 4)) * [1, 10, 100, 1000], rng.random(60) < 0.5)
    with caplog.at_level(logging.WARNING):
        assert np.isfinite(problem.solve(1.0).scores).all()
    assert caplog.records[0].message.startswith("1 of 1 SVM problems with C = 1 were left unfinished")


class TestWithoutCompiler:
    """Where the package was installed without a compiler, scikit-learn does the work."""

    @pytest.fixture(autouse=True)
    def _no_native(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        monkeypatch.setattr(solver, "_native", None)
        solver._tell_fallback.cache_clear()
        yield
        solver._tell_fallback.cache_clear()

    @each_problem
    def test_results_are_within_the_tolerance(
        self, problem: BinaryProblem, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fallback = problem.solve(1.0)
        np.testing.assert_allclose(fallback.scores[0, 0], problem.reference_scores(1.0), atol=1e-2)
        outputs = problem.gram.astype(np.float64) @ fallback.coefficients[0, 0] + fallback.bias[0, 0]
        np.testing.assert_allclose(fallback.scores[0, 0], outputs, atol=1e-5)
        monkeypatch.undo()
        np.testing.assert_allclose(fallback.scores, problem.solve(1.0).scores, atol=1e-2)

    def test_one_class_is_handled_alike(self) -> None:
        gram, targets = np.eye(4, dtype=np.float32), np.array([[True], [True], [False], [False]])
        halves = np.array([[True, True, False, False], [False, False, True, True], [False] * 4])
        assert solve(gram, targets, halves, 1.0).bias.ravel().tolist() == [1.0, -1.0, -1.0]

    def test_the_user_is_told_once(self, caplog: pytest.LogCaptureFixture) -> None:
        assert solver.solver_name() == "scikit-learn"
        with caplog.at_level(logging.WARNING):
            for _ in range(2):
                PROBLEMS[0].solve(1.0)
        assert [record.message for record in caplog.records] == [
            "The compiled solver is missing, so scikit-learn's SVC is used: equal results, far slower. "
            "Install a C compiler and reinstall funnelling."
        ]


def test_progress_is_told_for_every_problem() -> None:
    steps: list[int] = []
    targets = np.arange(20)[:, None] % np.array([2, 3, 4]) == 0
    solve(np.eye(20, dtype=np.float32), targets, np.ones((2, 20), bool), 1.0, advance=steps.append)
    assert steps == [1] * 6


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupt_stops_the_work(n_jobs: int) -> None:
    """Hundreds of slow problems are left undone, and the threads are gone."""
    import threading

    rng = np.random.default_rng(5)
    vectors = rng.normal(size=(400, 5))
    gram = (vectors @ vectors.T).astype(np.float32)
    targets = rng.random((400, 500)) < 0.5

    def interrupt(_steps: int) -> None:
        raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        solve(gram, targets, np.ones((1, 400), bool), 100.0, n_jobs=n_jobs, advance=interrupt)
    assert threading.active_count() == before


def test_a_raised_flag_ends_a_problem_early() -> None:
    rng = np.random.default_rng(6)
    vectors = rng.normal(size=(400, 5))
    arguments = _native_arguments((vectors @ vectors.T).astype(np.float32), rng.random(400) < 0.5)
    arguments["stop"][0] = 1
    status, _ = solver._native.solve(*arguments.values())
    assert status == 2


def _native_arguments(gram: npt.NDArray[np.float32], has_label: npt.NDArray[np.bool_]) -> dict[str, Any]:
    documents = len(gram)
    return {
        "gram": gram,
        "signs": np.where(has_label, 1, -1).astype(np.int8),
        "active": np.ones(documents, np.uint8),
        "stop": np.zeros(1, np.uint8),
        "coefficients": np.zeros(documents),
        "scores": np.zeros(documents, np.float32),
        "C": 1.0,
        "tolerance": 1e-3,
        "max_iterations": 1000,
    }


def _read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    array = array.copy()
    array.flags.writeable = False
    return array


WRONG: list[tuple[str, Any]] = [
    ("gram", np.eye(8, dtype=np.float64)),
    ("gram", np.eye(8, dtype=np.int32)),
    ("gram", np.eye(8, dtype=">f4")),
    ("gram", np.eye(7, dtype=np.float32)),
    ("gram", np.eye(8, dtype=np.float32)[:7]),
    ("gram", np.eye(16, dtype=np.float32)[::2, ::2]),
    ("gram", np.zeros(0, np.float32)),
    ("gram", None),
    ("gram", [[1.0]]),
    ("signs", np.ones(7, np.int8)),
    ("signs", np.ones(9, np.int8)),
    ("signs", np.ones(8, np.int64)),
    ("signs", np.ones(8, np.uint8)),
    ("signs", np.zeros(0, np.int8)),
    ("active", np.ones(7, np.uint8)),
    ("active", np.ones(8, np.float32)),
    ("active", "12345678"),
    ("stop", np.zeros(0, np.uint8)),
    ("stop", np.zeros(1, np.int64)),
    ("coefficients", np.zeros(7)),
    ("coefficients", np.zeros(8, np.float32)),
    ("coefficients", np.zeros(8, np.int64)),
    ("coefficients", _read_only(np.zeros(8))),
    ("coefficients", bytes(64)),
    ("scores", np.zeros(9, np.float32)),
    ("scores", np.zeros(8, np.int32)),
    ("scores", np.zeros(8)),
    ("scores", _read_only(np.zeros(8, np.float32))),
    ("C", 0.0),
    ("C", -1.0),
    ("C", float("inf")),
    ("C", float("nan")),
    ("C", "1"),
    ("tolerance", 0.0),
    ("tolerance", float("nan")),
    ("max_iterations", -1),
    ("max_iterations", 1.5),
]


@pytest.mark.parametrize(("name", "value"), WRONG, ids=[f"{name}-{i}" for i, (name, _) in enumerate(WRONG)])
def test_the_native_door_refuses_what_does_not_fit(name: str, value: Any) -> None:
    arguments = _native_arguments(np.eye(8, dtype=np.float32), np.arange(8) < 4)
    arguments[name] = value
    with pytest.raises((TypeError, ValueError, BufferError)):
        solver._native.solve(*arguments.values())


def test_the_native_door_counts_its_arguments() -> None:
    with pytest.raises(TypeError):
        solver._native.solve()


@settings(max_examples=50)
@given(hnp.arrays(np.float32, (9, 9), elements=st.floats(width=32)), st.booleans())
def test_any_kernel_values_end_in_an_answer(gram: npt.NDArray[np.float32], first: bool) -> None:
    """Nonsense in may be nonsense out, but the solver comes back."""
    arguments = _native_arguments(gram, np.arange(9) % 2 == first)
    status, _ = solver._native.solve(*arguments.values())
    assert status in (0, 3)
