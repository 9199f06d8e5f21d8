"""Files that cannot be used: one line that names the file, the line and the cure, and nothing written."""

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest

from .command import assert_refused, documents, write_jsonl
from .conftest import Refuses


def _lines(*rows: Any) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


GOOD = {"language": "en", "text": "a cat", "labels": ["x"]}

# case: (file name, content, what the message says)
BROKEN: dict[str, tuple[str, bytes, list[str]]] = {
    "empty": ("docs.jsonl", b"", ["docs.jsonl: no document", "Check"]),
    "only blank lines": ("docs.jsonl", b"\n \n\n", ["docs.jsonl: no document"]),
    "not UTF-8": (
        "docs.jsonl",
        '{"text": "caffè"}\n'.encode() + '{"text": "caffè"}\n'.encode("latin-1"),
        ["docs.jsonl:2:", "UTF-8", "--encoding"],
    ),
    "UTF-16 cut off": (
        "docs.jsonl",
        '{"text": "x"}\n'.encode("utf-16")[:-1],
        ["docs.jsonl:1:", "utf-16", "--encoding"],
    ),
    "not JSON": ("docs.jsonl", _lines(GOOD, GOOD) + b"{text: 1}\n", ["docs.jsonl:3: not JSON", "one object"]),
    "cut off": ("docs.jsonl", _lines(GOOD) + b'{"text": "ab', ["docs.jsonl:2: not JSON"]),
    "NaN": ("docs.jsonl", b'{"text": "a", "id": NaN}\n', ["docs.jsonl:1: not JSON"]),
    "a list, not an object": (
        "docs.jsonl",
        _lines(GOOD, ["a"]),
        ["docs.jsonl:2: not a JSON object", '{"text"'],
    ),
    "a string, not an object": ("docs.jsonl", _lines("a"), ["docs.jsonl:1: not a JSON object"]),
    "labels in a string that may be one": (
        "docs.jsonl",
        _lines(GOOD, {**GOOD, "labels": "x, y"}),
        ['docs.jsonl: does the "," in "x, y" join labels?', "--label-separator"],
    ),
    "labels of lists": (
        "docs.jsonl",
        _lines(GOOD, GOOD, {**GOOD, "labels": ["x", ["y"]]}),
        ['docs.jsonl:3: "labels" must be a list of strings', "Quote it"],
    ),
    "labels an object": ("docs.jsonl", _lines({**GOOD, "labels": {"x": 1}}), ['docs.jsonl:1: "labels"']),
    "text missing": (
        "docs.jsonl",
        _lines(GOOD, {"labels": []}),
        ['docs.jsonl:2: "text" is missing', "Add it"],
    ),
    "text a number": ("docs.jsonl", _lines({"text": 5}), ['docs.jsonl:1: "text" must be a string']),
    "text null": (
        "docs.jsonl",
        _lines({"text": None}),
        ['docs.jsonl:1: "text" must be a string, found null'],
    ),
    "language a list": ("docs.jsonl", _lines({**GOOD, "language": ["en"]}), ['docs.jsonl:1: "language"']),
    "split unknown": ("docs.jsonl", _lines({**GOOD, "split": "dev"}), ['docs.jsonl:1: "split"', "dev"]),
    "CSV without text": ("docs.csv", b"language,labels\nen,x\n", ["docs.csv: which column holds the text"]),
    "CSV with a cell too many": ("docs.csv", b"text,labels\na,x\na,x,y\n", ["docs.csv:3: 3 cells", "Quote"]),
    "CSV with an open quote": ("docs.csv", b'text,labels\n"a,x\nb,x\n', ["docs.csv:2:", "quote"]),
    "TSV without text": ("docs.tsv", b"txt\tlabels\na\tx\n", ["docs.tsv: which column", "txt"]),
    "Parquet that is none": ("docs.parquet", b"PAR1 but not really", ["docs.parquet", "Parquet"]),
    "gzip cut off": (
        "docs.jsonl.gz",
        gzip.compress(_lines(*documents()))[:-20],
        ["docs.jsonl.gz", "gzip data ends early"],
    ),
    "unknown extension": ("docs.doc", b"x", ["docs.doc: unknown format", ".jsonl"]),
}
UNDETECTABLE = {
    "no language to be recognised": (
        "docs.jsonl",
        _lines({"text": "12345", "labels": ["a"]}, {"text": "", "labels": []}),
        ["docs.jsonl: no language was recognised", "Give each document its language"],
    ),
    "languages that cannot be detected": (
        "docs.jsonl",
        _lines({**GOOD, "language": "tlh"}, {**GOOD, "language": "qya"}, {"text": "a", "labels": []}),
        ["docs.jsonl: none of qya, tlh can be detected"],
    ),
}
# What is fine to predict on, but not to learn from or to measure on.
UNLEARNABLE: dict[str, tuple[str, bytes, list[str]]] = {
    "no labelled document": (
        "docs.jsonl",
        _lines({"text": "a", "language": "en"}, {"text": "b", "language": "en"}),
        ["docs.jsonl: no labelled document", '"labels"'],
    ),
    "labels not filled in": (
        "docs.csv",
        b"text,language,labels,suggested\na,en,,x\nb,en,,\n",
        ['docs.csv: no labelled document: "labels" is empty or missing in all of them'],
    ),
    "CSV without labels": ("docs.csv", b"text,language\na,en\nb,en\n", ["docs.csv: no labelled document"]),
    "one label everywhere": (
        "docs.jsonl",
        _lines(GOOD, GOOD, {**GOOD, "text": "b"}),
        ["docs.jsonl: nothing to learn, all 3", "Add documents with other labels"],
    ),
    "no label anywhere": (
        "docs.jsonl",
        _lines(*[{**GOOD, "labels": []}] * 3),
        ["docs.jsonl: nothing to learn"],
    ),
    "one label and unlabelled ones": (
        "docs.jsonl",
        _lines(GOOD, GOOD, {"text": "b", "language": "en"}),
        ["docs.jsonl: nothing to learn, all 2"],
    ),
    "no training row": (
        "docs.jsonl",
        _lines({**GOOD, "split": "test"}, {**GOOD, "labels": [], "split": "test"}),
        ['docs.jsonl: no labelled document with split "train"'],
    ),
    "one label in the training rows": (
        "docs.jsonl",
        _lines(*[{**GOOD, "split": "train"}] * 2, {**GOOD, "labels": [], "split": "test"}),
        ["docs.jsonl: nothing to learn, all 2"],
    ),
}


@pytest.mark.parametrize("case", [*BROKEN, *UNDETECTABLE, "no labelled document", "one label everywhere"])
def test_train_refuses(case: str, tmp_path: Path, refuses: Refuses) -> None:
    name, content, says = {**BROKEN, **UNDETECTABLE, **UNLEARNABLE}[case]
    (tmp_path / name).write_bytes(content)
    refuses("train", name, "-o", "model", says=says)


@pytest.mark.parametrize("case", UNLEARNABLE)
def test_train_needs_something_to_learn(case: str, tmp_path: Path, refuses: Refuses) -> None:
    name, content, says = UNLEARNABLE[case]
    (tmp_path / name).write_bytes(content)
    refuses("train", name, "-o", "model", says=says)


@pytest.mark.parametrize("case", BROKEN)
def test_every_command_refuses(case: str, model: Path, tmp_path: Path, refuses: Refuses) -> None:
    name, content, says = BROKEN[case]
    (tmp_path / name).write_bytes(content)
    for arguments in _commands(name, model):
        if arguments[0] == "predict" and case.startswith("labels"):
            continue  # it does not ask what the labels are
        refuses(*arguments, says=says)


def _commands(name: str, model: Path) -> list[list[object]]:
    return [
        ["predict", model, name, "-o", "out.jsonl"],
        ["evaluate", model, name],
        ["compare", name, "-o", "out"],
        ["inspect", name],
    ]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("nowhere.jsonl", ["nowhere.jsonl: no such file", "Check the path"]),
        ("folder", ["folder: no file of documents in this folder", "Name one that holds"]),
        ("docs.jsonl/x.jsonl", ["docs.jsonl/x.jsonl", "Check the path"]),
        ("x" * 300 + ".jsonl", ["cannot be read (file name too long)"]),
    ],
    ids=["missing", "a folder", "below a file", "name too long"],
)
def test_no_file(name: str, says: list[str], model: Path, tmp_path: Path, refuses: Refuses) -> None:
    (tmp_path / "folder").mkdir()
    write_jsonl(tmp_path / "docs.jsonl", documents())
    refuses("train", name, "-o", "model", says=says)
    for arguments in _commands(name, model):
        refuses(*arguments, says=says)
    refuses("compare", "docs.jsonl", name, "-o", "out", says=says)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "<stdin>: no document"),
        (b"{}\n", '<stdin>:1: "text" is missing'),
        (_lines({**GOOD, "split": "test"}), "<stdin>: no labelled document"),
    ],
)
def test_standard_input_is_named(
    content: bytes, says: str, refuses: Refuses, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    refuses("train", "-", "-o", "m", says=[says])


def test_standard_input_is_named_in_a_process_of_its_own(tmp_path: Path) -> None:
    says = ['<stdin>:1: "text" is missing']
    assert_refused("train", "-", "-o", "m", cwd=tmp_path, stdin="{}\n", says=says)


def test_evaluate_needs_something_to_measure_on(model: Path, tmp_path: Path, refuses: Refuses) -> None:
    write_jsonl(tmp_path / "train.jsonl", documents(split="train"))
    refuses("evaluate", model, "train.jsonl", says=['train.jsonl: no labelled document with split "test"'])
    write_jsonl(tmp_path / "none.jsonl", [{"text": "a", "language": "en"}])
    refuses("evaluate", model, "none.jsonl", says=["none.jsonl: no labelled document"])


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (
            documents(split="train"),
            'docs.jsonl: no labelled document to test on. Mark some with "split": "test"',
        ),
        (documents(split="test"), "docs.jsonl: no labelled document to train on"),
        (documents(each=1), "docs.jsonl: no labelled document to test on"),
        (
            [*documents(["en"], split="train"), *documents(["it"], split="test")],
            "naive: cannot label any language of the test documents",
        ),
        (
            [*documents(each=3, split="train", labels=["x"]), *documents(each=3, split="test")],
            "docs.jsonl: nothing to learn, all 6 training documents",
        ),
    ],
    ids=["no test", "no train", "too few", "no common language", "one label in train"],
)
def test_compare_needs_two_sides(
    rows: list[dict[str, Any]], says: str, tmp_path: Path, refuses: Refuses
) -> None:
    write_jsonl(tmp_path / "docs.jsonl", rows)
    refuses("compare", "docs.jsonl", "--methods", "naive", "-o", "out", says=[says])


def test_a_name_of_two_lines_is_shown_in_one(refuses: Refuses) -> None:
    refuses("inspect", "two\nlines.jsonl", says=["two lines.jsonl: no such file"])
