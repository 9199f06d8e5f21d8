"""Which documents wait for a label, in which order, and what a model learns from labels meanwhile."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from funnelling.commands.arrivals import UpdateResult
from funnelling.commands.options import NO_RESOURCES, FilePath, Resources
from funnelling.commands.sources import layout_for
from funnelling.commands.update import Update
from funnelling.corpus.label_set import LabelSet
from funnelling.errors import InputError, counted
from funnelling.evaluation.registry import MEASURE_TITLES, shown_measures
from funnelling.formats import Document, read_documents
from funnelling.formats.files import shown_name
from funnelling.formats.jsonl import journal_mark
from funnelling.formats.layout import AS_FOUND, Layout
from funnelling.labelling.auditing import ISSUE_KINDS
from funnelling.labelling.desk import key_of
from funnelling.methods.model import Model
from funnelling.methods.suggesting import suggest_texts
from funnelling.runtime.messages import Reporter, silent
from funnelling.runtime.progress import timed
from funnelling.storage import describe_model
from funnelling.storage.folders import check_writable, folder_here
from funnelling.text.detection import normalise_tags

# Documents that are suggested, before the others as they came: nobody labels more before it learns
MAX_SUGGESTED_DOCUMENTS = 500


@dataclass(frozen=True)
class Queue:
    """Documents that wait for people, and by their keys why; in the order of a model or of their file."""

    documents: list[Document]
    reasons: dict[str, str]
    by_model: bool


def read_queue(
    model: Model,
    data: FilePath,
    *,
    layout: Layout = AS_FOUND,
    everything: bool = False,
    as_they_are: bool = False,
    strict: bool = False,
    verbose: int = 0,
    report: Reporter = silent,
) -> Queue:
    """The documents of a file that are to be labelled.

    Where the file says why each is worth a look, they come in its order. Else those with labels are left out,
    and the others come in the order of `ordered`.

    Parameters
    ----------
    model : what suggests labels
    data : file of documents
    layout : where the fields of documents are in the file, as far as that is not to be found
    everything : whether documents with labels are shown, too
    as_they_are : whether the order of the file is kept in any case
    strict : whether documents in languages that are none are refused, or else left out
    verbose : above 0 for progress bars
    report : what gets a line on what is left out
    """
    name = shown_name(data)
    with timed(f"reading {name}", bool(verbose)):
        rows = list(read_documents(data, layout_for(model, layout), keep_fields=True))
    rows = _in_languages(rows, name, strict, report)
    reasons = [_reason(row) for row in rows]
    chosen = any(reasons)
    found: dict[str, Document] = {}
    labelled = 0
    for row in rows:
        if row.labels is not None and not (everything or chosen):
            labelled += 1
        else:
            found.setdefault(key_of(row), replace(row, fields=None))
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


def ordered(model: Model, documents: Sequence[Document]) -> Queue:
    """Put documents into the order in which people should see them."""
    if not documents:
        return Queue([], {}, by_model=True)
    rows = suggest_texts(
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
    kind, doubted, rather = (str(fields.get(name) or "") for name in ("kind", "doubted", "rather"))
    if fields.get("reason") or kind not in ISSUE_KINDS:
        return str(fields.get("reason") or "")
    named = f"{doubted}, rather {rather}" if doubted and rather else doubted or rather
    return f"{kind}: {named}" if named else kind


@dataclass(frozen=True)
class UpdateSettings:
    """How a model learns: from which journal, into which folder, and after how many labels each time.

    ``label_set`` is what people see in place of what the model keeps.
    """

    model: str
    journal: str
    output: str
    after: int = 50
    resources: Resources = NO_RESOURCES
    jobs: int | None = None
    label_set: LabelSet | None = None


def learned_before(output: FilePath, journal: FilePath) -> int | None:
    """How many documents of a journal the model in a folder has learned from; None where there is no folder.

    Any other folder is refused.
    """
    folder = folder_here(output)
    check_writable(folder, force=True)
    if not folder.exists():
        return None
    last = (describe_model(folder).get("history") or [{}])[-1]
    if last.get("step") == "update" and last.get("file") == Path(journal).name:
        if last.get("journal") in (None, journal_mark(journal)):
            return _learned_in(last)
        raise InputError(
            f"{folder} exists and learned from another journal that is called {Path(journal).name}. Choose "
            "another folder for the model with -o."
        )
    raise InputError(
        f"{folder} exists and is no model that learned from {Path(journal).name}. Choose another folder for "
        "the model with -o."
    )


@dataclass(frozen=True)
class BackgroundUpdate:
    """What a model learned from how many documents of a journal, and what people should see next.

    ``scores`` are those before and after. Next come the documents with ``keys``, in this order, for
    ``reasons`` as those of a `Queue`: whoever asked for the lesson has the documents.
    """

    documents: int
    scores: list[dict[str, Any]]
    measured_on: list[str]
    keys: list[str]
    reasons: dict[str, str]


def update_from_journal(how: UpdateSettings, waiting: Sequence[Document]) -> BackgroundUpdate:
    """Let a model learn what a journal says, as `update` does, into a folder of its own.

    One that has become worse by more than noise is not saved: `NegativeResultError`. The label set takes
    part in the order of the documents that are ``waiting``, and is not kept.
    """
    files = {"model": how.model, "data": how.journal, "output": how.output, **vars(how.resources)}
    growth = Update(jobs=how.jobs, overwrite=True, **files).run()
    queue = ordered(growth.model.following(how.label_set), waiting)
    keys = [key_of(document) for document in queue.documents]
    documents = _learned_in(growth.model.history[-1])
    return BackgroundUpdate(
        documents, _scores(growth), sorted({*growth.change.on.values()}), keys, queue.reasons
    )


def _learned_in(step: Mapping[str, Any]) -> int:
    """How many documents a step of a model's history was about."""
    return int(sum(step.get("documents", {}).values()))


def _scores(growth: UpdateResult) -> list[dict[str, Any]]:
    """A row per measure: its average over the languages before and after."""
    before, after = growth.change.average_before, growth.change.average_after
    return [
        {"measure": MEASURE_TITLES[name], "before": before[name], "after": after[name]}
        for name in shown_measures(before)
    ]
