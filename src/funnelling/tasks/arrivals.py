"""What documents are to a model that is about to learn from them: refused, or told, a line each."""

from collections import Counter
from typing import TYPE_CHECKING

from funnelling.errors import InputError, counted
from funnelling.formats.document import LineNumber
from funnelling.methods.archive import Archive
from funnelling.methods.merging import DocumentRows, Merged, tuned_for_some
from funnelling.methods.model import FIRST_STEP
from funnelling.tasks.sources import FilePath

if TYPE_CHECKING:
    from funnelling.methods.model import Model

MIN_NEW_VERSIONS = 3  # documents with another text than the one of their id are taken for new versions of it
CHOSEN_ANEW = "chosen anew"  # of views, in a model's history


def check_replaced(merged: Merged) -> None:
    """Refuse documents most of which have another text than the training documents of their ids."""
    replaced = total(merged.replaced)
    alike = total(united(merged.corrected, merged.repeated))
    both = sum(len({*merged.corrected.get(tag, ())} & {*rows}) for tag, rows in merged.replaced.items())
    if replaced < MIN_NEW_VERSIONS or replaced <= alike - both:
        return
    raise InputError(
        f"{counted(replaced, 'document')} with the id of a training document and another text. Add "
        "--id-column none if ids are only numbers of rows, --text-column none if it is no text, or --force "
        "to replace them."
    )


def arrival_lines(model: "Model", merged: Merged, choose: bool, folder: FilePath) -> list[str]:
    """What is about to be learned, and what may be wrong with it; the new model goes to ``folder``."""
    return [
        *_said(model, merged, choose, folder),
        *([] if model.archive is None else _known_elsewhere(model.archive, merged)),
        *_there_twice(merged),
    ]


def _said(model: "Model", merged: Merged, choose: bool, folder: FilePath) -> list[str]:
    """What is about to be learned, a line each."""
    new, corrected, replaced, repeated = (
        total(each) for each in (merged.new, merged.corrected, merged.replaced, merged.repeated)
    )
    counts = [
        f"{number:,} {what}"
        for number, what in (
            (new, "new"),
            (corrected, "corrected"),
            (replaced, "replaced"),
            (repeated, "known with these labels"),
        )
        if number
    ]
    lines = [f"Learning on: {', '.join(counts)}."] if counts else []
    languages = {tag: len(rows) for tag, rows in merged.new.items() if rows and tag not in model.languages}
    if languages:
        named = ", ".join(f"{tag} ({counted(number, 'document')})" for tag, number in languages.items())
        lines.append(f"New languages: {named}.")
    if replaced:
        cure = "add --id-column none if ids are only numbers of rows, and --text-column none if it is no text"
        lines.append(
            f"{counted(replaced, 'document')} with the id of a training document and another text, which is "
            f"replaced ({cure})."
        )
    if tuned_for_some(model) and merged.changed:
        lines.append(
            "Thresholds that were tuned for some labels are tuned with all others again: repeat `funnelling "
            "tune --labels` afterwards."
        )
    before, documents = _chosen_by(model), sum(merged.archive.sizes.values())
    if model.fitted.chosen is not None and not choose and documents > 2 * before:
        lines.append(
            f"The views were chosen by {counted(before, 'document')}, and there are {documents:,} now: "
            f"`funnelling update {folder} --choose` chooses anew, over all of them."
        )
    return lines


def _known_elsewhere(archive: Archive, merged: Merged) -> list[str]:
    """A line on new documents whose id another language has."""
    given = {tag: archive.given_ids(tag) for tag in archive.ids}
    number = 0
    for tag, rows in merged.new.items():
        elsewhere = set[str]().union(*(names for other, names in given.items() if other != tag))
        names = merged.archive.names(tag)
        came = [names[row] for row in rows]
        number += sum(name in elsewhere and not isinstance(name, LineNumber) for name in came)
    if not number:
        return []
    return [f"{counted(number, 'new document')} with the id of a training document in another language."]


def _there_twice(merged: Merged) -> list[str]:
    """A line on new documents that came more than once, by their id or, where they have none, their words."""
    seen: Counter[tuple[str, str]] = Counter()
    for tag, rows in merged.new.items():
        names, contents = merged.archive.names(tag), merged.archive.contents(tag)
        for row in rows:
            unnamed = isinstance(names[row], LineNumber)
            seen[tag, str(contents[row]) if unnamed else names[row]] += 1
    number = sum(times for times in seen.values() if times > 1)
    if not number:
        return []
    return [f"{counted(number, 'new document')} with the id or the text of another: each is learned."]


def _chosen_by(model: "Model") -> int:
    """How many documents there were when the views of a model were chosen, as far as it remembers."""
    for step in reversed(model.history):
        if step["step"] in (FIRST_STEP, "forget") or step.get("views") == CHOSEN_ANEW:
            return int(step["after"]["documents"])
    return sum(model.documents.values())


def united(first: DocumentRows, second: DocumentRows) -> DocumentRows:
    """Documents that are among the first or the second."""
    return {tag: sorted({*first.get(tag, ()), *second.get(tag, ())}) for tag in sorted({*first, *second})}


def total(documents: DocumentRows) -> int:
    """How many documents there are."""
    return sum(map(len, documents.values()))
