"""Folders of results, kept as they come, so that interrupted work goes on where it stopped."""

import hashlib
import json
import os
import platform
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from funnelling.corpus import Corpus
from funnelling.errors import InputError, counted
from funnelling.evaluation.splits import Trial
from funnelling.formats.files import check_output_folder, writing
from funnelling.runtime.files import sweep

PIECES_FOLDER = "pieces"
CORPUS_FOLDER = "corpora"  # the folder of corpora that were built for trials, beside that of pieces
_OF_FILES = (".csv", ".tsv", ".xlsx", ".parquet", ".json", ".jsonl", ".html", ".md", ".gz")
MAX_NAME_CHARACTERS = 100  # of a piece; some hold language tags, which may be long

Result = dict[str, Any]


class ResultCache:
    """Independent results of a longer work, one file each below ``folder``; without a folder none is kept.

    A piece is found again by its name and its key: all that its result depends on. Every key holds the
    version of the package. How long a result took, and on what machine, is kept with it: pieces may have been
    made on several.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = None if folder is None else folder / PIECES_FOLDER
        self._seconds: dict[str, float] = {}
        self._machines: dict[str, str] = {}

    @property
    def seconds(self) -> float:
        """How long it took to make all pieces that were asked for, whenever that was."""
        return sum(self._seconds.values())

    @property
    def machines(self) -> list[str]:
        """The machines that the pieces which were asked for were made on."""
        return sorted(set(self._machines.values()))

    def get(self, name: str, key: Any, make: Callable[[], Result]) -> Result:
        """The result of this name and key: the one that is kept, or else what ``make`` returns."""
        short = (
            name if len(name) <= MAX_NAME_CHARACTERS else f"{name[:MAX_NAME_CHARACTERS]}-{digest(name)[:16]}"
        )
        short = short.replace(":", ".")  # of variants; not every system takes it in the name of a file
        file_name = f"{short}-{digest([key, version('funnelling')])[:16]}.json"
        piece = self._read(file_name) or self._make(file_name, make)
        self._seconds[file_name] = piece["seconds"]
        self._machines[file_name] = piece["machine"]
        result: Result = piece["result"]
        return result

    def _read(self, file_name: str) -> Result | None:
        """None for a piece that is missing or cannot be read."""
        if self._folder is not None:
            with suppress(OSError, ValueError):
                piece: Result = json.loads((self._folder / file_name).read_text(encoding="utf-8"))
                if piece.keys() == {"seconds", "machine", "result"}:
                    return piece
        return None

    def _make(self, file_name: str, make: Callable[[], Result]) -> Result:
        start = time.perf_counter()
        result = make()
        piece = {"seconds": time.perf_counter() - start, "machine": this_machine(), "result": result}
        if self._folder is not None:
            self._folder.mkdir(parents=True, exist_ok=True)
            with writing(self._folder / file_name, force=True) as stream:
                json.dump(piece, stream)
        return piece


def this_machine() -> str:
    """The machine at hand in a few words, without its name."""
    return f"{platform.system()} {platform.machine()}, {counted(os.cpu_count() or 1, 'core')}"


def digest(value: Any) -> str:
    """The hash of a JSON value."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def trial_digest(trial: Trial) -> str:
    """The hash of all documents of a trial."""
    mark = hashlib.sha256()
    for side in trial:
        mark.update(corpus_digest(side).encode())
    return mark.hexdigest()


def corpus_digest(corpus: Corpus) -> str:
    """The hash of all documents of a corpus, and of how their labels are to be learned."""
    mark = hashlib.sha256(b"one label" if corpus.one_label else b"")
    for document in corpus:
        mark.update(repr(document).encode("utf-8", "surrogatepass"))
    return mark.hexdigest()


def check_results_folder(folder: Path, force: bool) -> None:
    """Refuse a folder that holds anything but results, which are added to, and one that cannot be written."""
    if folder.suffix.lower() in _OF_FILES and not folder.exists():
        raise InputError(
            f"{folder}: results are a folder, with a page and tables in data/*.csv. "
            "Choose a name without an ending."
        )
    holds_results = any((folder / name).is_dir() for name in (PIECES_FOLDER, CORPUS_FOLDER))
    check_report_folder(folder, force or holds_results, "holds no results")


def check_report_folder(folder: Path, force: bool, fault: str = "is not empty") -> None:
    """Refuse a folder that holds anything, and one that cannot be written."""
    sweep(folder)
    if folder.is_dir() and any(folder.iterdir()) and not force:
        raise InputError(f"{folder} exists and {fault}. Choose another path or add --force.")
    check_output_folder(folder)


def check_new_files(folder: Path, files: Iterable[Path], force: bool) -> None:
    """Refuse files that exist, and a folder for them that cannot be written."""
    for file in files:
        if file.exists() and not force:
            raise InputError(f"{file} exists. Choose another folder with -o or add --force.")
    check_output_folder(folder)


def write_json(path: Path, value: Any) -> None:
    """Write a result as JSON, over an older one if there is one."""
    with writing(path, force=True) as stream:
        stream.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")
