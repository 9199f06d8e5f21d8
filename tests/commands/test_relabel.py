"""``funnelling relabel``: labels of a model in use get other names, become one, or are dropped."""

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from funnelling.storage import describe_model

from .command import (
    command,
    contents,
    documents,
    environment,
    one_label_documents,
    read_jsonl,
    succeed,
    with_splits,
    write_jsonl,
)
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
        assert new["probabilities"]["Geräte"] == old["probabilities"]["hardware"]
        assert new["probabilities"]["hardware"] == old["probabilities"]["account"]
    description = describe_model(tmp_path / "new")
    old_scores = describe_model(model)["scores"]
    assert description["labels"] == ["hardware", "Geräte", "money"]
    assert description["scores"]["average"] == old_scores["average"]
    names = {"hardware": "Geräte", "account": "hardware"}
    assert [row["label"] for row in description["scores"]["by_label"]] == [
        names.get(row["label"], row["label"]) for row in old_scores["by_label"]
    ]
    card, report = ((tmp_path / "new" / page).read_text("utf-8") for page in ("README.md", "report.html"))
    assert "Geräte" in card
    assert "Geräte" in report
    assert "The worst errors were those under the labels of before." in report
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
        assert new["probabilities"] == {label: old["probabilities"][label] for label in ("hardware", "money")}
    scores = describe_model(model_copy)["scores"]
    assert scores["evaluated_on"].startswith(
        "Measured by inner folds over the training documents after labels were"
    )
    assert {row["label"] for row in scores["by_label"]} <= {"hardware", "money"}
    for page in ("README.md", "report.html"):
        assert "account" not in (model_copy / page).read_text(encoding="utf-8")
    after = {"documents": 32, "labels": 2}
    assert describe_model(model_copy)["history"][-1] == {"step": "relabel", "dropped": 1, "after": after}
    succeed("inspect", model_copy)
    assert "account" not in capsys.readouterr().out


def test_what_cannot_be_done_is_refused(refuses: Refuses, own_words_copy: Path, tmp_path: Path) -> None:
    relabel = ("relabel", own_words_copy, "--map")
    for text, says in (
        ("hardwear,x\n", ["map.csv:1", "no label 'hardwear'", "Did you mean hardware?"]),
        ("hardware,\naccount,\nmoney,\n", ["map.csv", "no label"]),
        ("hardware,money\naccount,money\n", ["map.csv", "one label"]),
        ("hardware,hardware\n", ["map.csv", "have these names already"]),
    ):
        refuses(*relabel, labels_map(tmp_path, text), says=says)
    refuses(*relabel, tmp_path / "nowhere.csv", says=["nowhere.csv", "no such file"])
    refuses(*relabel, labels_map(tmp_path, "money,cash\n"), "-o", own_words_copy, says=["--force"])
    refuses("relabel", own_words_copy, says=["--map"])
    refuses("relabel", tmp_path / "none", "--map", tmp_path / "map.csv", says=["no such model folder"])


def test_merge(model: Path, split_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    there = labels_map(tmp_path, "hardware,office\naccount,office\nmoney,cash\n")
    capsys.readouterr()
    succeed("relabel", model, "--map", there, "-o", tmp_path / "new", "--jobs", 1)
    printed, said = capsys.readouterr()
    assert "Training again: 1 label made of several." in said
    assert "Merged    account, hardware → office" in printed
    assert "Renamed   money → cash" in printed
    assert "under the new labels:" in printed
    description = describe_model(tmp_path / "new")
    assert description["labels"] == ["cash", "office"]
    assert description["scores"]["evaluated_on"].endswith("after labels were merged.")
    assert description["choice"] == describe_model(model)["choice"]
    (step,) = description["history"][len(describe_model(model)["history"]) :]
    assert (step["step"], step["renamed"], step["merged"]) == ("relabel", 1, 2)
    assert "hardware" not in (tmp_path / "new" / "report.html").read_text(encoding="utf-8")
    rows = answers(tmp_path / "new", split_data, tmp_path)
    assert list(rows[0]["probabilities"]) == ["cash", "office"]
    succeed("relabel", model, "--map", there, "-o", tmp_path / "new", "--force", "--json", "--jobs", 1)
    told = json.loads(capsys.readouterr().out)
    assert told["merged"] == {"office": ["account", "hardware"]}
    assert set(told["before"]["languages"]) == set(told["after"]["languages"]) == {"en", "it"}


def test_a_relabelled_model_learns_on(own_words_copy: Path, tmp_path: Path) -> None:
    succeed("relabel", own_words_copy, "--map", labels_map(tmp_path, "hardware,zebras\naccount,\n"))
    rows = [
        {**row, "labels": ["zebras" if label == "hardware" else label for label in row["labels"]]}
        for row in with_splits(documents(each=30))[24:]
    ]
    rows = [{**row, "labels": [label for label in row["labels"] if label != "account"]} for row in rows]
    succeed("update", own_words_copy, write_jsonl(tmp_path / "more.jsonl", rows), "--jobs", 1, "--force")
    assert describe_model(own_words_copy)["labels"] == ["zebras", "money"]


def test_one_label_per_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = write_jsonl(tmp_path / "docs.jsonl", with_splits(one_label_documents()))
    succeed("train", data, "-o", tmp_path / "model", "--method", "fun-tat", "--jobs", 1)
    rows = answers(tmp_path / "model", data, tmp_path)
    succeed("relabel", tmp_path / "model", "--map", labels_map(tmp_path, "money,\n"))
    for old, new in zip(rows, answers(tmp_path / "model", data, tmp_path), strict=True):
        best = max(("account", "hardware"), key=old["probabilities"].__getitem__)
        assert new["labels"] == [best]
        assert sum(new["probabilities"].values()) == pytest.approx(1)
    scores = describe_model(tmp_path / "model")["scores"]
    assert (
        scores["evaluated_on"]
        == "Measured by inner folds over the training documents after labels were dropped."
    )
    assert "by_label" not in scores
    capsys.readouterr()
    succeed("explain", tmp_path / "model", data, "--id", "en-0")
    assert "money" not in capsys.readouterr().out


def test_compact_models_rename_and_drop_but_cannot_merge(
    refuses: Refuses, split_data: Path, tmp_path: Path
) -> None:
    model = tmp_path / "model"
    succeed("train", split_data, "-o", model, "--method", "fun-tat", "--keep", "nothing", "--jobs", 1)
    merging = labels_map(tmp_path, "hardware,account\n")
    refuses("relabel", model, "--map", merging, says=["model: The model is compact", "Train it again"])
    succeed("relabel", model, "--map", labels_map(tmp_path, "hardware,Geräte\naccount,\n"))
    assert describe_model(model)["labels"] == ["Geräte", "money"]


def test_killed_at_any_moment_the_model_is_whole(own_words_copy: Path, data: Path, tmp_path: Path) -> None:
    there = labels_map(tmp_path, "hardware,account\n")
    whole = [["account", "hardware", "money"], ["account", "money"]]
    for moment in (0.2, 0.5, 0.8, 1.1, 1.4, 1.7, 2.0):
        process = subprocess.Popen(
            command("relabel", own_words_copy, "--map", there),
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(moment)
        process.kill()
        process.wait()
        labels = describe_model(own_words_copy)["labels"]
        assert labels in whole
        assert list(answers(own_words_copy, data, tmp_path)[0]["probabilities"]) == labels
        if labels == whole[1]:
            break
