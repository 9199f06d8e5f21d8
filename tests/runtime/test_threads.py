"""Threads: results in order, errors that end the work, and the interpreter as it was."""

import sys
import time
from contextvars import ContextVar
from threading import Event, current_thread

import numpy as np
import pytest

from funnelling.runtime.threads import SWITCH_INTERVAL_S, map_threads, raise_if_cancelled


@pytest.fixture(autouse=True)
def _as_it_was() -> object:
    before = sys.getswitchinterval()
    yield
    assert sys.getswitchinterval() == before


def test_results_come_in_order_and_threads_take_turns() -> None:
    def work(number: int) -> tuple[int, float]:
        return number, sys.getswitchinterval()

    assert list(map_threads(work, 5, 2)) == [
        (number, pytest.approx(SWITCH_INTERVAL_S)) for number in range(5)
    ]


def test_one_within_another_ends_nothing_early() -> None:
    def inner(number: int) -> float:
        assert list(map_threads(lambda each: each + number, 3, 2)) == [number, number + 1, number + 2]
        return sys.getswitchinterval()

    assert list(map_threads(inner, 4, 2)) == [pytest.approx(SWITCH_INTERVAL_S)] * 4


def test_an_error_ends_the_work() -> None:
    begun: list[int] = []
    stop = np.zeros(1, dtype=np.uint8)

    def work(number: int) -> float:
        begun.append(number)
        if number:
            time.sleep(0.01)
        return 1 / number

    with pytest.raises(ZeroDivisionError):
        list(map_threads(work, 1_000, 2, stop))
    assert len(begun) < 100
    assert stop[0] == 1


def test_work_that_is_left_is_ended() -> None:
    begun: list[int] = []

    def work(number: int) -> int:
        begun.append(number)
        time.sleep(0.01)
        return number

    results = map_threads(work, 1_000, 2)
    assert next(results) == 0
    results.close()
    assert len(begun) < 100


def test_a_shorter_interval_is_left_alone() -> None:
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_INTERVAL_S / 10)
    shorter = sys.getswitchinterval()
    try:
        assert (
            list(map_threads(lambda _: sys.getswitchinterval(), 2, 2))
            == [pytest.approx(shorter, rel=0.1)] * 2
        )
    finally:
        sys.setswitchinterval(before)


def test_work_in_python_ends_when_it_is_not_wanted_any_more() -> None:
    begun, ended = Event(), Event()

    def work(number: int) -> None:
        if number == 0:
            begun.wait()
            raise KeyboardInterrupt
        begun.set()
        try:
            while True:
                raise_if_cancelled()
        finally:
            ended.set()

    with pytest.raises(KeyboardInterrupt):
        list(map_threads(work, 2, 2))
    assert ended.is_set()
    raise_if_cancelled()  # outside of threads all is wanted


def test_so_does_work_within_it() -> None:
    begun = Event()

    def inner(_: int) -> None:
        begun.set()
        while True:
            raise_if_cancelled()

    def outer(number: int) -> None:
        if number == 0:
            begun.wait()
            raise KeyboardInterrupt
        list(map_threads(inner, 2, 2))

    with pytest.raises(KeyboardInterrupt):
        list(map_threads(outer, 2, 2))


def test_threads_know_what_is_set_where_they_begin() -> None:
    known: ContextVar[str] = ContextVar("known", default="nothing")
    known.set("something")
    assert list(map_threads(lambda _: known.get(), 3, 2)) == ["something"] * 3


def test_one_thread_within_another_works_there() -> None:
    stop = np.zeros(1, dtype=np.uint8)

    def inner(_: int) -> bool:
        outer_thread = current_thread()
        return list(map_threads(lambda _: current_thread() is outer_thread, 1, 1, stop)) == [True]

    assert list(map_threads(inner, 2, 2, stop)) == [True, True]


def test_ctrl_c_reaches_one_thread_that_can_be_stopped() -> None:
    stop = np.zeros(1, dtype=np.uint8)
    main = current_thread()
    assert list(map_threads(lambda _: current_thread() is main, 1, 1, stop)) == [False]
