"""Which documents of a file to label next, as a file that is ready to be filled in and learned."""

import logging
import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from funnelling.commands.measurement import check_new_file
from funnelling.commands.options import FilePath
from funnelling.commands.sources import layout_for, load_text_model
from funnelling.corpus import Corpus, name_languages
from funnelling.errors import InputError, counted
from funnelling.formats import read_documents
from funnelling.formats.document import given_id, join_labels
from funnelling.formats.files import STANDARD, shown_name, writing
from funnelling.formats.layout import AS_FOUND, Layout
from funnelling.formats.parquet import Kind
from funnelling.formats.tables import JSON_LINES, PARQUET, check_writable, to_json, write_table
from funnelling.matrices import Rows
from funnelling.methods.suggesting import MAX_COMPARED_DOCUMENTS, check_suggests, suggest_texts
from funnelling.runtime.progress import timed

if TYPE_CHECKING:
    from funnelling.methods.model import Model

Row = dict[str, Any]

logger = logging.getLogger(__name__)


def suggest(
    model: FilePath,
    data: FilePath,
    output: FilePath = STANDARD,
    number: int = 100,
    *,
    balance: bool = False,
    layout: Layout = AS_FOUND,
    strict: bool = False,
    force: bool = False,
    verbose: int = 0,
) -> list[Row]:
    """Write the documents that should be labelled next, with an empty field for their labels.

    Parameters
    ----------
    model : folder of the model
    data : file of documents; those with labels, those for test and those that the model learned are left out
    output : file whose ending says what it is (.csv, .tsv, .xlsx, .parquet or .jsonl); or - for JSON Lines on
        standard output
    number : how many documents to suggest
    balance : whether all languages are to have as many labelled documents in the end
    layout : where the fields of documents are in the file, as far as that is not to be found
    strict : whether documents in languages that are none are refused, or else left out
    force : whether an output that exists is replaced
    verbose : above 0 for progress bars
    """
    target, name = os.fspath(output), shown_name(data)
    ending = JSON_LINES if target == STANDARD else check_writable(target)
    if target != STANDARD:
        check_new_file(Path(target), force, data)
    classifier = load_text_model(model).running(verbose=verbose)
    check_suggests(classifier)
    with timed(f"reading {name}", bool(verbose)):
        corpus = Corpus.from_documents(read_documents(data, layout_for(classifier, layout)))
    corpus, names = name_languages(corpus, name, among=classifier.languages, verbose=verbose, strict=strict)
    if names.detected:
        logger.info("%s: the language of %s is detected.", name, counted(names.detected, "document"))
    if names.unknown:
        logger.info("%s: %s.", name, names.left_out())
    corpus = _unlabelled(classifier, corpus, name)
    for language, there in sorted(Counter(map(str, corpus.languages)).items()):
        if there > MAX_COMPARED_DOCUMENTS:
            logger.info(
                "%s: of %d documents in %s, %d are looked at.", name, there, language, MAX_COMPARED_DOCUMENTS
            )
    groups = corpus.groups if any(corpus.groups) else None
    rows = suggest_texts(
        classifier, corpus.texts, corpus.languages, number, ids=corpus.ids, groups=groups, balance=balance
    )
    if len(rows) < min(number, len(corpus)):
        logger.info(
            "%d of %s suggested: the others say the same as one that is suggested or learned, are of its "
            "group, or were not looked at.",
            len(rows),
            counted(len(corpus), "document"),
        )
    nested = ending in (JSON_LINES, PARQUET)
    written = [_written(row, nested) for row in rows]
    if target == STANDARD:
        with writing(target, force) as stream:
            stream.writelines(to_json(row) + "\n" for row in written)
    else:
        columns: dict[str, Kind] = {
            "labels": "list" if nested else "text",
            "suggested": "list" if nested else "text",
            "probabilities": "map" if nested else "text",
            "reason": "text",
            "score": "number",
        }
        write_table(target, written, columns, force, title="suggestions", verbose=verbose)
        logger.info("%s: %s to label.", target, counted(len(rows), "document"))
    return rows


def _unlabelled(model: "Model", corpus: Corpus, name: str) -> Corpus:
    """The documents that could be labelled; how many others there are is said."""
    left = np.ones(len(corpus), dtype=bool)
    labelled = np.array([labels is not None for labels in corpus.labels], dtype=bool)
    for_test = np.array([split == "test" for split in corpus.splits], dtype=bool)
    lines = []
    without_text = np.array([not text.strip() for text in corpus.texts], dtype=bool)
    for which, why in (
        (without_text, "without text"),
        (labelled, "with labels"),
        (for_test, "for test"),
        (_learned(model, corpus), "that the model has learned, or another version of"),
    ):
        number = int((which & left).sum())
        if number:
            lines.append(f"{counted(number, 'document')} {why}")
        left &= ~which
    if not left.any():
        raise InputError(f"{name}: no document to suggest: {', '.join(lines)}. Add some without labels.")
    if lines:
        logger.info("%s: left out: %s.", name, ", ".join(lines))
    return corpus.select(left)


def _learned(model: "Model", corpus: Corpus) -> Rows:
    archive = model.archive
    if archive is None or not archive.texts:
        return np.zeros(len(corpus), dtype=bool)
    known: Rows = archive.knows(corpus.languages, corpus.texts, corpus.ids, corpus.groups)
    return known


def _written(row: Row, nested: bool) -> Row:
    """A row as it stands in a file."""
    suggested = row["suggested"] if nested else join_labels(row["suggested"])
    return {**row, "id": given_id(row["id"]), "suggested": suggested}
