"""Files, with .gz and - transparent, one line for a refusal, and output that is whole or not there."""

import errno
import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import Any, BinaryIO, TextIO, cast

from funnelling.errors import InputError
from funnelling.runtime.alone import defer_signals
from funnelling.runtime.files import draft_file, sweep, sync

STANDARD = "-"
COMPRESSIBLE = ("jsonl", "ndjson", "json", "csv", "tsv", "txt")  # formats that .gz may follow

MAX_LINE_BYTES = 2**28  # bytes of a line or a row, and of what is read as a whole: a text, an array of JSON
MAX_BLANK_LINES = 1_000_000  # lines, one after the other
_ALWAYS_ALLOWED_BYTES = 2**24  # that any file may unpack to
_MAX_COMPRESSION_RATIO = 200  # of a file that unpacks to more; documents stay far below

_GZIP_MAGIC = b"\x1f\x8b"
_BYTE_ORDER_MARK = "\ufeff"
_BUFFER_BYTES = 2**16
_DISK_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def file_ending(path: str | os.PathLike[str]) -> str:
    """The ending of a name that tells its format, empty where it tells none.

    >>> file_ending("docs.CSV.gz"), file_ending("docs.parquet"), file_ending("docs.parquet.gz")
    ('csv', 'parquet', '')
    """
    name = os.fspath(path).lower()
    ending = os.path.splitext(name.removesuffix(".gz"))[1].removeprefix(".")
    return "" if name.endswith(".gz") and ending not in COMPRESSIBLE else ending


def shown_name(path: str | os.PathLike[str]) -> str:
    """What messages call a file that is read."""
    return "<stdin>" if os.fspath(path) == STANDARD else os.fspath(path)


@contextmanager
def reading(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """The bytes of a file or of standard input, decompressed where they are gzip, whatever the name says."""
    name = shown_name(path)
    try:
        with ExitStack() as stack:
            stream: io.BufferedReader
            if os.fspath(path) == STANDARD:
                # Below its own buffer, which waits until it is full: 128 KiB from Python 3.14 on.
                unbuffered = getattr(sys.stdin.buffer, "raw", sys.stdin.buffer)
                stream = io.BufferedReader(cast(io.RawIOBase, unbuffered))
                # Without this, dropping our buffer would close the standard input of the process.
                stack.callback(stream.detach)
            else:
                stream = stack.enter_context(open(path, "rb"))
            if stream.peek(len(_GZIP_MAGIC)).startswith(_GZIP_MAGIC):
                yield cast(BinaryIO, io.BufferedReader(_Unpacked(stream, name), _BUFFER_BYTES))
            else:
                yield stream
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(
            f"{name}: the gzip data ends early or is damaged. Copy or download the file again."
        ) from error
    except OSError as error:
        raise cannot_read(name, error) from error


def raw_lines(stream: BinaryIO, name: str, start: int = 1) -> Iterator[tuple[int, bytes]]:
    """The lines with their numbers, line ends kept; one without an end would fill the memory.

    Nor are there blank ones without end, which nobody would hear of for minutes.
    """
    blank = 0
    for number, raw in enumerate(iter(partial(stream.readline, MAX_LINE_BYTES + 1), b""), start=start):
        if len(raw) > MAX_LINE_BYTES:
            raise too_long(f"{name}:{number}", "a line")
        blank = 0 if len(raw) > 2 or not raw.isspace() else blank + 1
        if blank > MAX_BLANK_LINES:
            raise InputError(
                f"{name}:{number}: more than {MAX_BLANK_LINES:,} blank lines in a row. Remove them."
            )
        yield number, raw


def too_long(place: str, what: str) -> InputError:
    """The refusal of a line, or of what is read as a whole, that is too large to be a document."""
    return InputError(
        f"{place}: {what} of more than {MAX_LINE_BYTES // 2**20} MiB. Divide it into documents, one per "
        "line, as jq -c '.[]' does with an array."
    )


def joined(lines: Iterable[str], name: str, what: str) -> str:
    """Lines as one text, refused where they are too long to be a document."""
    pieces, size = [], 0
    for line in lines:
        pieces.append(line)
        size += len(line)
        if size > MAX_LINE_BYTES:
            raise too_long(name, what)
    return "".join(pieces)


def text_lines(stream: BinaryIO, name: str) -> Iterator[tuple[int, str]]:
    """The lines of UTF-8 text with their numbers, line ends kept, a byte order mark dropped."""
    for number, raw in raw_lines(stream, name):
        try:
            line = raw.decode()
        except UnicodeDecodeError:
            raise InputError(f"{name}:{number}: not UTF-8 text. Save the file as UTF-8.") from None
        yield number, line.removeprefix(_BYTE_ORDER_MARK) if number == 1 else line


class _CountingReader:
    """What is read of a stream, and how much that was."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.count = 0

    def read(self, size: int) -> bytes:
        chunk = self._stream.read(size)
        self.count += len(chunk)
        return chunk

    def seek(self, offset: int) -> int:
        return self._stream.seek(offset)


class _Unpacked(io.RawIOBase):
    """What gzip packed, unless it is nearly nothing: a few megabytes of it unpack to as many gigabytes."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self._packed = _CountingReader(stream)
        self._unpacked = gzip.GzipFile(fileobj=cast(BinaryIO, self._packed))
        self._name = name
        self._count = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._unpacked.seekable()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._unpacked.seek(offset, whence)

    def tell(self) -> int:
        return self._unpacked.tell()

    def readinto(self, buffer: Any) -> int:
        size = self._unpacked.readinto(buffer)
        self._count += size
        if self._count > max(_ALWAYS_ALLOWED_BYTES, _MAX_COMPRESSION_RATIO * self._packed.count):
            raise InputError(
                f"{self._name}: unpacks to more than {_MAX_COMPRESSION_RATIO} times its size, as no "
                "documents do. If it is sound, unpack it with gunzip first."
            )
        return size


@contextmanager
def writing(path: str | os.PathLike[str], force: bool = False) -> Iterator[TextIO]:
    r"""UTF-8 text for a file that appears under its name only when the block ends well.

    >>> import tempfile
    >>> from contextlib import suppress
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "hello.txt")
    ...     with writing(path) as stream:
    ...         _ = stream.write("ciao\n")
    ...         print(os.path.exists(path))
    ...     print(open(path).read())
    ...     with suppress(KeyboardInterrupt), writing(path, force=True) as stream:
    ...         raise KeyboardInterrupt
    ...     print(os.listdir(folder))
    False
    ciao
    <BLANKLINE>
    ['hello.txt']
    """
    if os.fspath(path) == STANDARD and not hasattr(sys.stdout, "buffer"):
        # The standard output of notebooks and doctests takes text only.
        yield sys.stdout
        return
    with writing_bytes(path, force) as raw:
        stream = io.TextIOWrapper(raw, encoding="utf-8", errors="replace", newline="\n")
        try:
            yield stream
        finally:
            stream.detach()


@contextmanager
def writing_bytes(path: str | os.PathLike[str], force: bool = False) -> Iterator[BinaryIO]:
    """Bytes for a file that appears only when the block ends well, compressed where the name ends in .gz."""
    name = os.fspath(path)
    try:
        if name == STANDARD:
            sys.stdout.flush()
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        elif name.lower().endswith(".gz"):
            # Neither time nor name in the header: equal documents are equal bytes.
            with (
                _drafting(name, force) as raw,
                gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0) as compressed,
            ):
                yield cast(BinaryIO, compressed)
        else:
            with _drafting(name, force) as raw:
                yield raw
    except OSError as error:
        # The block may read files of its own; only these errors are surely about the file written here.
        if error.errno in _DISK_FULL:
            raise InputError(f"{name}: {reason_of(error)}. Make room or choose another disk.") from error
        raise


def check_output_folder(folder: str | os.PathLike[str]) -> None:
    """Refuse a folder that cannot be written to, or created, before the work for its contents begins."""
    nearest = os.path.abspath(folder)
    while not os.path.lexists(nearest):
        nearest = os.path.dirname(nearest)
    try:
        with suppress(FileNotFoundError, NotADirectoryError):
            os.lstat(folder)  # which says of a name that it is too long
        # Only trying is sure: root may write anywhere, except on file systems that are read-only.
        with defer_signals(), draft_file(nearest):
            pass
    except OSError as error:
        raise cannot_write(folder, error) from error


def cannot_write(path: str | os.PathLike[str], error: OSError) -> InputError:
    """The refusal of an output that the system does not let us write."""
    return InputError(f"{os.fspath(path)}: cannot be written ({reason_of(error)}). Choose another path.")


@contextmanager
def _drafting(name: str, force: bool) -> Iterator[BinaryIO]:
    if os.path.exists(name) and not os.path.isfile(name):
        # A pipe or a device cannot be replaced, and must not be: it is written through.
        with ExitStack() as stack:
            with _refusing(name):
                through = stack.enter_context(open(name, "wb"))
            yield through
        return
    _check_new(name, force)
    # A link stays a link: what it points at is replaced.
    target = os.path.realpath(name)
    folder = os.path.dirname(target)
    sweep(folder)
    with ExitStack() as stack:
        with _refusing(name):
            draft = stack.enter_context(draft_file(folder))
            raw = stack.enter_context(open(draft, "wb"))
        yield raw
        raw.flush()
        os.fsync(raw.fileno())
        raw.close()
        _check_new(name, force)  # others may have been quicker
        os.replace(draft, target)
        sync(folder)


def _check_new(name: str, force: bool) -> None:
    if os.path.exists(name) and not force:
        raise InputError(f"{name} exists. Choose another path or add --force.")


@contextmanager
def _refusing(name: str) -> Iterator[None]:
    """Tell in one line that an output cannot be created."""
    try:
        yield
    except FileNotFoundError as error:
        raise InputError(f"{name}: its folder does not exist. Create the folder first.") from error
    except OSError as error:
        raise cannot_write(name, error) from error


def cannot_read(name: str, error: OSError) -> InputError:
    """The refusal of an input that the system does not let us read."""
    match error:
        case FileNotFoundError():
            return InputError(f"{name}: no such file. Check the path.")
        case IsADirectoryError():
            return InputError(f"{name}: is a folder. Name a file in it.")
        case PermissionError():
            return InputError(f"{name}: may not be read. Ask for permission or copy the file.")
        case _:
            return InputError(f"{name}: cannot be read ({reason_of(error)}). Check the path and the disk.")


def reason_of(error: OSError) -> str:
    """Why the system refused something, as part of a sentence."""
    return (error.strerror or str(error)).lower()
