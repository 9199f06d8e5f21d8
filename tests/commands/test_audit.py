"""``funnelling audit``: slips are found in a file and in a model, and its file, corrected, is learned."""

import json
from pathlib import Path
from typing import Any

import pytest
from sklearn.exceptions import NotFittedError

from funnelling import InputError, audit, load_model, read_corpus
from funnelling.formats import read_documents
from tests.funnels import any_funnel

from .command import documents, read_jsonl, succeed, write_jsonl
from .conftest import Refuses

SLIP = "en-6"  # has all three labels, and words for each


def slipped(**fields: Any) -> list[dict[str, Any]]:
    """Documents of which one lacks a label that its words show, and has one that nothing shows."""
    rows = documents(each=40, **fields)
    for row in rows:
        if row["id"] == SLIP:
            row["labels"] = ["account", "money"]
    return rows


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_jsonl(tmp_path_factory.mktemp("audit") / "docs.jsonl", slipped())


@pytest.fixture(scope="module")
def model(data: Path) -> Path:
    path = data.with_name("model")
    succeed("train", data, "-o", path, "--method", "fun-tat", "--no-measure")
    return path


def test_a_slip_is_listed_first_with_what_speaks_against_it(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    succeed("audit", data, "-n", "2")
    first, second = capsys.readouterr().out.split("\n 2. ")
    assert f" 1. {SLIP} (en)" in first
    assert "missing label: hardware" in first
    assert "against  " in first
    assert SLIP not in second


def test_a_file_of_all_documents_is_corrected_and_learned(data: Path, model: Path, tmp_path: Path) -> None:
    suspects = tmp_path / "suspects.csv"
    succeed("audit", data, "-o", suspects)
    rows = list(read_documents(suspects))
    assert rows[0].id == SLIP
    assert {row.id: row.labels for row in rows} == {row["id"]: tuple(row["labels"]) for row in slipped()}
    fixed = suspects.read_text(encoding="utf-8").replace("account|money", "hardware|account|money", 1)
    suspects.write_text(fixed, encoding="utf-8")
    succeed("update", model, suspects, "-o", tmp_path / "better")
    history = json.loads((tmp_path / "better" / "model.json").read_text(encoding="utf-8"))
    assert '"corrected": 1' in json.dumps(history)


def test_a_model_is_audited_by_what_it_keeps_and_corrected_by_id(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suspects = tmp_path / "suspects.jsonl"
    succeed("audit", model, "-n", "3", "-o", suspects)
    rows = read_jsonl(suspects)
    assert rows[0]["id"] == SLIP
    assert (rows[0]["issue"], rows[0]["suggested_label"]) == ("missing label", "hardware")
    assert "text" not in rows[0]  # the model keeps no text as written
    rows[0]["labels"] = ["hardware", *rows[0]["labels"]]
    write_jsonl(suspects, rows)
    succeed("update", model, suspects, "-o", tmp_path / "better")
    assert "1 corrected" in capsys.readouterr().err


def test_what_keeps_no_documents_is_refused(data: Path, tmp_path: Path, refuses: Refuses) -> None:
    succeed("train", data, "-o", tmp_path / "small", "--method", "naive", "--keep", "nothing", "--no-measure")
    refuses("audit", "small", says=["small: ", "keeps no training documents", "Give the file"])
    refuses("audit", data, "-o", "suspects.doc", says=["suspects.doc: unknown format"])


def test_options_for_files_are_refused_with_a_model(model: Path, refuses: Refuses) -> None:
    for options in (["--method", "naive"], ["--strict"], ["--text-column", "body"]):
        refuses("audit", model, *options, says=["is a model", "do not apply", "give a file"])


def test_what_is_read_is_not_written_over(data: Path, refuses: Refuses) -> None:
    before = data.read_bytes()
    refuses("audit", data, "-o", data, "--force", says=["is what is read", "another file"])
    assert data.read_bytes() == before
    refuses("audit", "nowhere", says=["nowhere: no such file, and no such model."])


def test_python_takes_a_corpus_or_a_fitted_model(data: Path) -> None:
    for source in (str(data), None, [1]):
        with pytest.raises(InputError, match=r"Give a corpus, as read_corpus\(path\)"):
            audit(source)  # type: ignore[arg-type]
    with pytest.raises(NotFittedError):
        audit(any_funnel())


def test_no_word_speaks_for_labels_and_against_them(data: Path) -> None:
    frame = audit(read_corpus(data), 20, method="fun-tat")
    assert not any(set(row.words_for) & set(row.words_against) for row in frame.itertuples())


def test_json_has_the_rows(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    succeed("audit", data, "-n", "1", "--json", "--method", "naive")
    (row,) = json.loads(capsys.readouterr().out)["documents"]
    assert (row["id"], row["suggested_label"], row["questioned_label"]) == (SLIP, "hardware", None)


def test_more_than_fits_is_refused_before_anything_is_fitted(
    data: Path, model: Path, refuses: Refuses, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("funnelling.labelling.held_out.MAX_CELLS", 100)
    for source in (data, model):
        refuses("audit", source, says="Give them in parts")


def test_python_gives_a_frame_of_a_corpus_and_of_a_model(data: Path, model: Path) -> None:
    of_corpus, of_model = audit(read_corpus(data), 3, method="fun-tat"), audit(load_model(model), 3)
    assert of_corpus["id"][0] == of_model["id"][0] == SLIP
    assert of_corpus["issue_score"].is_monotonic_decreasing
    assert "text" in of_corpus
    assert "beginning" in of_model


def test_a_document_without_an_id_gets_none(tmp_path: Path) -> None:
    rows = [{name: value for name, value in row.items() if name != "id"} for row in slipped()]
    source = write_jsonl(tmp_path / "docs.jsonl", rows)
    succeed("audit", source, "-n", "2", "-o", tmp_path / "found.jsonl", "--method", "fun-tat")
    assert all(row.get("id") is None for row in read_jsonl(tmp_path / "found.jsonl"))
