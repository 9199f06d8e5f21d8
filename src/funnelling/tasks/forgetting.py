"""Let a model forget documents: it becomes the one that never saw them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from funnelling.corpus import Corpus
from funnelling.errors import InputError, counted
from funnelling.evaluation.change import BeforeAfterMetrics
from funnelling.formats import read_documents
from funnelling.formats.document import quoted
from funnelling.formats.files import STANDARD
from funnelling.formats.layout import AS_FOUND, NONE_WORD, Layout
from funnelling.methods import learning
from funnelling.methods.learning import check_extensible, left_without
from funnelling.methods.merging import remember_step
from funnelling.runtime.messages import Reporter, silent
from funnelling.storage import save_changes
from funnelling.tasks.changes import change_of
from funnelling.tasks.growing import load_extensible, measure_changed
from funnelling.tasks.resources import NO_RESOURCES, ResourcePaths
from funnelling.tasks.sources import FilePath, prefix_errors_with_file

if TYPE_CHECKING:
    from funnelling.methods.archive import Archive
    from funnelling.methods.model import Model

LIST_ENDINGS = ("", ".txt", ".ids")  # endings of files with an id per line


@dataclass(frozen=True)
class ForgetfulModel:
    """A model without the documents that it forgot, which was saved, and what has changed.

    ``forgotten`` counts documents by language. Labels and languages that only they had are gone. ``unknown``
    is how many ids no document had.
    """

    model: "Model"
    forgotten: dict[str, int]
    unknown: int
    gone_labels: list[str]
    gone_languages: list[str]
    change: BeforeAfterMetrics

    def record(self) -> dict[str, Any]:
        """What has changed as JSON holds it."""
        told = ("forgotten", "unknown", "gone_labels", "gone_languages")
        return {
            "documents": dict(self.model.documents),
            **{name: getattr(self, name) for name in told},
            **self.change.record(),
        }


def forget(
    model: FilePath,
    ids: FilePath,
    output: FilePath | None = None,
    *,
    layout: Layout = AS_FOUND,
    ignore_unknown: bool = False,
    resources: ResourcePaths = NO_RESOURCES,
    jobs: int | None = None,
    force: bool = False,
    verbose: int = 0,
    report: Reporter = silent,
) -> ForgetfulModel:
    """Make a model the one that never saw the documents of some ids, and save it.

    Everything is done anew without them, choices included, and the card and the report of the model are
    written anew. Nothing in its folder holds the documents any more.

    Parameters
    ----------
    model : folder of the model
    ids : file with an id per line, or a table with a column of ids; - for standard input
    output : folder of the new model; None replaces the old one
    layout : where the ids are in a table, as far as that is not to be found
    ignore_unknown : whether ids that no document has are passed over, or else refused
    resources : where those resources are now that the model learns from beside documents
    jobs : threads, or None for one
    force : whether another model in ``output`` is replaced
    verbose : above 0 for progress bars
    report : what gets a line on each step
    """
    before, document = load_extensible(model, output, resources, force)
    before = before.running(n_jobs=jobs, verbose=verbose)
    archive, listed = check_extensible(before), read_ids(ids, layout)
    with prefix_errors_with_file(ids):
        names, unknown = _known(archive, listed, ignore_unknown)
    found, places = archive.find_ids(names), left_without(before, names)
    if any(map(len, places.values())):  # else it is refused
        gone = sum(map(len, found.values()))
        them = "it" if gone == 1 else "them"
        report(f"Forgetting {counted(gone, 'document')}; learning anew without {them}.")
    with prefix_errors_with_file(model):
        after = learning.forget(before, names)
    if after.fitted.chosen is not None:
        report(after.fitted.chosen.summary())
    forgetful = ForgetfulModel(
        after,
        {language: len(rows) for language, rows in found.items()},
        unknown,
        sorted(set(map(str, before.labels.classes)) - set(map(str, after.labels.classes))),
        sorted(set(before.languages) - set(after.languages)),
        change_of(before, after, places, Corpus()),
    )
    # Without the file, whose name may be that of a person.
    after = remember_step(after, "forget", removed=forgetful.forgotten)
    forgetful = replace(forgetful, model=after)
    measurement = measure_changed(after, Corpus(), "after it forgot documents")
    save_changes(
        after,
        model,
        output,
        document=document,
        scores=measurement.record(),
        details=measurement.details(),
        force=force,
    )
    return forgetful


def read_ids(path: FilePath, layout: Layout = AS_FOUND) -> list[str]:
    """The ids in a file: one per line, or in a table's column of ids."""
    if layout.file_format is None and (str(path) == STANDARD or Path(path).suffix.lower() in LIST_ENDINGS):
        lines = read_documents(path, Layout(file_format="lines"), labels=False)
        return list(dict.fromkeys(document.text.strip() for document in lines))
    documents = read_documents(path, replace(layout, text=(NONE_WORD,)), labels=False, texts=False)
    return list(dict.fromkeys(document.id for document in documents))


def _known(archive: "Archive", ids: Sequence[str], ignore_unknown: bool) -> tuple[list[str], int]:
    """The ids that documents have, and how many others there are."""
    given = set[str]().union(*map(archive.given_ids, archive.ids))
    if not given:
        raise InputError(
            "the documents that the model learned from were given no ids. Update it with them and their "
            "ids, or train it anew without those to be forgotten."
        )
    known = [name for name in ids if name in given]
    unknown = [name for name in ids if name not in given]
    if unknown and not ignore_unknown:
        more = f", nor {len(unknown) - 1:,} more" if len(unknown) > 1 else ""
        raise InputError(
            f"the model learned from no document with the id {quoted(unknown[0])}{more}. Leave them out, or "
            "add --ignore-unknown."
        )
    if not known:
        raise InputError("the model learned from none of these documents. There is nothing to forget.")
    return known, len(unknown)
