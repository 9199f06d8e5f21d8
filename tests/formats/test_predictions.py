"""Predictions beside the columns of their documents: none is lost, and each has a name of its own."""

from typing import Any

import pytest

from funnelling import Document, InputError
from funnelling.commands.predictions import PredictionTable

ROW = {
    "id": "7",
    "language": "it",
    "labels": ["a|b", "c"],
    "best_label": "c",
    "probability": 0.75,
    "abstained": None,
    "probabilities": {"a|b": 0.5, "c": 0.75},
}
OURS = ["labels", "best_label", "probability", "abstained"]


def _row(
    fields: dict[str, Any] | None = None, ending: str = ".csv", changes: Any = None, **options: Any
) -> dict[str, object]:
    table = PredictionTable(ending, ["a|b", "c"], **options)
    document = Document("7", "Il gatto", fields={"text": "Il gatto"} if fields is None else fields)
    make = table.objects if ending == ".jsonl" else table.rows
    (row,) = make([document], [{**ROW, **(changes or {})}])
    if ending != ".jsonl":
        assert set(OURS) <= set(table.columns) <= set(row) | {"probability:a|b", "probability:c"}
    return row


def test_the_inputs_columns_stand_in_front_in_their_order() -> None:
    row = _row({"Ref": "007", "text": "Il gatto", "price": 1.5})
    assert list(row) == ["Ref", "text", "price", "id", "language", *OURS]
    assert (row["Ref"], row["price"], row["id"], row["language"]) == ("007", 1.5, "7", "it")


def test_an_id_and_a_language_stay_as_they_stood_and_blanks_are_filled() -> None:
    row = _row({"language": "IT", "text": "Il gatto", "id": 7})
    assert list(row)[:3] == ["language", "text", "id"]
    assert (row["language"], row["id"]) == ("IT", 7)
    assert _row({"language": "", "text": "", "id": None})["language"] == "it"
    assert _row({"language": "", "text": "", "id": None})["id"] == "7"


def test_columns_that_are_called_like_ours_are_kept() -> None:
    fields = {"labels": "x", "input_labels": "y", "abstained": "z", "probability:c": 1, "input_other": 2}
    row = _row(fields, probabilities="wide")
    assert list(row)[:5] == [
        *("input_labels", "input_input_labels", "input_abstained", "input_probability:c", "input_other"),
    ]
    assert list(row.values())[:5] == ["x", "y", "z", 1, 2]
    assert "probability:c" in _row(fields)  # which is none of ours here


def test_labels_are_joined_where_a_cell_holds_text() -> None:
    assert _row()["labels"] == '["a|b", "c"]'
    assert _row(changes={"labels": []})["labels"] is None
    assert _row({}, ".parquet", {"labels": []})["labels"] == []
    assert _row(ending=".parquet")["labels"] == ["a|b", "c"]
    assert _row(changes={"labels": [3], "best_label": 3})["labels"] == "3"


@pytest.mark.parametrize(
    ("ending", "options", "expected"),
    [
        (".csv", {}, {}),
        (".xlsx", {}, {}),
        (".csv", {"top": 2}, {"probabilities": ROW["probabilities"]}),
        (".csv", {"top": 2, "probabilities": "none"}, {}),
        (".tsv", {"probabilities": "list"}, {"probabilities": ROW["probabilities"]}),
        (".csv", {"probabilities": "wide"}, {"probability:a|b": 0.5, "probability:c": 0.75}),
        (".parquet", {}, {"probabilities": ROW["probabilities"]}),
        (".parquet", {"probabilities": "wide"}, {"probability:a|b": 0.5, "probability:c": 0.75}),
        (".jsonl", {}, {"probabilities": ROW["probabilities"]}),
        (".jsonl", {"probabilities": "none"}, {}),
    ],
)
def test_probabilities(ending: str, options: Any, expected: Any) -> None:
    row = _row(ending=ending, **options)
    shown = {name: value for name, value in row.items() if name.startswith("probabilit")}
    assert shown == {"probability": 0.75, **expected}


def test_wide_probabilities_need_columns() -> None:
    with pytest.raises(InputError, match="--probabilities wide makes columns"):
        PredictionTable(".jsonl", ["a"], "wide")


def test_objects_have_the_inputs_other_fields_in_front() -> None:
    row = _row(
        {"id": 7, "text": "Il gatto", "labels": ["x"], "more": {"a": 1}}, ".jsonl", {"zero_shot": True}
    )
    assert row == {"text": "Il gatto", "input_labels": ["x"], "more": {"a": 1}, **ROW, "zero_shot": True}
    assert list(row)[:4] == ["text", "input_labels", "more", "id"]


def test_documents_that_came_without_fields() -> None:
    table = PredictionTable(".csv", [])
    (row,) = table.rows([Document("7", "Il gatto", labels=("x",))], [ROW])
    assert list(row) == ["id", "text", "input_labels", "language", *OURS]
    assert table.renamed == {"labels": "input_labels"}
