"""Threads: results in order, errors that end the work, and the interpreter as it was."""

import sys
from threading import Event

import pytest

from funnelling.work.threads import TURN, check_wanted, in_threads


@pytest.fixture(autouse=True)
def _as_it_was() -> object:
    before = sys.getswitchinterval()
    yield
    assert sys.getswitchinterval() == before


def test_results_come_in_order_and_threads_take_turns() -> None:
    def work(number: int) -> tuple[int, float]:
        return number, sys.getswitchinterval()

    assert list(in_threads(work, 5, 2)) == [(number, pytest.approx(TURN)) for number in range(5)]


def test_one_within_another_ends_nothing_early() -> None:
    def inner(number: int) -> float:
        assert list(in_threads(lambda each: each + number, 3, 2)) == [number, number + 1, number + 2]
        return sys.getswitchinterval()

    assert list(in_threads(inner, 4, 2)) == [pytest.approx(TURN)] * 4


def test_an_error_ends_the_work() -> None:
    begun = Event()

    def work(number: int) -> int:
        begun.set()
        return 1 // number

    with pytest.raises(ZeroDivisionError):
        list(in_threads(work, 3, 2))
    assert begun.is_set()


def test_work_that_is_left_is_ended() -> None:
    results = in_threads(lambda number: number, 100, 2)
    assert next(results) == 0
    results.close()


def test_a_shorter_interval_is_left_alone() -> None:
    before = sys.getswitchinterval()
    sys.setswitchinterval(TURN / 10)
    shorter = sys.getswitchinterval()
    try:
        assert (
            list(in_threads(lambda _: sys.getswitchinterval(), 2, 2)) == [pytest.approx(shorter, rel=0.1)] * 2
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
                check_wanted()
        finally:
            ended.set()

    with pytest.raises(KeyboardInterrupt):
        list(in_threads(work, 2, 2))
    assert ended.is_set()
    check_wanted()  # outside of threads all is wanted
