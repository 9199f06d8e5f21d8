"""``funnelling update`` and ``add-language``: a model learns further documents, without starting over."""

from typing import TYPE_CHECKING

from funnelling.commands import printing
from funnelling.commands.declaring import argument
from funnelling.commands.options import DATA_HELP, FilePath, Growing
from funnelling.errors import counted, printable
from funnelling.runtime.messages import Reporter, silent

if TYPE_CHECKING:
    from funnelling.commands.arrivals import GrownModel

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
