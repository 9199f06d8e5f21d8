"""``funnelling relabel``: labels of a model in use get other names, become one, or are dropped."""

import json
from pathlib import Path
from typing import Any

import pytest

from funnelling.storage import describe_model

from .command import contents, documents, one_label_documents, read_jsonl, succeed, with_splits, write_jsonl
from .conftest import Refuses


def labels_map(folder: Path, text: str, name: str = "map.csv") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def answers(model: Path, data: Path, folder: Path) -> list[dict[str, Any]]:
    succeed("predict", model, data, "-o", folder / "answers.jsonl", "--force")
    return read_jsonl(folder / "answers.jsonl")


def test_rename_and_back(model: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, rows = contents(model), answers(model, data, tmp_path)
    there = labels_map(tmp_path, "old,new\nhardware,Geräte\naccount,hardware\n")
    back = labels_map(tmp_path, '{"Geräte": "hardware", "hardware": "account"}', "back.json")
    capsys.readouterr()
    succeed("relabel", model, "--map", there, "-o", tmp_path / "new")
    printed = capsys.readouterr().out
    assert "Renamed   hardware → Geräte" in printed
    assert "Renamed   account → hardware" in printed
    assert contents(model) == before
    renamed = answers(tmp_path / "new", data, tmp_path)
    for old, new in zip(rows, renamed, strict=True):
        assert new["scores"]["Geräte"] == old["scores"]["hardware"]
        assert new["scores"]["hardware"] == old["scores"]["account"]
    description = describe_model(tmp_path / "new")
    old_scores = describe_model(model)["scores"]
    assert description["labels"] == ["hardware", "Geräte", "money"]
    assert description["scores"]["average"] == old_scores["average"]
    names = {"hardware": "Geräte", "account": "hardware"}
    assert [row["label"] for row in description["scores"]["by_label"]] == [
        names.get(row["label"], row["label"]) for row in old_scores["by_label"]
    ]
    assert "Geräte" in (tmp_path / "new" / "README.md").read_text(encoding="utf-8")
    succeed("relabel", tmp_path / "new", "--map", back)  # in place
    assert answers(tmp_path / "new", data, tmp_path) == rows
    old, new = (json.loads((path / "model.json").read_text("utf-8")) for path in (model, tmp_path / "new"))
    assert old["files"] == new["files"]  # all arrays are the same bytes
    assert old["scores"] == new["scores"]


def test_drop(model_copy: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = answers(model_copy, data, tmp_path)
    capsys.readouterr()
    succeed("relabel", model_copy, "--map", labels_map(tmp_path, "account\t\n", "map.tsv"), "--json")
    told = json.loads(capsys.readouterr().out)
    assert told["labels"] == ["hardware", "money"]
    assert (told["renamed"], told["merged"], told["dropped"]) == ({}, {}, ["account"])
    for old, new in zip(rows, answers(model_copy, data, tmp_path), strict=True):
        assert new["labels"] == [label for label in old["labels"] if label != "account"]
        assert new["scores"] == {label: old["scores"][label] for label in ("hardware", "money")}
    scores = describe_model(model_copy)["scores"]
    assert scores["how"].startswith("Measured by inner folds over the training documents after labels were")
    assert {row["label"] for row in scores["by_label"]} <= {"hardware", "money"}
    for page in ("README.md", "report.html"):
        assert "account" not in (model_copy / page).read_text(encoding="utf-8")
    succeed("inspect", model_copy)
    assert "account" not in capsys.readouterr().out


def test_what_cannot_be_done_is_refused(refuses: Refuses, own_words_copy: Path, tmp_path: Path) -> None:
    relabel = ("relabel", own_words_copy, "--map")
    for text, says in (
        ("hardwear,x\n", ["map.csv:1", "no label 'hardwear'", "Near it: 'hardware'"]),
        ("hardware,\naccount,\nmoney,\n", ["map.csv", "no label"]),
        ("hardware,money\naccount,money\n", ["map.csv", "one label"]),
        ("hardware,hardware\n", ["map.csv", "called that already"]),
    ):
        refuses(*relabel, labels_map(tmp_path, text), says=says)
    refuses(*relabel, tmp_path / "nowhere.csv", says=["nowhere.csv", "no such file"])
    refuses(*relabel, labels_map(tmp_path, "money,cash\n"), "-o", own_words_copy, says=["--force"])
    refuses("relabel", own_words_copy, says=["--map"])
    refuses("relabel", tmp_path / "none", "--map", tmp_path / "map.csv", says=["no such model folder"])
