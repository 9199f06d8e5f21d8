"""``funnelling train``: a model folder, and an honest table on standard output."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from funnelling import load_model, read_documents, write_documents

from .command import contents, documents, run_command, succeed, with_splits, write_jsonl


def _table(printed: str) -> dict[str, list[str]]:
    """The rows of the first table that was printed, by language."""
    lines = printed.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("language")) + 1
    end = next(i for i, line in enumerate(lines) if line.startswith("average")) + 1
    rows = [line.replace(" !", "").split() for line in lines[start:end]]
    return {row[0]: row[1:] for row in rows}


def _scores(model: Path) -> Any:
    return json.loads((model / "model.json").read_text(encoding="utf-8"))["scores"]


def test_a_file_with_splits_is_measured_on_its_test_rows(
    split_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    succeed("train", split_data, "-o", tmp_path / "model", "--jobs", 1)
    captured = capsys.readouterr()
    said, chose = captured.err.splitlines()
    assert said == "Training fun-auto on 32 documents in 2 languages with 3 labels."
    assert re.match(r"Chose .*, of 7 candidates by outer folds over the training documents \(", chose)
    table = _table(captured.out)
    assert list(table) == ["en", "it", "average"]
    assert [row[0] for row in table.values()] == ["8", "8", "16"]
    assert "Measured on 16 test documents." in captured.out
    assert f"Model:  {tmp_path / 'model'}" in captured.out
    succeed("evaluate", tmp_path / "model", split_data, "--json")
    measured = json.loads(capsys.readouterr().out)
    assert {**measured, "how": "Measured on 16 test documents."} == _scores(tmp_path / "model")


def test_a_file_without_splits_is_measured_by_outer_folds(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    succeed("train", data, "-o", tmp_path / "model", "--method", "fun-tat", "--jobs", 1)
    captured = capsys.readouterr()
    assert captured.err.splitlines() == [
        "Training fun-tat on 48 documents in 2 languages with 3 labels.",
        "Measuring by five outer folds.",
    ]
    assert [row[0] for row in _table(captured.out).values()] == ["24", "24", "48"]
    assert "Measured by five outer folds" in captured.out
    # The model itself knows these documents by heart; the table must not.
    succeed("evaluate", tmp_path / "model", data, "--json")
    by_heart = json.loads(capsys.readouterr().out)
    assert by_heart["average"]["micro_f1"] == 1 > _scores(tmp_path / "model")["average"]["micro_f1"]


def test_labels_at_random_get_a_poor_table(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [{**row, "labels": ["heads"] if rng.random() < 0.5 else []} for row in documents(each=60)]
    write_jsonl(tmp_path / "docs.jsonl", rows)
    succeed("train", tmp_path / "docs.jsonl", "-o", tmp_path / "model", "--jobs", 1)
    assert abs(_scores(tmp_path / "model")["average"]["micro_k"]) < 0.3


def test_no_table(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    succeed("train", data, "-o", tmp_path / "model", "--method", "fun-tat", "--no-table", "--jobs", 1)
    captured = capsys.readouterr()
    assert "folds" not in captured.out + captured.err
    assert "Not measured." in captured.out
    assert _scores(tmp_path / "model") is None


def test_what_is_left_out_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = with_splits(documents())
    rows += [{"language": "de", "text": "Brief", "labels": ["money"], "split": "test"}]
    rows += [{"language": "en", "text": "?", "labels": ["unheard of"], "split": "test"}]
    rows += [{"language": "en", "text": "nothing known of it", "split": "train"}] * 2
    rows += [{"language": "en", "text": "another version", "labels": ["x"], "split": "parallel"}]
    write_jsonl(tmp_path / "docs.jsonl", rows)
    succeed("train", tmp_path / "docs.jsonl", "-o", tmp_path / "model", "--method", "fun-tat", "--jobs", 1)
    captured = capsys.readouterr()
    said = captured.err.splitlines()
    assert said[0].endswith("docs.jsonl: 2 of 53 documents have no labels and are left out.")
    assert said[1] == "Training fun-tat on 32 documents in 2 languages with 3 labels."
    assert "Measured on 17 test documents (left out, for the model cannot label them: de)." in captured.out
    assert "1 label of the test documents unknown to training: not counted" in captured.out
    assert "x" not in load_model(tmp_path / "model").classes_


def test_a_file_whose_test_rows_are_all_in_other_languages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [*documents(["en"], split="train"), *documents(["it"], split="test")]
    write_jsonl(tmp_path / "docs.jsonl", rows)
    succeed("train", tmp_path / "docs.jsonl", "-o", tmp_path / "model", "--method", "fun-tat", "--jobs", 1)
    assert "Not measured: training has no documents in the languages of test, it." in capsys.readouterr().out


def test_a_regional_variant_is_measured_with_its_language(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [*documents(["en"], split="train"), *documents(["en"], split="test", language="en-GB")]
    write_jsonl(tmp_path / "docs.jsonl", rows)
    succeed("train", tmp_path / "docs.jsonl", "-o", tmp_path / "model", "--jobs", 1)
    assert list(_table(capsys.readouterr().out)) == ["en_GB", "average"]


def arrays(model: Path) -> dict[str, bytes | None]:
    """All of a model but what names the file that it learned from."""
    return {name: content for name, content in contents(model).items() if name.startswith("arrays-")}


@pytest.mark.parametrize("suffix", ["csv", "tsv.gz", "parquet"])
def test_every_format_gives_the_same_model(
    suffix: str, split_data: Path, model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_documents(tmp_path / f"docs.{suffix}", read_documents(split_data))
    succeed("train", tmp_path / f"docs.{suffix}", "-o", tmp_path / "model", "--jobs", 1)
    assert capsys.readouterr().out.endswith(f"NEW_DOCUMENTS.{suffix}\n")
    assert arrays(tmp_path / "model") == arrays(model)


def test_standard_input_and_a_path_that_needs_quotes(split_data: Path, model: Path, tmp_path: Path) -> None:
    done = run_command("train", "-", "-o", "my model", cwd=tmp_path, stdin=split_data.read_bytes())
    assert done.returncode == 0
    assert done.stdout.endswith("Next:   funnelling predict 'my model' NEW_DOCUMENTS.jsonl\n")
    assert arrays(tmp_path / "my model") == arrays(model)


def test_settings_and_seed_reach_the_method(split_data: Path, tmp_path: Path) -> None:
    settings = [
        "--set",
        "fun-kfcv.meta_C=10",
        "--set",
        "fun-kfcv.calibration=fixed",
        "--set",
        "fun-kfcv.folds=3",
    ]
    arguments = [
        "train",
        split_data,
        "-o",
        tmp_path / "model",
        "--method",
        "fun-kfcv",
        "--seed",
        7,
        "--jobs",
        1,
    ]
    succeed(*arguments, *settings)
    model = load_model(tmp_path / "model")
    assert (model.variant, model.meta_C, model.calibration, model.folds) == ("kfcv", 10, "fixed", 3)
    assert model.random_state == 7


def test_same_seed_same_folder_whatever_the_jobs_and_the_process(split_data: Path, tmp_path: Path) -> None:
    train = ["train", split_data]
    succeed(*train, "-o", tmp_path / "here", "--jobs", 2)
    done = run_command(
        *train, "-o", tmp_path / "elsewhere", "--jobs", 1, cwd=tmp_path, env={"PYTHONHASHSEED": "7"}
    )
    assert done.returncode == 0, done.stderr
    assert contents(tmp_path / "here") == contents(tmp_path / "elsewhere")
