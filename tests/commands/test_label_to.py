"""``funnelling label --to``: a file of documents that, filled in, a model learns."""

import json
from pathlib import Path
from typing import Any

import openpyxl
import pandas
import pyarrow
import pyarrow.parquet as pq
import pytest

from funnelling import load_model, read_documents

from .command import LABELS, documents, read_jsonl, succeed, write_jsonl
from .conftest import Refuses


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    """Documents that the model does not know, some of them labelled."""
    rows = [
        {**row, "id": f"new-{row['id']}", "text": f"{row['text']} {extra}"}
        for row, extra in zip(documents(each=8), ["red", "blue", "green", "old"] * 4, strict=True)
    ]
    for row in rows[2:]:
        del row["labels"]
    return write_jsonl(tmp_path / "pool.jsonl", [*rows, {"id": "es-1", "text": "hola", "language": "es"}])


def _learned(model: Path) -> int:
    return sum(load_model(model).documents_.values())


@pytest.mark.parametrize("ending", [".csv", ".xlsx", ".parquet", ".jsonl"])
def test_a_file_that_is_filled_in_is_learned(
    ending: str,
    own_words_copy: Path,
    pool: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / f"to-label{ending}"
    succeed("label", own_words_copy, pool, "--to", file, "-n", 4)
    assert "left out: 2 documents with labels." in capsys.readouterr().err
    suggested = list(read_documents(file))
    assert [document.labels for document in suggested] == [None] * 4
    assert {document.id for document in suggested} <= {row["id"] for row in read_jsonl(pool)[2:]}
    _fill_in(file, 2)
    before = _learned(own_words_copy)
    succeed("update", own_words_copy, file, "--force")
    assert "2 of 4 documents have no labels and are left out" in capsys.readouterr().err
    assert _learned(own_words_copy) == before + 2


def _fill_in(file: Path, number: int) -> None:
    """Write labels into the first rows, as a person would."""
    if file.suffix == ".xlsx":
        book = openpyxl.load_workbook(file)
        sheet: Any = book.active
        column = [cell.value for cell in sheet[1]].index("labels") + 1
        for row in range(2, 2 + number):
            sheet.cell(row, column).value = "|".join(LABELS[:2])
        book.save(file)
        return
    if file.suffix == ".parquet":
        table = pq.read_table(file)
        labels = pyarrow.array([LABELS[:2]] * number + [None] * (len(table) - number))
        place = table.column_names.index("labels")
        pq.write_table(table.set_column(place, "labels", labels), file)
        return
    if file.suffix == ".jsonl":
        rows = read_jsonl(file)
        write_jsonl(file, [{**row, "labels": LABELS[:2]} for row in rows[:number]] + rows[number:])
        return
    frame = pandas.read_csv(file)
    frame["labels"] = ["|".join(LABELS[:2])] * number + [None] * (len(frame) - number)
    frame.to_csv(file, index=False)


def test_standard_output_is_json_lines(
    own_words_model: Path, pool: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    succeed("label", own_words_model, pool, "--to", "-", "-n", 20, "--balance")
    printed = capsys.readouterr()
    rows = [json.loads(line) for line in printed.out.splitlines()]
    assert {row["language"] for row in rows} == {"en", "it", "es"}
    expected = ["id", "language", "text", "labels", "suggested", "probabilities", "reason", "score"]
    assert list(rows[0]) == expected
    assert all(row["labels"] is None and row["reason"] for row in rows)


def test_languages_that_were_detected_are_told(
    own_words_model: Path, pool: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = read_jsonl(pool)
    for row in rows[:3]:
        del row["language"]
    some = write_jsonl(tmp_path / "some.jsonl", rows)
    succeed("label", own_words_model, some, "--to", "-", "-n", 2)
    assert "some.jsonl: the language of 3 documents is detected: " in capsys.readouterr().err


def test_what_the_model_learned_and_what_is_for_test_is_left_out(
    own_words_model: Path, split_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = [{key: row[key] for key in ("id", "language", "text", "split")} for row in read_jsonl(split_data)]
    further = {"language": "en", "text": "a lighthouse by the sea", "split": "train"}
    data = write_jsonl(tmp_path / "known.jsonl", [*known, further])
    succeed("label", own_words_model, data, "--to", "-")
    printed = capsys.readouterr()
    assert printed.out.count("\n") == 1
    assert '"id": null' in printed.out  # the number of a line is no id
    assert "left out: 16 documents for test, " in printed.err
    assert "32 documents that the model has learned" in printed.err


def test_nothing_to_label_is_refused(
    own_words_model: Path, data: Path, tmp_path: Path, refuses: Refuses
) -> None:
    words = ("label", own_words_model, data)
    refuses(*words, "--to", "-", says=["no document to label: 48 documents with labels."])
    refuses(*words, "--to", tmp_path / "out.doc", says=["unknown format"])
    refuses(*words, "--to", "-", "-n", "0", says=["-n"])
    refuses(*words, "-n", "5", says=["Add --to FILE."])


def test_options_may_stand_between_the_model_and_the_documents(
    own_words_model: Path, pool: Path, refuses: Refuses, capsys: pytest.CaptureFixture[str]
) -> None:
    succeed("label", own_words_model, "--to", "-", pool, "-n", 2)
    assert capsys.readouterr().out.count("\n") == 2
    refuses("label", own_words_model, says=["is a model. Name the documents, too"])
    refuses("label", "--to", "-", says=["the following arguments are required: DATA"])
