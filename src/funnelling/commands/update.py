"""``funnelling update``, ``add-language`` and ``forget``: a model learns or forgets documents."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from funnelling.commands import printing
from funnelling.commands.declaring import argument, flag, option
from funnelling.commands.options import DATA_HELP, FilePath, Growing, Learning
from funnelling.errors import InputError, counted, printable
from funnelling.runtime.messages import Reporter, silent

if TYPE_CHECKING:
    from funnelling.commands.arrivals import GrownModel
    from funnelling.commands.change import Change
    from funnelling.corpus.by_language import ByLanguage
    from funnelling.evaluation.change import BeforeAfterMetrics
    from funnelling.methods.model import Model

LIST_ENDINGS = ("", ".txt", ".ids")  # endings of files with an id per line
MAX_LABELS_SHOWN = 8  # in a line
TYPO_SIMILARITY = 0.8  # how like a new label is to one that may be meant


class _Growing(Growing):
    def run(self, report: Reporter = silent, verbose: int = 0) -> "GrownModel":
        from funnelling.commands.arrivals import grow

        return grow(self, report, verbose)

    def show(self, result: "GrownModel") -> None:
        folder = self.target if result.saved else None
        if self.json:
            printing.print_json({"model": folder, **result.record()})
            return
        _print_growth(result)
        if folder is not None:
            print(f"Model: {folder}")


class AddLanguage(_Growing):
    """Teach a model languages that it does not know.

    It becomes the model that is trained on all documents at once, with the views that were chosen before.
    Measures before and after are shown; a model that became worse by more than noise is not saved.
    """

    step = "add-language"
    examples = ("add-language model finnish.jsonl -o model-with-finnish",)

    data: FilePath = argument(DATA_HELP, "DATA")


class Update(_Growing):
    """Teach a model further documents.

    It becomes the model that is trained on all documents at once, with the views that were chosen before.
    Those it knows, by id or else by text, get the labels given now; a file of ids and labels is enough for
    that. Measures before and after are shown; a model that became worse by more than noise is not saved.
    """

    step = "update"
    examples = ("update model corrections.csv --choose",)

    data: FilePath | None = argument(DATA_HELP, "DATA", nargs="?", default=None)


def _print_growth(growth: "GrownModel") -> None:
    """Print what has changed since a model learned on."""
    from funnelling.corpus.labels import near_labels
    from funnelling.evaluation.change import HELD_OUT

    printing.print_change(growth.change)
    if growth.kept_scores and HELD_OUT in growth.change.on.values():
        print(
            "Few documents came: what the model said of the others when they were held out is kept, and the "
            "table shows what thresholds do (--exact measures anew)."
        )
    if growth.corrected:
        get = "gets" if growth.corrected == 1 else "get"
        print(
            f"{growth.as_corrected:,} of {counted(growth.corrected, 'corrected document')} now {get} exactly "
            "the labels given."
        )
    if growth.new_labels:
        shown = ", ".join(map(printable, growth.new_labels[:MAX_LABELS_SHOWN]))
        more = ", …" if len(growth.new_labels) > MAX_LABELS_SHOWN else ""
        print(f"New labels, which the table leaves out: {len(growth.new_labels):,} ({shown}{more})")
        known = {str(label) for label in growth.model.labels.classes}.difference(growth.new_labels)
        words = [label for label in growth.new_labels[:MAX_LABELS_SHOWN] if not any(map(str.isdigit, label))]
        for label in words:  # codes that differ in a digit mean different things
            if near := near_labels(label, known, cutoff=TYPO_SIMILARITY):
                print(printable(f"{label} is near {near[0]}, which the model has: relabel merges them."))


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
    change: "BeforeAfterMetrics"

    def record(self) -> dict[str, Any]:
        """What has changed as JSON holds it."""
        told = ("forgotten", "unknown", "gone_labels", "gone_languages")
        return {
            "documents": dict(self.model.documents),
            **{name: getattr(self, name) for name in told},
            **self.change.record(),
        }


class Forget(Learning):
    """Make a model the one that never saw some documents:
    everything is learned anew without them, and neither they nor their ids are anywhere in its folder
    afterwards.
    """

    examples = ("forget model --ids withdrawn.txt",)

    ids: FilePath = option(
        "ids of the documents: one per line, or a table with a column of ids; - for standard input", "FILE"
    )
    id_column: str | None = option("column of the ids, where FILE is a table", "NAME", default=None)
    ignore_unknown: bool = flag("pass over ids that no document of the model has")

    def run(self, report: Reporter = silent, verbose: int = 0) -> ForgetfulModel:
        from funnelling.commands.change import change_model

        return change_model(self, "forget", lambda model, _: self._forget(model, report, verbose))

    def _forget(self, before: "Model", report: Reporter, verbose: int) -> "Change[ForgetfulModel]":
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
            report(f"Forgetting {counted(gone, 'document')}; learning anew without {them}.")
        with prefix_errors_with_file(self.model):
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
        measurement = measure_changed(after, Corpus(), "after it forgot documents")
        # Without the file, whose name may be that of a person.
        facts = {"removed": forgetful.forgotten}
        return Change(forgetful, facts, measurement.record(), measurement.details())

    def show(self, result: ForgetfulModel) -> None:
        if self.json:
            printing.print_json({"model": self.target, **result.record()})
            return
        number = sum(result.forgotten.values())
        by_language = ", ".join(f"{language} {each:,}" for language, each in result.forgotten.items())
        print(f"Forgot {counted(number, 'document')}: {by_language}")
        if result.unknown:
            print(f"Passed over: {counted(result.unknown, 'id')} that no document has")
        for what, gone in (("Languages", result.gone_languages), ("Labels", result.gone_labels)):
            if gone:
                print(f"{what} that only they had, and that are gone: {', '.join(map(printable, gone))}")
        printing.print_change(result.change)
        print("README.md and report.html were written anew, without them.")
        if self.output is not None:
            print(f"The old model still has them: {self.model}")
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
