"""Files that are made once, in the user's cache, so that every process can map them."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from funnelling.work.drafts import draft_file, sweep, sync
from funnelling.work.names import CACHE

Opened = TypeVar("Opened")


def from_cache(name: str, make: Callable[[Path], object], read: Callable[[Path], Opened]) -> Opened:
    """What ``read`` finds in a file of the cache, which ``make`` writes first where that fails.

    Raises anything where nothing can be cached: of a damaged file libraries complain as they like.
    """
    path = _folder() / name
    with suppress(Exception):
        return read(path)
    with suppress(OSError):  # another process may have been quicker, and Windows replaces no file in use
        _write(path, make)
    return read(path)


def _folder() -> Path:
    if os.environ.get(CACHE):
        return Path(os.environ[CACHE]).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("funnelling", appauthor=False)


def _write(path: Path, make: Callable[[Path], object]) -> None:
    """Make a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    sweep(path.parent)
    with draft_file(path.parent) as draft:  # a folder that cannot be written to is found before the work
        make(Path(draft))
        sync(draft)
        os.replace(draft, path)
