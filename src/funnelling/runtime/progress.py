"""Progress, on standard error and only when asked for: bars on a terminal, or records of what is done."""

import logging
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any, TypeVar

from funnelling.runtime.messages import at_terminal, say, style

TICK_S = 0.5  # seconds from which on a bar is shown, and after which its clock goes on
RECORD_INTERVAL_S = 10.0  # seconds between records of progress

Advance = Callable[[int], object]
Item = TypeVar("Item")


def no_progress(_steps: int) -> None:
    """Advance nothing: for callers that show no progress."""


class Progress:
    """A bar, or none where nothing is shown; it is called with steps done, and told what is being done."""

    def __init__(self, description: str = "", bar: Any = None) -> None:
        self._description, self._bar = description, bar

    def __call__(self, steps: int) -> None:
        if self._bar is not None:
            self._bar.update(steps)

    def reach(self, steps: int) -> None:
        """Pass over steps that were not needed, up to so many in all."""
        if self._bar is not None:
            self._bar.update(steps - self._bar.n)

    def doing(self, what: str) -> None:
        """Say what is being done now, beside the description."""
        if self._bar is not None:
            self._bar.set_description(f"{self._description}, {what}", refresh=False)


HIDDEN_PROGRESS = Progress()


@contextmanager
def progress_bar(description: str, total: int | None, shown: bool, unit: str = "it") -> Iterator[Progress]:
    """Show a bar over ``total`` steps while the body runs, which calls what it gets with steps done.

    Its clock goes on while a step takes long.

    >>> with progress_bar("counting", 3, shown=False) as advance:
    ...     advance(1)
    """
    with _bar(shown, total=total, desc=description, unit=unit) as bar:
        yield HIDDEN_PROGRESS if bar is None else Progress(description, bar)


@contextmanager
def timed(description: str, shown: bool) -> Iterator[None]:
    """Show how long the body has been running, where it has no steps to count."""
    with _bar(shown, desc=description, bar_format="{desc}: {elapsed}"):
        yield


class _Records:
    """What a bar would show, told in records."""

    def __init__(self, desc: str, total: int | None = None, unit: str = "it", **_: Any) -> None:
        self.n, self._description, self._total, self._unit = 0, desc, total, unit

    def update(self, steps: int) -> None:
        self.n += steps

    def set_description(self, description: str, refresh: bool = True) -> None:
        self._description = description

    def refresh(self) -> None:
        known = {"done": self.n, "total": self._total, "unit": self._unit} if self._total is not None else {}
        say(self._description, logging.INFO, **known)


@contextmanager
def _bar(shown: bool, **options: Any) -> Iterator[Any]:
    """A bar or records in its place, shown again and again while the body runs, moved or not."""
    if not shown or style().quiet:
        yield None
    elif style().as_json:
        records = _Records(**options)
        with _ticking(RECORD_INTERVAL_S, records.refresh):
            yield records
    elif not at_terminal():
        yield None
    else:
        from tqdm import tqdm

        size = shutil.get_terminal_size()  # tqdm shows nothing on a terminal that does not tell its size
        with tqdm(leave=False, delay=TICK_S, ncols=size.columns, nrows=size.lines, **options) as bar:

            def redraw() -> None:
                bar.delay = 0  # it has been shown, and will have to be cleared
                bar.refresh()

            with _ticking(TICK_S, redraw):
                yield bar


@contextmanager
def _ticking(seconds: float, tick: Callable[[], None]) -> Iterator[None]:
    done = Event()

    def run() -> None:
        while not done.wait(seconds):
            tick()

    ticker = Thread(target=run, name="progress", daemon=True)
    ticker.start()
    try:
        yield
    finally:
        done.set()
        ticker.join()


def watched(items: Sequence[Item], description: str, shown: bool, unit: str = "documents") -> Iterator[Item]:
    """The items, with a bar that shows how many have been taken.

    >>> list(watched("abc", "spelling", shown=False))
    ['a', 'b', 'c']
    """
    with progress_bar(description, len(items), shown, unit) as advance:
        for item in items:
            yield item
            advance(1)
