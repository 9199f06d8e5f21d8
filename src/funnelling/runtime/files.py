"""Files that are whole or not there: drafts, arrays mapped from disk, sealed bytes, and the user's cache."""

import json
import math
import mmap
import os
import re
import secrets
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np
import numpy.typing as npt

from funnelling.runtime.alone import defer_signals, try_lock
from funnelling.runtime.messages import CACHE

DRAFT = re.compile(r"\.funnelling-[0-9a-f]{16}\.tmp", re.ASCII)
DRAFT_LIFETIME_S = 86_400.0  # seconds, in which any draft is written to


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
        with defer_signals(), suppress(OSError):
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
    return os.stat(draft).st_mtime < time.time() - DRAFT_LIFETIME_S


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


_LENGTH = 8  # bytes that say how long the header is
_MAX_HEADER_BYTES = 100_000_000  # bytes, as in safetensors
_TYPES = {
    "BOOL": "?",
    **{f"{kind}{8 * size}": f"<{kind.lower()}{size}" for kind in "UIF" for size in (1, 2, 4, 8)},
}


def told_size(file: BinaryIO) -> int:
    """How many bytes a file has by its header, which is read; a file that is no such raises an error."""
    length = int.from_bytes(file.read(_LENGTH), "little")
    if length > _MAX_HEADER_BYTES:
        raise ValueError("no header of arrays")
    header = json.loads(file.read(length))
    header.pop("__metadata__", None)
    return _LENGTH + length + max((int(entry["data_offsets"][1]) for entry in header.values()), default=0)


def arrays_in(content: bytes | mmap.mmap) -> dict[str, npt.NDArray[np.generic]]:
    """The arrays by name, which cannot be written to; a file that is no such raises one error or another.

    They lie one after the other, from the header to the end of the file.
    """
    start = _LENGTH + int.from_bytes(content[:_LENGTH], "little")
    if start > min(len(content), _MAX_HEADER_BYTES):
        raise ValueError("no header of arrays")
    header = json.loads(content[_LENGTH:start])
    header.pop("__metadata__", None)
    arrays = {}
    at = 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, end = entry["data_offsets"]
        kind, shape = np.dtype(_TYPES[entry["dtype"]]), entry["shape"]
        if begin != at or any(size < 0 for size in shape) or end - begin != math.prod(shape) * kind.itemsize:
            raise ValueError(f"the array {name!r} is not where it should be")
        flat = np.frombuffer(content, kind, math.prod(shape), start + begin)
        arrays[name] = np.require(flat, requirements="A").reshape(shape)
        at = end
    if start + at != len(content):
        raise ValueError("something stands behind the arrays")
    return arrays


try:
    import fcntl
except ImportError:  # of Windows
    fcntl = None  # type: ignore[assignment]


class SharedBytes:
    """A copy of some bytes, out of reach of whatever happens to the file that they were read from.

    It lies in memory without a name, sealed by the system, or where there is none such in a file that has
    lost its name. A process that is started with it, as an argument of `multiprocessing.Process`, maps the
    same memory; on Windows it gets a copy.

    >>> bytes(SharedBytes(b"ciao").content)
    b'ciao'
    """

    _number = -1  # of the open file

    def __init__(self, content: bytes) -> None:
        self._map(_written(content))

    def _map(self, number: int) -> None:
        self._number = number
        self.content: bytes | mmap.mmap
        if not os.fstat(number).st_size:  # what is empty cannot be mapped
            self.content = b""
        elif sys.platform == "win32":
            self.content = mmap.mmap(number, 0, access=mmap.ACCESS_READ)
        else:  # Linux before 6.7 maps sealed memory only as private; what nobody writes to is shared anyway
            self.content = mmap.mmap(number, 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ)

    def __getstate__(self) -> Any:
        if sys.platform == "win32":
            return bytes(self.content)
        from multiprocessing.reduction import DupFd

        return DupFd(self._number)

    def __setstate__(self, state: Any) -> None:
        self._map(_written(state) if sys.platform == "win32" else state.detach())

    def __del__(self) -> None:
        if self._number >= 0:
            os.close(self._number)


def _written(content: bytes) -> int:
    """The number of an open file with this content."""
    if hasattr(os, "memfd_create") and hasattr(fcntl, "F_ADD_SEALS"):
        with open(os.memfd_create("funnelling", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING), "wb", 0) as file:
            _write_all(file.fileno(), content)
            fcntl.fcntl(file, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
            return os.dup(file.fileno())
    with tempfile.TemporaryFile() as file:
        _write_all(file.fileno(), content)
        return os.dup(file.fileno())


def _write_all(number: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(number, rest) :]


Arrays = dict[str, npt.NDArray[np.generic]]
Opened = TypeVar("Opened")


def from_cache(name: str, make: Callable[[], Arrays], read: Callable[[Arrays], Opened]) -> Opened:
    """What ``read`` makes of arrays mapped from a file of the cache; where that fails, ``make`` gives them.

    Raises anything where nothing can be cached: of a damaged file libraries complain as they like.
    """
    path = _folder() / f"{name}.safetensors"
    with suppress(Exception):
        return read(_mapped(path))
    with suppress(OSError):  # another process may have been quicker, and Windows replaces no file in use
        _write_whole(path, make)
    return read(_mapped(path))


def _mapped(path: Path) -> Arrays:
    with open(path, "rb") as file:
        return arrays_in(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def _folder() -> Path:
    if os.environ.get(CACHE):
        return Path(os.environ[CACHE]).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("funnelling", appauthor=False)


def _write_whole(path: Path, make: Callable[[], Arrays]) -> None:
    """Make a file whole or not at all."""
    from safetensors.numpy import save

    path.parent.mkdir(parents=True, exist_ok=True)
    sweep(path.parent)
    with draft_file(path.parent) as draft:  # a folder that cannot be written to is found before the work
        Path(draft).write_bytes(save(make()))
        sync(draft)
        os.replace(draft, path)
