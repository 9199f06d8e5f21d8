"""Odd documents that are fine: they pass through train, predict and evaluate, and come out right."""

import json
from pathlib import Path
from typing import Any

import pytest

from .command import WORDS, documents, read_jsonl, run_command, succeed, with_splits, write_jsonl

ODD_LABELS = (
    "with spaces  two",
    "quo\"te's",
    "com,ma; semi",
    "pi|pe",
    "back\\slash",
    "🎉 party 👩‍👩‍👧",
    "עברית",
    "العربية ‏",
    "日本語",
    "tab\tand\nline",
    "$",
    "{}",
    "a/b",
    "-o",
    "null",
    "İstanbul",
)


def _train(rows: list[dict[str, Any]], folder: Path, *options: str) -> Path:
    data = write_jsonl(folder / "docs.jsonl", rows)
    succeed("train", data, "-o", folder / "model", "--jobs", 1, *options)
    return folder / "model"


def _predict(model: Path, rows: list[dict[str, Any]], *options: str) -> list[dict[str, Any]]:
    folder = model.parent
    write_jsonl(folder / "new.jsonl", rows)
    succeed("predict", model, folder / "new.jsonl", "-o", folder / "out.jsonl", "--force", *options)
    return read_jsonl(folder / "out.jsonl")


def test_labels_of_every_kind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"language": language, "text": f"word{j} {WORDS[language][i]}", "labels": [label]}
        for language in ("en", "it")
        for j, label in enumerate(ODD_LABELS)
        for i in range(6)
    ]
    model = _train(with_splits(rows), tmp_path)
    predicted = _predict(model, rows)
    assert [row["labels"] for row in predicted] == [row["labels"] for row in rows]
    assert all(list(row["probabilities"]) == sorted(ODD_LABELS) for row in predicted)
    capsys.readouterr()
    succeed("evaluate", model, tmp_path / "docs.jsonl", "--json")
    assert json.loads(capsys.readouterr().out)["scores"]["average"]["micro_f1"] == 1
    succeed("inspect", model, "--json")
    assert json.loads(capsys.readouterr().out)["labels"] == sorted(ODD_LABELS)
    succeed("inspect", model)
    succeed("inspect", tmp_path / "docs.jsonl")


def test_odd_labels_in_a_process_with_a_poor_terminal(tmp_path: Path) -> None:
    rows = [{**row, "labels": [f"🎉{label}" for label in row["labels"]]} for row in documents()]
    write_jsonl(tmp_path / "docs.jsonl", with_splits(rows))
    for arguments in (
        ["train", "docs.jsonl", "-o", "model", "--jobs", 1],
        ["inspect", "model"],
        ["inspect", "model", "--json"],
        ["inspect", "docs.jsonl"],
    ):
        done = run_command(*arguments, cwd=tmp_path, env={"PYTHONIOENCODING": "ascii"})
        assert done.returncode == 0, done.stderr
        if "--json" in arguments:  # always UTF-8
            assert json.loads(done.stdout)["labels"] == ["🎉account", "🎉hardware", "🎉money"]


def test_texts_without_a_word(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wordless = [
        {"id": f"odd-{i}", "language": language, "text": text, "labels": ["money"]}
        for i, (language, text) in enumerate(
            [("en", ""), ("it", ""), ("en", " \t\n"), ("it", "…!?"), ("en", "\x00"), ("it", "the of and")]
        )
    ]
    model = _train([*documents(), *wordless], tmp_path)
    unknown = {"id": "unknown", "language": "en", "text": "xylophone quixotic"}
    rows = _predict(model, [*wordless, unknown])
    assert [row["id"] for row in rows] == [*(row["id"] for row in wordless), "unknown"]
    assert all(0 <= score <= 1 for row in rows for score in row["probabilities"].values())
    # Without a known word all documents of a language are alike.
    assert rows[0]["probabilities"] == rows[2]["probabilities"] == rows[-1]["probabilities"]
    capsys.readouterr()
    succeed("evaluate", model, tmp_path / "docs.jsonl", "--json")
    assert json.loads(capsys.readouterr().out)["documents"]["en"] == 27


def test_a_language_of_empty_texts_only(tmp_path: Path) -> None:
    empty = [{"language": "fr", "text": "", "labels": ["money"] if i % 2 else []} for i in range(6)]
    model = _train([*documents(), *empty], tmp_path)
    rows = _predict(model, [{"language": "fr", "text": "bonjour"}])
    assert all(0 <= score <= 1 for score in rows[0]["probabilities"].values())


@pytest.mark.parametrize(
    "method",
    [
        ("--method", "fun-views", "--set", 'fun-views.views=["own", "mixed"]'),
        pytest.param(("--method", "fun-auto"), marks=pytest.mark.slow),
    ],
    ids=["one design", "the choice of one"],
)
def test_a_document_of_ten_megabytes(method: tuple[str, ...], tmp_path: Path) -> None:
    long = " ".join(["invoice", *(f"filler{i % 5_000}" for i in range(1_000_000))])
    assert len(long) > 10_000_000
    giant = {"id": "giant", "language": "en", "text": long, "labels": ["money"]}
    model = _train(with_splits([*documents(), giant, giant]), tmp_path, *method)
    (row,) = _predict(model, [{**giant, "text": "invoice " * 1_250_000}])
    assert row["labels"] == ["money"]


def test_duplicate_ids(tmp_path: Path) -> None:
    rows = [{**row, "id": "same"} for row in documents()]
    predicted = _predict(_train(rows, tmp_path, "--method", "fun-tat"), rows)
    assert [row["id"] for row in predicted] == ["same"] * len(rows)
    assert [row["labels"] for row in predicted] == [sorted(row["labels"]) for row in rows]


def test_ids_by_line_numbers_and_tags_in_any_case(model_copy: Path) -> None:
    rows = _predict(
        model_copy, [{"text": "invoice", "language": tag} for tag in ("EN", "en-GB", "en_us", "IT")]
    )
    assert [row["id"] for row in rows] == ["1", "2", "3", "4"]
    assert [row["language"] for row in rows] == ["en", "en_GB", "en_US", "it"]
    assert rows[0]["probabilities"] == rows[1]["probabilities"] == rows[2]["probabilities"]


@pytest.mark.parametrize(
    "rows",
    [
        [*documents(["en"], each=1), *documents(["it"], each=1, labels=["money"])],
        documents(["en"], each=3),
        [*documents(), {"language": "de", "text": "Rechnung", "labels": ["money"]}],
        [*documents(["en"]), *documents(["it"], labels=[])],
        documents(group="all in one"),
        [{**row, "group": f"group {i % 3}"} for i, row in enumerate(documents())],
    ],
    ids=[
        "one document per language",
        "one language",
        "a language of one document",
        "labels in one language only",
        "one group",
        "three groups",
    ],
)
def test_small_and_uneven_files(rows: list[dict[str, Any]], tmp_path: Path) -> None:
    model = _train(rows, tmp_path)
    assert len(_predict(model, rows)) == len(rows)
