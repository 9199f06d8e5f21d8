"""Files as users have them: where they come from, and every way in which they may be broken."""

import gzip
import io
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from funnelling.errors import InputError
from funnelling.formats import Document, read_documents
from funnelling.formats.files import reading

LINE = '{"text": "ciao"}\n'


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refusal(path: Path | str) -> str:
    with pytest.raises(InputError) as caught:
        list(read_documents(path))
    message = str(caught.value)
    assert "\n" not in message
    return message.removeprefix(f"{os.path.dirname(path)}/")


# Where documents come from


def test_documents_are_streamed(tmp_path: Path) -> None:
    documents = read_documents(write(tmp_path, "docs.jsonl", LINE + "broken"))
    assert next(documents).text == "ciao"


def test_blank_lines_are_passed_over_and_count_as_lines(tmp_path: Path) -> None:
    path = write(tmp_path, "docs.jsonl", f"\ufeff\n  \n{LINE}\r\n{LINE.strip()}")
    assert [document.id for document in read_documents(path)] == ["3", "5"]


@pytest.mark.parametrize("extension", ["jsonl", "csv", "tsv"])
def test_a_byte_order_mark_is_tolerated(tmp_path: Path, extension: str) -> None:
    content = LINE if extension == "jsonl" else "text\nciao\n"
    path = write(tmp_path, f"docs.{extension}", "\ufeff" + content)
    assert [document.text for document in read_documents(path)] == ["ciao"]


def test_gzip_is_known_by_its_content(tmp_path: Path) -> None:
    packed = write(tmp_path, "packed.jsonl", gzip.compress(LINE.encode()))
    plain = write(tmp_path, "plain.jsonl.gz", LINE)
    assert list(read_documents(packed)) == list(read_documents(plain)) == [Document("1", "ciao")]


@pytest.mark.parametrize("content", [LINE.encode(), gzip.compress(LINE.encode())], ids=["plain", "gzip"])
def test_a_hyphen_is_standard_input(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(content))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert list(read_documents("-")) == [Document("1", "ciao")]
    assert not stdin.closed
    assert not stdin.buffer.closed


def test_a_refusal_of_standard_input_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"{}")))
    assert refusal("-").startswith('<stdin>:1: "text" is missing.')


@pytest.mark.parametrize("name", ["papers", "docs.doc", "docs.gz", "docs.parquet.gz", ".jsonl.zip"])
def test_an_unknown_extension_lists_the_known_ones(name: str) -> None:
    with pytest.raises(
        InputError, match=r"unknown format\. .*\.jsonl, .*\.csv, \.tsv, .*\.gz.* \.parquet, .*--format"
    ):
        read_documents(name)


def test_a_missing_file(tmp_path: Path) -> None:
    assert refusal(tmp_path / "docs.jsonl") == "docs.jsonl: no such file. Check the path."
    assert refusal(tmp_path / "docs.parquet") == "docs.parquet: no such file. Check the path."


@pytest.mark.parametrize("name", ["docs", "docs.jsonl"])
def test_a_folder_without_documents(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    write(tmp_path / name, "notes.txt", "nothing")
    write(tmp_path / name, ".hidden.jsonl", LINE)
    assert refusal(tmp_path / name) == (
        f"{name}: no file of documents in this folder. Name one that holds .parquet, .jsonl or .csv files, "
        "or folders of text files."
    )
    with pytest.raises(InputError, match="is a folder"), reading(tmp_path / name):
        pass


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = write(tmp_path, "docs.jsonl", LINE)
    path.chmod(0)
    assert refusal(path).startswith("docs.jsonl: may not be read.")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (PermissionError(13, "Permission denied"), "docs.jsonl: may not be read."),
        (OSError(5, "Input/output error"), "docs.jsonl: cannot be read (input/output error)."),
    ],
)
def test_what_the_system_refuses_while_reading(tmp_path: Path, error: OSError, message: str) -> None:
    path = write(tmp_path, "docs.jsonl", LINE)
    with pytest.raises(InputError) as caught, reading(path):
        raise error
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("d.jsonl", ""),
        ("d.jsonl", "\n\n"),
        ("d.csv", ""),
        ("d.csv", "\n"),
        ("d.csv", "text\n"),
        ("d.csv.gz", ""),
    ],
)
def test_a_file_without_documents(tmp_path: Path, name: str, content: str) -> None:
    assert (
        refusal(write(tmp_path, name, content))
        == f"{name}: no document in it. Check that it is the right file."
    )


@pytest.mark.parametrize("name", ["docs.jsonl", "docs.csv"])
def test_utf8_that_is_damaged(tmp_path: Path, name: str) -> None:
    lines = ['{"text": "citt\u00e0"}', '{"text": "perch\u00e9"}']
    head, tail = (lines[0], lines[1]) if name == "docs.jsonl" else ("text\ncitt\u00e0", "perch\u00e9")
    content = f"{head}\n".encode() + tail.encode("latin-1")
    line = 2 if name == "docs.jsonl" else 3
    assert refusal(write(tmp_path, name, content)) == (
        f"{name}:{line}: not UTF-8 text. Save the file as UTF-8, or name its encoding with --encoding."
    )


PACKED = gzip.compress(LINE.encode() * 1000, mtime=0)


@pytest.mark.parametrize(
    "content",
    [PACKED[:-20], PACKED[:5], PACKED + b"junk", PACKED[:12] + b"\xff" * 50],
    ids=["short", "shorter", "longer", "broken"],
)
def test_damaged_gzip(tmp_path: Path, content: bytes) -> None:
    assert refusal(write(tmp_path, "docs.jsonl.gz", content)).startswith(
        "docs.jsonl.gz: the gzip data ends early or is damaged. Copy or download"
    )


# JSON Lines


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "ciao",
            "not JSON (Expecting value, column 1). Write one object per line, as jq -c does; --format lines",
        ),
        ('{"text": "a"', "not JSON (Expecting ',' delimiter, column 13)."),
        ('{"text": "a"} {"text": "b"}', "not JSON (Extra data, column 15)."),
        ('{"text": NaN}', "not JSON (it has no NaN)."),
        ('{"text": "a", "weight": -Infinity}', "not JSON (it has no -Infinity)."),
        pytest.param(
            '{"id": ' + "9" * 5000 + "}", "not JSON (a number of thousands of digits)", id="huge number"
        ),
        pytest.param("[" * 100_000, "JSON nested too deeply.", id="deep list"),
        pytest.param('{"a": ' * 100_000, "JSON nested too deeply.", id="deep object"),
        ('[{"text": "a"}]', 'not a JSON object. Write {"text": …}, one object per line.'),
        ("4", "not a JSON object."),
        ('{"text": "a", "labels": {}}', '"labels" must be a list of strings, found an object.'),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    assert refusal(write(tmp_path, "docs.jsonl", f"{LINE}\n{line}\n")).startswith(f"docs.jsonl:3: {message}")


def test_half_a_surrogate_pair_can_be_spelled_in_json(tmp_path: Path) -> None:
    path = write(tmp_path, "docs.jsonl", r'{"text": "\ud800 \ud83d\udc08", "labels": ["\udfff"]}')
    assert list(read_documents(path)) == [Document("1", "\ufffd 🐈", labels=("\ufffd",))]


# CSV and TSV


def test_columns_are_found_by_name(tmp_path: Path) -> None:
    content = 'labels,colour, text ,id,split\r\na|b\\|c,red,"uno\r\n""due""",x,test\r\n\r\n,red,tre,,\r\n'
    assert list(read_documents(write(tmp_path, "docs.csv", content))) == [
        Document("x", 'uno\r\n"due"', labels=("a", "b|c"), split="test"),
        Document("5", "tre", labels=None),
    ]


def test_without_a_labels_column_documents_are_unlabelled(tmp_path: Path) -> None:
    path = write(tmp_path, "docs.tsv", "language\ttext\nit\tciao, mondo\n")
    assert list(read_documents(path)) == [Document("2", "ciao, mondo", language="it")]


def test_a_row_that_ends_early_lacks_the_fields(tmp_path: Path) -> None:
    path = write(tmp_path, "docs.csv", "text,labels\nciao\n")
    assert list(read_documents(path)) == [Document("2", "ciao", labels=None)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "a;b\n1;a\n",
            'docs.csv: which column holds the text? There are "a", "b". Name it with',
        ),
        ("text,id,text\na,1,b\n", 'docs.csv: two columns are called "text"'),
        (
            'text,id\n"a\nb",1\nc,2,d\n',
            "docs.csv:4: 3 cells where the header has 2. Quote cells that hold a comma, or",
        ),
        ('text\na\n"b\nc\nd\n', "docs.csv:3: not a row of cells (unexpected end of data). Close every quote"),
        ('text\n"a"b\n', "docs.csv:2: not a row of cells"),
        ("text\ra\rb", "docs.csv:1: carriage returns alone"),
        ("text\na\nb\0\n", "docs.csv:3: holds a NUL byte. Save the file as UTF-8, or"),
        ("id,text\n1\n", 'docs.csv:2: "text" is missing.'),
        ('text,split\n"a\nb",dev\n', 'docs.csv:2: "split" must be train, test or parallel, found "dev".'),
    ],
)
def test_a_broken_table_is_refused(tmp_path: Path, content: str, message: str) -> None:
    assert refusal(write(tmp_path, "docs.csv", content)).startswith(message)


# Parquet


@pytest.fixture
def pyarrow() -> Any:
    pytest.importorskip("pyarrow.parquet")
    return pytest.importorskip("pyarrow")


def write_table(folder: Path, pyarrow: Any, columns: dict[str, object]) -> Path:
    path = folder / "docs.parquet"
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    return path


def test_columns_of_every_string_type(tmp_path: Path, pyarrow: Any) -> None:
    path = write_table(
        tmp_path,
        pyarrow,
        {
            "id": [10, 20],
            "text": pyarrow.array(["uno", "due"], pyarrow.large_string()),
            "language": pyarrow.array(["it", None]).dictionary_encode(),
            "labels": pyarrow.array([["a", "b"], None], pyarrow.large_list(pyarrow.large_string())),
            "weight": [0.5, 1.5],
        },
    )
    assert list(read_documents(path)) == [Document("10", "uno", "it", ("a", "b")), Document("20", "due")]


def test_labels_joined_in_a_string_column(tmp_path: Path, pyarrow: Any) -> None:
    path = write_table(tmp_path, pyarrow, {"text": ["a", "b", "c"], "labels": ["x|y\\|z", "", None]})
    assert [document.labels for document in read_documents(path)] == [("x", "y|z"), None, None]


def test_a_broken_row_is_named_by_its_number(tmp_path: Path, pyarrow: Any) -> None:
    path = write_table(tmp_path, pyarrow, {"text": ["a"] * 2001, "labels": [["x"]] * 2000 + [[""]]})
    assert refusal(path).startswith('docs.parquet:2001: "labels" holds an empty label.')


def test_a_missing_text_of_a_table_is_an_empty_one(tmp_path: Path, pyarrow: Any) -> None:
    path = write_table(tmp_path, pyarrow, {"text": ["a", None]})
    assert [document.text for document in read_documents(path)] == ["a", ""]
    path = write(tmp_path, "docs.jsonl", b'{"text": null}')
    assert refusal(path).startswith('docs.jsonl:1: "text" must be a string, found null.')


def test_columns_of_one_name_are_all_kept(tmp_path: Path, pyarrow: Any) -> None:
    table = pyarrow.table([["a"], ["x"], ["y"]], names=["text", "note", "note"])
    pyarrow.parquet.write_table(table, tmp_path / "docs.parquet")
    [document] = read_documents(tmp_path / "docs.parquet", keep_fields=True)
    assert document.fields == {"text": "a", "note": "x", "note.2": "y"}


def test_columns_that_will_not_do(tmp_path: Path, pyarrow: Any) -> None:
    path = write_table(tmp_path, pyarrow, {"id": [1], "matter": ["a"]})
    assert refusal(path).startswith('docs.parquet: which column holds the text? There are "id", "matter".')


def test_a_table_without_rows(tmp_path: Path, pyarrow: Any) -> None:
    path = write_table(tmp_path, pyarrow, {"text": pyarrow.array([], pyarrow.string())})
    assert refusal(path).startswith("docs.parquet: no document in it.")


def test_damaged_parquet(tmp_path: Path, pyarrow: Any) -> None:
    whole = write_table(tmp_path, pyarrow, {"text": [str(i) * 50 for i in range(5000)]}).read_bytes()
    for content in (b"", b"text", whole[:-50], whole[:200] + b"\xff" * 400 + whole[600:]):
        path = write(tmp_path, "docs.parquet", content)
        assert refusal(path).startswith("docs.parquet: not readable as Parquet after row 0 (")


def test_parquet_text_that_is_not_utf8(tmp_path: Path, pyarrow: Any) -> None:
    raw = pyarrow.array([b"perch\xe9"]).view(pyarrow.string())
    assert refusal(write_table(tmp_path, pyarrow, {"text": raw})).startswith("docs.parquet: not readable as")


def test_parquet_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(
        InputError, match=r"^reading Parquet needs pyarrow: pip install 'funnelling\[parquet\]'$"
    ):
        list(read_documents("docs.parquet"))


def test_a_folder_is_read_by_the_names_of_its_files(tmp_path: Path) -> None:
    write(tmp_path, "b.jsonl", '{"id": "own", "text": "third"}\n')
    write(tmp_path, "a.jsonl", '{"text": "first"}\n{"text": "second"}\n')
    documents = [(document.id, document.text) for document in read_documents(tmp_path)]
    assert documents == [("a:1", "first"), ("a:2", "second"), ("own", "third")]


def test_a_bad_line_of_a_folder_is_named_with_its_file(tmp_path: Path) -> None:
    write(tmp_path, "a.jsonl", '{"text": "first"}\n')
    write(tmp_path, "b.jsonl", '{"text": 4}\n')
    with pytest.raises(InputError, match=r'b\.jsonl:1: "text" must be a string'):
        list(read_documents(tmp_path))
