"""``funnelling train``: a model folder, and an honest table on standard output."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from funnelling import load_model, read_documents, write_documents

from .command import contents, documents, run_command, succeed, train, with_splits, write_jsonl


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
    said, trained, chose = captured.err.splitlines()
    assert said == f"{split_data}: 32 training and 16 test documents, 2 languages, 3 labels (multilabel)."
    assert re.fullmatch(r"Training fun-auto … \d+\.\d s", trained)
    assert re.match(r"Chose .*, of 7 candidates by outer folds over the training documents \(", chose)
    table = _table(captured.out)
    assert list(table) == ["en", "it", "average"]
    assert [row[0] for row in table.values()] == ["8", "8", "16"]
    assert "Majority baseline: micro-F1 " in captured.out
    model = tmp_path / "model"
    assert captured.out.splitlines()[-3:] == [
        f"Model: {model} (report: {model / 'report.html'})",
        f"Next:  funnelling predict {model} NEW.jsonl -o labelled.jsonl",
        f"       funnelling compare {split_data}    is it better than a simple method?",
    ]
    succeed("evaluate", model, split_data, "--json")
    measured, scores = json.loads(capsys.readouterr().out), _scores(model)
    assert scores["evaluated_on"] == "Measured on 16 test documents."
    assert measured["scores"] == {key: scores[key] for key in ("average", "languages")}
    assert measured["by_label"] == scores["by_label"]


def test_a_file_without_splits_is_measured_by_outer_folds(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    succeed("train", data, "-o", tmp_path / "model", "--method", "fun-tat", "--jobs", 1)
    captured = capsys.readouterr()
    first, _, last = captured.err.splitlines()
    assert first == f"{data}: 48 documents, 2 languages, 3 labels (multilabel)."
    assert last == "Measuring by five outer folds."
    assert [row[0] for row in _table(captured.out).values()] == ["24", "24", "48"]
    assert "Measured by five outer folds" in captured.out
    # The model itself knows these documents by heart; the table must not.
    succeed("evaluate", tmp_path / "model", data, "--json")
    by_heart = json.loads(capsys.readouterr().out)
    assert by_heart["scores"]["average"]["micro_f1"] == 1 > _scores(tmp_path / "model")["average"]["micro_f1"]


def test_labels_at_random_get_a_poor_table(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [{**row, "labels": ["heads"] if rng.random() < 0.5 else []} for row in documents(each=60)]
    write_jsonl(tmp_path / "docs.jsonl", rows)
    succeed("train", tmp_path / "docs.jsonl", "-o", tmp_path / "model", "--jobs", 1)
    assert abs(_scores(tmp_path / "model")["average"]["micro_k"]) < 0.3


def test_no_measure(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    succeed("train", data, "-o", tmp_path / "model", "--method", "fun-tat", "--no-measure", "--jobs", 1)
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
    assert said[1].endswith(": 32 training and 18 test documents, 2 languages, 3 labels (multilabel).")
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
    assert (
        capsys.readouterr()
        .out.splitlines()[-2]
        .endswith(f"NEW.{suffix} -o labelled.{suffix.removesuffix('.gz')}")
    )
    assert arrays(tmp_path / "model") == arrays(model)


def test_standard_input_and_a_path_that_needs_quotes(split_data: Path, model: Path, tmp_path: Path) -> None:
    done = run_command("train", "-", "-o", "my model", cwd=tmp_path, stdin=split_data.read_bytes())
    assert done.returncode == 0
    assert done.stdout.endswith("\nNext:  funnelling predict 'my model' NEW.jsonl -o labelled.jsonl\n")
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


class TestBaseline:
    def test_of_one_label_it_is_the_most_frequent_one(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        noise = [f"w{number}" for number in np.random.default_rng(0).integers(0, 500, 120)]
        rows = [
            {"text": word, "language": "en", "labels": ["cat" if place % 5 < 3 else "dog"]}
            for place, word in enumerate(noise)
        ]
        data = write_jsonl(tmp_path / "docs.jsonl", with_splits(rows))
        succeed("train", data, "-o", tmp_path / "model", "--method", "naive", "--jobs", 1)
        shown = capsys.readouterr().out
        succeed("train", data, "-o", tmp_path / "m", "--method", "naive", "--jobs", 1, "--json")
        captured = capsys.readouterr()
        result = json.loads(captured.out)
        assert list(result) == [
            *("command", "version", "model", "method", "documents", "labels", "single_label", "evaluated_on"),
            *("seconds", "baseline", "calibration_error", "scores"),
        ]
        assert (result["documents"], result["labels"], result["single_label"]) == ({"en": 80}, 2, True)
        baseline, accuracy = (
            result["baseline"]["majority"]["accuracy"],
            result["scores"]["average"]["accuracy"],
        )
        assert baseline == 0.6 >= accuracy
        assert "Majority baseline: accuracy .600." in shown
        place = "below" if accuracy < baseline else "not above"
        assert f"is {place} the majority baseline (.600). Add labels (funnelling label)" in shown

    def test_of_several_labels_it_is_those_of_most_documents(self, tmp_path: Path) -> None:
        rows = with_splits([{**row, "labels": [*row["labels"], "all"]} for row in documents()])
        rows[0]["labels"] = ["money"]  # a label that all documents have is not learned
        model = tmp_path / "model"
        data = write_jsonl(tmp_path / "docs.jsonl", rows)
        result = train("naive", data, model).measurement
        assert result.scores is not None
        ((name, value),) = result.baseline.items()
        assert name == "micro_f1"
        assert 0 < value < result.scores["average"]["micro_f1"]


def test_set_needs_no_method_and_keep_says_what_is_stored(data: Path, tmp_path: Path) -> None:
    options = ("--method", "naive", "--set", "C=1", "--keep", "nothing", "--no-measure", "--jobs", 1)
    succeed("train", data, "-o", tmp_path / "model", *options)
    parameters = json.loads((tmp_path / "model" / "model.json").read_text(encoding="utf-8"))["parameters"]
    assert (parameters["C"], parameters["keep"]) == (1, "nothing")
