"""Files that are made once, in the user's cache, so that every process can map them."""

import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

CACHE = "FUNNELLING_CACHE"  # the environment variable that names another folder
# What is missing, or damaged, or cannot be written; libraries raise what they like.
FAILURES = (OSError, RuntimeError, ValueError, KeyError)

Opened = TypeVar("Opened")


def from_cache(name: str, make: Callable[[Path], object], read: Callable[[Path], Opened]) -> Opened:
    """What ``read`` finds in a file of the cache, which ``make`` writes first where that fails.

    Raises one of `FAILURES` where nothing can be cached.
    """
    path = _folder() / name
    with suppress(*FAILURES):
        return read(path)
    _write(path, make)
    return read(path)


def _folder() -> Path:
    if os.environ.get(CACHE):
        return Path(os.environ[CACHE])
    from platformdirs import user_cache_path

    return user_cache_path("funnelling", appauthor=False)


def _write(path: Path, make: Callable[[Path], object]) -> None:
    """Make a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}.tmp")
    draft.touch()  # a folder that cannot be written to is found before the work
    try:
        make(draft)
        with open(draft, "rb") as file:
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
