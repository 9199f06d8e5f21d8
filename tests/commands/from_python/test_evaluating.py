"""Measuring and labelling from Python: the rows and scores of the commands."""

import json
from pathlib import Path

import pytest

from funnelling import InputError
from funnelling.storage import describe_model
from tests.commands.command import documents, evaluate, explain, predict, read_jsonl, write_jsonl


def test_the_scores_are_those_of_training(model: Path, split_data: Path) -> None:
    scores = {**evaluate(model, split_data), "evaluated_on": "Measured on 16 test documents."}
    assert scores.pop("single_label") is False
    assert scores == describe_model(model)["scores"]


def test_unknown_languages_are_refused_or_left_out(model: Path, tmp_path: Path) -> None:
    rows = [*documents(each=4), *documents(["de"], each=2)]
    data = write_jsonl(tmp_path / "docs.jsonl", rows)
    with pytest.raises(InputError, match='does not know the language "de", only en, it'):
        evaluate(model, data, strict=True)
    lines: list[str] = []
    scores = evaluate(model, data, report=lines.append)
    assert list(scores["languages"]) == ["en", "it"]
    assert lines[0] == f"{data}: left out 2 documents in de, which the model does not know."
    assert lines[1].startswith("4 of 8 documents begin like training documents")


def test_predictions_are_written_as_json_lines(model: Path, split_data: Path, tmp_path: Path) -> None:
    predict(model, split_data, tmp_path / "out.jsonl", top=1)
    rows = read_jsonl(tmp_path / "out.jsonl")
    assert [row["id"] for row in rows] == [document["id"] for document in documents()]
    assert all(len(row["probabilities"]) == 1 for row in rows)
    with pytest.raises(InputError, match="unknown format"):
        predict(model, split_data, tmp_path / "out.doc")


def test_explanations_go_to_standard_output(
    model: Path, split_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    explain(model, split_data, label=["money"], top=2, json=True)
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(rows) == len(documents())
    assert all(list(row["labels"]) == ["money"] for row in rows)
    with pytest.raises(InputError, match="fame"):
        explain(model, split_data, label=["fame"])
