"""``funnelling inspect`` of a file: documents, words, labels and odd rows."""

import json
from pathlib import Path

import pytest

from .command import documents, run_command, succeed, with_splits, write_jsonl


def test_json(tmp_path: Path) -> None:
    rows = [*with_splits(documents()), {"id": "odd", "language": "en", "text": ""}]
    write_jsonl(tmp_path / "docs.jsonl", rows)
    done = run_command("inspect", "docs.jsonl", "--json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    described = json.loads(done.stdout)
    assert described["documents"] == 49
    assert described["splits"] == {"test": 16, "train": 32}
    assert described["languages"]["en"]["documents"] == 25
    assert described["languages"]["en"]["labelled"] == 24
    assert described["labels"]["hardware"] == {"en": 12, "it": 12}
    assert set(described["shared_words"]) == {"en", "it"}
    assert '1 document with an empty text: "odd"' in described["odd"]


def test_for_people(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [*documents(), {"id": "odd", "language": "en", "text": ""}]
    succeed("inspect", write_jsonl(tmp_path / "docs.jsonl", rows))
    printed = capsys.readouterr().out
    assert printed.startswith(
        "49 documents, 2 languages, 3 labels, 1.5 labels per document\nsplits: none; compare"
    )
    headings = ["odd rows", "language ", "positives by label and language", "words that two languages share"]
    places = [printed.index(f"\n\n{heading}") for heading in headings]
    assert places == sorted(places), "what to look at first, matrices last"
    assert "\nhardware   24  12  12\n" in printed
    assert '- 1 document with an empty text: "odd"' in printed


def test_a_file_without_languages_and_labels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"text": "Where is the invoice for the printer?"}, {"text": "The garden is behind the kitchen"}]
    succeed("inspect", write_jsonl(tmp_path / "docs.jsonl", rows))
    printed = capsys.readouterr().out
    assert printed.startswith("2 documents, 1 language, 0 labels")
    assert "positives" not in printed
    assert "2 documents without labels" in printed


def test_of_many_labels_the_most_frequent_are_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"id": f"{i}-{j}", "language": "en", "text": "a text", "labels": [f"label {i}"]}
        for i in range(35)
        for j in range(40 - i)
    ]
    data = write_jsonl(tmp_path / "docs.jsonl", rows)
    succeed("inspect", data)
    printed = capsys.readouterr().out
    assert "\nlabel 29 " in printed
    assert "\nlabel 30 " not in printed
    assert "\n… and 5 more: add --full to see them\n" in printed
    succeed("inspect", data, "--full")
    printed = capsys.readouterr().out
    assert "\nlabel 34 " in printed
    assert "--full" not in printed
