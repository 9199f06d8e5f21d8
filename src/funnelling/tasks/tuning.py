"""Give a model other thresholds, for what matters now, without training it anew."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from funnelling.errors import counted
from funnelling.evaluation.measures import Counts
from funnelling.evaluation.registry import averaged, measure_counts
from funnelling.formats.files import reading, shown_name, text_lines
from funnelling.funnel import tuning
from funnelling.funnel.thresholds import parse_goal
from funnelling.funnel.tuning import ThresholdChange, check_tunable
from funnelling.methods.merging import remember_step
from funnelling.storage import check_writable, load_to_change, save_changes
from funnelling.tasks.measurement import Measurement
from funnelling.tasks.sources import FilePath, prefix_errors_with_file

if TYPE_CHECKING:
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
    change: ThresholdChange
    measurement: Measurement


def tune(
    model: FilePath,
    optimise: str,
    output: FilePath | None = None,
    *,
    labels: Sequence[str] | None = None,
    per_label: bool = False,
    force: bool = False,
) -> TunedModel:
    """Set a model's thresholds for a goal, from scores that it keeps of its training documents.

    Parameters
    ----------
    model : folder of a funnel
    optimise : "micro-f1", "macro-f1", "micro-k", "macro-k", "recall=R" or "precision=P"
    output : folder of the new model; None replaces the old one
    labels : those to tune, or None for all; others keep their thresholds
    per_label : whether every label is to reach recall or precision on its own, or all together
    force : whether another model in ``output`` is replaced
    """
    parse_goal(optimise)
    check_writable(Path(output or model), force or output is None)
    loaded, document = load_to_change(model, mapped=True)
    with prefix_errors_with_file(model):
        tuned, change = tuning.tune(loaded, optimise, labels, per_label)
    tuned = remember_step(
        tuned, "tune", goal=change.goal, labels=None if labels is None else len(change.tuned)
    )
    measurement = _measurement(change)
    save_changes(
        tuned,
        model,
        output,
        [*CHANGED, *([] if check_tunable(tuned).zero_shot is None else [CHANGED_ZERO_SHOT])],
        document=document,
        scores=measurement.record(),
        details=measurement.details(),
        force=force,
    )
    return TunedModel(tuned, change, measurement)


def _measurement(change: ThresholdChange) -> Measurement:
    """What the model's card shows from now on: what it showed before was of other thresholds."""
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
    try:
        is_file = Path(text).is_file()
    except OSError:  # too long for the name of a file
        is_file = False
    if not is_file:
        return [label.strip() for label in text.split(",") if label.strip()]
    with reading(text) as stream:
        return [line.strip() for _, line in text_lines(stream, shown_name(text)) if line.strip()]
