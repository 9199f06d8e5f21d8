"""Progress bars: on standard error, only on a terminal, only when asked for."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

Advance = Callable[[int], object]
Item = TypeVar("Item")


def quietly(_steps: int) -> None:
    """Advance nothing: for callers that show no progress."""


@contextmanager
def progress_bar(description: str, total: int | None, shown: bool, unit: str = "it") -> Iterator[Advance]:
    """Show a bar over ``total`` steps while the body runs, which calls the function it gets with steps done.

    >>> with progress_bar("counting", 3, shown=False) as advance:
    ...     advance(1)
    """
    if not shown or not getattr(sys.stderr, "isatty", bool)():
        yield quietly
        return
    from tqdm import tqdm

    with tqdm(total=total, desc=description, unit=unit, leave=False, delay=0.5) as bar:
        yield bar.update


def watched(items: Sequence[Item], description: str, shown: bool, unit: str = "documents") -> Iterator[Item]:
    """The items, with a bar that shows how many have been taken.

    >>> list(watched("abc", "spelling", shown=False))
    ['a', 'b', 'c']
    """
    with progress_bar(description, len(items), shown, unit) as advance:
        for item in items:
            yield item
            advance(1)
