"""Debian packages as they are downloaded: an ar archive around a tar archive, read and never unpacked."""

import io
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from funnelling.errors import InputError
from funnelling.formats.files import cannot_read
from funnelling.reproduction.corpora.compression import DAMAGE, decompressed, reason_of

# Far beyond any package of texts (the largest help is 55 MB, a page 300 kB), far below what would hurt.
LARGEST_PACKAGE = 2**29
LARGEST_FILE = 2**23

_MAGIC = b"!<arch>\n"
_HEADER_SIZE, _HEADER_END = 60, b"`\n"
_ZSTANDARD = b"\x28\xb5\x2f\xfd"


def files_in(package: Path, wanted: Callable[[str], object]) -> Iterator[tuple[str, bytes]]:
    """The names and contents of those regular files of a package whose name is wanted.

    Nothing is written anywhere, so that a name that climbs out of its folder remains just a name.
    """
    try:
        with _data_archive(package) as data, tarfile.open(fileobj=data, mode="r|") as archive:
            for member in archive:
                if member.isreg() and wanted(member.name):
                    if member.size > LARGEST_FILE:
                        raise ValueError(f"a file of {member.size:,} bytes is in it")
                    content = archive.extractfile(member)
                    yield member.name, content.read() if content else b""
    except InputError:
        raise
    except (FileNotFoundError, PermissionError) as error:
        raise cannot_read(str(package), error) from None
    except (*DAMAGE, tarfile.TarError, ValueError) as error:
        raise InputError(
            f"{package}: not a Debian package, or a damaged one ({reason_of(error)}). Download it again."
        ) from error


@contextmanager
def _data_archive(package: Path) -> Iterator[Any]:
    """The tar archive of the files that a package installs, decompressed."""
    with open(package, "rb") as file:
        content: Any = io.BufferedReader(_data_member(file))
        if content.peek(len(_ZSTANDARD)).startswith(_ZSTANDARD):
            with _unpacked_by_dpkg(package) as data:
                yield _Capped(data)
        else:
            yield _Capped(decompressed(content))


def _data_member(file: BinaryIO) -> "_Slice":
    if file.read(len(_MAGIC)) != _MAGIC:
        raise ValueError("it does not begin as an ar archive")
    while header := file.read(_HEADER_SIZE):
        if len(header) < _HEADER_SIZE or not header.endswith(_HEADER_END):
            raise ValueError("the ar archive is broken")
        size = int(header[48:58])
        if header.startswith(b"data.tar"):
            return _Slice(file, size)
        file.seek(size + size % 2, io.SEEK_CUR)
    raise ValueError("it holds no data.tar")


@contextmanager
def _unpacked_by_dpkg(package: Path) -> Iterator[Any]:
    """What zstd compressed, as Ubuntu does: Python reads that from version 3.14 only."""
    program = shutil.which("dpkg-deb")
    if program is None:
        raise InputError(f"{package}: compressed with zstd, which takes dpkg-deb to read. Install dpkg.")
    command = [program, "--fsys-tarfile", str(package.resolve())]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            yield process.stdout
        finally:
            process.kill()


class _Slice(io.RawIOBase):
    """The next ``size`` bytes of a file, as a file of their own."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._left = size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        chunk = self._file.read(min(len(buffer), self._left))
        buffer[: len(chunk)] = chunk
        self._left -= len(chunk)
        return len(chunk)


class _Capped:
    """A stream that refuses to be endless: a few kilobytes can unpack to as many gigabytes."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._left = LARGEST_PACKAGE

    def read(self, size: int) -> bytes:
        chunk: bytes = self._stream.read(size)
        self._left -= len(chunk)
        if self._left < 0:
            raise ValueError(f"it unpacks to more than {LARGEST_PACKAGE:,} bytes")
        return chunk
