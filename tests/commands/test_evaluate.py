"""``funnelling evaluate``: the contract's JSON, and which documents count."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

from funnelling.commands import main
from funnelling.evaluation.registry import PAPER_MEASURES
from funnelling.storage import save_model
from tests.funnels import any_funnel

from .command import documents, run_command, succeed, with_splits, write_jsonl
from .conftest import Refuses


def _evaluate(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[Any, str]:
    capsys.readouterr()
    succeed("evaluate", *arguments, "--json")
    captured = capsys.readouterr()
    result = json.loads(captured.out)
    return {**result, **result["scores"]}, captured.err


@pytest.fixture
def english(tmp_path: Path) -> Path:
    """Documents of which the model is right about all; of Italian ones it gets one wrong."""
    return write_jsonl(tmp_path / "english.jsonl", with_splits(documents(["en"])))


def test_json_is_the_contracts(model: Path, split_data: Path, tmp_path: Path) -> None:
    done = run_command("evaluate", model, split_data, "--json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    origin = {key: result[key] for key in ("command", "model", "evaluated_on", "documents", "single_label")}
    assert origin == {
        "command": "evaluate",
        "model": str(model),
        "evaluated_on": "test",
        "documents": {"en": 8, "it": 8},
        "single_label": False,
    }
    bins = result["calibration"]
    assert sum(each["n_predicted"] for each in bins) == sum(row["n_predicted"] for row in result["by_label"])
    result = result["scores"]
    assert set(PAPER_MEASURES) <= set(result["average"])
    assert list(result["languages"]) == ["en", "it"]
    for values in (result["average"], *result["languages"].values()):
        assert all(
            type(values[measure]) is float and -1 <= values[measure] <= 1 for measure in PAPER_MEASURES
        )
    for measure in PAPER_MEASURES:
        mean = np.mean([values[measure] for values in result["languages"].values()])
        assert result["average"][measure] == pytest.approx(mean)
    assert [values["documents"] for values in result["languages"].values()] == [8, 8]
    assert set(result["average"]) >= {"precision", "recall", "macro_f1_paper", "macro_k_paper"}
    assert type(result["languages"]["en"]["documents"]) is int


def test_the_table(model: Path, split_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    succeed("evaluate", model, split_data)
    lines = capsys.readouterr().out.splitlines()
    columns = ["micro-F1", "macro-F1", "precision", "recall"]
    assert lines[0].split() == ["language", "documents", *columns]
    assert [line.split()[0] for line in lines[1:4]] == ["en", "it", "average"]
    assert lines[5] == "! Fewer than 30 test documents: these metrics are unreliable."


def test_what_is_required(model: Path, split_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evaluate = ["evaluate", str(model), str(split_data), "--json"]
    assert main([*evaluate, "--require", "micro-f1=.5", "--require", "macro-k=-1"]) == 0
    capsys.readouterr()
    assert main([*evaluate, "--require", "micro-f1=.5", "--require", "recall=1.5"]) == 3
    captured = capsys.readouterr()
    assert json.loads(captured.out)["scores"]["average"]["recall"] == 1
    assert captured.err == f"funnelling: {split_data}: recall is 1.000, below 1.5.\n"


@pytest.mark.parametrize(
    ("required", "says"),
    [
        ("micro-f=.6", "Did you mean micro-f1?"),
        ("micro-f1=high", "Write micro-f1=.6"),
        ("accuracy=.5", "no accuracy. It has micro-f1, macro-f1, precision"),
    ],
)
def test_what_cannot_be_required(
    required: str, says: str, model: Path, split_data: Path, refuses: Refuses
) -> None:
    refuses("evaluate", model, split_data, "--require", required, says=[f"--require {required[:8]}", says])


def test_calibration_in_words(model: Path, split_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    succeed("evaluate", model, split_data, "--calibration")
    printed = capsys.readouterr().out
    assert re.search(
        r"^Labels assigned at \.\d to (\.\d|1\.0): 1?\.\d\d were correct \(\d+ of \d+\)\.$", printed, re.M
    )
    table = printed.partition("Labels by their probability, assigned or not:\n")[2].splitlines()
    assert table[0].split("  ")[0] == "probability"
    assert sum(int(line.split()[3]) for line in table[1:]) == 16 * 3


def test_without_splits_all_labelled_rows_count(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [*documents(), {"language": "en", "text": "unlabelled"}]
    result, said = _evaluate(capsys, model, write_jsonl(tmp_path / "docs.jsonl", rows))
    assert result["languages"]["en"]["documents"] == 24
    assert "1 of 49 documents have no labels" in said


def test_labels_unknown_to_the_model_are_counted_out(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known, _ = _evaluate(capsys, model, write_jsonl(tmp_path / "docs.jsonl", documents()))
    rows = [{**row, "labels": [*row["labels"], "new", "newer"]} for row in documents()]
    result, _ = _evaluate(capsys, model, write_jsonl(tmp_path / "docs.jsonl", rows))
    assert result == {**known, "unknown_labels": 2}
    succeed("evaluate", model, tmp_path / "docs.jsonl")
    assert "2 labels of the test documents unknown to training" in capsys.readouterr().out


class TestUnknownLanguages:
    @pytest.fixture
    def mixed(self, tmp_path: Path) -> Path:
        return write_jsonl(tmp_path / "mixed.jsonl", documents(("de", "en", "it")))

    def test_may_be_refused(self, own_words_model: Path, mixed: Path, refuses: Refuses) -> None:
        says = ['mixed.jsonl: the model does not know the language "de", only en, it', "--strict"]
        refuses("evaluate", own_words_model, mixed.name, "--strict", says=says)

    def test_are_left_out(
        self, own_words_model: Path, mixed: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        result, said = _evaluate(capsys, own_words_model, mixed)
        assert list(result["languages"]) == ["en", "it"]
        assert said.startswith(f"{mixed}: left out 24 documents in de, which the model does not know.\n")

    def test_alone_cannot_be_left_out(self, own_words_model: Path, tmp_path: Path, refuses: Refuses) -> None:
        write_jsonl(tmp_path / "de.jsonl", documents(["de"]))
        refuses("evaluate", own_words_model, "de.jsonl", says=['"de"', "only en, it"])


def test_a_single_label_model_from_python(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = with_splits([{**row, "labels": [row["labels"][0]]} for row in documents() if row["labels"]])
    train = [row for row in rows if row["split"] == "train"]
    texts, languages = [row["text"] for row in train], [row["language"] for row in train]
    model = any_funnel(views=None, random_state=0)
    save_model(model.fit(texts, [row["labels"][0] for row in train], languages=languages), tmp_path / "model")
    data = write_jsonl(tmp_path / "docs.jsonl", rows)
    result, _ = _evaluate(capsys, tmp_path / "model", data)
    test = [row for row in rows if row["split"] == "test"]
    right = model.score(
        [row["text"] for row in test],
        [row["labels"][0] for row in test],
        languages=[row["language"] for row in test],
    )
    # One label per document, so that the share of right documents is micro-F1.
    sizes = [values["documents"] for values in result["languages"].values()]
    found = [values["micro_f1"] for values in result["languages"].values()]
    assert np.average(found, weights=sizes) == pytest.approx(right)
    succeed("predict", tmp_path / "model", data, "-o", tmp_path / "out.jsonl")
    predicted = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert all(
        row["labels"] == [max(row["probabilities"], key=row["probabilities"].get)] for row in predicted
    )
    assert all("thresholds" not in row for row in predicted)


class TestWhatGoesWrong:
    def test_labels_from_the_worst_to_the_best(
        self, model: Path, split_data: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        result, _ = _evaluate(capsys, model, split_data, "--by-label")
        assert sorted(row["label"] for row in result["by_label"]) == ["account", "hardware", "money"]
        scores = [row["f1"] for row in result["by_label"]]
        assert scores == sorted(scores)
        succeed("evaluate", model, split_data, "--by-label", 1)
        printed = capsys.readouterr().out.split("Labels, the worst first:\n")[1].splitlines()
        assert printed[0].split()[:4] == ["label", "documents", "predicted", "correct"]
        assert printed[1].split()[0] == result["by_label"][0]["label"]
        assert len(printed) == 2

    def test_labels_that_are_confused_or_missed_together(
        self, model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        exchanged = {"hardware": "account", "account": "hardware", "money": "money"}
        rows = [{**row, "labels": [exchanged[each] for each in row["labels"]]} for row in documents()]
        data = write_jsonl(tmp_path / "docs.jsonl", rows)
        result, _ = _evaluate(capsys, model, data, "--confused", 1)
        assert len(result["confused"]) == 1
        assert set(result["confused"][0][:2]) == {"hardware", "account"}
        succeed("evaluate", model, data, "--confused")
        printed = capsys.readouterr().out
        assert "Labels that are taken for others:\nmissed" in printed
        assert "Labels missed in the same document:\nnone" in printed

    def test_a_confusion_matrix_needs_one_label_per_document(
        self, model: Path, split_data: Path, refuses: Refuses
    ) -> None:
        says = ["a confusion matrix is of models that give each document one label", "--confused"]
        refuses("evaluate", model, split_data, "--confusion-matrix", says=says)

    def test_a_number_before_the_model_is_asked_to_stand_behind_it(
        self, model: Path, refuses: Refuses
    ) -> None:
        refuses("evaluate", "--by-label", model, "data", says=["--by-label", "after MODEL and DATA"])


class TestErrors:
    @pytest.fixture
    def exchanged(self, tmp_path: Path) -> Path:
        """Documents with labels that their words deny."""
        other = {"hardware": "account", "account": "hardware", "money": "money"}
        rows = [{**row, "labels": [other[each] for each in row["labels"]]} for row in documents()]
        return write_jsonl(tmp_path / "docs.jsonl", rows)

    def test_the_worst_come_with_their_texts_and_why(
        self, model: Path, exchanged: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        result, _ = _evaluate(capsys, model, exchanged, "--errors", 3)
        assert len(result["errors"]) == 3
        texts = {row["id"]: row["text"] for row in documents()}
        for error in result["errors"]:
            assert error["text"] == texts[error["id"]]
            assert set(error["predicted"]) != set(error["labels"])
            for kind in {"false_positives", "false_negatives"} & set(error):
                assert 0 <= error[kind][0]["probability"] <= 1
        wrong = [error["false_positives"][0] for error in result["errors"]]
        hardware = next(error for error in wrong if error["label"] == "hardware")
        assert hardware["words"][0][0] in ("printer", "stampante")
        succeed("evaluate", model, exchanged, "--errors")
        printed = capsys.readouterr().out.split("Where the model was most sure, and wrong:\n")[1]
        assert printed.startswith(f" 1. {result['errors'][0]['id']} (")
        assert len([line for line in printed.splitlines() if line.startswith("    text ")]) == 20

    def test_they_are_told_only_when_asked_for(
        self, model: Path, exchanged: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        result, _ = _evaluate(capsys, model, exchanged)
        assert "errors" not in result

    def test_there_may_be_none(self, model: Path, english: Path, capsys: pytest.CaptureFixture[str]) -> None:
        succeed("evaluate", model, english, "--errors")
        assert "most sure, and wrong:\nnowhere" in capsys.readouterr().out


class TestReport:
    def test_is_a_folder_of_a_page_tables_and_figures(
        self, model: Path, english: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        result, said = _evaluate(capsys, model, english, "-o", tmp_path / "report")
        assert said == f"Report: {tmp_path / 'report' / 'report.html'}\n"
        files = {str(path.relative_to(tmp_path / "report")) for path in (tmp_path / "report").rglob("*.*")}
        assert {
            "report.html",
            "report.md",
            "evaluation.json",
            "data/labels.csv",
            "figures/reliability.svg",
        } <= files
        kept = json.loads((tmp_path / "report" / "evaluation.json").read_text(encoding="utf-8"))
        assert kept["scores"]["average"] == result["average"]
        assert kept["errors"] == []
        page = (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
        assert "Measured on 8 documents of" in page

    def test_a_folder_that_holds_something_is_refused_before_any_work(
        self, tmp_path: Path, refuses: Refuses
    ) -> None:
        (tmp_path / "full").mkdir()
        (tmp_path / "full" / "mine.txt").write_text("mine")
        says = ["full exists and is not empty", "--force"]
        refuses("evaluate", "no-model", "no-data", "-o", "full", says=says)

    def test_force_writes_beside_what_is_there(self, model: Path, split_data: Path, tmp_path: Path) -> None:
        (tmp_path / "mine.txt").write_text("mine")
        succeed("evaluate", model, split_data, "-o", tmp_path, "--force")
        assert (tmp_path / "report.html").exists()
        assert (tmp_path / "mine.txt").read_text() == "mine"


class TestTables:
    """A file gets the table that is asked for, .xlsx several."""

    def test_measures_by_language(self, model: Path, split_data: Path, tmp_path: Path) -> None:
        succeed("evaluate", model, split_data, "-o", tmp_path / "scores.csv")
        frame = pandas.read_csv(tmp_path / "scores.csv")
        assert list(frame["language"][:3]) == ["en", "it", "average"]
        assert list(frame["documents"][:2]) == [8, 8]

    def test_the_table_asked_for(self, model: Path, split_data: Path, tmp_path: Path) -> None:
        succeed("evaluate", model, split_data, "--by-label", "-o", tmp_path / "labels.tsv")
        frame = pandas.read_csv(tmp_path / "labels.tsv", sep="\t")
        assert sorted(frame["label"]) == ["account", "hardware", "money"]
        assert {"precision", "recall", "f1", "fails_in"} <= set(frame.columns)

    def test_sheets(self, model: Path, split_data: Path, tmp_path: Path) -> None:
        options = ("--by-label", "--confused", "--errors", 2)
        succeed("evaluate", model, split_data, *options, "-o", tmp_path / "all.xlsx")
        sheets = pandas.read_excel(tmp_path / "all.xlsx", sheet_name=None, engine="openpyxl")
        assert list(sheets) == ["by-label", "confused", "errors"]

    def test_two_tables_in_one_file(self, model: Path, split_data: Path, refuses: Refuses) -> None:
        options = ("--by-label", "--confused", "-o", "all.csv")
        refuses("evaluate", model, split_data, *options, says=["all.csv: holds one table", ".xlsx"])

    def test_an_unknown_ending_is_refused(self, model: Path, split_data: Path, refuses: Refuses) -> None:
        refuses("evaluate", model, split_data, "-o", "all.doc", says=["all.doc: unknown format", ".csv"])


def test_documents_that_were_learned_from_are_counted(
    model: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, said = _evaluate(capsys, model, data)
    assert "32 of 48 documents begin like training documents" in said


def test_other_labels_are_refused(model: Path, tmp_path: Path, refuses: Refuses) -> None:
    rows = [{**row, "labels": [f"other {i % 3}"]} for i, row in enumerate(documents())]
    write_jsonl(tmp_path / "docs.jsonl", rows)
    says = ["no label of it is one of the model's", '"other 0"', '"account"', "--labels-column"]
    refuses("evaluate", model, "docs.jsonl", says=says)
