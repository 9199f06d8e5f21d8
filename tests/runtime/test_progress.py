"""Something moves on a terminal while work goes on, and nothing is written anywhere else."""

import io
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr

import pytest

from funnelling.runtime import progress
from funnelling.runtime.messages import Style, speaking
from funnelling.runtime.progress import progress_bar, timed, watched


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@contextmanager
def terminal_as_stderr() -> Iterator[Terminal]:
    with redirect_stderr(Terminal()) as terminal:
        yield terminal


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "TICK_S", 0.02)


def wait_for(terminal: Terminal, text: str) -> None:
    end = time.monotonic() + 10
    while text not in terminal.getvalue():
        assert time.monotonic() < end, terminal.getvalue()
        time.sleep(0.01)


def test_a_bar_is_drawn_while_a_step_takes_long() -> None:
    with terminal_as_stderr() as terminal:
        with progress_bar("counting", 4, shown=True, unit="sheep") as advance:
            wait_for(terminal, "counting:   0%")
            advance.doing("black ones")
            wait_for(terminal, "counting, black ones:   0%")
            advance(1)
            wait_for(terminal, "1/4")
            advance.reach(3)
            wait_for(terminal, "3/4")
        drawn = terminal.getvalue()
        time.sleep(0.1)
        assert terminal.getvalue() == drawn, "nothing is drawn any more"
        assert drawn.endswith(" \r"), "and nothing is left"


def test_a_clock_goes_on() -> None:
    with terminal_as_stderr() as terminal:
        with timed("reading", shown=True):
            wait_for(terminal, "reading: 00:01")
        assert terminal.getvalue().endswith(" \r"), "and is cleared"


def test_a_bar_is_shown_on_a_terminal_that_does_not_tell_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr("os.get_terminal_size", lambda *_: os.terminal_size((0, 0)))
    with terminal_as_stderr() as terminal, progress_bar("counting", 4, shown=True):
        wait_for(terminal, "counting:   0%|   ")


def test_work_that_is_done_at_once_draws_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "TICK_S", 60)
    with terminal_as_stderr() as terminal:
        assert list(watched("abc", "spelling", shown=True)) == ["a", "b", "c"]
        with timed("reading", shown=True):
            pass
        assert not terminal.getvalue().strip()


def test_a_failure_ends_the_bar() -> None:
    def fail(terminal: Terminal) -> None:
        with progress_bar("counting", 4, shown=True):
            wait_for(terminal, "counting")
            raise ZeroDivisionError

    with terminal_as_stderr() as terminal:
        with pytest.raises(ZeroDivisionError):
            fail(terminal)
        assert terminal.getvalue().endswith(" \r")


@pytest.mark.parametrize("shown", [True, False])
def test_nothing_is_written_where_it_is_not_wanted(shown: bool) -> None:
    with redirect_stderr(io.StringIO() if shown else Terminal()) as written:
        with progress_bar("counting", 2, shown=shown) as advance, timed("reading", shown=shown):
            advance(1)
            advance.doing("nothing")
            advance.reach(2)
            time.sleep(0.1)
        assert not written.getvalue()


def test_records_in_place_of_bars(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "RECORD_INTERVAL_S", 0.02)
    with terminal_as_stderr() as terminal, speaking(Style(as_json=True)):
        with progress_bar("counting", 4, shown=True, unit="sheep") as advance:
            advance(3)
            advance.doing("slowly")
            wait_for(terminal, "slowly")
        with timed("reading", shown=True):
            wait_for(terminal, "reading")
    records = [json.loads(line) for line in terminal.getvalue().splitlines()]
    counted, read = (next(r for r in records if word in r["message"]) for word in ("slowly", "reading"))
    assert counted.items() >= {"message": "counting, slowly", "done": 3, "total": 4, "unit": "sheep"}.items()
    assert (read["message"], "done" in read) == ("reading", False)


def test_nothing_is_shown_quietly() -> None:
    with terminal_as_stderr() as terminal, speaking(Style(quiet=True)), timed("reading", shown=True):
        time.sleep(0.1)
    assert terminal.getvalue() == ""
