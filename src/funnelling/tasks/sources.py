"""What tasks read: labelled documents and models; a refusal names the file."""

import logging
import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING

from funnelling.corpus import Corpus, name_languages
from funnelling.corpus.findings import findings
from funnelling.errors import InputError, counted, prefix_errors
from funnelling.evaluation.splits import Trial, sides_of
from funnelling.formats import read_documents
from funnelling.formats.files import shown_name
from funnelling.formats.layout import AS_FOUND, Layout
from funnelling.runtime.progress import timed
from funnelling.storage import load

if TYPE_CHECKING:
    from funnelling.methods.model import Model

MAX_LANGUAGES_NAMED = 10  # languages in a line
MAX_WARNINGS = 6
REMEMBERED = ("text", "labels", "language", "id", "label_separator", "no_label", "strip")  # of a layout

FilePath = str | os.PathLike[str]
logger = logging.getLogger(__name__)


def prefix_errors_with_file(path: FilePath) -> AbstractContextManager[None]:
    """Let a refusal begin with the name of the file it is about."""
    return prefix_errors(shown_name(path))


def read_labelled(
    path: FilePath,
    among: Sequence[str] = (),
    verbose: int = 0,
    layout: Layout = AS_FOUND,
    strict: bool = False,
    texts: bool = True,
) -> tuple[Corpus, list[str]]:
    """The labelled documents of a file, and lines to report once all checks have passed.

    They say which tags of languages have become shorter, and how many documents are left out. Missing
    languages are detected ``among`` some, or among those that other documents name. Documents with a language
    that is none are left out; ``strict`` refuses them. Unless ``texts`` are needed, a document with an id may
    have `NO_TEXT`, and no language.
    """
    name = shown_name(path)
    with timed(f"reading {name}", bool(verbose)):
        corpus = Corpus.from_documents(read_documents(path, layout, texts=texts))
    names = name_languages(corpus, name, among=among, verbose=verbose, strict=strict)
    labelled = corpus.labelled()
    if not len(labelled):
        raise InputError(
            f'{name}: no labelled document: "labels" is empty or missing in all of them. Fill it in, or name '
            "the column with --labels-column."
        )
    unlabelled = len(corpus) - len(labelled)
    notes = []
    if names.renamed:
        notes.append(f"{name}: languages by their shortest codes: {_renamings(names.renamed)}.")
    if names.detected:
        notes.append(f"{name}: the language of {counted(names.detected, 'document')} is detected.")
    if names.unknown:
        notes.append(f"{name}: {names.left_out()}.")
    if unlabelled:
        notes.append(f"{name}: {unlabelled} of {len(corpus)} documents have no labels and are left out.")
    return labelled, notes


def warnings(trial: Trial) -> list[str]:
    """What may spoil a model that learns from these documents, a line each."""
    corpus = Corpus.from_documents([*trial.train, *trial.test])
    serious = [finding for finding in findings(corpus) if finding.serious]
    return [f"Look at: {finding.line()}." for finding in serious[:MAX_WARNINGS]]


def _renamings(renamed: Mapping[str, str]) -> str:
    """Languages, each with the tags that became its own.

    >>> _renamings({"ger": "de", "deu": "de", "jpn_Jpan": "ja"})
    'de (deu, ger), ja (jpn_Jpan)'
    """
    tags: dict[str, list[str]] = {}
    for tag in sorted(renamed):
        tags.setdefault(renamed[tag], []).append(tag)
    named = [f"{language} ({', '.join(tags[language])})" for language in sorted(tags)]
    further = [f"and {len(named) - MAX_LANGUAGES_NAMED} more"] if len(named) > MAX_LANGUAGES_NAMED else []
    return ", ".join(named[:MAX_LANGUAGES_NAMED] + further)


def read_sides(
    path: FilePath,
    among: Sequence[str] = (),
    verbose: int = 0,
    layout: Layout = AS_FOUND,
    strict: bool = False,
    texts: bool = True,
) -> tuple[Trial, list[str]]:
    """What a file says to learn from, at least one document, and to measure on; and what to report.

    ``texts`` is that of `read_labelled`.
    """
    corpus, notes = read_labelled(path, among, verbose, layout, strict, texts)
    trial = sides_of(corpus)
    if not len(trial.train):
        raise InputError(
            f'{shown_name(path)}: no labelled document with split "train". Mark some with "split": "train".'
        )
    return trial, notes


def layout_for(model: "Model", layout: Layout) -> Layout:
    """A layout that reads as the model's training documents were read, where it says nothing else."""
    before = Layout(**model.reading)
    return replace(
        layout,
        strip=layout.strip or before.strip,
        label_separator=layout.label_separator or before.label_separator,
        no_label=layout.no_label or before.no_label,
        before=before,
    )


def remember_layout(model: "Model", layout: Layout) -> "Model":
    """A model that keeps what was said of how to read the documents it learned from."""
    said = {name: getattr(layout, name) for name in REMEMBERED}
    reading = {
        name: list(value) if isinstance(value, tuple) else value for name, value in said.items() if value
    }
    return replace(model, reading=reading) if reading else model


def say_unknown(unknown: Mapping[str, int]) -> None:
    """Say which documents were not labelled, by what stands for their language."""
    if unknown:
        tags = ", ".join(f"{tag} ({number:,})" for tag, number in list(unknown.items())[:MAX_LANGUAGES_NAMED])
        logger.info(
            "%s not labelled, for the model does not know the language: %s. Languages are detected "
            "from the texts with --language-column none.",
            counted(sum(unknown.values()), "document"),
            tags,
        )


def load_text_model(path: FilePath, mapped: bool = False) -> "Model":
    """The model in a folder, which must be one that reads texts; ``mapped`` leaves its arrays on the disk."""
    model = load(path, mapped)
    check_reads_texts(model, path)
    return model


def check_reads_texts(model: "Model", path: FilePath) -> None:
    """Refuse a model that reads no texts."""
    if not model.texts:
        raise InputError(f"{path}: the model was fitted on vectors, not on texts. Use it from Python.")
