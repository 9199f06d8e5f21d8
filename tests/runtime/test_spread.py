"""Work in pieces: every piece once, whoever does it."""

import os
from typing import Any

import joblib
import numpy as np
import pytest

from funnelling.errors import InputError
from funnelling.runtime.spread import for_threads, is_local, map_chunks
from funnelling.runtime.threads import threads_of


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
        done = dict(map_chunks(_scaled, (np.ones(1000),), [(number,) for number in range(9)]))
    assert {number: value for number, (value, _) in done.items()} == {n: 1000.0 * n for n in range(9)}
    assert os.getpid() not in {process for _, process in done.values()}


def test_what_goes_wrong_in_a_piece_is_raised() -> None:
    with (
        joblib.parallel_config(backend="loky", n_jobs=2),
        pytest.raises(InputError, match=r"piece \d is bad\."),
    ):
        list(map_chunks(_fail, (None,), [(0,), (1,)]))


def test_threads_of_their_own_spread_work_no_further_than_they_should() -> None:
    assert for_threads(len) is len
    with joblib.parallel_config(backend="loky", n_jobs=2):
        assert for_threads(lambda _: is_local())(0)  # processes do not start processes
