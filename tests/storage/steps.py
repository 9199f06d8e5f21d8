"""The steps in which a command changes files below a folder, and something that happens at each."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir")

_watchers: list[Callable[[str, tuple[Any, ...]], None]] = []  # at most one: a hook of Python's stays for ever


@contextmanager
def at_each_step(folder: Path, do: Callable[[int], object]) -> Iterator[None]:
    """Before each step that changes anything below a folder, call ``do`` with the number of the step."""
    steps, at_work = 0, False

    def step() -> None:
        nonlocal steps, at_work
        if at_work:  # what is done at a step may change files too
            return
        steps += 1
        at_work = True
        try:
            do(steps)
        finally:
            at_work = False

    def watch(event: str, details: tuple[Any, ...]) -> None:
        if event in CHANGES or (event == "open" and details[2] & WRITES):
            path = os.fspath(details[0]) if isinstance(details[0], str | os.PathLike) else ""
            # A folder that is removed as a whole calls its files by their names alone.
            if path.startswith(str(folder)) or (event in CHANGES and not os.path.isabs(path)):
                step()

    flush = os.fsync

    def watched_flush(number: int) -> None:
        step()
        flush(number)

    if not _watchers:
        sys.addaudithook(_hear)
    _watchers[:] = [watch]
    try:
        with patch("os.fsync", watched_flush):
            yield
    finally:
        _watchers[:] = [_ignore]


def _hear(event: str, details: tuple[Any, ...]) -> None:
    for watch in _watchers:
        watch(event, details)


def _ignore(event: str, details: tuple[Any, ...]) -> None:
    pass
