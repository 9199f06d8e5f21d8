"""Files that are made once, in the user's cache, so that every process can map them."""

import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

CACHE = "FUNNELLING_CACHE"  # the environment variable that names another folder
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
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}.tmp")
    draft.touch()  # a folder that cannot be written to is found before the work
    try:
        make(draft)
        with open(draft, "r+b") as file:  # Windows flushes only what may be written
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
