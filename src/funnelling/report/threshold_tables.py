"""What other thresholds change, as tables: by language, and by label where they change most."""

from collections.abc import Mapping, Sequence
from typing import Any

from funnelling.errors import printable
from funnelling.report.tables import Table, number

TITLES = {
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "labels_per_document": "labels per document",
}
MOST_LABELS = 10
ALL = "all together"


def language_changes(record: Mapping[str, Any]) -> Table:
    """One row for each language and one for all, before and after."""
    rows = {ALL: record["overall"], **record["languages"]}
    return Table(
        ["language", *["before", "after"] * len(TITLES)],
        [[name, *_pairs(row)] for name, row in rows.items()],
        [(title, 2) for title in TITLES.values()],
    )


def label_changes(labels: Sequence[Mapping[str, Any]]) -> Table:
    """One row for each of the labels that changed most, before and after."""
    shown = labels[:MOST_LABELS]
    return Table(
        ["label", "documents", *["before", "after"] * (1 + len(TITLES))],
        [
            [
                printable(row["label"]),
                f"{row['documents']:,}",
                *(number(row["threshold"][when]) for when in ("before", "after")),
                *_pairs(row),
            ]
            for row in shown
        ],
        [("", 1), ("threshold", 2), *((title, 2) for title in TITLES.values())],
    )


def _pairs(row: Mapping[str, Mapping[str, float]]) -> list[str]:
    return [
        f"{row[when][name]:.2f}" if name == "labels_per_document" else number(row[when][name])
        for name in TITLES
        for when in ("before", "after")
    ]
