"""What tasks write: folders of results, checked before the work that leads to them."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from funnelling.errors import InputError
from funnelling.evaluation.pieces import FOLDER as PIECES
from funnelling.formats.files import check_output_folder, writing
from funnelling.runtime.files import sweep

_OF_FILES = (".csv", ".tsv", ".xlsx", ".parquet", ".json", ".jsonl", ".html", ".md", ".gz")
CORPUS_FOLDER = "corpora"  # the folder of corpora that were built for trials, beside that of pieces


def check_results_folder(folder: Path, force: bool) -> None:
    """Refuse a folder that holds anything but results, which are added to, and one that cannot be written."""
    if folder.suffix.lower() in _OF_FILES and not folder.exists():
        raise InputError(
            f"{folder}: results are a folder, with a page and tables in data/*.csv. "
            "Choose a name without an ending."
        )
    sweep(folder)
    holds_results = any((folder / name).is_dir() for name in (PIECES, CORPUS_FOLDER))
    if folder.is_dir() and any(folder.iterdir()) and not holds_results and not force:
        raise InputError(f"{folder} exists and holds no results. Choose another path or add --force.")
    check_output_folder(folder)


def check_report_folder(folder: Path, force: bool) -> None:
    """Refuse a folder that holds anything, and one that cannot be written."""
    sweep(folder)
    if folder.is_dir() and any(folder.iterdir()) and not force:
        raise InputError(f"{folder} exists and is not empty. Choose another path or add --force.")
    check_output_folder(folder)


def check_new_files(folder: Path, files: Iterable[Path], force: bool) -> None:
    """Refuse files that exist, and a folder for them that cannot be written."""
    for file in files:
        if file.exists() and not force:
            raise InputError(f"{file} exists. Choose another folder with -o or add --force.")
    check_output_folder(folder)


def check_new_file(file: Path, force: bool, source: str | os.PathLike[str]) -> None:
    """Refuse a file that exists, one that cannot be written, and in any case that which is read."""
    if file.exists() and os.path.exists(source) and file.samefile(source):
        raise InputError(f"{file} is what is read. Choose another file with -o.")
    if file.exists() and not force:
        raise InputError(f"{file} exists. Choose another file with -o or add --force.")
    check_output_folder(file.parent)


def write_json(path: Path, value: Any) -> None:
    """Write a result as JSON, over an older one if there is one."""
    with writing(path, force=True) as stream:
        stream.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")
