"""``funnelling inspect A B``: what makes two models differ, and the scores of more."""

import json
from pathlib import Path
from typing import Any

import pytest

from .command import documents, one_label_documents, succeed, with_splits, write_jsonl
from .conftest import Refuses

Output = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory, model: Path) -> Path:
    """That model after it learned German, and a label."""
    folder = tmp_path_factory.mktemp("grown")
    rows = documents(["de"])
    rows[4]["labels"] = [*rows[4]["labels"], "new"]
    data = write_jsonl(folder / "de.jsonl", with_splits(rows))
    succeed("add-language", model, data, "-o", folder / "model")
    return folder / "model"


@pytest.fixture(scope="module")
def one_label_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("one-label")
    data = write_jsonl(folder / "single.jsonl", with_splits(one_label_documents()))
    succeed("train", data, "-o", folder / "model", "--method", "naive", "--jobs", 1)
    return folder / "model"


def compared(capsys: Output, *models: Path) -> Any:
    capsys.readouterr()
    succeed("inspect", *models, "--json")
    return json.loads(capsys.readouterr().out)


def shown(capsys: Output, *models: Path) -> str:
    capsys.readouterr()
    succeed("inspect", *models)
    return capsys.readouterr().out


def test_a_model_and_itself(model: Path, capsys: Output) -> None:
    found = compared(capsys, model, model)
    assert found["models"] == [str(model), str(model)]
    assert found["labels"] == {"shared": 3, "only": [[], []]}
    assert found["documents"] == {"en": [16, 16], "it": [16, 16]}
    assert (found["settings"], found["versions"], found["thresholds"]) == ({}, {}, [])
    assert found["history"] == {"shared": 1, "only": [[], []]}
    assert found["scores"]["alike"]
    text = shown(capsys, model, model)
    assert "Both learned from the same, by what they remember (1 step)." in text
    assert "Both have the same 3 labels." in text
    assert "No setting differs." in text


def test_a_model_and_what_became_of_it(model: Path, grown: Path, capsys: Output) -> None:
    found = compared(capsys, model, grown)
    assert found["documents"] == {"de": [None, 16], "en": [16, 16], "it": [16, 16]}
    assert found["labels"] == {"shared": 3, "only": [[], ["new"]]}
    (step,) = found["history"]["only"][1]
    assert (step["step"], step["file"], step["documents"]) == ("add-language", "de.jsonl", {"de": 16})
    assert (found["history"]["shared"], found["history"]["only"][0]) == (1, [])
    scores = found["scores"]
    assert not scores["alike"]
    assert scores["languages"]["de"]["micro_f1"][0] is None
    both = [scores["languages"][tag]["micro_f1"] for tag in ("en", "it")]
    assert scores["average_of_shared"]["micro_f1"] == pytest.approx(
        [sum(side) / 2 for side in zip(*both, strict=True)]
    )
    text = shown(capsys, model, grown)
    assert "B is A after: add-language de.jsonl (16 documents in de; " in text
    assert "Labels only in B: new" in text
    assert "They were not measured alike" in text
    assert "A is B after: add-language" in shown(capsys, grown, model)


def test_thresholds_that_moved_come_most_first(model: Path, grown: Path, capsys: Output) -> None:
    moved = compared(capsys, model, grown)["thresholds"]
    changes = [abs(new - old) for old, new in (row["values"] for row in moved)]
    assert changes == sorted(changes, reverse=True)
    assert all(set(row["languages"]) <= {"en", "it"} and row["label"] != "new" for row in moved)


def test_other_methods_and_one_label_against_several(
    model: Path, one_label_model: Path, capsys: Output
) -> None:
    found = compared(capsys, model, one_label_model)
    assert (found["method"], found["exclusive"]) == (["fun-auto", "naive"], [False, True])
    assert found["thresholds"] is None
    assert "accuracy" not in found["scores"]["average"]  # one of them was not measured by it
    assert found["history"]["shared"] == 0
    text = shown(capsys, model, one_label_model)
    assert "A gives several labels per document, B one label per document" in text
    assert "A learned from: train split.jsonl" in text
    assert "B learned from: train single.jsonl" in text
    assert "Choice of B: none was made" in text


def test_settings_that_differ(
    own_words_model: Path, split_data: Path, tmp_path: Path, capsys: Output
) -> None:
    other = tmp_path / "other"
    options = ("--method", "fun-tat", "--jobs", 1, "--compact", "--optimise", "micro-f1")
    succeed("train", split_data, "-o", other, *options)
    found = compared(capsys, own_words_model, other)
    assert found["settings"]["compact"] == [False, True]
    assert found["settings"]["optimise"] == [None, "micro-f1"]
    assert found["keeps"][0]["documents"]
    assert not found["keeps"][1]["documents"]
    text = shown(capsys, own_words_model, other)
    assert "B nothing." in text
    assert any(line.split() == ["compact", "False", "True"] for line in text.splitlines())


def test_a_model_that_was_not_measured(model: Path, data: Path, tmp_path: Path, capsys: Output) -> None:
    succeed("train", data, "-o", tmp_path / "model", "--no-table", "--jobs", 1, "--method", "naive")
    assert compared(capsys, model, tmp_path / "model")["scores"]["average"]["micro_f1"][1] is None
    text = shown(capsys, model, tmp_path / "model")
    assert "B: It was not measured" in text
    assert "not measured alike" not in text
    assert "Neither was measured." in shown(capsys, tmp_path / "model", tmp_path / "model")


def test_more_than_two_have_a_table_of_scores(
    model: Path, grown: Path, own_words_model: Path, capsys: Output
) -> None:
    rows = compared(capsys, model, grown, own_words_model)["models"]
    assert [row["method"] for row in rows] == ["fun-auto", "fun-auto", "fun-tat"]
    assert [row["documents"] for row in rows] == [32, 48, 32]
    assert all("micro_f1" in row["average"] for row in rows)
    lines = shown(capsys, model, grown, own_words_model).splitlines()
    assert lines[0].split()[:3] == ["model", "method", "languages"]
    assert lines[-3].startswith(f"A  {model}: Measured on 16 test documents.")


def test_a_folder_that_is_no_model(model: Path, refuses: Refuses) -> None:
    refuses("inspect", model, "nowhere", says=["nowhere: no such model folder"])
