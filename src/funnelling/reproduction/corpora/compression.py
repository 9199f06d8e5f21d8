"""Files that others compressed: gzip, bzip2 and xz, known by their first bytes and not by their names."""

import bz2
import gzip
import io
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

from funnelling.errors import InputError
from funnelling.formats.files import cannot_read

DAMAGE = (EOFError, OSError, zlib.error, lzma.LZMAError)

_READERS: dict[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": lambda stream: gzip.GzipFile(fileobj=stream),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}


def decompressed(stream: io.BufferedReader) -> BinaryIO:
    """The stream itself, or what was compressed into it."""
    start = stream.peek(8)
    for magic, reader in _READERS.items():
        if start.startswith(magic):
            return cast(BinaryIO, reader(stream))
    return cast(BinaryIO, stream)


@contextmanager
def reading(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """The bytes of a file, decompressed."""
    name = os.fspath(path)
    try:
        with open(path, "rb") as stream:
            yield decompressed(stream)
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        raise cannot_read(name, error) from None
    except DAMAGE as error:
        raise InputError(
            f"{name}: the compressed data ends early or is damaged. Copy or download the file again."
        ) from error


def reason_of(error: BaseException) -> str:
    """Why an archive cannot be read, on one line; what ends early often gives no reason."""
    return " ".join(str(error).split()) or "it ends early"
