"""Bytes that nobody can change any more, and that processes share."""

import mmap
import os
import sys
import tempfile
from typing import Any

try:
    import fcntl
except ImportError:  # of Windows
    fcntl = None  # type: ignore[assignment]


class Sealed:
    """A copy of some bytes, out of reach of whatever happens to the file that they were read from.

    It lies in memory without a name, sealed by the system, or where there is none such in a file that has
    lost its name. A process that is started with it, as an argument of `multiprocessing.Process`, maps the
    same memory; on Windows it gets a copy.

    >>> bytes(Sealed(b"ciao").content)
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
            _write(file.fileno(), content)
            fcntl.fcntl(file, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
            return os.dup(file.fileno())
    with tempfile.TemporaryFile() as file:
        _write(file.fileno(), content)
        return os.dup(file.fileno())


def _write(number: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(number, rest) :]
