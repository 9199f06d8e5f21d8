"""``funnelling update`` and ``funnelling forget``: documents are added to a model, or removed."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from funnelling.commands import printing
from funnelling.commands.declaring import flag, option
from funnelling.commands.options import FilePath, Learning, Updating
from funnelling.errors import InputError, counted, nearest, printable
from funnelling.runtime.messages import Reporter, silent

if TYPE_CHECKING:
    from funnelling.commands.arrivals import UpdateResult
    from funnelling.commands.change import Change
    from funnelling.corpus.by_language import ByLanguage
    from funnelling.evaluation.change import BeforeAfterMetrics
    from funnelling.methods.model import Model

LIST_ENDINGS = ("", ".txt", ".ids")  # endings of files with an id per line
MAX_LABELS_SHOWN = 8  # in a line
TYPO_SIMILARITY = 0.8  # how like a new label is to one that may be meant


class Update(Updating):
    """Add documents, corrections, languages or labels to a model.

    The result is the model trained on all documents at once, with the views that were chosen before. A
    document that the model has, by id or else by text, gets the labels of DATA; a file of ids and labels is
    enough for that. A table compares metrics before and after. A model that became worse by more than noise
    is not saved: the exit status is 3.
    """

    examples = (
        "update model corrections.csv",
        "update model finnish.jsonl -o model-with-finnish",
    )

    def run(self, report: Reporter = silent, verbose: int = 0) -> "UpdateResult":
        from funnelling.commands.arrivals import update_model

        return update_model(self, report, verbose)

    def show(self, result: "UpdateResult") -> None:
        folder = self.target if result.saved else None
        if self.json:
            printing.print_json({**printing.origin("update"), "model": folder, **result.record()})
            return
        _print_update(result)
        if folder is not None:
            print(f"Model: {folder}")


def _print_update(update: "UpdateResult") -> None:
    """Print what has changed."""
    from funnelling.evaluation.change import HELD_OUT

    printing.print_change(update.change)
    if update.reused_folds and HELD_OUT in update.change.on.values():
        print(
            "Few documents are new: out-of-fold scores of the others are reused, and the table shows the "
            "effect of thresholds (--exact evaluates again)."
        )
    if update.corrected:
        get = "gets" if update.corrected == 1 else "get"
        print(
            f"{update.corrections_learned:,} of {counted(update.corrected, 'corrected document')} now {get} "
            "exactly the corrected labels."
        )
    if update.new_labels:
        shown = ", ".join(map(printable, update.new_labels[:MAX_LABELS_SHOWN]))
        more = ", …" if len(update.new_labels) > MAX_LABELS_SHOWN else ""
        print(f"New labels, which the table leaves out: {len(update.new_labels):,} ({shown}{more})")
        known = {str(label) for label in update.model.labels.classes}.difference(update.new_labels)
        words = [label for label in update.new_labels[:MAX_LABELS_SHOWN] if not any(map(str.isdigit, label))]
        for label in words:  # codes that differ in a digit mean different things
            if near := nearest(label, known, cutoff=TYPO_SIMILARITY):
                print(printable(f"{label} is near {near}, a label of the model. Merge them with relabel."))


@dataclass(frozen=True)
class ForgetResult:
    """A model without the documents that it forgot, which was saved, and what has changed.

    ``forgotten`` counts documents by language. Labels and languages that only they had are gone. ``unknown``
    counts the ids that no document had.
    """

    model: "Model"
    forgotten: dict[str, int]
    unknown: int
    gone_labels: list[str]
    gone_languages: list[str]
    change: "BeforeAfterMetrics"

    def record(self) -> dict[str, Any]:
        """What has changed as JSON holds it."""
        names = ("forgotten", "unknown", "gone_labels", "gone_languages")
        return {
            "documents": dict(self.model.documents),
            **{name: getattr(self, name) for name in names},
            **self.change.record(),
        }


class Forget(Learning):
    """Remove training documents from a model.

    The result is the model trained without them, bit by bit. Its folder holds neither the documents nor
    their ids.
    """

    examples = ("forget model --ids withdrawn.txt",)

    ids: FilePath = option(
        "ids of the documents: one per line, or a table with a column of ids; - for standard input",
        "FILE",
        common=True,
    )
    id_column: str | None = option(
        "column of the ids, where FILE is a table", "NAME", default=None, common=True
    )
    ignore_unknown: bool = flag("ignore ids that no document of the model has", common=True)

    def run(self, report: Reporter = silent, verbose: int = 0) -> ForgetResult:
        from funnelling.commands.change import change_model

        return change_model(self, "forget", lambda model, _: self._forget(model, report, verbose))

    def _forget(self, before: "Model", report: Reporter, verbose: int) -> "Change[ForgetResult]":
        from funnelling.commands.change import Change, change_of, measure_changed, ready_to_learn
        from funnelling.commands.sources import prefix_errors_with_file
        from funnelling.corpus import Corpus
        from funnelling.methods import learning

        before = ready_to_learn(before, self, verbose)
        archive, listed = learning.check_extensible(before), read_ids(self.ids, self.id_column)
        with prefix_errors_with_file(self.ids):
            names, unknown = _known(archive, listed, self.ignore_unknown)
        found, places = archive.find_ids(names), learning.left_without(before, names)
        if any(map(len, places.values())):  # else it is refused
            gone = sum(map(len, found.values()))
            them = "it" if gone == 1 else "them"
            report(f"Forgetting {counted(gone, 'document')}: training again without {them}.")
        with prefix_errors_with_file(self.model):
            after = learning.forget(before, names)
        if after.fitted.chosen is not None:
            report(after.fitted.chosen.summary())
        forgetful = ForgetResult(
            after,
            {language: len(rows) for language, rows in found.items()},
            unknown,
            sorted(set(map(str, before.labels.classes)) - set(map(str, after.labels.classes))),
            sorted(set(before.languages) - set(after.languages)),
            change_of(before, after, places, Corpus()),
        )
        measurement = measure_changed(after, Corpus(), "after documents were forgotten")
        # Without the file, whose name may be that of a person.
        facts = {"removed": forgetful.forgotten}
        return Change(forgetful, facts, measurement.record(), measurement.details())

    def show(self, result: ForgetResult) -> None:
        if self.json:
            printing.print_json({**printing.origin("forget"), "model": self.target, **result.record()})
            return
        number = sum(result.forgotten.values())
        by_language = ", ".join(f"{language} {each:,}" for language, each in result.forgotten.items())
        print(f"Forgot {counted(number, 'document')}: {by_language}")
        if result.unknown:
            print(f"Ignored {counted(result.unknown, 'unknown id')}")
        for what, gone in (("Languages", result.gone_languages), ("Labels", result.gone_labels)):
            if gone:
                print(f"{what} without documents, removed: {', '.join(map(printable, gone))}")
        printing.print_change(result.change)
        print("README.md and report.html are new, without them.")
        if self.output is not None:
            print(f"The old model still has these documents: {self.model}")
        print(f"Model: {self.target}")


def read_ids(path: FilePath, column: str | None = None) -> list[str]:
    """The ids in a file: one per line, or in a table's column of ids."""
    from funnelling.formats import read_documents
    from funnelling.formats.files import STANDARD
    from funnelling.formats.layout import NONE_WORD, Layout

    if str(path) == STANDARD or Path(path).suffix.lower() in LIST_ENDINGS:
        lines = read_documents(path, Layout(file_format="lines"), labels=False)
        return list(dict.fromkeys(document.text.strip() for document in lines))
    layout = Layout(id=column, text=(NONE_WORD,))
    return list(dict.fromkeys(each.id for each in read_documents(path, layout, labels=False, texts=False)))


def _known(archive: "ByLanguage", ids: Sequence[str], ignore_unknown: bool) -> tuple[list[str], int]:
    """The ids that documents have, and how many others there are."""
    from funnelling.formats.document import quoted

    given = set[str]().union(*map(archive.given_ids, archive.blocks))
    if not given:
        raise InputError(
            "the training documents have no ids. Update the model with the documents and their ids, or train "
            "it again without those to forget."
        )
    known = [name for name in ids if name in given]
    unknown = [name for name in ids if name not in given]
    if unknown and not ignore_unknown:
        more = f", nor {len(unknown) - 1:,} more" if len(unknown) > 1 else ""
        raise InputError(
            f"no training document has the id {quoted(unknown[0])}{more}. Leave them out, or add "
            "--ignore-unknown."
        )
    if not known:
        raise InputError("no training document has one of these ids. There is nothing to forget.")
    return known, len(unknown)
