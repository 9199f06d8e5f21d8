"""Options that several commands share."""

import os
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from funnelling.commands.declaring import Command, Group, argument, flag, option
from funnelling.commands.values import (
    count,
    known_language,
    known_languages,
    language,
    model_folder,
    names,
    probability,
    seed,
)

if TYPE_CHECKING:
    from funnelling.formats.layout import Layout

FilePath = str | os.PathLike[str]
Probabilities = Literal["none", "list", "wide"]

JOINED = {"folders": "/", "strip": ",", "languages": ","}  # what is between several values of an option
LABELS = Group("label set")
READING = Group(
    "how to read DATA",
    "What is not said here is found in the file; what is found is said in a line.",
    "The format of DATA is detected: see funnelling inspect DATA. Options that override it: --help.",
)
RESOURCES = Group("resources that some methods learn from")
WORKING = Group("performance")
ALL_METHODS = "all"  # methods, those left out that lack resources
VARIANTS_HELP = "METHOD:NAME is a variant, with settings of its own: --set METHOD:NAME.PARAM=VALUE"
MODEL_HELP = "folder of the model, or hf://owner/name on the Hub"
LABEL_SET_HELP = (
    "file of labels: .csv, .tsv, .jsonl, .xlsx or .parquet with id, name_en (and other languages), "
    "description, parent, exclude; or SKOS, .ttl or .rdf"
)
DATA_HELP = (
    "file of documents, a folder of such files or of texts, or - for standard input; files are .jsonl, .csv, "
    ".tsv (each also .gz), .parquet, .xlsx or .ods"
)


def output_option(meaning: str, metavar: str, **words: Any) -> Any:
    """The option that says where the result goes."""
    return option(meaning, metavar, "-o", **{"complete": "FILE", "common": True, **words})


def _reading(meaning: str, metavar: str) -> Any:
    return option(meaning, metavar, default=None, group=READING)


def _column(name: str) -> Any:
    return _reading(f"column of the {name}; none if there is none", "NAME")


def _cores() -> int:
    """The cores this process may use, which can be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def seed_option(default: int | None) -> Any:
    """The option of a seed."""
    return option("seed of all random choices (0)", "N", default=default, type=seed, group=WORKING)


class Seed(Command):
    """Where random choices start."""

    seed: int = seed_option(0)


class Jobs(Command):
    """How many threads work."""

    jobs: int | None = option(
        "threads (one per core); the results are the same", "N", default=_cores(), type=count, group=WORKING
    )


class Cluster(Command):
    """Which cluster works."""

    cluster: str | None = option(
        "Dask cluster that does the work: tcp://HOST:PORT of its scheduler, or local:N to start N processes "
        "here; the results are the same",
        "ADDRESS",
        default=None,
        group=WORKING,
    )


class Overwriting(Command):
    """Whether an output that exists is replaced."""

    force: bool = flag("replace an output that exists", common=True)


class AsJson(Command):
    """Whether the result is printed as JSON."""

    json: bool = flag("print JSON instead of a table", common=True)


class Reading(Command):
    """How to read DATA, where what is found in it should not decide."""

    text_column: Sequence[str] = option(
        "column of the text; several, with commas between them, are joined",
        "NAME",
        default=(),
        action="append",
        group=READING,
    )
    labels_column: Sequence[str] = option(
        "column of the labels; or several that hold 0 and 1, one per label; none if there is none",
        "NAME",
        "--label-column",
        default=(),
        action="append",
        group=READING,
    )
    language_column: str | None = _column("language")
    languages: Sequence[str] = option(
        "detect no other languages than these, where documents have none",
        "LANG,LANG",
        default=(),
        type=known_languages,
        group=READING,
    )
    language: str | None = option(
        "the language of all documents that have none; nothing is detected",
        "LANG",
        default=None,
        type=known_language,
        group=READING,
    )
    id_column: str | None = _column("id")
    split_column: str | None = _column("split")
    group_column: str | None = _column("group")
    label_separator: str | None = _reading(
        "what is between labels in a cell, such as ';'; none if a cell is one label", "S"
    )
    no_label: str | None = _reading("what a cell says of a document that has no label", "WORD")
    delimiter: str | None = _reading("what is between the cells of a CSV file; tab is a word", "C")
    encoding: str | None = _reading("encoding of a text file, such as cp1252", "E")
    no_header: bool = flag("the first row is a document; columns are called 1, 2 and so on", group=READING)
    sheet: str | None = _reading("sheet of a spreadsheet (the first that is not empty)", "NAME")
    folders: Sequence[str] = option(
        "what nested folders of texts stand for, such as language/label",
        "L/L…",
        default=(),
        type=lambda text: text.split("/"),
        group=READING,
    )
    strip: Sequence[str] = option(
        "take html, markdown or quotes (of mails) out of texts; several are separated by commas",
        "KIND",
        default=(),
        action="extend",
        type=names,
        complete="markup",
        group=READING,
    )
    format: str | None = _reading(
        "what DATA is, where its name does not tell: jsonl, csv, lines, text, …", "F"
    )
    strict: bool = flag(
        "refuse a file where a language is unknown, instead of leaving those documents out", group=READING
    )

    @property
    def layout(self) -> "Layout":
        """What is said of how to read DATA."""
        from funnelling.formats.layout import Layout

        said = {name.removesuffix("_column"): getattr(self, name) for name in Reading.own}
        said |= {name: tuple(said[name]) for name in ("text", "labels", "folders", "strip")}
        said |= {"file_format": self.format, "header": not self.no_header, "language": self.language_column}
        said |= {"detect_among": tuple(self.languages), "default_language": self.language}
        return Layout(**{each.name: said[each.name] for each in fields(Layout) if each.name in said})

    def reading_flags(self) -> list[str]:
        """What is said of how to read DATA, as it is typed, for another command on the same file."""
        flags: list[str] = []
        for name in Reading.own:
            value, typed = getattr(self, name), f"--{name.replace('_', '-')}"
            if value is True and name != "strict":
                flags.append(typed)
            elif isinstance(value, str):
                flags += [typed, value]
            elif value and name in JOINED:
                flags += [typed, JOINED[name].join(value)]
            elif value and value is not True:
                flags += [part for each in value for part in (typed, each)]
        return flags


class Resources(Command):
    """Where the resources of methods are.

    >>> Resources().read_resources()
    {}
    >>> Resources(embeddings="nowhere").read_resources()
    Traceback (most recent call last):
    funnelling.errors.InputError: nowhere: no such folder. Name the folder of the vectors.
    """

    reference: FilePath | None = option(
        "reference corpus, for clesa, kcca and the idf of mle", "FILE", default=None, group=RESOURCES
    )
    embeddings: FilePath | None = option(
        "folder of word vectors, for mle, mle-lstm, fun-zero-shot and fun-auto",
        "DIR",
        default=None,
        group=RESOURCES,
    )
    encoder: FilePath | None = option(
        "folder of a sentence-transformers model, for fun-auto and fun-views",
        "DIR",
        default=None,
        group=RESOURCES,
    )

    @property
    def resources(self) -> "Resources":
        """These alone, of a command that takes more."""
        return Resources(**{name: getattr(self, name) for name in Resources.own})

    def read_resources(self) -> dict[str, Any]:
        """What `make_method` takes as ``resources``; a folder that holds none is refused."""
        from funnelling.corpus.reference import read_reference
        from funnelling.spaces.outside import find_encoder
        from funnelling.spaces.word_vectors import find_vectors

        resources: dict[str, Any] = {}
        if self.reference is not None:
            resources["reference"] = read_reference(self.reference)
        if self.embeddings is not None:
            find_vectors(self.embeddings)
            resources["embeddings"] = self.embeddings
        if self.encoder is not None:
            find_encoder(self.encoder)
            resources["encoder"] = self.encoder
        return resources


NO_RESOURCES = Resources()


class Settings(Command):
    """Parameters of methods."""

    set: Sequence[str] = option(
        "set a parameter of a method, such as fun-tat.meta_C=100; may be repeated",
        "METHOD.PARAM=VALUE",
        default=(),
        action="append",
        complete="settings",
    )


class OneLabel(Command):
    """Whether documents have one label each, where the training documents should not decide."""

    one_label: bool | None = flag(
        "every document has exactly one label, and is given one (what the training documents show)",
        default=None,
        exclusive="labels",
        also={
            "--several-labels": {
                "action": "store_false",
                "help": "documents may have several labels or none, even if each training document has one",
            }
        },
    )


class Trials(Command):
    """How many trials there are, and what corpora by name are built from."""

    runs: int = option("trials per file (1)", "N", default=1, type=count, common=True)
    source: Sequence[Path] = option(
        "folder of files that a named corpus is built from; may be repeated",
        "DIR",
        default=(),
        action="append",
        type=Path,
    )


class LabelSetFile(Command):
    """What is known of labels beside what the model has learned, and keeps."""

    label_set: FilePath | None = option(
        f"{LABEL_SET_HELP} (what the model keeps)", "FILE", default=None, group=LABELS
    )


class Names(Command):
    """What labels are called."""

    names: str | None = option(
        "add the names of labels in this language",
        "LANG",
        default=None,
        type=language,
        group=LABELS,
        common=True,
    )


class Exclude(Command):
    """Which labels are not assigned."""

    exclude: Sequence[str] = option(
        "do not assign this label; may be repeated",
        "L",
        default=(),
        action="append",
        group=LABELS,
        common=True,
    )


class Changing(Overwriting, AsJson):
    """The model that a command changes, and where the new one goes."""

    model: FilePath = argument("folder of the model", "MODEL", type=model_folder)
    output: FilePath | None = output_option(
        "folder of the new model (MODEL is replaced)", "MODEL", default=None, type=model_folder, common=True
    )

    @property
    def target(self) -> FilePath:
        """The folder of the new model."""
        return self.model if self.output is None else self.output

    @property
    def replaces(self) -> bool:
        """Whether another model in the output is replaced."""
        return self.force


class Learning(Changing, Resources, Jobs):
    """What it takes to change a model that is fitted again."""


class Updating(Learning, Reading):
    """What it takes to update a model."""

    data: FilePath | None = argument(f"{DATA_HELP}; or a journal", "DATA", nargs="?", default=None)
    exact: bool = flag(
        "make the model bit-identical to one trained on all documents at once; takes longer", common=True
    )
    choose: bool = flag("choose the views again, over all documents; takes much longer", common=True)
    force: bool = flag(
        "replace an output that exists, and save the model even if it became worse", common=True
    )
    overwrite: bool = False  # whether another model in the output is replaced, but not by a worse one

    @property
    def replaces(self) -> bool:
        return self.force or self.overwrite


class Predicting(LabelSetFile, Names, Exclude, Reading):
    """Which labels a row of predictions shows and assigns."""

    top: int | None = option(
        "show the N most probable labels (all; of more than 1,000 the first 5)",
        "N",
        default=None,
        type=count,
        common=True,
    )
    probabilities: Probabilities | None = option(
        "probabilities of all labels: a list in one column, wide (a column for each of at most 1,000), or "
        "none; without it a list in .jsonl and .parquet, and with --top",
        default=None,
        choices=("none", "list", "wide"),
        common=True,
    )
    threshold: float | None = option(
        "assign labels above this probability, where documents may have several",
        "P",
        default=None,
        type=probability,
        common=True,
    )
