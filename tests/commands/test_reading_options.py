"""The same documents in whatever file give the same model, and every option of reading reaches the reader."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from .command import documents, read_jsonl, succeed, write_jsonl
from .conftest import Refuses

ROWS = documents()


def _table(delimiter: str = ",", header: tuple[str, ...] = ("nr", "lang", "body", "class")) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter)
    writer.writerow(header)
    for row in ROWS:
        writer.writerow([row["id"], row["language"], row["text"], ", ".join(row["labels"]) or "[]"])
    return stream.getvalue()


def _train(data: Path, *options: str) -> bytes:
    model = data.parent / "model"
    succeed(
        "train", data, "-o", model, "--method", "fun-tat", "--jobs", 1, "--no-measure", "--force", *options
    )
    document: dict[str, Any] = json.loads((model / "model.json").read_text())
    return json.dumps(document["files"]).encode()  # checksums of all that was learned


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return _train(write_jsonl(tmp_path_factory.mktemp("plain") / "docs.jsonl", ROWS))


def test_a_table_of_other_names_gives_the_same_model(
    tmp_path: Path, learned: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "docs.csv"
    data.write_text(_table(";"), encoding="utf-16")
    assert _train(data) == learned
    said = capsys.readouterr().err
    assert 'semicolons between cells; text from "body"; labels from "class"' in said
    assert 'labels divided at ","' in said


def test_every_column_can_be_named(tmp_path: Path, learned: bytes) -> None:
    data = tmp_path / "docs.csv"
    data.write_text(_table(header=("one", "two", "three", "four")))
    columns = ("--id-column", "one", "--language-column", "TWO", "--text-column", "three")
    assert _train(data, *columns, "--labels-column", "four", "--label-separator", ",") == learned


def test_a_file_without_a_header(tmp_path: Path, learned: bytes) -> None:
    data = tmp_path / "docs.txt"
    data.write_text(_table("\t").partition("\n")[2])
    columns = ("--id-column", "1", "--language-column", "2", "--text-column", "3", "--labels-column", "4")
    assert _train(data, "--format", "csv", "--delimiter", "tab", "--no-header", *columns) == learned


def test_a_document_whose_language_is_none_is_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], refuses: Refuses
) -> None:
    data = write_jsonl(tmp_path / "docs.jsonl", [*ROWS, {**ROWS[0], "language": "English, I think"}])
    _train(data)
    said = capsys.readouterr().err
    assert 'left out 1 document whose language is none: "English, I think" (--language-column none' in said
    refuses("train", data, "-o", "other", "--strict", says=["is not a language tag"])


def test_markup_is_stripped(tmp_path: Path, learned: bytes) -> None:
    rows = [{**row, "text": f"<p class='x'>{row['text']}</p><script>printer()</script>"} for row in ROWS]
    data = write_jsonl(tmp_path / "docs.jsonl", rows)
    assert _train(data, "--strip", "html") == learned
    assert _train(data) != learned


def test_a_model_strips_new_documents_as_it_did_those_it_learned_from(tmp_path: Path) -> None:
    rows = [{**row, "text": f"<p>{row['text']}</p>"} for row in ROWS]
    data = write_jsonl(tmp_path / "docs.jsonl", rows)
    _train(data, "--strip", "html")
    succeed("predict", tmp_path / "model", data, "-o", tmp_path / "out.jsonl")
    plain = write_jsonl(tmp_path / "plain.jsonl", ROWS)
    succeed("predict", tmp_path / "model", plain, "-o", tmp_path / "same.jsonl")
    answers = [
        [(row["labels"], row["probabilities"]) for row in read_jsonl(tmp_path / name)]
        for name in ("out.jsonl", "same.jsonl")
    ]
    assert answers[0] == answers[1]


def test_a_model_remembers_how_its_file_was_read(tmp_path: Path) -> None:
    data = tmp_path / "docs.csv"
    data.write_text(_table(header=("one", "two", "three", "four")))
    columns = ("--id-column", "one", "--language-column", "two", "--text-column", "three")
    _train(data, *columns, "--labels-column", "four", "--label-separator", ",")
    succeed("predict", tmp_path / "model", data, "-o", tmp_path / "out.jsonl")
    assert [row["id"] for row in read_jsonl(tmp_path / "out.jsonl")] == [row["id"] for row in ROWS]
    succeed("evaluate", tmp_path / "model", data)
    other = write_jsonl(tmp_path / "other.jsonl", ROWS)  # which has other columns
    succeed("evaluate", tmp_path / "model", other)


@pytest.mark.parametrize("text", ["printer and password", "stampante\nparola"])
def test_a_text_in_place_of_a_file(model: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    succeed("predict", model, text)
    row = json.loads(capsys.readouterr().out)
    assert sorted(row["labels"]) == ["account", "hardware"]


def test_a_text_file_and_lines(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "two.txt").write_text("printer\ninvoice\n")
    capsys.readouterr()
    succeed("predict", model, tmp_path / "two.txt")
    assert sorted(json.loads(capsys.readouterr().out)["labels"]) == ["hardware", "money"]
    succeed("predict", model, tmp_path / "two.txt", "--format", "lines")
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["labels"] for row in rows] == [["hardware"], ["money"]]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--text-column", "matter"], ["no column 'matter'. It has "]),
        (["--encoding", "klingon"], ["no encoding 'klingon'"]),
        (["--strip", "xml"], ["'xml' cannot be stripped", "html"]),
        (["--format", "pdf"], ["there is no format 'pdf'", "jsonl"]),
        (["--delimiter", "::"], ["'::' cannot stand between cells"]),
    ],
)
def test_an_option_that_will_not_do(
    tmp_path: Path, refuses: Refuses, options: list[str], says: list[str]
) -> None:
    (tmp_path / "docs.csv").write_text(_table())
    refuses("train", "docs.csv", "-o", "model", *options, says=says)


def test_what_may_spoil_a_model_is_said_before_training(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [*ROWS, *({**row, "labels": ["hardware;money"]} for row in documents(["en"], 6))]
    data = write_jsonl(tmp_path / "docs.jsonl", rows)
    _train(data)
    said = capsys.readouterr().err
    assert (
        'Look at: 1 label apparently joined (say what is between labels with --label-separator): "hard'
        in said
    )


def test_a_flat_folder_of_texts_is_labelled(model: Path, tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    for name, text in {"a.txt": "printer", "b.txt": "fattura"}.items():
        (tmp_path / "new" / name).write_text(text)
    succeed("predict", model, tmp_path / "new", "-o", tmp_path / "out.jsonl")
    rows = read_jsonl(tmp_path / "out.jsonl")
    assert [(row["id"], row["labels"]) for row in rows] == [("a.txt", ["hardware"]), ("b.txt", ["money"])]


def test_columns_are_listed_where_none_is_known_for_labels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "docs.csv").write_text("text,Queue,agent\nprinter,1st level,Ann\n")
    succeed("inspect", tmp_path / "docs.csv")
    assert 'no column of labels known among "Queue", "agent" (name it with' in capsys.readouterr().err
