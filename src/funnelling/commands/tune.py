"""``funnelling tune``: thresholds for another goal, without training anew."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from funnelling.commands import printing
from funnelling.commands.declaring import argument, flag, option
from funnelling.commands.options import Changing, FilePath, Reading
from funnelling.errors import InputError, counted
from funnelling.runtime.messages import Reporter, silent

if TYPE_CHECKING:
    from funnelling.commands.change import Change
    from funnelling.corpus import Corpus
    from funnelling.evaluation.measurement import Measurement
    from funnelling.funnel.tuning import ThresholdChange
    from funnelling.methods.model import Model

CHANGED = (
    "parameters",
    "built",
    "fitted.learned.tier_two.thresholds",
    "fitted.learned.tier_two.held_out",
    "history",
)
CHANGED_ZERO_SHOT = "fitted.zero_shot.tier_two.thresholds"


@dataclass(frozen=True)
class TuneResult:
    """A model that has other thresholds and was saved, what has changed, and how that was measured."""

    model: "Model"
    change: "ThresholdChange"
    measurement: "Measurement"


class Tune(Changing, Reading):
    """Set decision thresholds, without training the model again.

    GOAL is the best macro-f1, micro-f1, macro-k or micro-k; the best F1 with recall=R; or the best recall
    with precision=P. Thresholds are tuned on out-of-fold scores of the training documents, or on DATA. A
    table compares precision, recall and labels per document, before and after.
    """

    examples = ("tune model --goal recall=0.9 --per-label -o cautious-model",)

    data: FilePath | None = argument(
        "labelled documents to tune on; training documents are left out", "DATA", nargs="?", default=None
    )
    goal: str = option(
        "macro-f1, micro-f1, macro-k, micro-k, recall=R or precision=P", "GOAL", complete="goals", common=True
    )
    labels: str | Sequence[str] | None = option(
        "tune only these: labels between commas, or a file with one per line; others stay as they are",
        "LABELS",
        default=None,
        common=True,
    )
    per_label: bool = flag("each label is to reach the goal on its own (all labels together)", common=True)

    def run(self, report: Reporter = silent, verbose: int = 0) -> TuneResult:
        from funnelling.commands.change import change_model
        from funnelling.funnel.thresholds import parse_goal

        parse_goal(self.goal)
        labels = named_labels(self.labels) if isinstance(self.labels, str) else self.labels
        return change_model(
            self, "tune", lambda model, _: self._tune(model, labels, report, verbose), mapped=True
        )

    def _tune(
        self, before: "Model", labels: Sequence[str] | None, report: Reporter, verbose: int
    ) -> "Change[TuneResult]":
        from funnelling.commands.change import Change
        from funnelling.commands.sources import prefix_errors_with_file
        from funnelling.funnel import tuning

        with prefix_errors_with_file(self.model):
            tuning.check_tunable(before, self.data is None)
        documents = None if self.data is None else self._documents(before, report, verbose)
        with prefix_errors_with_file(self.model):
            tuned, change = tuning.tune(before, self.goal, labels, self.per_label, documents)
        measurement = _measurement(change, None if documents is None else len(documents))
        zero_shot = tuning.check_tunable(tuned, self.data is None).zero_shot
        return Change(
            TuneResult(tuned, change, measurement),
            {"goal": change.goal, "labels": None if labels is None else len(change.tuned)},
            measurement.record(),
            measurement.details(),
            CHANGED if zero_shot is None else (*CHANGED, CHANGED_ZERO_SHOT),
        )

    def _documents(self, model: "Model", report: Reporter, verbose: int) -> "Corpus":
        """The documents to tune on: those for test where the file has a split, and no training documents."""
        from funnelling.commands.arrivals import without_training_documents
        from funnelling.commands.sources import layout_for, prefix_errors_with_file, read_labelled, rolled_up
        from funnelling.evaluation.splits import sides_of

        assert self.data is not None
        layout = layout_for(model, self.layout)
        corpus, notes = read_labelled(self.data, model.languages, verbose, layout, self.strict)
        sides = sides_of(corpus)
        corpus = rolled_up(sides.test if len(sides.test) else sides.train, model.label_set)
        known = corpus.select([tag in model.languages for tag in corpus.languages])
        if len(known) < len(corpus):
            number = counted(len(corpus) - len(known), "document")
            notes.append(f"{number} left out, in languages without training documents.")
        if model.archive is not None:
            known = without_training_documents(model.archive, known, notes.append)
        if not len(known):
            with prefix_errors_with_file(self.data):
                raise InputError("no document to tune on. Name labelled documents, other than for training.")
        for line in notes:
            report(line)
        return known

    def show(self, result: TuneResult) -> None:
        from funnelling.report.measures import MAX_LABELS_SHOWN, label_changes, language_changes
        from funnelling.report.tables import plain

        record, how = result.change.to_dict(), result.measurement.how
        if self.json:
            model = {**printing.origin("tune"), "model": str(self.target)}
            printing.print_json({**model, **record, "evaluated_on": how})
            return
        print(plain(language_changes(record)))
        print(how)
        changed = [row for row in record["by_label"] if row["before"] != row["after"]]
        if changed:
            shown = min(len(changed), MAX_LABELS_SHOWN)
            print(f"\nThe labels that changed most ({shown} of {len(changed)}):")
            print(plain(label_changes(changed)))
        print("\n".join(record["unreached"]), end="\n" if record["unreached"] else "")
        if self.labels is not None:
            print(
                "Other labels keep their thresholds. An update tunes all labels again, for the former goal."
            )
        print(f"Model: {self.target}")


def _measurement(change: "ThresholdChange", documents: int | None) -> "Measurement":
    """What the model's card shows from now on, of new ``documents`` or of training documents."""
    from funnelling.evaluation.measurement import Measurement
    from funnelling.evaluation.measures import Counts
    from funnelling.evaluation.registry import averaged, measure_counts

    tuned, labels = len(change.tuned), len(change.labels)
    some = "" if tuned == labels else f" of {tuned:,} of {counted(labels, 'label')}"
    over = "the training documents" if documents is None else f"{counted(documents, 'other document')}"
    how = (
        f"Measured by inner folds over {over} after thresholds{some} were tuned for "
        f"{change.goal}; those of each fold were tuned on the others."
    )
    languages = {}
    for language, table in change.after.items():
        counts = Counts.from_table(table)
        languages[language] = {**measure_counts(counts), "documents": int(counts.documents)}
    return Measurement(dict(averaged(languages)), how)


def named_labels(text: str) -> list[str]:
    """Labels from a file with one per line, or from a text with commas between them."""
    from funnelling.formats.files import reading, shown_name, text_lines

    try:
        is_file = Path(text).is_file()
    except OSError:  # too long for the name of a file
        is_file = False
    if not is_file:
        return [label.strip() for label in text.split(",") if label.strip()]
    with reading(text) as stream:
        return [line.strip() for _, line in text_lines(stream, shown_name(text)) if line.strip()]
