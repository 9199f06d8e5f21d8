"""``funnelling explain``: why documents get their labels."""

import csv
import json
import sys
from pathlib import Path

import pytest

from .command import assert_refused, documents, read_jsonl, succeed, write_jsonl
from .conftest import Refuses


def test_explanations_are_json_lines(
    own_words_model: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    succeed("explain", own_words_model, data, "--top", 2, "--json")
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
        ([{"id": "7", "text": "ciao", "language": "xh"}], ["--strict"], ["docs.jsonl:1", '"7"', "--strict"]),
        ([{"id": "7", "text": "ciao", "language": "it"}], ["-o", "why.doc"], ["why.doc", ".jsonl", ".html"]),
        ([{"id": "7", "text": "ciao", "language": "it"}], ["-o", "why"], ["why", ".jsonl", ".html"]),
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
    says = ["docs.jsonl:1", '"7"', "--strict"]
    assert_refused("explain", own_words_model, "docs.jsonl", "--strict", cwd=tmp_path, says=says)


def test_a_document_in_which_nothing_is_known_is_said_to_be_one(model: Path, tmp_path: Path) -> None:
    rows = [{"id": "1", "text": "🐈", "language": "en"}, {"id": "2", "text": "printer", "language": "en"}]
    succeed("explain", model, write_jsonl(tmp_path / "docs.jsonl", rows), "-o", tmp_path / "why.jsonl")
    blank, known = read_jsonl(tmp_path / "why.jsonl")
    assert blank["abstained"] == "out-of-vocabulary"
    assert not any(label["assigned"] for label in blank["labels"].values())
    assert known["abstained"] is None


def test_unknown_languages_may_be_passed_over(own_words_model: Path, tmp_path: Path) -> None:
    rows = [{"id": "7", "text": "ciao", "language": "xh"}, {"id": "8", "text": "ciao", "language": "it-CH"}]
    data = write_jsonl(tmp_path / "docs.jsonl", rows)
    succeed("explain", own_words_model, data, "-o", tmp_path / "why.jsonl")
    first, second = read_jsonl(tmp_path / "why.jsonl")
    assert first == {
        "id": "7",
        "language": "xh",
        "labels": {},
        "neighbours": [],
        "abstained": "unknown-language",
    }
    assert second["language"] == "it_CH"


def test_a_label_that_is_none_is_refused(model: Path, data: Path, refuses: Refuses) -> None:
    refuses("explain", model, data, "--label", "fame", says=["fame", "inspect"])


def test_a_reader_gets_tables_and_the_text_with_its_words_marked(
    model: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    succeed("explain", model, data, "--label", "money")
    shown = capsys.readouterr().out
    assert "label  probability  threshold  assigned" in shown
    assert "money: " in shown
    assert "[+invoice]" in shown
    assert "Training documents that tier 2 finds most alike" in shown
    texts = {document["id"]: document["text"] for document in documents()}
    like = shown.split("Training documents that tier 2 finds most alike\n")[1].splitlines()[:2]
    assert like[1].strip() == texts[like[0].split()[0]]
    assert "\x1b" not in shown


@pytest.mark.parametrize(("no_colour", "coloured"), [("", True), ("1", False)])
def test_colours_are_for_terminals_whose_users_want_them(
    no_colour: str,
    coloured: bool,
    model: Path,
    data: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NO_COLOR", no_colour)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    succeed("explain", model, data, "--label", "money")
    assert ("\x1b[" in capsys.readouterr().out) is coloured


@pytest.mark.parametrize("option", ["-o", "--html"])
def test_a_page_needs_nothing_beside_it(option: str, model: Path, tmp_path: Path) -> None:
    rows = [{"id": "<b>7</b>", "text": "</p><script>alert(1)</script> invoice", "language": "en"}]
    data = write_jsonl(tmp_path / "docs.jsonl", rows)
    succeed("explain", model, data, option, tmp_path / "why.html", "--label", "money")
    page = (tmp_path / "why.html").read_text("utf-8")
    assert "default-src 'none'" in page
    assert "<script" not in page
    assert "<b>7" not in page
    assert '<mark class="for mark-4" title="+' in page
    assert page.endswith("</html>\n")


def test_one_output_at_a_time(model: Path, data: Path, refuses: Refuses) -> None:
    refuses("explain", model, data, "--json", "--html", "why.html", says=["--html", "--json"])


def test_passages_are_places_in_the_text_as_given(model: Path, tmp_path: Path) -> None:
    text = "  The INVOICE,\n for a   printer"
    data = write_jsonl(tmp_path / "docs.jsonl", [{"id": "1", "text": text, "language": "en"}])
    succeed("explain", model, data, "--label", "money", "-o", tmp_path / "why.jsonl")
    (row,) = read_jsonl(tmp_path / "why.jsonl")
    passages = {text[start:end]: amount for start, end, amount in row["labels"]["money"]["spans"]}
    assert passages["INVOICE"] == max(passages.values()) > 0
    assert "printer" in passages


def test_what_a_document_says_to_the_terminal_is_not_heard(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"id": "\x1b[2J", "text": "invoice \x1b]0;title\x07 printer", "language": "en"}]
    succeed("explain", model, write_jsonl(tmp_path / "docs.jsonl", rows))
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "\x07" not in shown


def test_a_document_that_cannot_be_labelled_is_said_to_be_one(
    own_words_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"id": "7", "text": "ciao", "language": "xh"}]
    data = write_jsonl(tmp_path / "docs.jsonl", rows)
    succeed("explain", own_words_model, data)
    assert "cannot label this language" in capsys.readouterr().out
    succeed("explain", own_words_model, data, "--html", tmp_path / "why.html")
    assert "cannot label this language" in (tmp_path / "why.html").read_text("utf-8")


def test_a_table_has_a_row_per_word(model: Path, tmp_path: Path) -> None:
    rows = [{"id": "7", "text": "printer garden =1+1", "language": "en"}]
    data = write_jsonl(tmp_path / "docs.jsonl", rows)
    succeed("explain", model, data, "--label", "hardware", "-o", tmp_path / "why.csv")
    with open(tmp_path / "why.csv", newline="", encoding="utf-8") as file:
        told = list(csv.DictReader(file))
    assert {(row["id"], row["label"]) for row in told} == {("7", "hardware")}
    (printer,) = [row for row in told if row["word"] == "printer"]
    assert float(printer["adds"]) > 0


def test_one_document_of_many_is_explained(model: Path, data: Path, tmp_path: Path, refuses: Refuses) -> None:
    succeed("explain", model, data, "--id", "it-3", "--id", "en-5", "-o", tmp_path / "why.jsonl")
    assert [row["id"] for row in read_jsonl(tmp_path / "why.jsonl")] == ["en-5", "it-3"]
    refuses("explain", model, data, "--id", "nobody", says=['no document has the id "nobody"', "--id"])
