"""Steps that other processes and signals must not come between."""

import logging
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # of Windows
    fcntl = None  # type: ignore[assignment]

SIGNALS = (signal.SIGINT, signal.SIGTERM)

logger = logging.getLogger(__name__)
_held = threading.local()  # the folders that a thread has locked already


@contextmanager
def write_lock(folder: Path) -> Iterator[bool]:
    """Wait until nobody else writes to a folder; gives whether that is sure, for not every disk has locks.

    The lock is the folder's own, which leaves no file behind and ends with the process, however it ends. Who
    holds it may ask for it again.
    """
    path = os.path.realpath(folder)
    held: set[str] = vars(_held).setdefault("folders", set())
    if path in held:
        yield True
        return
    lock = None
    if fcntl is not None:
        with suppress(OSError):
            lock = _locked(path, folder)
    if lock is None:
        yield False
        return
    held.add(path)
    try:
        yield True
    finally:
        held.discard(path)
        os.close(lock)


@contextmanager
def sole_writer_of_all(*folders: Path) -> Iterator[None]:
    """Wait until nobody else writes to any of several folders, which all who wait do in the same order."""
    with ExitStack() as locks:
        for folder in sorted(folders, key=os.path.realpath):
            locks.enter_context(write_lock(folder))
        yield


def _locked(path: str, folder: Path) -> int:
    """The number of the folder at a path, open and locked."""
    while True:
        lock = os.open(path, os.O_RDONLY)
        try:
            if try_lock(lock) is False:
                logger.info("Waiting for another process that writes to %s.", folder)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if os.path.samestat(os.fstat(lock), os.stat(path)):
                return lock
        except BaseException:
            os.close(lock)
            raise
        os.close(lock)  # another folder is there now


def has_locks(folder: Path) -> bool:
    """Whether a folder can be locked, as far as it is there to tell."""
    try:
        number = os.open(folder, os.O_RDONLY)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        return try_lock(number) is not None
    finally:
        os.close(number)


def try_lock(number: int) -> bool | None:
    """Lock an open file, if nobody else has; gives whether that was so, None where there are no locks."""
    try:
        if fcntl is not None:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
    except BlockingIOError:
        return False
    except OSError:
        pass
    return None


@contextmanager
def defer_signals() -> Iterator[None]:
    """Let signals to stop wait until some short work is done."""
    if threading.current_thread() is not threading.main_thread():  # the only one that signals interrupt
        yield
        return
    waiting: list[int] = []

    def hold(number: int, frame: Any) -> None:  # noqa: ARG001
        waiting.append(number)

    before = {number: signal.signal(number, hold) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if waiting:
            signal.raise_signal(waiting[0])
