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
from scipy import sparse

from funnelling.errors import InputError
from funnelling.svm import kernels, solver
from funnelling.svm.kernels import Vectors, rbf_gram
from funnelling.svm.solver import TOLERANCE, Problems, solve_path
from tests.svm.problems import (
    BinaryProblem,
    degenerate_problems,
    make,
    rbf_problems,
    regular_problems,
    tfidf_like,
)
from tests.svm.solutions import Solution, solve

FORMS = ["gram", "sparse", "dense"]
PROBLEMS = [
    *rbf_problems(),
    *(problem for form in FORMS for problem in (*regular_problems(form), *degenerate_problems(form))),
]
SMALL_C = [1e-3, 1e-2, 0.1, 1.0, 10.0]
LARGE_C = [30.0, 100.0, 1e3, 1e4]

needs_native = pytest.mark.skipif(kernels.native is None, reason="there is no compiled solver")
each_form = pytest.mark.parametrize("form", FORMS)
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


ANY_FLOAT = st.floats(width=32)


def _vectors() -> st.SearchStrategy[npt.NDArray[np.float64]]:
    """Small whole numbers make duplicates, zero rows and dependent rows likely."""
    shapes = st.tuples(st.integers(2, 40), st.integers(1, 6))
    return hnp.arrays(np.int64, shapes, elements=st.integers(-2, 2)).map(lambda x: x / 2)


@each_form
@settings(max_examples=200)
@given(_vectors(), st.sampled_from([1e-3, 0.1, 1.0, 10.0]), st.randoms(use_true_random=False))
def test_the_conditions_of_karush_kuhn_and_tucker_hold(
    form: str, vectors: npt.NDArray[np.float64], C: float, random: Any
) -> None:
    has_label = np.array([random.random() < 0.4 for _ in vectors])
    active = np.array([random.random() < 0.8 for _ in vectors])
    has_label[:2], active[:2] = [True, False], True
    problem = make("", vectors, has_label, active, form)
    solution = problem.solve(C)
    alpha = problem.signs * solution.coefficients[0, 0]
    assert np.all((alpha >= 0) & (alpha <= C))
    assert not alpha[~active].any()
    assert abs(solution.coefficients.sum()) <= 1e-9 * C * len(alpha)
    scores = problem.gram @ solution.coefficients[0, 0] + solution.bias[0, 0]
    np.testing.assert_allclose(solution.scores[0, 0], scores, rtol=1e-5, atol=1e-5)
    margin = problem.signs * scores
    slack = 1.01 * TOLERANCE
    assert np.all(margin[active & (alpha == 0)] >= 1 - slack)
    assert np.all(margin[active & (alpha == C)] <= 1 + slack)
    free = (alpha > 1e-12 * C) & (alpha < (1 - 1e-12) * C)  # but for rounding
    assert np.all(np.abs(margin[active & free] - 1) <= slack)


def _kernel(form: str, documents: int, seed: int) -> Any:
    vectors = tfidf_like(documents, np.random.default_rng(seed))
    return make("", vectors, np.arange(documents) < 1, form=form).kernel


@each_form
@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("folds", [3, 11])
def test_every_label_and_fold_is_a_problem_of_its_own(form: str, C: float, folds: int) -> None:
    """The folds of a label are solved together, so their optimum is the same, but not their bits."""
    rng = np.random.default_rng(2)
    kernel = _kernel(form, 80, 2)
    targets = rng.random((80, 4)) < [0.5, 0.2, 0.05, 0.9]
    active = np.arange(80) % folds != np.arange(folds)[:, None]
    together = solve(kernel, targets, active, C)
    for label in range(4):
        alone = solve(kernel, targets[:, [label]], active, C)
        _assert_equal(Solution(*(values[[label]] for values in vars(together).values())), alone)
        for fold in range(folds):
            single = solve(kernel, targets[:, [label]], active[[fold]], C)
            np.testing.assert_allclose(together.scores[label, fold], single.scores[0, 0], atol=5e-3)


def _assert_equal(one: Solution, other: Solution) -> None:
    np.testing.assert_array_equal(one.coefficients, other.coefficients)
    np.testing.assert_array_equal(one.bias, other.bias)
    np.testing.assert_array_equal(one.scores, other.scores)


@each_problem
def test_a_warm_start_ends_at_the_same_optimum(problem: BinaryProblem) -> None:
    start = None
    for C in (0.1, 1.0, 10.0):
        warm = problem.solve(C, start)
        np.testing.assert_allclose(warm.scores, problem.solve(C).scores, atol=1e-2)
        start = warm.coefficients


@each_form
@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_a_start_may_come_from_a_larger_c_and_from_other_documents(form: str, C: float) -> None:
    rng = np.random.default_rng(11)
    kernel = _kernel(form, 120, 11)
    targets, active = rng.random((120, 3)) < 0.3, rng.random((4, 120)) < 0.8
    start = solve(kernel, targets, ~active | (rng.random((4, 120)) < 0.5), 10.0).coefficients
    warm, cold = solve(kernel, targets, active, C, start=start), solve(kernel, targets, active, C)
    assert not warm.coefficients[:, ~active].any()
    assert np.abs(warm.coefficients).max() <= C
    np.testing.assert_allclose(warm.scores, cold.scores, atol=5e-3 if C <= 10 else 0.05)


def test_a_warm_start_is_left_as_it_was() -> None:
    problem = PROBLEMS[0]
    start = problem.solve(0.1).coefficients
    before = start.copy()
    problem.solve(1.0, start)
    np.testing.assert_array_equal(start, before)


@each_form
@pytest.mark.parametrize(("has_label", "score"), [(True, 1.0), (False, -1.0)])
def test_a_problem_of_one_class_has_a_constant_score(form: str, has_label: bool, score: float) -> None:
    kernel = make("", np.eye(5), np.arange(5) < 1, form=form).kernel
    targets = np.array([[has_label]] * 3 + [[not has_label]] * 2)
    solution = solve(kernel, targets, np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], bool), 1.0)
    assert solution.scores[0, 0].tolist() == [score] * 5
    assert solution.bias[0, 0] == score
    assert not solution.coefficients[0, 0].any()
    assert solution.coefficients[0, 1].any()


@each_form
def test_a_problem_without_documents_says_no(form: str) -> None:
    kernel = make("", np.eye(2), np.arange(2) < 1, form=form).kernel
    solution = solve(kernel, np.ones((2, 1), bool), np.zeros((1, 2), bool), 1.0)
    assert solution.scores.tolist() == [[[-1.0, -1.0]]]


@each_form
@pytest.mark.parametrize("C", [1e-3, 0.01, 0.02])
@pytest.mark.parametrize("warm", [False, True])
def test_without_free_vectors_the_bias_is_libsvms_midpoint(form: str, C: float, warm: bool) -> None:
    """Classes of one size and a small C: every document is at the bound, any bias in a range is best."""
    rng = np.random.default_rng(4)
    problem = make("", tfidf_like(40, rng), np.arange(40) < 20, form=form)
    solution = problem.solve(C, problem.solve(C / 3).coefficients if warm else None)
    np.testing.assert_array_equal(solution.coefficients[0, 0], C * problem.signs)
    gradient = problem.signs - problem.gram @ solution.coefficients[0, 0]
    midpoint = (gradient[~problem.has_label].max() + gradient[problem.has_label].min()) / 2
    assert solution.bias[0, 0] == pytest.approx(midpoint, abs=1e-9)
    np.testing.assert_allclose(solution.scores[0, 0], problem.reference_scores(C), atol=1e-6)


@pytest.mark.parametrize("C", [0.1, 1.0])
def test_what_rounding_leaves_free_does_not_move_the_bias_to_an_end(C: float) -> None:
    """Folds start from the solution of all documents, and arrive at bounds but for the last bits."""
    bounded = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        X = rng.random((8 + seed % 30, 6)).astype(np.float32)
        gram, has_label = rbf_gram(X, 0.5), X @ rng.normal(size=6) > 0.2
        active = np.vstack([np.ones(len(X), dtype=bool), rng.integers(3, size=len(X)) > 0])
        solution = solve(gram, has_label[:, None], active, C)
        beta, signs = solution.coefficients[0, 1], np.where(has_label, 1, -1)
        low, high = np.where(has_label, 0, -C), np.where(has_label, C, 0)
        may_rise, may_fall = (active[1] & (np.abs(beta - end) > 1e-12 * C) for end in (high, low))
        if (may_rise & may_fall).any() or not may_rise.any() or not may_fall.any():
            continue
        bounded += 1
        gradient = signs - gram @ beta
        midpoint = (gradient[may_rise].max() + gradient[may_fall].min()) / 2
        assert solution.bias[0, 1] == pytest.approx(midpoint, abs=1e-5)
    assert bounded > 1


@each_form
@pytest.mark.parametrize("documents", [1, 2, 3, 15, 16, 17, 31, 33])
def test_no_number_of_documents_is_special(form: str, documents: int) -> None:
    """The loops run over blocks of documents and a rest."""
    rng = np.random.default_rng(documents)
    vectors = rng.normal(size=(documents, 3))
    problem = make("", vectors, np.arange(documents) % 2 == 0, form=form)
    scores = problem.solve(1.0).scores[0, 0]
    expected = problem.reference_scores(1.0) if documents > 1 else np.ones(1)
    np.testing.assert_allclose(scores, expected, atol=1e-2)


@each_form
@pytest.mark.parametrize("C", [1.0, 100.0, 1e4])
def test_more_support_vectors_than_a_working_set_holds(form: str, C: float) -> None:
    rng = np.random.default_rng(7)
    vectors = tfidf_like(2100, rng)
    has_label = vectors[:, :20].sum(axis=1) + 0.05 * rng.normal(size=2100) > 0.2
    problem = make("", vectors, has_label, rng.random(2100) < 0.8, form)
    solution = problem.solve(C)
    if C > 10:
        assert problem.relative_gap(C, solution) <= 1e-3
    else:
        assert np.count_nonzero(solution.coefficients) > 512
        np.testing.assert_allclose(solution.scores[0, 0], problem.reference_scores(C), atol=1e-2)
    warm = problem.solve(C, problem.solve(C / 10).coefficients)
    np.testing.assert_allclose(warm.scores, solution.scores, atol=1e-2 if C <= 10 else 0.1)


def in_few_dimensions() -> BinaryProblem:
    """Noisy labels over a kernel of low rank, as tier 2 has them."""
    rng = np.random.default_rng(5)
    X = rng.dirichlet([1.0, 1.0, 1.0], 1500).astype(np.float32)
    has_label = (X[:, 0] > 0.4) ^ (rng.random(1500) < 0.25)
    return BinaryProblem("", rbf_gram(X, 1 / 3), has_label, np.ones(1500, dtype=bool))


@needs_native
def test_many_documents_between_bounds_over_a_kernel_of_low_rank() -> None:
    problem = in_few_dimensions()
    solution = problem.solve(1e4)
    assert not solution.unfinished.any()
    assert problem.relative_gap(1e4, solution) <= 1e-3
    shares = solution.coefficients[0, 0] * problem.signs / 1e4
    assert abs(solution.coefficients.sum()) < 1e-6 * 1e4
    assert shares.min() >= 0
    assert shares.max() <= 1


@needs_native
def test_two_documents_may_meet_their_bounds_at_once() -> None:
    """On the way of a Newton step; it once went on from there by no number."""
    places = np.array(
        [3, 4, 12, 0, 8, 5, 8, 2, 5, 11, 0, 4, 15, 5, 14, 13, 5, 6, 7, 9, 13, 8, 15, 2, 3, 10, 8, 4, 6, 3]
    )
    less = np.array(
        [0, 227, 909, 2045, 3635, 5679, 8177, 11129, 14535, 18394, 22705, 27470, 32686, 38354, 44474, 51044]
    )
    kernel = (1 - less / 2**24).astype(np.float32)[np.abs(places[:, None] - places)]
    has_label = np.array([sign == "+" for sign in "--+--+-+--+-+++++--+--+--+-++-"])
    trained_on = ["1" * 30, "111001110111101011110101111111", "001010010110100110100100000100"]
    active = np.array([[each == "1" for each in fold] for fold in trained_on])
    problems = Problems(kernel, has_label[:, None], active)
    coefficients = np.zeros((3, 30))
    for C in (10.0, 1000.0):
        problems.solve(0, C, coefficients)
    assert np.isfinite(coefficients).all()


@needs_native
def test_a_fold_may_hold_out_nearly_everything() -> None:
    """A start from all documents would be moved into bounds one by one."""
    problem = in_few_dimensions()
    few = np.arange(1500) % 75 == 0
    both = solve(problem.kernel, problem.has_label[:, None], np.vstack([problem.active, few]), 0.1)
    alone = solve(problem.kernel, problem.has_label[:, None], few[None], 0.1)
    np.testing.assert_allclose(both.scores[0, 1], alone.scores[0, 0], atol=1e-2)


@needs_native
@pytest.mark.parametrize("C", [100.0, 1e3])
def test_noisy_labels_leave_more_documents_between_bounds_than_a_working_set_holds(C: float) -> None:
    """Short posts, a third of them with a wrong label: no plane separates them, whatever C is."""
    rng = np.random.default_rng(9)
    words = rng.integers(0, 2000, size=(4000, 6))
    X = sparse.csr_array((np.full(24_000, 6**-0.5), (np.repeat(np.arange(4000), 6), words.ravel())))
    has_label = (words < 700).sum(axis=1) > 2
    has_label ^= rng.random(4000) < 0.3
    problem = make("", X.toarray(), has_label, form="sparse")
    solution = problem.solve(C)
    between = (np.abs(solution.coefficients) > 0) & (np.abs(solution.coefficients) < C)
    assert np.count_nonzero(between) > 512
    assert not solution.unfinished.any()
    assert problem.relative_gap(C, solution) <= 1e-3


@needs_native
@each_form
def test_a_problem_that_does_not_end_is_left_with_a_warning(
    form: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Features of very different scales, as they come out of a spreadsheet."""

    class Impatient:
        @staticmethod
        def solve_gram(*arguments: Any) -> Any:
            return native.solve_gram(*arguments[:-1], 100)

        @staticmethod
        def solve_vectors(*arguments: Any) -> Any:
            return native.solve_vectors(*arguments[:-1], 100)

    native = kernels.native
    monkeypatch.setattr(kernels, "native", Impatient)
    rng = np.random.default_rng(8)
    problem = make("", rng.normal(size=(60, 4)) * [1, 10, 100, 1000], rng.random(60) < 0.5, form=form)
    solution = problem.solve(1.0)
    assert np.isfinite(solution.scores).all()
    assert solution.unfinished.tolist() == [True]
    with caplog.at_level(logging.WARNING):
        solve_path(problem.kernel, problem.has_label[:, None], problem.active[None], [1.0])
    assert caplog.records[0].message.startswith("The SVMs of 1 of 1 labels with C = 1 were left unfinished.")


@needs_native
def test_features_of_any_size_come_to_an_end() -> None:
    """Unscaled and noisy, so that no step is the last: ten times as many once took a minute in all."""
    rng = np.random.default_rng(0)
    problem = make("", rng.normal(size=(48, 10)) * 1e8, rng.random(48) < 0.5, form="dense")
    solution = problem.solve(1.0)
    assert solution.unfinished.tolist() == [True]
    assert np.isfinite(solution.scores).all()


class TestWithoutCompiler:
    """Where the package was installed without a compiler, scikit-learn does the work."""

    @pytest.fixture(autouse=True)
    def _no_native(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        monkeypatch.setattr(kernels, "native", None)
        solver._warn_of_fallback.cache_clear()
        yield
        solver._warn_of_fallback.cache_clear()

    @each_problem
    def test_results_are_within_the_tolerance(
        self, problem: BinaryProblem, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fallback = problem.solve(1.0)
        np.testing.assert_allclose(fallback.scores[0, 0], problem.reference_scores(1.0), atol=1e-2)
        outputs = problem.gram @ fallback.coefficients[0, 0] + fallback.bias[0, 0]
        np.testing.assert_allclose(fallback.scores[0, 0], outputs, atol=1e-5)
        monkeypatch.undo()
        np.testing.assert_allclose(fallback.scores, problem.solve(1.0).scores, atol=1e-2)

    def test_one_class_is_handled_alike(self) -> None:
        gram, targets = np.eye(4, dtype=np.float32), np.array([[True], [True], [False], [False]])
        halves = np.array([[True, True, False, False], [False, False, True, True], [False] * 4])
        assert solve(gram, targets, halves, 1.0).bias.ravel().tolist() == [1.0, -1.0, -1.0]

    def test_one_warning_says_so(self, caplog: pytest.LogCaptureFixture) -> None:
        assert solver.solver_name() == "scikit-learn"
        with caplog.at_level(logging.WARNING):
            for _ in range(2):
                PROBLEMS[0].solve(1.0)
        assert [record.message for record in caplog.records] == [
            "The compiled solver is missing, so scikit-learn's SVC is used: equal results, far slower. "
            "Install a C compiler, then pip install --no-cache-dir --force-reinstall funnelling."
        ]


def _vector_arguments(documents: int = 8, form: str = "sparse") -> dict[str, Any]:
    kernel = Vectors.of(sparse.eye_array(documents).tocsr() if form == "sparse" else np.eye(documents))
    return {
        "values": kernel.values,
        "columns": kernel.columns,
        "starts": kernel.starts,
        "width": kernel.width,
        **_shared_arguments(documents),
    }


def _gram_arguments(gram: npt.NDArray[np.float32]) -> dict[str, Any]:
    return {"gram": gram, **_shared_arguments(len(gram))}


def _shared_arguments(documents: int) -> dict[str, Any]:
    return {
        "signs": np.where(np.arange(documents) % 2, 1, -1).astype(np.int8),
        "active": np.ones((2, documents), np.uint8),
        "stop": np.zeros(1, np.uint8),
        "coefficients": np.zeros((2, documents)),
        "scores": np.zeros((2, documents), np.float32),
        "bias": np.zeros(2),
        "C": 1.0,
        "tolerance": 1e-3,
        "fold_tolerance": 1e-3,
        "max_steps": 1000,
    }


@needs_native
def test_a_raised_flag_ends_a_problem_early() -> None:
    by_gram, by_vectors = _gram_arguments(np.eye(400, dtype=np.float32)), _vector_arguments(400)
    by_gram["stop"][0] = by_vectors["stop"][0] = 1
    assert kernels.native.solve_gram(*by_gram.values()) == 2
    assert kernels.native.solve_vectors(*by_vectors.values()) == 2


def _read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    array = array.copy()
    array.flags.writeable = False
    return array


WRONG_FOR_BOTH: list[tuple[str, Any]] = [
    ("signs", np.ones(7, np.int8)),
    ("signs", np.ones(9, np.int8)),
    ("signs", np.ones(8, np.int64)),
    ("signs", np.ones(8, np.uint8)),
    ("signs", np.zeros(0, np.int8)),
    ("active", np.ones(16, np.float32)),
    ("active", np.ones(15, np.uint8)),
    ("active", np.ones(8, np.uint8)),
    ("active", "0123456789012345"),
    ("stop", np.zeros(0, np.uint8)),
    ("stop", np.zeros(1, np.int64)),
    ("coefficients", np.zeros(15)),
    ("coefficients", np.zeros(16, np.float32)),
    ("coefficients", np.zeros(16, np.int64)),
    ("coefficients", _read_only(np.zeros(16))),
    ("coefficients", bytes(128)),
    ("scores", np.zeros(17, np.float32)),
    ("scores", np.zeros(16, np.int32)),
    ("scores", np.zeros(16)),
    ("scores", _read_only(np.zeros(16, np.float32))),
    ("bias", np.zeros(0)),
    ("bias", np.zeros(3)),
    ("bias", np.zeros(2, np.float32)),
    ("C", 0.0),
    ("C", -1.0),
    ("C", float("inf")),
    ("C", float("nan")),
    ("C", "1"),
    ("tolerance", 0.0),
    ("tolerance", float("nan")),
    ("fold_tolerance", 0.0),
    ("max_steps", -1),
    ("max_steps", 1.5),
]
WRONG_GRAMS: list[Any] = [
    np.eye(8, dtype=np.float64),
    np.eye(8, dtype=np.int32),
    np.eye(8, dtype=">f4"),
    np.eye(7, dtype=np.float32),
    np.eye(8, dtype=np.float32)[:7],
    np.eye(16, dtype=np.float32)[::2, ::2],
    np.zeros(0, np.float32),
    None,
    [[1.0]],
]
WRONG_VECTORS: list[tuple[str, Any]] = [
    ("values", np.ones(7, np.float32)),
    ("values", np.ones(9, np.float32)),
    ("values", np.ones(8)),
    ("values", None),
    ("columns", np.arange(8)),
    ("columns", np.arange(1, 9, dtype=np.int32)),
    ("columns", np.arange(-1, 7, dtype=np.int32)),
    ("columns", np.full(8, 2**31 - 1, np.int32)),
    ("columns", np.arange(7, dtype=np.int32)),
    ("starts", np.arange(9, dtype=np.int32)),
    ("starts", np.arange(8)),
    ("starts", np.arange(1, 10)),
    ("starts", np.array([0, 1, 2, 3, 2, 5, 6, 7, 8])),
    ("starts", np.array([0, 1, 2, 3, 4, 5, 6, 7, 9])),
    ("starts", np.array([0, -1, 2, 3, 4, 5, 6, 7, 8])),
    ("starts", np.array([0, 99, 2, 3, 4, 5, 6, 7, 8])),
    ("starts", None),
    ("width", 7),
    ("width", 0),
    ("width", -1),
    ("width", 2**40),
]


def _refuses(solve_native: Any, arguments: dict[str, Any], name: str, value: Any) -> None:
    arguments[name] = value
    with pytest.raises((TypeError, ValueError, BufferError)):
        solve_native(*arguments.values())


@needs_native
class TestNativeDoor:
    """What reaches the C code has been checked, so that no caller can make it read or write elsewhere."""

    @pytest.mark.parametrize(("name", "value"), WRONG_FOR_BOTH)
    def test_what_does_not_fit_is_refused(self, name: str, value: Any) -> None:
        _refuses(kernels.native.solve_gram, _gram_arguments(np.eye(8, dtype=np.float32)), name, value)
        _refuses(kernels.native.solve_vectors, _vector_arguments(), name, value)
        _refuses(kernels.native.solve_vectors, _vector_arguments(form="dense"), name, value)

    @pytest.mark.parametrize("gram", WRONG_GRAMS)
    def test_a_gram_that_is_none_is_refused(self, gram: Any) -> None:
        _refuses(kernels.native.solve_gram, _gram_arguments(np.eye(8, dtype=np.float32)), "gram", gram)

    @pytest.mark.parametrize(("name", "value"), WRONG_VECTORS)
    def test_vectors_that_are_none_are_refused(self, name: str, value: Any) -> None:
        _refuses(kernels.native.solve_vectors, _vector_arguments(), name, value)

    @pytest.mark.parametrize(
        ("name", "value"),
        [("values", np.ones(63, np.float32)), ("width", 7), ("width", -8), ("width", 2**61)],
    )
    def test_dense_vectors_that_are_none_are_refused(self, name: str, value: Any) -> None:
        _refuses(kernels.native.solve_vectors, _vector_arguments(form="dense"), name, value)

    def test_arguments_are_counted(self) -> None:
        for function in (kernels.native.solve_gram, kernels.native.solve_vectors, kernels.native.rbf):
            with pytest.raises(TypeError):
                function()

    def test_kernel_values_of_other_sizes_are_refused(self) -> None:
        ones = np.ones(3, np.float32)
        for dots in (np.ones((3, 2), np.float32), np.ones((3, 3)), _read_only(np.ones((3, 3), np.float32))):
            with pytest.raises((TypeError, ValueError, BufferError)):
                kernels.native.rbf(dots, ones, ones, 1.0)

    @settings(max_examples=100)
    @given(hnp.arrays(np.float32, st.tuples(st.integers(1, 40)).map(lambda n: n * 2), elements=ANY_FLOAT))
    def test_any_kernel_values_end_in_an_answer(self, gram: npt.NDArray[np.float32]) -> None:
        assert kernels.native.solve_gram(*_gram_arguments(gram).values()) in (0, 3, 4)

    @settings(max_examples=100)
    @given(
        hnp.arrays(np.float32, st.tuples(st.integers(1, 40), st.integers(0, 9)), elements=ANY_FLOAT),
        st.sampled_from(["sparse", "dense"]),
        st.sampled_from([1e-3, 1.0, 1e4, 1e30]),
    )
    def test_any_vectors_end_in_an_answer(
        self, vectors: npt.NDArray[np.float32], form: str, C: float
    ) -> None:
        kernel = Vectors.of(sparse.csr_array(vectors) if form == "sparse" else vectors)
        shared = {**_shared_arguments(len(vectors)), "C": C}
        arguments = kernel.values, kernel.columns, kernel.starts, kernel.width, *shared.values()
        assert kernels.native.solve_vectors(*arguments) in (0, 3, 4)


@needs_native
@pytest.mark.parametrize("instructions", ["avx512", "avx2", "base", "plain"])
def test_every_instruction_set_finds_the_same_optimum(instructions: str) -> None:
    usual = kernels.native.instructions()
    try:
        kernels.native.instructions(instructions)
    except ValueError:
        pytest.skip(f"this processor or build has no {instructions}")
    try:
        for problem in PROBLEMS:
            scores, expected = problem.solve(1.0).scores[0, 0], problem.reference_scores(1.0)
            np.testing.assert_allclose(scores, expected, atol=1e-2)
    finally:
        kernels.native.instructions(usual)


@needs_native
@each_form
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e30])
def test_features_that_are_no_numbers_are_refused(form: str, value: float) -> None:
    vectors = tfidf_like(40, np.random.default_rng(9))
    vectors[17, 3] = value
    with np.errstate(all="ignore"):
        problem = make("", vectors, np.arange(40) % 2 == 0, form=form)
    with pytest.raises(InputError, match=r"^The features hold values that are not finite, or too large"):
        problem.solve(1.0)


@needs_native
def test_held_out_classifiers_of_rare_labels_are_found_best(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their scores differ least; by default all are found equally well."""
    targets = np.zeros((100, 3), dtype=bool)
    targets[:50, 0], targets[:2, 1], targets[:1, 2] = True, True, True
    active = np.ones((2, 100), dtype=bool)
    asked: list[tuple[float, float]] = []

    class Native:
        def solve_gram(self, *arguments: Any) -> int:
            asked.append(arguments[-3:-1])
            return 0

    monkeypatch.setattr(kernels, "native", Native())
    for roughness in (0.0, 0.15):
        problems = Problems(np.eye(100, dtype=np.float32), targets, active, roughness=roughness)
        for label in range(3):
            problems.solve(label, 1.0, np.zeros((2, 100)))
    assert asked[:3] == [(TOLERANCE, TOLERANCE)] * 3
    assert [whole for whole, _ in asked[3:]] == [TOLERANCE] * 3
    assert [rough for _, rough in asked[3:]] == pytest.approx(
        [0.15 * 0.5, 0.15 * np.sqrt(0.02 * 0.98), 0.15 * np.sqrt(0.01 * 0.99)]
    )
