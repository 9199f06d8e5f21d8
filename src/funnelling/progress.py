"""Progress bars: on standard error, only on a terminal, only when asked for."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Advance = Callable[[int], object]


def quietly(_steps: int) -> None:
    """Advance nothing: the progress of those who asked for none."""


@contextmanager
def progress_bar(description: str, total: int | None, shown: bool, unit: str = "it") -> Iterator[Advance]:
    """Show a bar over ``total`` steps while the body runs; the body calls what it is given.

    >>> with progress_bar("counting", 3, shown=False) as advance:
    ...     advance(1)
    """
    if not shown:
        yield quietly
        return
    from tqdm import tqdm

    # disable=None is tqdm's word for "only on a terminal".
    with tqdm(total=total, desc=description, unit=unit, leave=False, disable=None, delay=0.5) as bar:
        yield bar.update
