"""Commands with a model of more than a thousand labels: what they show of these, and what they cannot do."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from .command import read_jsonl, succeed, write_jsonl
from .conftest import Refuses

DOCUMENTS = [
    {"id": "a", "language": "en", "text": "ena5 enb5 topic5"},
    {"id": "b", "language": "it", "text": "topic9"},
    {"id": "c", "language": "en", "text": "zzzz"},
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "docs.jsonl", DOCUMENTS)


def _printed(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


class TestPredict:
    def test_the_five_most_probable_labels_are_shown(
        self, many_labels_model: Path, data: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        succeed("predict", many_labels_model, data)
        first, second, nothing = _printed(capsys)
        assert list(map(len, (first["probabilities"], second["probabilities"]))) == [5, 5]
        assert list(first["probabilities"].values()) == sorted(first["probabilities"].values(), reverse=True)
        assert first["best_label"] == next(iter(first["probabilities"]))
        assert second["labels"] == ["label 9"]
        assert (nothing["labels"], nothing["probabilities"], nothing["abstained"]) == (
            [],
            {},
            "out-of-vocabulary",
        )

    def test_or_as_many_as_are_asked_for(
        self, many_labels_model: Path, data: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        succeed("predict", many_labels_model, data, "--top", 12, "--threshold", 0)
        first, *_ = _printed(capsys)
        assert len(first["probabilities"]) == 12
        assert 12 < len(first["labels"]) <= 40

    def test_a_table_has_them_in_one_column(
        self, many_labels_model: Path, data: Path, tmp_path: Path
    ) -> None:
        succeed("predict", many_labels_model, data, "-o", tmp_path / "out.csv")
        with (tmp_path / "out.csv").open(newline="") as stream:
            first, *_ = csv.DictReader(stream)
        assert len(json.loads(first["probabilities"])) == 5

    def test_a_column_for_each_is_refused(
        self, many_labels_model: Path, data: Path, refuses: Refuses
    ) -> None:
        refuses(
            *("predict", many_labels_model, data, "-o", "out.csv", "--probabilities", "wide"),
            says=["--probabilities wide would make 1,107 columns. Use --probabilities list"],
        )

    def test_a_folder_of_parts(self, many_labels_model: Path, tmp_path: Path) -> None:
        parquet = pytest.importorskip("pyarrow.parquet")
        (tmp_path / "parts").mkdir()
        write_jsonl(tmp_path / "parts" / "one.jsonl", DOCUMENTS)
        succeed("predict", many_labels_model, tmp_path / "parts", "-o", tmp_path / "out", "--jobs", 1)
        table = parquet.read_table(tmp_path / "out" / "one.parquet")
        assert [len(scores) for scores in table["probabilities"].to_pylist()] == [5, 5, 0]
        thresholds = json.loads(table.schema.metadata[b"funnelling.thresholds"])
        assert {(row["language"], row["label"]) for row in thresholds} == {
            ("en", "all labels"),
            ("it", "all labels"),
        }

    def test_with_names_and_parents_and_without_labels_that_are_excluded(
        self, many_labels_model: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        labels = [
            {"id": "group 5", "names": {"en": "Group five"}, "exclude": True},
            {"id": "group 2", "names": {"en": "Group two"}},
            {"id": "label 9", "names": {"en": "Nine"}, "parents": ["group 2"]},
        ]
        (tmp_path / "labels.json").write_text(json.dumps(labels))
        succeed(
            *("predict", many_labels_model, data, "--label-set", tmp_path / "labels.json", "--names", "en")
        )
        first, second, _ = _printed(capsys)
        assert "group 5" not in {*first["labels"], *first["probabilities"]}
        assert (second["labels"], second["label_names"]) == (["label 9", "group 2"], ["Nine", "Group two"])
        assert (
            second["probabilities"]["group 2"] == second["probabilities"]["label 9"] == second["probability"]
        )


class TestExplain:
    def test_for_a_reader(
        self, many_labels_model: Path, data: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        succeed("explain", many_labels_model, data, "--id", "b")
        printed = capsys.readouterr().out
        assert "label 9" in printed
        assert "Candidate 1 of " in printed
        assert "2 training documents, 1 in the language" in printed

    def test_as_lines_and_as_a_page(self, many_labels_model: Path, data: Path, tmp_path: Path) -> None:
        succeed("explain", many_labels_model, data, "-o", tmp_path / "why.jsonl")
        first, second, nothing = read_jsonl(tmp_path / "why.jsonl")
        assert second["labels"]["label 9"]["candidate"]["rank"] == 1
        assert first["neighbours"] == []
        assert nothing["labels"] == {}
        succeed("explain", many_labels_model, data, "-o", tmp_path / "why.html")
        assert "Candidate 1 of " in (tmp_path / "why.html").read_text("utf-8")


class TestInspect:
    def test_a_threshold_per_language_and_a_few_labels(
        self, many_labels_model: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        succeed("inspect", many_labels_model, "--full")
        printed = capsys.readouterr().out
        assert "en: all labels ." in printed
        assert len(printed) < 5_000
        succeed("inspect", many_labels_model, "--json")
        told = json.loads(capsys.readouterr().out)
        assert {language: list(each) for language, each in told["thresholds"].items()} == {
            "en": ["all labels"],
            "it": ["all labels"],
        }


class TestNotYet:
    def test_suggest(self, many_labels_model: Path, data: Path, refuses: Refuses) -> None:
        says = ["fun-many cannot choose", "funnelling predict"]
        refuses("label", many_labels_model, data, "--to", "-", says=says)

    def test_audit(self, many_labels_model: Path, data: Path, refuses: Refuses) -> None:
        says = ["fun-many cannot look for wrong labels yet", "funnelling audit DATA."]
        refuses("audit", many_labels_model, says=says)
        refuses("audit", data, "--method", "fun-many", says=says)

    def test_label_in_an_order_of_its_own(
        self, many_labels_model: Path, data: Path, refuses: Refuses
    ) -> None:
        pytest.importorskip("fastapi", reason="needs FastAPI: pip install 'funnelling[serve]'")
        refuses(
            *("label", many_labels_model, data, "--learn-after", 0),
            says=["fun-many cannot order documents. Add --as-they-are."],
        )
