"""``funnelling inspect``: what a model is, how it was made, how good it was."""

import json
import shutil
from pathlib import Path

import pytest

from .command import LABELS, contents, run_command, succeed
from .conftest import Refuses


def test_json(model: Path, split_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = run_command("inspect", model, "--json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    description = json.loads(done.stdout)
    assert description["method"] == "fun-auto"
    assert description["languages"] == {"en": 16, "it": 16}
    assert description["labels"] == sorted(LABELS)
    assert description["format"] == 2
    assert set(description["versions"]) >= {"numpy", "scipy", "scikit-learn"}
    parameters = description["parameters"]
    assert parameters["variant"] == "tat"
    assert parameters["random_state"] == 0
    assert parameters["memory_limit"] == 8e9
    assert not {"n_jobs", "verbose"} & set(parameters)
    succeed("evaluate", model, split_data, "--json")
    measured = json.loads(capsys.readouterr().out)
    scores = description["scores"]
    assert scores["evaluated_on"] == "Measured on 16 test documents."
    assert measured["scores"] == {key: scores[key] for key in ("average", "languages")}


def test_a_model_on_one_screen(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    succeed("inspect", model)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 30
    for line in (
        "Method      fun-auto",
        "Languages   en 16, it 16, others by shared views (training documents)",
        "Labels      3 (multilabel): account, hardware, money",
        "Measured on 16 test documents.",
        "Changes     update, forget, tune, relabel, relabel to merge labels",
        f"            funnelling inspect {model} --full",
    ):
        assert line in lines
    assert any(line.startswith("average") for line in lines)
    assert any(line.startswith("Stored      data of 32 training documents; ") for line in lines)


def test_what_is_neither_a_model_nor_a_file(model: Path, data: Path, refuses: Refuses) -> None:
    refuses("inspect", "nowhere", says=["nowhere: no such file, and no such model. Check the path."])
    refuses(
        "inspect", model, "--format", "csv", says=["is a model: options on how a file is read do not apply"]
    )
    refuses("inspect", data, "--names", "en", says=["is no model: --names does not apply"])


def test_for_people(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    succeed("inspect", model, "--full")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Method      fun-auto"
    assert lines[1] == "Languages   en 16, it 16, others by shared views (training documents)"
    assert lines[2] == "Labels      3 (multilabel): account, hardware, money"
    assert "Measured on 16 test documents." in lines
    assert any(line.startswith("average") for line in lines)
    assert any("Calibration error" in line for line in lines)
    assert "Labels, the worst first:" in lines
    assert "Limits" in lines
    assert "- Few training documents: en, it." in lines


def test_all_candidates_that_were_tried_are_shown(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    succeed("inspect", model, "--json")
    tried = json.loads(capsys.readouterr().out)["candidates"]
    assert len(tried) == 7
    (chosen,) = [row["name"] for row in tried if row["chosen"]]
    succeed("inspect", model, "--full")
    lines = capsys.readouterr().out.splitlines()
    shown = lines[lines.index("Candidates that were tried:") + 1 :]
    assert shown[0].split()[:3] == ["candidate", "chosen", "C"]
    assert [row["name"] for row in tried] == [line.split("  ")[0] for line in shown[1:8]]
    assert any(line.startswith(chosen) and " chosen " in line for line in shown)


def test_a_model_without_a_choice_has_no_candidates(
    own_words_model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    succeed("inspect", own_words_model, "--json")
    assert json.loads(capsys.readouterr().out)["candidates"] is None
    succeed("inspect", own_words_model, "--full")
    assert "Candidates" not in capsys.readouterr().out


def test_a_model_that_was_not_measured(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    succeed("train", data, "-o", tmp_path / "model", "--no-measure", "--jobs", 1, "--method", "naive")
    succeed("inspect", tmp_path / "model")
    assert "It was not evaluated." in capsys.readouterr().out


def test_what_it_learned_from(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    succeed("inspect", model, "--json")
    (step,) = json.loads(capsys.readouterr().out)["history"]
    assert step == {
        "step": "train",
        "file": "split.jsonl",
        "documents": {"en": 16, "it": 16},
        "after": {"documents": 32, "labels": 3},
    }
    succeed("inspect", model, "--full")
    lines = capsys.readouterr().out.splitlines()
    row = lines[lines.index("History") + 2].split()
    assert row == ["train", "split.jsonl", "en", "16,", "it", "16", "32", "3"]
    for page in ("README.md", "report.html"):
        assert "split.jsonl" in (model / page).read_text(encoding="utf-8")


def test_the_same_commands_leave_the_same_bytes(
    own_words_model: Path, split_data: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    shutil.copy(split_data, tmp_path / "elsewhere" / split_data.name)
    data = tmp_path / "elsewhere" / split_data.name
    succeed("train", data, "-o", tmp_path / "model", "--method", "fun-tat", "--jobs", 1)
    assert contents(tmp_path / "model") == contents(own_words_model)


def test_what_it_keeps(own_words_model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    succeed("inspect", own_words_model, "--json")
    keeps = json.loads(capsys.readouterr().out)["stored"]
    assert keeps["documents"] == {"en": 16, "it": 16}
    assert {"ids", "labels", "beginnings", "posteriors"} <= set(keeps["bytes"])
    assert sum(keeps["bytes"].values()) < keeps["total_bytes"]
    assert {"update", "forget"} <= set(keeps["supported_changes"])
    succeed("inspect", own_words_model, "--full")
    out = capsys.readouterr().out
    assert "the first 200 characters of each text" in out
    assert "Without training anew it can be changed by: update, forget" in out


def test_a_compact_model_keeps_nothing(
    split_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--method", "fun-tat", "--keep", "nothing", "--jobs", 1)
    succeed("train", split_data, "-o", tmp_path / "model", *options)
    capsys.readouterr()
    succeed("inspect", tmp_path / "model", "--json")
    keeps = json.loads(capsys.readouterr().out)["stored"]
    assert (keeps["documents"], keeps["texts"], keeps["bytes"]) == ({}, None, {})
    assert "it stores nothing of its training documents" in keeps["unsupported_changes"]["forget"]
    succeed("inspect", tmp_path / "model", "--full")
    assert "Not by update, forget" in capsys.readouterr().out
