"""Tables of what goes wrong: labels from worst to best, labels taken for each other."""

from collections.abc import Mapping, Sequence
from typing import Any

from funnelling.evaluation.registry import is_of_one_label
from funnelling.report.tables import Table, number

BY_LABEL = "Labels, the worst first"
CONFUSED = "Labels that are taken for others"
MISSED_TOGETHER = "Labels missed in the same document"
FAILING = 3  # languages that a row names
NONE = "–"


def mistakes(scores: Mapping[str, Any], most: int | None = None) -> dict[str, Table]:
    """What a model's scores hold of its mistakes: a table under each heading, with so many rows at most.

    Scores of earlier versions hold nothing of it, nor do those of training documents that were held out.
    """
    tables = {
        BY_LABEL: by_label_table(scores.get("by_label", [])[:most]),
        CONFUSED: confused_table(scores.get("confused", [])[:most], is_of_one_label(scores["average"])),
        MISSED_TOGETHER: missed_together_table(scores.get("missed_together", [])[:most]),
    }
    return {heading: table for heading, table in tables.items() if table.rows}


def by_label_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """The labels of `measure_labels`, one per row; thresholds only where labels have them."""
    has_thresholds = any(row["threshold"] is not None for row in rows)
    header = ["label", "documents", "given", "right", "precision", "recall", "F1"]
    return Table(
        [*header, *(["threshold"] if has_thresholds else []), "fails in"],
        [
            [
                row["label"],
                *(f"{row[count]:,}" for count in ("documents", "given", "right")),
                *(_share(row[share]) for share in ("precision", "recall", "f1")),
                *([_range(row["threshold"])] if has_thresholds else []),
                _failing(row["languages"]),
            ]
            for row in rows
        ],
    )


def confused_table(pairs: Sequence[Sequence[Any]], one_label: bool) -> Table:
    """Pairs of a label that is true and one that was given instead, one per row."""
    header = ["label", "taken for"] if one_label else ["missed", "given instead"]
    return Table([*header, "documents"], _rows(pairs))


def missed_together_table(pairs: Sequence[Sequence[Any]]) -> Table:
    """Pairs of labels that were missed in the same document, one per row."""
    return Table(["missed", "together with", "documents"], _rows(pairs))


def confusion_matrix(cells: Sequence[Sequence[Any]]) -> Table:
    """All labels by all labels: the true one in rows, the one given in columns, right on the diagonal.

    Columns have the numbers that stand before the labels of the rows, so that many fit beside each other.
    """
    labels = sorted({label for truth, given, _ in cells for label in (truth, given)})
    documents = {(truth, given): count for truth, given, count in cells}
    return Table(
        ["true \\ given", *(str(place) for place in range(1, len(labels) + 1))],
        [
            [f"{place} {truth}", *(_count(documents.get((truth, given), 0)) for given in labels)]
            for place, truth in enumerate(labels, start=1)
        ],
        best=[(place, place + 1) for place in range(len(labels))],
    )


def _rows(pairs: Sequence[Sequence[Any]]) -> list[list[str]]:
    return [[str(a), str(b), f"{documents:,}"] for a, b, documents in pairs]


def _count(documents: int) -> str:
    return f"{documents:,}" if documents else "·"


def _share(value: float | None) -> str:
    return NONE if value is None else number(value)


def _range(limits: Sequence[float] | None) -> str:
    if limits is None:
        return NONE
    low, high = map(number, limits)
    return low if low == high else f"{low}–{high}"


def _failing(languages: Sequence[Mapping[str, Any]]) -> str:
    """The worst languages of a label with its F1 there."""
    shown = [f"{each['language']} {number(each['f1'])}" for each in languages[:FAILING]]
    return ", ".join([*shown, "…"] if len(languages) > FAILING else shown)
