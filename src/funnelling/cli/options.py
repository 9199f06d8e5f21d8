"""Options that several commands share."""

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from funnelling.errors import InputError

if TYPE_CHECKING:
    from funnelling.formats.layout import Layout
    from funnelling.tasks.resources import ResourcePaths

Number = TypeVar("Number", int, float)
Commands = Any  # argparse keeps the type of add_subparsers() to itself

_PLAIN_READING = (  # options that have one value
    *(f"{field}-column" for field in ("language", "id", "split", "group")),
    *("label-separator", "no-label", "delimiter", "encoding", "sheet", "format"),
)
WORK = "how the work is done"  # the title of a group
ALL_METHODS = "all"  # methods, those left out that lack resources
VARIANTS_HELP = "METHOD:NAME is a variant, with settings of its own: --set METHOD:NAME.PARAM=VALUE"
MODEL_HELP = "folder of the model, or hf://owner/name on the Hub"
LABEL_SET_HELP = (
    "file of labels: .csv, .tsv, .jsonl, .xlsx or .parquet with id, name_en (and other languages), "
    "description, parent, exclude; or SKOS, .ttl or .rdf"
)
DATA_HELP = (
    "file of documents: .jsonl, .csv, .tsv (each also .gz), .parquet, .xlsx, .ods, a folder of such files or "
    "of folders of texts, or - for standard input"
)


def seed(text: str) -> int:
    """A number that all random choices start from."""
    from funnelling.randomness import is_seed

    value = _parse(int, text, "a whole number")
    if not is_seed(value):
        raise argparse.ArgumentTypeError(f"{text} is not a whole number from 0 to 2^64 - 1")
    return value


def count(text: str) -> int:
    """A number of something: 1 or more."""
    value = _parse(int, text, "a whole number")
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not 1 or more")
    return value


def probability(text: str) -> float:
    """A number from 0 to 1."""
    value = _parse(float, text, "a number")
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return value


def model_folder(text: str) -> str:
    """The folder of a model that is here, and no address on the Hub."""
    from funnelling.storage.folders import folder_here

    try:
        folder_here(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error).rstrip(".")) from None
    return text


def journal(text: str) -> str:
    """The file of a journal, whose name tells other commands what it is."""
    if not text.endswith(".jsonl"):
        raise argparse.ArgumentTypeError(f"{text}: a journal is JSON Lines. Use a name that ends in .jsonl")
    return text


def languages(text: str) -> list[str]:
    """Language tags with commas between them."""
    from funnelling.text.languages import normalise_tag

    try:
        return [normalise_tag(tag) for tag in text.split(",")]
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def language(text: str) -> str:
    """One language tag."""
    from funnelling.text.languages import normalise_tag

    try:
        return normalise_tag(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error).rstrip(".")) from None


def _parse(kind: type[Number], text: str, name: str) -> Number:
    try:
        return kind(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not {name}") from None


def examples(*commands: str) -> str:
    """What help ends with: commands as they could be typed."""
    return "\n".join(
        [
            "example:" if len(commands) == 1 else "examples:",
            *(f"  funnelling {command}" for command in commands),
        ]
    )


def _group(parser: argparse.ArgumentParser, title: str) -> argparse._ArgumentGroup:
    """The group of a parser's options that has this title."""
    known = (group for group in parser._action_groups if group.title == title)
    return next(known, None) or parser.add_argument_group(title)


def add_seed(parser: argparse.ArgumentParser) -> None:
    _group(parser, WORK).add_argument(
        "--seed", type=seed, default=0, metavar="N", help="seed of all random choices (0)"
    )


def add_jobs(parser: argparse.ArgumentParser) -> None:
    _group(parser, WORK).add_argument(
        "--jobs",
        type=count,
        default=_cores(),
        metavar="N",
        help="threads (one per core); the results are the same",
    )


def add_cluster(parser: argparse.ArgumentParser) -> None:
    _group(parser, WORK).add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="Dask cluster that does the work: tcp://HOST:PORT of its scheduler, or local:N to start N "
        "processes here; the results are the same",
    )


def _cores() -> int:
    """The cores this process may use, which can be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def add_new_model(parser: argparse.ArgumentParser) -> None:
    """Where a model is written that no other one turns into."""
    parser.add_argument(
        "-o", "--output", required=True, type=model_folder, metavar="MODEL", help="folder of the model"
    )


def add_force(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--force", action="store_true", help="replace an output that exists")


def add_reading(parser: argparse.ArgumentParser) -> None:
    """How to read DATA, where what is found in it should not decide."""
    group = parser.add_argument_group(
        "how to read DATA", "What is not said here is found in the file; what is found is said in a line."
    )
    group.add_argument(
        "--text-column",
        action="append",
        default=[],
        metavar="NAME",
        help="column of the text; several, with commas between them, are joined",
    )
    group.add_argument(
        "--labels-column",
        "--label-column",
        action="append",
        default=[],
        metavar="NAME",
        help="column of the labels; or several that hold 0 and 1, one per label; none if there is none",
    )
    for field in ("language", "id", "split", "group"):
        group.add_argument(
            f"--{field}-column", metavar="NAME", help=f"column of the {field}; none if there is none"
        )
    group.add_argument(
        "--label-separator",
        metavar="S",
        help="what is between labels in a cell, such as ';'; none if a cell is one label",
    )
    group.add_argument("--no-label", metavar="WORD", help="what a cell says of a document that has no label")
    group.add_argument(
        "--delimiter", metavar="C", help="what is between the cells of a CSV file; tab is a word"
    )
    group.add_argument("--encoding", metavar="E", help="encoding of a text file, such as cp1252")
    group.add_argument(
        "--no-header",
        action="store_true",
        help="the first row is a document; columns are called 1, 2 and so on",
    )
    group.add_argument("--sheet", metavar="NAME", help="sheet of a spreadsheet (the first that is not empty)")
    group.add_argument(
        "--folders",
        type=lambda text: text.split("/"),
        default=[],
        metavar="L/L…",
        help="what nested folders of texts stand for, such as language/label",
    )
    group.add_argument(
        "--strip",
        action="extend",
        type=_names,
        default=[],
        metavar="KIND",
        help="take html, markdown or quotes (of mails) out of texts; several are separated by commas",
    )
    group.add_argument(
        "--format", metavar="F", help="what DATA is, where its name does not tell: jsonl, csv, lines, text, …"
    )
    # What --strict is not: the default now, which scripts may still ask for.
    group.add_argument("--skip-unknown", action="store_true", help=argparse.SUPPRESS)
    group.add_argument(
        "--strict",
        action="store_true",
        help="refuse a file where a language is unknown, instead of leaving those documents out",
    )


def layout(arguments: argparse.Namespace) -> "Layout":
    """What was said about how to read DATA."""
    from funnelling.formats.layout import Layout

    return Layout(
        text=tuple(arguments.text_column),
        labels=tuple(arguments.labels_column),
        language=arguments.language_column,
        id=arguments.id_column,
        split=arguments.split_column,
        group=arguments.group_column,
        file_format=arguments.format,
        encoding=arguments.encoding,
        delimiter=arguments.delimiter,
        header=not arguments.no_header,
        sheet=arguments.sheet,
        label_separator=arguments.label_separator,
        no_label=arguments.no_label,
        folders=tuple(arguments.folders),
        strip=tuple(arguments.strip),
    )


def reading_flags(arguments: argparse.Namespace) -> list[str]:
    """The options that say how to read DATA, as they were given, for another command on the same file."""
    flags: list[str] = []
    for field in ("text", "labels"):
        flags += [
            part for name in getattr(arguments, f"{field}_column") for part in (f"--{field}-column", name)
        ]
    for name in _PLAIN_READING:
        value = getattr(arguments, name.replace("-", "_"))
        flags += [] if value is None else [f"--{name}", value]
    flags += ["--no-header"] if arguments.no_header else []
    flags += ["--folders", "/".join(arguments.folders)] if arguments.folders else []
    return flags + (["--strip", ",".join(arguments.strip)] if arguments.strip else [])


def _names(text: str) -> list[str]:
    """Names with commas between them."""
    return [name.strip() for name in text.split(",") if name.strip()]


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


def add_resources(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("resources that some methods learn from")
    group.add_argument(
        "--reference", metavar="FILE", help="reference corpus, for clesa, kcca and the idf of mle"
    )
    group.add_argument(
        "--embeddings",
        metavar="DIR",
        help="folder of word vectors, for mle, mle-lstm, fun-zero-shot and fun-auto",
    )
    group.add_argument(
        "--encoder", metavar="DIR", help="folder of a sentence-transformers model, for fun-auto and fun-views"
    )


def resources(arguments: argparse.Namespace) -> "ResourcePaths":
    """Where the resources are that were given."""
    from funnelling.tasks.resources import ResourcePaths

    return ResourcePaths(arguments.reference, arguments.embeddings, arguments.encoder)


def add_label_set(parser: argparse.ArgumentParser, names: bool = False, exclude: bool = True) -> None:
    """What is known of labels beside what the model has learned, and keeps."""
    group = parser.add_argument_group("labels as people have them")
    group.add_argument("--label-set", metavar="FILE", help=f"{LABEL_SET_HELP} (what the model keeps)")
    if names:
        add_names(parser)
    if exclude:
        group.add_argument(
            "--exclude",
            action="append",
            default=[],
            metavar="L",
            help="do not assign this label; may be repeated",
        )


def add_names(parser: argparse.ArgumentParser) -> None:
    _group(parser, "labels as people have them").add_argument(
        "--names", type=language, metavar="LANG", help="show what labels are called in this language, too"
    )


def add_labelling(parser: argparse.ArgumentParser) -> None:
    """Whether documents have one label each, where the training documents should not decide."""
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument(
        "--one-label",
        dest="one_label",
        action="store_true",
        default=None,
        help="every document has exactly one label, and is given one (what the training documents show)",
    )
    kinds.add_argument(
        "--several-labels",
        dest="one_label",
        action="store_false",
        help="documents may have several labels or none, even if each training document has one",
    )


def add_trials(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--runs", type=count, default=1, metavar="N", help="trials per file (1)")
    parser.add_argument(
        "--source",
        action="append",
        type=Path,
        default=[],
        dest="sources",
        metavar="DIR",
        help="folder of files that a named corpus is built from; may be repeated",
    )


def add_changed_model(parser: argparse.ArgumentParser) -> None:
    """The model that a command changes, and where the new one goes."""
    parser.add_argument("model", type=model_folder, metavar="MODEL", help="folder of the model")
    parser.add_argument(
        "-o",
        "--output",
        type=model_folder,
        metavar="MODEL",
        help="folder of the new model (the old one is replaced)",
    )


def add_growth(parser: argparse.ArgumentParser, data_optional: bool = False) -> None:
    """What every command takes that lets a model learn on."""
    add_changed_model(parser)
    parser.add_argument("data", metavar="DATA", nargs="?" if data_optional else None, help=DATA_HELP)
    parser.add_argument(
        "--exact",
        action="store_true",
        help="solve all anew, for the very bits of a model trained on everything at once; takes longer",
    )
    parser.add_argument(
        "--choose", action="store_true", help="choose the views anew, over all documents; takes much longer"
    )
    add_json(parser)
    add_resources(parser)
    add_jobs(parser)
    parser.add_argument(
        "--force",
        action="store_true",
        help="replace an output that exists, and save the model even if a score fell by more than noise",
    )
    add_reading(parser)
