"""Which documents wait for a label, in which order: for people on a page, or in a file that they fill in."""

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from funnelling.commands.options import FilePath
from funnelling.commands.sources import layout_for
from funnelling.corpus import Corpus, name_languages
from funnelling.errors import InputError, counted
from funnelling.formats import Document, read_documents
from funnelling.formats.files import shown_name
from funnelling.formats.layout import AS_FOUND, Layout
from funnelling.labelling.auditing import ISSUE_KINDS
from funnelling.labelling.labels import ColdStart
from funnelling.labelling.tasks import key_of
from funnelling.methods.active_learning import MAX_COMPARED_DOCUMENTS, next_to_label
from funnelling.methods.model import Model
from funnelling.runtime.messages import Reporter, silent
from funnelling.runtime.progress import timed
from funnelling.text.detection import LanguageNames, detect_missing, normalise_tags

logger = logging.getLogger(__name__)

# Documents that are suggested, before the others as they came: nobody labels more before it learns
MAX_SUGGESTED_DOCUMENTS = 500
MAX_LANGUAGES_NAMED = 10  # in a line


@dataclass(frozen=True)
class Queue:
    """Documents that wait for people, and by their keys why; in the order of a model or of their file."""

    documents: list[Document]
    reasons: dict[str, str]
    by_model: bool


def read_queue(
    model: Model | None,
    data: FilePath,
    *,
    layout: Layout = AS_FOUND,
    everything: bool = False,
    as_they_are: bool = False,
    strict: bool = False,
    detect: bool = False,
    verbose: int = 0,
    report: Reporter = silent,
) -> Queue:
    """The documents of a file that are to be labelled.

    Where the file says why each is worth a look, they come in its order. Else those with labels are left out,
    and the others come in the order of `ordered`.

    Parameters
    ----------
    model : what suggests labels, if there is one
    data : file of documents
    layout : where the fields of documents are in the file, as far as that is not to be found
    everything : whether documents with labels are shown, too
    as_they_are : whether the order of the file is kept in any case
    strict : whether documents in languages that are none are refused, or else left out
    detect : whether missing languages are detected now, and by nothing but the documents; else the model
        detects them
    verbose : above 0 for progress bars
    report : what gets a line on what there is and what is left out
    """
    name = shown_name(data)
    with timed(f"reading {name}", bool(verbose)):
        rows = list(read_documents(data, _layout(model, layout), keep_fields=True))
    rows = _in_languages(rows, name, strict, report)
    if detect:
        tags, texts = [row.language for row in rows], [row.text for row in rows]
        languages, detected, merged = detect_missing(tags, texts, name, layout.detect_among, verbose)
        lines = LanguageNames({}, {}, detected, merged).lines()
        for line in lines[bool(detected) :]:  # how many are in which language is reported below
            report(f"{name}: {line}")
        rows = [replace(row, language=tag) for row, tag in zip(rows, languages, strict=True)]
    reasons = [_reason(row) for row in rows]
    chosen = any(reasons)
    found: dict[str, Document] = {}
    labelled = 0
    for row in rows:
        if row.labels is not None and not (everything or chosen):
            labelled += 1
        else:
            found.setdefault(key_of(row), replace(row, fields=None))
    if detect:
        there = Counter(str(document.language) for document in found.values())
        named = ", ".join(f"{tag} {number:,}" for tag, number in there.most_common(MAX_LANGUAGES_NAMED))
        more = ", …" if len(there) > MAX_LANGUAGES_NAMED else ""
        without = "" if everything or chosen else " without labels"
        report(f"{name}: {counted(len(found), 'document')}{without}: {named}{more}.")
    if labelled:
        report(f"{name}: {counted(labelled, 'document')} with labels left out (--all shows them, too).")
    if not found:
        raise InputError(f"{name}: every document has labels. Add --all to look at them, too.")
    if len(found) + labelled < len(rows):
        twice = counted(len(rows) - len(found) - labelled, "document")
        report(f"{name}: {twice} left out that came before.")
    documents = list(found.values())
    if chosen:
        report(f"{name}: the file says why documents are worth a look: they come in its order.")
    if chosen or as_they_are:
        why = {key_of(row): reason for row, reason in zip(rows, reasons, strict=True)}
        return Queue(documents, {key: reason for key, reason in why.items() if reason}, by_model=False)
    return ordered(model, documents)


def _in_languages(rows: list[Document], name: str, strict: bool, report: Reporter) -> list[Document]:
    """The documents whose language is one, or is to be detected, each with the one tag of it."""
    tags, names = normalise_tags([row.language for row in rows], [row.id for row in rows], name, strict)
    if names.unknown:
        report(f"{name}: {names.left_out()}.")
    named = zip(rows, tags, strict=True)
    found = [replace(row, language=tag) for row, tag in named if tag not in names.unknown]
    if not found:
        raise InputError(f"{name}: no document is in a language. Write codes such as en or pt_BR.")
    return found


def _layout(model: Model | None, layout: Layout) -> Layout:
    return layout if model is None else layout_for(model, layout)


def ordered(model: Model | None, documents: Sequence[Document]) -> Queue:
    """Put documents into the order in which people should see them."""
    if not documents:
        return Queue([], {}, by_model=True)
    rows = next_to_label(
        model,
        [document.text for document in documents],
        [document.language for document in documents],
        MAX_SUGGESTED_DOCUMENTS,
        ids=list(range(len(documents))),
        groups=[document.group for document in documents] if any(each.group for each in documents) else None,
    )
    first = {int(row["id"]): row["reason"] for row in rows}
    order = [*first, *(place for place in range(len(documents)) if place not in first)]
    reasons = {key_of(documents[place]): reason for place, reason in first.items() if reason}
    return Queue([documents[place] for place in order], reasons, by_model=True)


def _reason(row: Document) -> str:
    """Why a document is worth a look, by its file."""
    fields = row.fields or {}
    names = ("issue", "questioned_label", "suggested_label")
    kind, doubted, rather = (str(fields.get(name) or "") for name in names)
    if fields.get("reason") or kind not in ISSUE_KINDS:
        return str(fields.get("reason") or "")
    named = f"{doubted}, rather {rather}" if doubted and rather else doubted or rather
    return f"{kind}: {named}" if named else kind


def choose_next(
    model: Model | None,
    data: FilePath,
    number: int,
    *,
    cold: ColdStart | None = None,
    layout: Layout = AS_FOUND,
    strict: bool = False,
    balance: bool = False,
    verbose: int = 0,
) -> list[dict[str, Any]]:
    """The documents of a file to label next, as `next_to_label` gives them; without a model by ``cold``."""
    name = shown_name(data)
    with timed(f"reading {name}", bool(verbose)):
        corpus = Corpus.from_documents(read_documents(data, _layout(model, layout)))
    among = layout.detect_among or (() if model is None else model.languages)
    corpus, names = name_languages(corpus, name, among=among, verbose=verbose, strict=strict)
    for line in names.lines():
        logger.info("%s: %s", name, line)
    corpus = _unlabelled(model, corpus, name)
    for language, there in sorted(Counter(map(str, corpus.languages)).items()):
        if model is not None and there > MAX_COMPARED_DOCUMENTS:
            looked_at = f"{MAX_COMPARED_DOCUMENTS:,} are looked at"
            logger.info("%s: of %s documents in %s, %s.", name, f"{there:,}", language, looked_at)
    rows = next_to_label(
        model,
        corpus.texts,
        corpus.languages,
        number,
        ids=corpus.ids,
        groups=corpus.groups if any(corpus.groups) else None,
        balance=balance,
    )
    if cold is not None:
        rows = [{**row, "suggested": cold.suggest(row["text"])} for row in rows]
    if len(rows) < min(number, len(corpus)):
        logger.info(
            "%d of %s chosen: the others say the same as a chosen or a learned one, are of its group, or "
            "were not looked at.",
            len(rows),
            counted(len(corpus), "document"),
        )
    return rows


def _unlabelled(model: Model | None, corpus: Corpus, name: str) -> Corpus:
    """The documents that could be labelled; how many others there are is said."""
    archive = None if model is None else model.archive
    learned = np.zeros(len(corpus), dtype=bool)
    if archive is not None and archive.texts:
        learned = archive.knows(corpus.languages, corpus.texts, corpus.ids, corpus.groups)
    left = np.ones(len(corpus), dtype=bool)
    lines = []
    for which, why in (
        ([not text.strip() for text in corpus.texts], "without text"),
        ([labels is not None for labels in corpus.labels], "with labels"),
        ([split == "test" for split in corpus.splits], "for test"),
        (learned, "that the model has learned, or another version of"),
    ):
        found = np.asarray(which, dtype=bool)
        if number := int((found & left).sum()):
            lines.append(f"{counted(number, 'document')} {why}")
        left &= ~found
    if not left.any():
        raise InputError(f"{name}: no document to label: {', '.join(lines)}. Add some without labels.")
    if lines:
        logger.info("%s: left out: %s.", name, ", ".join(lines))
    return corpus.select(left)
