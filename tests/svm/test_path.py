"""Paths over C: the same problems, however they are divided among threads or workers."""

import threading

import joblib
import numpy as np
import pytest

from funnelling.svm.kernels import Kernel
from funnelling.svm.solver import SparseSolution, solve_path
from tests.svm.problems import make
from tests.svm.solutions import solve

each_form = pytest.mark.parametrize("form", ["gram", "sparse", "dense"])

CS = (0.1, 1.0, 10.0)
FOLDS = np.arange(150) % 5
ACTIVE = np.vstack([np.ones((1, 150), bool), np.arange(5)[:, None] != FOLDS])
TARGETS = np.random.default_rng(3).random((150, 12)) < np.linspace(0, 0.5, 12)


def _kernel(form: str, documents: int = 150) -> Kernel:
    return make(
        "", np.random.default_rng(3).normal(size=(documents, 9)), np.arange(documents) < 1, form=form
    ).kernel


def _assert_equal(one: list[SparseSolution], other: list[SparseSolution]) -> None:
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a.support.toarray(), b.support.toarray())
        np.testing.assert_array_equal(a.bias, b.bias)
        np.testing.assert_array_equal(a.scores, b.scores)
        np.testing.assert_array_equal(a.held_out, b.held_out)


@each_form
def test_it_keeps_what_the_solver_found(form: str) -> None:
    kernel = _kernel(form)
    path = solve_path(kernel, TARGETS, ACTIVE, CS, folds=FOLDS)
    start = None
    for C, solution in zip(CS, path, strict=True):
        whole = solve(kernel, TARGETS, ACTIVE, C, start=start)
        start = whole.coefficients
        for problem in range(6):
            np.testing.assert_array_equal(solution.coefficients(problem).toarray(), start[:, problem])
        np.testing.assert_array_equal(solution.of_label(5, len(start[5])), start[5])
        np.testing.assert_array_equal(solution.bias, whole.bias)
        np.testing.assert_array_equal(solution.scores, whole.scores[:, 0])
        for document in (0, 1, 77):
            np.testing.assert_array_equal(
                solution.held_out[:, document], whole.scores[:, 1 + FOLDS[document], document]
            )


@each_form
def test_neither_threads_nor_processes_change_a_bit(form: str) -> None:
    kernel = _kernel(form)
    one = solve_path(kernel, TARGETS, ACTIVE, CS, folds=FOLDS, n_jobs=1)
    for n_jobs in (2, 16):
        _assert_equal(one, solve_path(kernel, TARGETS, ACTIVE, CS, folds=FOLDS, n_jobs=n_jobs))
    with joblib.parallel_config(backend="loky", n_jobs=2):
        _assert_equal(one, solve_path(kernel, TARGETS, ACTIVE, CS, folds=FOLDS))


def test_a_start_is_where_it_begins() -> None:
    kernel = _kernel("gram")
    path = solve_path(kernel, TARGETS, ACTIVE, [1.0], folds=FOLDS)
    _assert_equal(
        solve_path(kernel, TARGETS, ACTIVE, [10.0], folds=FOLDS, start=path[0]),
        solve_path(kernel, TARGETS, ACTIVE, [1.0, 10.0], folds=FOLDS)[1:],
    )


def test_without_folds_nothing_is_held_out() -> None:
    (solution,) = solve_path(_kernel("gram"), TARGETS, ACTIVE[:1], [1.0])
    assert solution.held_out is None
    assert solution.problems == 1


def test_progress_counts_every_problem() -> None:
    steps: list[int] = []
    solve_path(_kernel("gram"), TARGETS, ACTIVE, CS, folds=FOLDS, advance=steps.append)
    assert steps == [len(ACTIVE) * len(CS)] * TARGETS.shape[1]


@each_form
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupt_stops_the_work(form: str, n_jobs: int) -> None:
    """Hundreds of slow problems are left undone, and the threads are gone."""
    targets = np.random.default_rng(5).random((400, 500)) < 0.5

    def interrupt(_steps: int) -> None:
        raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        solve_path(
            _kernel(form, 400), targets, np.ones((1, 400), bool), [100.0], n_jobs=n_jobs, advance=interrupt
        )
    assert threading.active_count() == before
