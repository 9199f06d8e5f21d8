"""What a search for views tried, as a table."""

from collections.abc import Mapping, Sequence
from typing import Any

from funnelling.evaluation.registry import MEASURES
from funnelling.report.tables import Table, number

CHOICE_NOTE = (
    "Each candidate with its best C, measured on outer folds over the training documents. Of candidates that "
    "chance might have put in this order the first is chosen, so that another may have higher measures. A "
    "candidate far behind takes no part in further rounds: its measures are of fewer documents."
)


def tried_table(tried: Sequence[Mapping[str, Any]]) -> Table:
    """The candidates in the order in which ties are decided, with their measures.

    ``tried`` is what `describe_model` says under ``choice_tried``.

    >>> tried_table([{"name": "own + mixed", "C": 1.0, "micro_f1": 0.5, "chosen": True}])[:2]
    (['candidate', 'chosen', 'C', 'micro-F1'], [['own + mixed', 'chosen', '1', '.500']])
    """
    measures = [name for name in MEASURES if all(name in row for row in tried)]
    return Table(
        ["candidate", "chosen", "C", *(MEASURES[name].title for name in measures)],
        [
            [
                row["name"],
                "chosen" if row["chosen"] else "",
                "–" if row["C"] is None else f"{row['C']:g}",
                *(number(row[name]) for name in measures),
            ]
            for row in tried
        ],
    )
