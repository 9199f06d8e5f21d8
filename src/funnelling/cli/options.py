"""Options that several commands share, and what they print alike."""

import argparse
import json
import os
import sys
from typing import TYPE_CHECKING, Any

from funnelling.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from funnelling.corpus import Corpus

Commands = Any  # argparse keeps the type of add_subparsers() to itself

DATA_HELP = "file of documents: .jsonl, .csv, .tsv (each also .gz), .parquet, or - for standard input"


def whole_number(text: str) -> int:
    """A number of something: 1 or more."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not 1 or more")
    return value


def probability(text: str) -> float:
    """A number from 0 to 1."""
    value = float(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return value


def add_seed(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of all random choices (0)")


def add_jobs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--jobs",
        type=whole_number,
        default=os.cpu_count() or 1,
        metavar="N",
        help="threads (one a core); the results are the same",
    )


def add_force(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--force", action="store_true", help="replace an output that exists")


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def add_settings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="METHOD.PARAM=VALUE",
        help="set a parameter of a method, such as fun-tat.meta_C=100; may be repeated",
    )


def tell(line: str) -> None:
    """Say what is going on; standard output is for results."""
    print(line, file=sys.stderr, flush=True)


def print_json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=2))


def read_labelled(path: str) -> "Corpus":
    """The labelled documents of a file that training or measuring can use."""
    from funnelling.corpus import read_corpus
    from funnelling.formats.files import shown_name

    corpus = read_corpus(path)
    labelled = corpus.labelled()
    name = shown_name(path)
    if not len(labelled):
        raise InputError(f'{name}: no labelled document. Give documents a "labels" field.')
    skipped = len(corpus) - len(labelled)
    if skipped:
        tell(f"{name}: {skipped} of {len(corpus)} documents have no labels and are left out.")
    return labelled


def check_learnable(corpus: "Corpus", path: str) -> None:
    """Refuse training documents that leave nothing to learn."""
    from funnelling.formats.files import shown_name

    if len({frozenset(labels or ()) for labels in corpus.labels}) < 2:
        raise InputError(
            f"{shown_name(path)}: nothing to learn, all {len(corpus)} training documents have the same "
            "labels. Add documents with other labels."
        )


def make_folder(folder: "Path") -> None:
    """Create a folder for output, or say why not."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be written ({error.strerror}). Choose another path.") from error
