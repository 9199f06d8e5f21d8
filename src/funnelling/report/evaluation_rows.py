"""A model's measures as rows of plain values, for spreadsheets and programs."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from funnelling.formats.document import join_labels

Row = dict[str, object]


def evaluation_rows(scores: Mapping[str, Any]) -> dict[str, list[Row]]:
    """The tables that scores hold, under the names of the options that ask for them.

    >>> scores = {"languages": {"it": {"micro_f1": 0.5, "documents": 2}}, "average": {"micro_f1": 0.5}}
    >>> evaluation_rows(scores)["languages"]
    [{'language': 'it', 'micro_f1': 0.5, 'documents': 2}, {'language': 'average', 'micro_f1': 0.5}]
    """
    return {name: table(scores) for name, table in _TABLES.items()}


def _languages(scores: Mapping[str, Any]) -> list[Row]:
    rows = [{"language": language, **measures} for language, measures in scores["languages"].items()]
    averages = {"average": "average", "weighted by documents": "weighted"}
    return rows + [{"language": name, **scores[key]} for name, key in averages.items() if key in scores]


def _labels(scores: Mapping[str, Any]) -> list[Row]:
    return [
        {
            **{
                key: row[key] for key in ("label", "documents", "given", "right", "precision", "recall", "f1")
            },
            **dict(
                zip(("lowest_threshold", "highest_threshold"), row["threshold"] or (None, None), strict=True)
            ),
            "fails_in": ", ".join(each["language"] for each in row["languages"]),
        }
        for row in scores.get("by_label", [])
    ]


def _pairs(scores: Mapping[str, Any]) -> list[Row]:
    return [
        {"kind": kind, "label": a, "other": b, "documents": documents}
        for key, kind in (("confused", "taken for"), ("missed_together", "missed together with"))
        for a, b, documents in scores.get(key, [])
    ]


def _errors(scores: Mapping[str, Any]) -> list[Row]:
    return [
        {
            "id": error["id"],
            "language": error["language"],
            "labels": join_labels(error["labels"]),
            "given": join_labels(error["given"]),
            **_blamed("wrong", error),
            **_blamed("missed", error),
            "text": error["text"],
        }
        for error in scores.get("errors", [])
    ]


def _blamed(kind: str, error: Mapping[str, Any]) -> Row:
    blamed = error.get(kind, {})
    words: Sequence[Any] = blamed.get("words", [])
    return {
        kind: blamed.get("label"),
        f"{kind}_probability": blamed.get("probability"),
        f"{kind}_because": ", ".join(f"{word} {amount:+.2f}" for word, amount in words),
    }


_TABLES: dict[str, Callable[[Mapping[str, Any]], list[Row]]] = {
    "languages": _languages,
    "by-label": _labels,
    "confused": _pairs,
    "errors": _errors,
}
