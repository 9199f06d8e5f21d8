"""Progress bars: on standard error, only on a terminal, only when asked for."""

import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any, TypeVar

TICK = 0.5  # seconds from which on a bar is shown, and after which its clock goes on

Advance = Callable[[int], object]
Item = TypeVar("Item")


def quietly(_steps: int) -> None:
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


HIDDEN = Progress()


@contextmanager
def progress_bar(description: str, total: int | None, shown: bool, unit: str = "it") -> Iterator[Progress]:
    """Show a bar over ``total`` steps while the body runs, which calls what it gets with steps done.

    Its clock goes on while a step takes long.

    >>> with progress_bar("counting", 3, shown=False) as advance:
    ...     advance(1)
    """
    if not _is_terminal(shown):
        yield HIDDEN
        return
    with _ticking(total=total, desc=description, unit=unit) as bar:
        yield Progress(description, bar)


@contextmanager
def clock(description: str, shown: bool) -> Iterator[None]:
    """Show how long the body has been running, where it has no steps to count."""
    if not _is_terminal(shown):
        yield
        return
    with _ticking(desc=description, bar_format="{desc}: {elapsed}"):
        yield


def _is_terminal(shown: bool) -> bool:
    return shown and bool(getattr(sys.stderr, "isatty", bool)())


@contextmanager
def _ticking(**options: Any) -> Iterator[Any]:
    """A bar that is drawn again and again while the body runs, whether it has moved or not."""
    from tqdm import tqdm

    done = Event()
    size = shutil.get_terminal_size()  # tqdm shows nothing on a terminal that does not tell its size
    with tqdm(leave=False, delay=TICK, ncols=size.columns, nrows=size.lines, **options) as bar:

        def tick() -> None:
            while not done.wait(TICK):
                bar.delay = 0  # it has been shown, and will have to be cleared
                bar.refresh()

        ticker = Thread(target=tick, name="progress", daemon=True)
        ticker.start()
        try:
            yield bar
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
