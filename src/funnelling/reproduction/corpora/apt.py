"""The machine's apt with its sources, keys and proxies, but with lists and a cache of its own.

Nothing on the machine changes, and no rights are needed.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from funnelling.errors import InputError
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
