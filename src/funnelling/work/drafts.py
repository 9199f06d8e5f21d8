"""Drafts of files: written under names of their own, renamed when they are whole, and never left behind."""

import os
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress

from funnelling.work.alone import try_lock, uninterrupted

DRAFT = re.compile(r"\.funnelling-[0-9a-f]{16}\.tmp", re.ASCII)
DAY = 86_400.0  # seconds, in which any draft is written to


def draft_in(folder: str | os.PathLike[str]) -> str:
    """A new name in a folder, for what is removed or renamed; those of killed processes are known by it."""
    return os.path.join(folder, f".funnelling-{secrets.token_hex(8)}.tmp")


@contextmanager
def draft_file(folder: str | os.PathLike[str]) -> Iterator[str]:
    """An empty file in a folder, to be written and renamed; else it is removed when the block ends.

    It is locked meanwhile, which tells it from drafts of processes that were killed: see `sweep`.
    """
    draft, lock, is_ours = "", None, False
    try:  # from before it is there: a signal may come at any moment
        while not is_ours:
            draft = draft_in(folder)  # not the same again, which who swept it may be about to remove
            is_ours, lock = _create(draft)
        yield draft
    finally:
        with uninterrupted(), suppress(OSError):
            os.unlink(draft)
        if lock is not None:
            os.close(lock)


def _create(draft: str) -> tuple[bool, int | None]:
    """Whether a new file is ours, not swept before we locked it; its number, open, where there are locks."""
    number = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
    locked = try_lock(number)
    if locked and os.fstat(number).st_nlink:
        return True, number
    os.close(number)  # a system without locks may rename no file that is open
    return locked is None, None


def sweep(folder: str | os.PathLike[str]) -> None:
    """Remove the draft files of processes that were killed, and nothing else, from a folder."""
    with suppress(OSError), os.scandir(folder) as entries:  # of a folder that we may write to, but not list
        for entry in entries:
            if DRAFT.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                with suppress(OSError):  # of a file that is another user's, or gone
                    _remove_abandoned(entry.path)


def _remove_abandoned(draft: str) -> None:
    """Remove a draft that nobody has locked; where there are no locks, one that is old."""
    number = os.open(draft, os.O_RDWR)
    try:
        locked = try_lock(number)
        if locked:
            os.unlink(draft)  # before anybody else can lock it
    finally:
        os.close(number)
    if locked is None and is_old(draft):
        os.unlink(draft)


def is_old(draft: str | os.PathLike[str]) -> bool:
    """Whether nobody can be at work on a draft any more, as far as its time tells."""
    return os.stat(draft).st_mtime < time.time() - DAY


def sync(path: str | os.PathLike[str]) -> None:
    """Have a file, or the names in a folder, on the disk before what follows: power may fail."""
    is_folder = os.path.isdir(path)
    # Not every system can do that to a folder.
    with suppress(OSError) if is_folder else nullcontext():
        number = os.open(path, os.O_RDONLY if is_folder else os.O_RDWR)
        try:
            os.fsync(number)
        finally:
            os.close(number)
