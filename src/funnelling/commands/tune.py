"""``funnelling tune``: thresholds for another goal, without training anew."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from funnelling.commands import printing
from funnelling.commands.declaring import HIDDEN, flag, option
from funnelling.commands.options import Changing
from funnelling.errors import counted
from funnelling.runtime.messages import Reporter, silent

if TYPE_CHECKING:
    from funnelling.commands.change import Change
    from funnelling.commands.measurement import Measurement
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
class TunedModel:
    """A model that has other thresholds and was saved, what has changed, and how that was measured."""

    model: "Model"
    change: "ThresholdChange"
    measurement: "Measurement"


class Tune(Changing):
    """Set the thresholds above which a model assigns labels, without training it anew:
    for the best micro-f1, macro-f1, micro-k or macro-k, for the best F1 with recall=R, or for the best recall
    with precision=P. Precision, recall and labels per document are shown before and after, on training
    documents that were held out.
    """

    examples = ("tune model --optimise recall=0.9 --per-label -o cautious-model",)

    optimise: str = option(
        "micro-f1, macro-f1, micro-k, macro-k, recall=R or precision=P",
        "GOAL",
        complete="goals",
        also={"--optimize": {"help": HIDDEN}},
    )
    labels: str | Sequence[str] | None = option(
        "tune only these: labels between commas, or a file with one per line; others stay as they are",
        "LABELS",
        default=None,
    )
    per_label: bool = flag(
        "every label is to reach the goal on its own (all together, rare ones leaning on the others)"
    )

    def run(self, report: Reporter = silent, verbose: int = 0) -> TunedModel:
        from funnelling.commands.change import change_model
        from funnelling.funnel.thresholds import parse_goal

        parse_goal(self.optimise)
        labels = named_labels(self.labels) if isinstance(self.labels, str) else self.labels
        return change_model(self, "tune", lambda model, _: self._tune(model, labels), mapped=True)

    def _tune(self, before: "Model", labels: Sequence[str] | None) -> "Change[TunedModel]":
        from funnelling.commands.change import Change
        from funnelling.commands.sources import prefix_errors_with_file
        from funnelling.funnel import tuning

        with prefix_errors_with_file(self.model):
            tuned, change = tuning.tune(before, self.optimise, labels, self.per_label)
        measurement = _measurement(change)
        zero_shot = tuning.check_tunable(tuned).zero_shot
        return Change(
            TunedModel(tuned, change, measurement),
            {"goal": change.goal, "labels": None if labels is None else len(change.tuned)},
            measurement.record(),
            measurement.details(),
            CHANGED if zero_shot is None else (*CHANGED, CHANGED_ZERO_SHOT),
        )

    def show(self, result: TunedModel) -> None:
        from funnelling.report.measures import MAX_LABELS_SHOWN, label_changes, language_changes
        from funnelling.report.tables import plain

        record, how = result.change.record(), result.measurement.how
        if self.json:
            printing.print_json({**record, "how": how, "model": str(self.target)})
            return
        print(plain(language_changes(record)))
        print(how)
        changed = [row for row in record["by_label"] if row["before"] != row["after"]]
        if changed:
            shown = min(len(changed), MAX_LABELS_SHOWN)
            print(f"\nThe labels that changed most ({shown} of {len(changed)}):")
            print(plain(label_changes(changed)))
        print("\n".join(record["missed"]), end="\n" if record["missed"] else "")
        if self.labels is not None:
            print(
                "Other labels keep their thresholds. When the model learns on, all are tuned as before this."
            )
        print(f"Model: {self.target}")


def _measurement(change: "ThresholdChange") -> "Measurement":
    """What the model's card shows from now on: what it showed before was of other thresholds."""
    from funnelling.commands.measurement import Measurement
    from funnelling.evaluation.measures import Counts
    from funnelling.evaluation.registry import averaged, measure_counts

    tuned, labels = len(change.tuned), len(change.labels)
    some = "" if tuned == labels else f" of {tuned:,} of {counted(labels, 'label')}"
    how = (
        f"Measured by inner folds over the training documents after thresholds{some} were tuned for "
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
