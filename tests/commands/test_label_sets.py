"""Labels with names, parents and exceptions, from the command line."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from funnelling import load_model
from funnelling.corpus.label_set import Label, LabelSet
from funnelling.storage import save_model

from .command import documents, one_label_documents, read_jsonl, succeed, with_splits, write_jsonl
from .conftest import Refuses

# "account" is below "hardware" here, which documents do not say; "all" is above everything.
TABLE = """id,name_en,name_it,parent,exclude
all,Everything,Tutto,,
hardware,Hardware,Ferraglia,all,
account,Accounts,Conti,hardware,
money,Money,,all,
"""


@pytest.fixture(scope="module")
def labels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("labels") / "labels.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, split_data: Path, labels: Path) -> Path:
    """A model that keeps the label set."""
    path = tmp_path_factory.mktemp("trained") / "model"
    succeed("train", split_data, "-o", path, "--method", "naive", "--jobs", 1, "--label-set", labels)
    return path


def _rows(folder: Path, *arguments: object) -> list[dict[str, Any]]:
    succeed("predict", *arguments, "-o", folder / "out.jsonl", "--force")
    return read_jsonl(folder / "out.jsonl")


def _json(capsys: pytest.CaptureFixture[str], *arguments: object) -> Any:
    capsys.readouterr()
    succeed(*arguments, "--json")
    return json.loads(capsys.readouterr().out)


def test_thousands_of_labels_are_learned_by_name_too(
    split_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "labels.csv").write_text(f"{TABLE}weather,Weather,Meteo,,\nsport,Sports,Gioco,,yes\n")
    model = tmp_path / "model"
    named = ("--label-set", tmp_path / "labels.csv", "--method", "fun-many", "--jobs", 1)
    succeed("train", split_data, "-o", model, *named)
    assert "2 labels without training documents: learned by name." in capsys.readouterr().err
    assert load_model(model).classes_.tolist() == ["account", "all", "hardware", "money", "weather"]
    write_jsonl(tmp_path / "new.jsonl", [{"text": "il meteo", "language": "it"}])
    (row,) = _rows(tmp_path, model, tmp_path / "new.jsonl", "--top", 5)
    assert "weather" in row["probabilities"]
    write_jsonl(tmp_path / "more.jsonl", [{"text": "il conto", "language": "it", "labels": ["account"]}])
    succeed("update", model, tmp_path / "more.jsonl", "-o", tmp_path / "updated", "--force")
    assert "weather" in load_model(tmp_path / "updated").classes_.tolist()


def test_settings_of_the_method_for_many_labels_ask_for_it(split_data: Path, tmp_path: Path) -> None:
    succeed("train", split_data, "-o", tmp_path / "m", "--jobs", 1, "--set", "fun-many.memory_limit=1e9")
    assert type(load_model(tmp_path / "m")).__name__ == "ManyLabelsClassifier"


def test_names_tell_a_terminal_nothing(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = load_model(trained)
    model.label_set_ = LabelSet.of([Label("money", {"en": "\x1b[31mred"})])
    save_model(model, tmp_path / "m")
    succeed("inspect", tmp_path / "m", "--names", "en")
    out = capsys.readouterr().out
    assert "money (\ufffd[31mred)" in out
    assert "\x1b" not in out


class TestPredict:
    def test_a_child_brings_its_parents(self, trained: Path, data: Path, tmp_path: Path) -> None:
        rows = _rows(tmp_path, trained, data)
        assert any("account" in row["labels"] for row in rows)
        for row in rows:
            assert "account" not in row["labels"] or "hardware" in row["labels"]
            assert row["probabilities"]["hardware"] >= row["probabilities"]["account"]
            assert set(row["probabilities"]) == {"hardware", "account", "money"}  # no document has "all"

    def test_names_stand_beside_ids(self, trained: Path, data: Path, tmp_path: Path) -> None:
        names = {"hardware": "Ferraglia", "account": "Conti", "money": "Money"}
        for row in _rows(tmp_path, trained, data, "--names", "it"):
            assert row["label_names"] == [names[label] for label in row["labels"]]
        succeed("predict", trained, data, "--names", "it", "-o", tmp_path / "out.csv")
        with open(tmp_path / "out.csv", encoding="utf-8-sig", newline="") as file:
            cells = {(row["labels"], row["label_names"]) for row in csv.DictReader(file)}
        assert ("account|hardware", "Conti|Ferraglia") in cells

    def test_excluded_labels_are_not_assigned(self, trained: Path, data: Path, tmp_path: Path) -> None:
        rows = _rows(tmp_path, trained, data, "--exclude", "account", "--exclude", "money")
        for row in rows:
            assert set(row["labels"]) <= {"hardware"}
            assert row["best_label"] in (None, "hardware")
            assert set(row["probabilities"]) == {"hardware"}

    def test_another_label_set_for_once(self, trained: Path, data: Path, tmp_path: Path) -> None:
        path = write_jsonl(
            tmp_path / "labels.jsonl", [{"id": "money", "exclude": True, "names": {"de": "Geld"}}]
        )
        rows = _rows(tmp_path, trained, data, "--label-set", path)
        assert all(set(row["probabilities"]) == {"hardware", "account"} for row in rows)
        assert any(row["labels"] == ["account"] for row in rows)

    def test_one_label_is_the_best_of_the_others(self, tmp_path: Path) -> None:
        data = write_jsonl(tmp_path / "docs.jsonl", one_label_documents())
        succeed("train", data, "-o", tmp_path / "model", "--method", "naive", "--jobs", 1, "--no-measure")
        before = _rows(tmp_path, tmp_path / "model", data)
        after = _rows(tmp_path, tmp_path / "model", data, "--exclude", "money")
        for old, new in zip(before, after, strict=True):
            rest = {label: score for label, score in old["probabilities"].items() if label != "money"}
            assert new["labels"] == [max(rest, key=lambda label: rest[label])]
            assert sum(new["probabilities"].values()) == pytest.approx(1)

    def test_parts_of_a_folder_too(self, trained: Path, labels: Path, tmp_path: Path) -> None:
        pytest.importorskip("pyarrow")
        import pyarrow.parquet as pq

        (tmp_path / "parts").mkdir()
        write_jsonl(tmp_path / "parts" / "a.jsonl", documents(["en"]))
        options = ("--exclude", "money", "--names", "it", "--label-set", labels, "--jobs", 1)
        succeed("predict", trained, tmp_path / "parts", "-o", tmp_path / "out", *options)
        table = pq.read_table(tmp_path / "out" / "a.parquet").to_pylist()
        assert {name for row in table for name in row["label_names"]} == {"Ferraglia", "Conti"}


class TestTrain:
    def test_documents_without_parents_are_told(
        self, split_data: Path, labels: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = tmp_path / "model"
        succeed("train", split_data, "-o", path, "--method", "naive", "--no-measure", "--label-set", labels)
        assert "lack labels above theirs" in capsys.readouterr().err
        assert not load_model(path).label_set_.roll_up

    def test_documents_get_parents_if_asked(
        self, split_data: Path, labels: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path, further = tmp_path / "model", write_jsonl(tmp_path / "more.jsonl", documents(["de"]))
        options = ("--label-set", labels, "--roll-up", "--jobs", 1)
        succeed("train", split_data, "-o", path, "--method", "naive", *options)
        assert "lack labels" not in capsys.readouterr().err
        assert load_model(path).classes_.tolist() == ["account", "all", "hardware", "money"]
        succeed("update", path, further, "--jobs", 1)  # which documents have parents now, too
        archive = load_model(path).training_
        assert archive.targets["de"][:, 1].sum() == sum(bool(row["labels"]) for row in documents(["de"]))
        scores = _json(capsys, "evaluate", path, split_data)
        assert scores["rolled_up"]["average"]["micro_f1"] == pytest.approx(
            scores["scores"]["average"]["micro_f1"]
        )


class TestEvaluate:
    def test_scores_roll_up(
        self, trained: Path, split_data: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        scores = _json(capsys, "evaluate", trained, split_data)
        # By itself "hardware" is often wrong, for it comes with "account"; rolled up it is right.
        assert scores["rolled_up"]["average"]["micro_f1"] > scores["scores"]["average"]["micro_f1"]
        succeed("evaluate", trained, split_data)
        assert "rolled up, with all labels above" in capsys.readouterr().out

    def test_excluded_labels_do_not_count(
        self, own_words_model: Path, split_data: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        scores = _json(capsys, "evaluate", own_words_model, split_data, "--exclude", "money", "--errors")
        assert {row["label"] for row in scores["by_label"]} == {"hardware", "account"}
        assert (scores["unknown_labels"], scores["excluded_labels"]) == (0, 1)
        assert "rolled_up" not in scores


def test_explain_names_labels(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    succeed("explain", trained, "printer and password", "--names", "it")
    told = capsys.readouterr().out
    assert "Ferraglia" in told
    assert "Conti" in told


def test_inspect_tells_of_the_label_set(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = _json(capsys, "inspect", trained, "--names", "it")
    assert told["label_names"]["hardware"] == "Ferraglia"
    assert told["label_set"] == {
        "labels": 4,
        "names": ["en", "it"],
        "with_parents": 3,
        "excluded": [],
        "roll_up": False,
    }
    succeed("inspect", trained, "--names", "it")
    told = capsys.readouterr().out
    assert "hardware (Ferraglia)" in told
    assert "Label set   4 labels; names in en, it; 3 with parents" in told


class TestRefusals:
    def test_of_options(
        self, own_words_model: Path, trained: Path, split_data: Path, refuses: Refuses
    ) -> None:
        model, docs = own_words_model, split_data
        refuses("predict", model, docs, "--names", "it", says=["no names of its labels", "--label-set"])
        refuses("predict", trained, docs, "--names", "nl", says=['no label has a name in "nl"', "en, it"])
        refuses("predict", trained, docs, "--names", "no tag", says=["--names", "is not a language tag"])
        refuses("predict", model, docs, "--exclude", "mony", says=["no label 'mony'. Did you mean money?"])
        every = [word for label in ("account", "hardware", "money") for word in ("--exclude", label)]
        refuses("evaluate", model, docs, *every, says=["Every label of the model is excluded"])
        refuses("train", docs, "-o", "m", "--roll-up", says=["--roll-up needs the parents", "--label-set"])

    def test_of_files(
        self, own_words_model: Path, split_data: Path, tmp_path: Path, refuses: Refuses
    ) -> None:
        other = tmp_path / "other.csv"
        other.write_text("id,name\ncats,Cats\n")
        says = ['other.csv: its ids ("cats", …)']
        refuses("predict", own_words_model, split_data, "--label-set", other, says=says)
        refuses("train", split_data, "-o", "m", "--label-set", other, says=says)
        other.write_text("id,exclude\naccount,yes\nhardware,yes\nmoney,yes\n")
        says = ["Every label of the model is excluded"]
        refuses("train", split_data, "-o", "m", "--method", "naive", "--label-set", other, says=says)


def test_labels_that_the_set_lacks_are_learned_as_ever(tmp_path: Path, labels: Path) -> None:
    rows = [{**row, "labels": [*row["labels"], "other"]} for row in with_splits(documents())]
    data = write_jsonl(tmp_path / "docs.jsonl", rows)
    succeed("train", data, "-o", tmp_path / "m", "--method", "naive", "--jobs", 1, "--label-set", labels)
    assert "other" in load_model(tmp_path / "m").classes_
