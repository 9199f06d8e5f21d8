"""``funnelling explain``: why documents get their labels."""

import json
from pathlib import Path

import pytest

from .command import assert_refused, documents, read_jsonl, succeed, write_jsonl
from .conftest import Refuses


def test_explanations_are_json_lines(
    own_words_model: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    succeed("explain", own_words_model, data, "--top", 2)
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["id"] for row in rows] == [document["id"] for document in documents()]
    label = next(iter(rows[3]["labels"].values()))
    assert len(label["tier_one"]["words"]) <= 2
    assert {"base", "labels", "other_labels"} == set(label["tier_two"])
    assert rows[3]["neighbours"][0]["id"].startswith(("en-", "it-"))


def test_one_label_is_explained_for_all(model: Path, data: Path, tmp_path: Path) -> None:
    succeed("explain", model, data, "--label", "money", "-o", tmp_path / "why.jsonl")
    assert all(list(row["labels"]) == ["money"] for row in read_jsonl(tmp_path / "why.jsonl"))


@pytest.mark.parametrize(
    ("rows", "options", "says"),
    [
        ([{"id": "7", "text": "ciao", "language": "xh"}], [], ["docs.jsonl:1", '"7"', "--skip-unknown"]),
        ([{"id": "7", "text": "ciao", "language": "it"}], ["-o", "why.csv"], ["why.csv", ".jsonl"]),
        ([], [], ["docs.jsonl: no document"]),
    ],
)
def test_what_cannot_be_explained_is_refused(
    rows: list[dict[str, object]],
    options: list[str],
    says: list[str],
    own_words_model: Path,
    tmp_path: Path,
    refuses: Refuses,
) -> None:
    write_jsonl(tmp_path / "docs.jsonl", rows)
    refuses("explain", own_words_model, "docs.jsonl", *options, says=says)


def test_in_a_process_of_its_own(own_words_model: Path, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "docs.jsonl", [{"id": "7", "text": "ciao", "language": "xh"}])
    says = ["docs.jsonl:1", '"7"', "--skip-unknown"]
    assert_refused("explain", own_words_model, "docs.jsonl", cwd=tmp_path, says=says)


def test_a_document_in_which_nothing_is_known_is_said_to_be_one(model: Path, tmp_path: Path) -> None:
    rows = [{"id": "1", "text": "🐈", "language": "en"}, {"id": "2", "text": "printer", "language": "en"}]
    succeed("explain", model, write_jsonl(tmp_path / "docs.jsonl", rows), "-o", tmp_path / "why.jsonl")
    blank, known = read_jsonl(tmp_path / "why.jsonl")
    assert blank["evidence"] is False
    assert not any(label["assigned"] for label in blank["labels"].values())
    assert "evidence" not in known


def test_unknown_languages_may_be_passed_over(own_words_model: Path, tmp_path: Path) -> None:
    rows = [{"id": "7", "text": "ciao", "language": "xh"}, {"id": "8", "text": "ciao", "language": "it-CH"}]
    data = write_jsonl(tmp_path / "docs.jsonl", rows)
    succeed("explain", own_words_model, data, "--skip-unknown", "-o", tmp_path / "why.jsonl")
    first, second = read_jsonl(tmp_path / "why.jsonl")
    assert first == {"id": "7", "labels": None, "language": "xh"}
    assert second["language"] == "it_CH"


def test_a_label_that_is_none_is_refused(model: Path, data: Path, refuses: Refuses) -> None:
    refuses("explain", model, data, "--label", "fame", says=["fame", "inspect"])
