"""The machine's apt with lists and a cache of its own, and Debian packages read without unpacking them.

Nothing on the machine changes, and no rights are needed.
"""

import io
import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from funnelling.errors import InputError
from funnelling.formats.files import cannot_read
from funnelling.research.corpora.builders import DAMAGE, RationedStream, decompressed, reason_of
from funnelling.runtime.progress import progress_bar

# Read after the machine's own settings. What is cleared: hooks, which would refresh caches of the machine,
# and languages, which container images set to none. Lists stay uncompressed, since lz4 is apt's alone.
_SETTINGS = """\
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear Acquire::Languages;
Acquire::Languages {{ {languages} }};
Acquire::GzipIndexes "false";
APT::Update::Error-Mode "any";
APT::Sandbox::User "root";
Debug::NoLocking "true";
Dir::State "{folder}/state/";
Dir::State::lists "{folder}/lists/";
Dir::State::status "{folder}/status";
Dir::Cache "{folder}/cache/";
"""


class PrivateApt:
    """apt over a folder that goes away in the end."""

    def __init__(self, folder: Path, translations: Sequence[str], verbose: int) -> None:
        self.lists = folder / "lists"
        self._downloads = folder / "downloads"
        self._settings = folder / "apt.conf"
        self._verbose = verbose
        for name in ("state", "lists/partial", "cache/archives/partial", "downloads"):
            (folder / name).mkdir(parents=True)
        (folder / "status").touch()
        languages = " ".join(f'"{code}";' for code in translations or ["none"])
        self._settings.write_text(_SETTINGS.format(folder=folder, languages=languages), encoding="utf-8")

    def update(self) -> None:
        """Fetch the lists of packages and of the translations asked for."""
        self._run("apt-get", "update", bar="package lists")

    def package_names(self, prefix: str) -> list[str]:
        """The names of all packages that begin so."""
        return sorted(set(self._run("apt-cache", "pkgnames", prefix)))

    def download(self, packages: Sequence[str]) -> Path:
        """A folder with the files of these packages."""
        self._run("apt-get", "download", *packages, bar="packages")
        return self._downloads

    def _run(self, program: str, *arguments: str, bar: str = "") -> list[str]:
        command = [program, f"--config-file={self._settings}", *arguments]
        lines = []
        with (
            subprocess.Popen(
                command,
                cwd=self._downloads,
                env={**os.environ, "LC_ALL": "C.UTF-8"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="replace",
            ) as process,
            progress_bar(bar, None, bool(self._verbose and bar), "files") as advance,
        ):
            try:
                assert process.stdout is not None  # it is a pipe
                for line in process.stdout:
                    lines.append(line.strip())
                    advance(line.startswith("Get:"))
            except BaseException:
                process.kill()
                raise
        if process.returncode:
            raise InputError(
                f"{program} {arguments[0]} failed ({_reason(lines)}). "
                "Check the network and apt's sources, or download elsewhere and give the folder as --source."
            )
        return lines


@contextmanager
def private_apt(translations: Sequence[str] = (), verbose: int = 0) -> Iterator[PrivateApt]:
    """apt with fresh lists of packages and of the translations of their descriptions."""
    if not (shutil.which("apt-get") and shutil.which("apt-cache")):
        raise InputError(
            "apt-get was not found, so nothing can be downloaded. "
            "Download on a Debian machine and give the folder as --source."
        )
    with tempfile.TemporaryDirectory(prefix="funnelling-") as folder:
        apt = PrivateApt(Path(folder).resolve(), translations, verbose)
        apt.update()
        yield apt


def _reason(lines: Sequence[str]) -> str:
    """The first complaint of apt, else its last word."""
    for start in ("Err:", "E:", "W:"):
        for position, line in enumerate(lines):
            if line.startswith(start):
                # The reason of an "Err:" stands indented below it.
                return " ".join(lines[position : position + 2] if start == "Err:" else [line])
    return lines[-1] if lines else "no reason was given"


# Far beyond any package of texts (the largest help is 55 MB, a page 300 kB), far below what would hurt.
MAX_PACKAGE_BYTES = 2**29
MAX_FILE_BYTES = 2**23

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
                    if member.size > MAX_FILE_BYTES:
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
                yield _capped(data)
        else:
            yield _capped(decompressed(content))


def _capped(stream: Any) -> RationedStream:
    return RationedStream(stream, MAX_PACKAGE_BYTES, f"it unpacks to more than {MAX_PACKAGE_BYTES:,} bytes")


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
