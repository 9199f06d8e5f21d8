"""Figures that reports of one model and of several methods share: confusion of labels, and reliability."""

from collections.abc import Mapping, Sequence

from funnelling.evaluation.labels import Confusion, calibration_error, most_confused
from funnelling.report.content import Block, Curves, HeatMap, TableBlock
from funnelling.report.label_tables import confused_table
from funnelling.report.tables import number

MOST_LABELS = 25  # that a matrix shows; of more, the pairs that are most confused are listed
PAIRS = 30


def confusion_blocks(cells: Confusion, name: str) -> list[Block]:
    """Which labels a method, or a model, of this name takes for which; it gives each document one."""
    wrong = most_confused(cells, PAIRS)
    labels = sorted({label for cell in cells for label in cell[:2]})
    heading = f"Which labels {name} takes for which"
    if len(labels) > MOST_LABELS:
        notes = ["The pairs of labels with the most documents."]
        return [TableBlock("confusion", heading, confused_table(wrong, one_label=True), notes)]
    documents = {(truth, given): count for truth, given, count in cells}
    most = f"Most: {wrong[0][2]:,} of {wrong[0][0]} taken for {wrong[0][1]}." if wrong else "None is wrong."
    return [
        HeatMap(
            "confusion",
            heading,
            f"Test documents of all languages: the label that is true (rows) and the one that {name} gives "
            f"(columns); right on the diagonal. {most}",
            "true",
            "given",
            labels,
            labels,
            [[documents.get((truth, given), 0) for given in labels] for truth in labels],
        )
    ]


def reliability_curves(bins: Mapping[str, Sequence[Sequence[float]]]) -> Curves:
    """How far the probabilities of each series can be trusted.

    ``bins`` are rows of the number of pairs, their mean probability and the share of those that are right.
    """
    errors = {
        name: calibration_error([(pairs, pairs * x, pairs * y) for pairs, x, y in rows])
        for name, rows in bins.items()
    }
    return Curves(
        "reliability",
        "Are the probabilities right?",
        "Among labels given a probability, the share that is right; on the diagonal the two are equal. "
        "Mean distance from it over all pairs of document and label: "
        f"{', '.join(f'{name} {number(error)}' for name, error in errors.items())}.",
        "probability given",
        "share that is right",
        {"": {name: [(x, y) for _, x, y in rows] for name, rows in bins.items()}},
        diagonal=True,
    )
