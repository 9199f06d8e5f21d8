"""Work in pieces: every piece once, whoever does it."""

import os
from typing import Any

import joblib
import numpy as np
import pytest

from funnelling.errors import InputError
from funnelling.work import spread
from funnelling.work.spread import for_threads, in_pieces, is_local
from funnelling.work.threads import threads_of


def _scaled(factor: np.ndarray[Any, Any], number: int) -> tuple[float, int]:
    return float(factor.sum()) * number, os.getpid()


def _fail(_shared: object, number: int) -> None:
    raise InputError(f"piece {number} is bad.")


def test_work_stays_in_this_process_unless_joblib_has_another_backend() -> None:
    assert is_local()
    with joblib.parallel_config(n_jobs=2):
        assert is_local()
        assert threads_of(None) == 2
    with joblib.parallel_config(backend="threading", n_jobs=2):
        assert is_local()
    with joblib.parallel_config(backend="loky", n_jobs=2):
        assert not is_local()
        assert threads_of(3) == 3  # of this process


def test_pieces_are_done_by_processes() -> None:
    with joblib.parallel_config(backend="loky", n_jobs=2):
        done = dict(in_pieces(_scaled, (np.ones(1000),), [(number,) for number in range(9)]))
    assert {number: value for number, (value, _) in done.items()} == {n: 1000.0 * n for n in range(9)}
    assert os.getpid() not in {process for _, process in done.values()}


def test_what_goes_wrong_in_a_piece_is_raised() -> None:
    with (
        joblib.parallel_config(backend="loky", n_jobs=2),
        pytest.raises(InputError, match=r"piece \d is bad\."),
    ):
        list(in_pieces(_fail, (None,), [(0,), (1,)]))


def test_pieces_whose_data_was_lost_are_done_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster answers with the reason in the place of the result."""
    lost = iter([True, False, True])
    do = spread._do

    def forgetful(work: Any, number: int, *rest: Any) -> Any:
        return RuntimeError("lost") if next(lost, False) else do(work, number, *rest)

    monkeypatch.setattr(spread, "PATIENCE", 0)
    monkeypatch.setattr(spread, "_do", forgetful)
    with joblib.parallel_config(backend="threading", n_jobs=1):
        done = dict(in_pieces(_scaled, (np.ones(2),), [(1,), (2,), (3,)]))
    assert {number: value for number, (value, _) in done.items()} == {0: 2.0, 1: 4.0, 2: 6.0}


def test_a_cluster_that_loses_everything_again_and_again_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spread, "PATIENCE", 0)
    monkeypatch.setattr(spread, "_do", lambda *_: RuntimeError("lost"))
    with (
        joblib.parallel_config(backend="threading", n_jobs=1),
        pytest.raises(InputError, match="lost its workers again and again"),
    ):
        list(in_pieces(_scaled, (np.ones(2),), [(1,)]))


def test_threads_of_their_own_spread_work_no_further_than_they_should() -> None:
    assert for_threads(len) is len
    with joblib.parallel_config(backend="loky", n_jobs=2):
        assert for_threads(lambda _: is_local())(0)  # processes do not start processes
