"""No file, whatever is in it, takes more than a bounded share of memory or time, or ends in a traceback."""

import gzip
import os
import random
import subprocess
import sys
import threading
from itertools import islice
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from funnelling.errors import InputError
from funnelling.formats import Layout, files, jsonl, parquet, read_documents
from funnelling.formats import delimited as tables
from funnelling.formats import encoded as texts
from funnelling.formats.layout import AS_FOUND
from funnelling.spaces.word_vectors import find_vectors, read_vectors
from tests.formats.mutations import mutated, samples, write_open_document

CASES = 8  # of each format
not_on_windows = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files or limits")


def refusal(path: Any, layout: Layout = AS_FOUND, labels: bool = True) -> str:
    with pytest.raises(InputError) as error:
        list(read_documents(path, layout, labels=labels))
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> int:
    """Limits that small files reach."""
    for module in (files, jsonl, tables, texts):
        monkeypatch.setattr(module, "MAX_LINE_BYTES", 2**17)
    return 2**17


@pytest.mark.parametrize(
    ("name", "before", "endless", "place"),
    [
        ("a.jsonl", b'{"text": "a"}\n{"text": "', b"a", ":2: a line"),
        ("a.jsonl", b'{"text": "a"}\n', b" ", ":2: a line"),
        ("a.json", b"[\n", b'{"text": "a"},\n', ": an array"),
        ("a.csv", b"text,labels\na,b\n", b"a", ":3: a line"),
        ("a.csv", b'text,labels\na,b\n"', b"a\n", ":3: a row"),
        ("a.csv", b"text,labels\na,b\n", b'"a\n",', ":3: a row"),
        ("a.tsv", b"text\tlabels\na\tb\n", b"\t", ":3: a line"),
        ("a.txt", b"", b"a\n", ": a text"),
        ("a.csv", "\ufefftext,labels\na,b\n".encode("utf-16-le"), "a".encode("utf-16-le"), ":3: a line"),
        ("a.csv", b"text,labels\na,b\n", b"\xe9", ":3: a line"),
    ],
)
def test_a_line_or_a_row_without_end(
    tmp_path: Path, short: int, name: str, before: bytes, endless: bytes, place: str
) -> None:
    path = tmp_path / name
    path.write_bytes(before + endless * (2 * short // len(endless) + 2))
    assert refusal(path, labels=False).startswith(f"{path}{place} of more than ")


@pytest.mark.parametrize("unit", [b"\n", b" "])
def test_gzip_that_unpacks_to_nearly_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unit: bytes
) -> None:
    monkeypatch.setattr(files, "_ALWAYS_ALLOWED_BYTES", 2**18)
    path = tmp_path / "bomb.jsonl.gz"
    path.write_bytes(gzip.compress(unit * 2**21))
    assert refusal(path, labels=False).startswith(f"{path}: unpacks to more than 200 times its size")


def test_blank_lines_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_BLANK_LINES", 1000)
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"text": "a"}\n' + b"\r\n" * 1001)
    assert refusal(path) == f"{path}:1002: more than 1,000 blank lines in a row. Remove them."
    path.write_bytes((b'{"text": "a"}\n' + b"\n" * 1000) * 2)
    assert len(list(read_documents(path))) == 2


@not_on_windows
def test_a_device_without_end(short: int) -> None:
    for file_format in ("jsonl", "lines", "csv", "text"):
        assert " of more than " in refusal("/dev/zero", Layout(file_format=file_format))
    assert len(os.listdir("/dev/fd")) < 100, short


def fifo(path: Path, content: bytes) -> threading.Thread:
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(content,), daemon=True)
    writer.start()
    return writer


@not_on_windows
@pytest.mark.parametrize(
    ("name", "content"),
    [("a.jsonl", b'{"text": "a", "labels": "b|c"}\n'), ("a.csv", b"text;labels\na;b|c\n")],
)
@pytest.mark.parametrize("labels", [True, False])
def test_a_pipe_that_is_named_is_read_though_it_can_be_read_but_once(
    tmp_path: Path, name: str, content: bytes, labels: bool
) -> None:
    writer = fifo(tmp_path / name, content)
    (document,) = read_documents(tmp_path / name, labels=labels)
    assert document.text == "a"
    assert document.labels == (("b", "c") if labels else None)
    writer.join(timeout=10)


@not_on_windows
def test_a_pipe_in_a_folder_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "a.jsonl").write_text('{"text": "a"}')
    os.mkfifo(tmp_path / "parts" / "b.jsonl")
    assert len(list(read_documents(tmp_path / "parts"))) == 1
    for label in ("cats", "dogs"):
        (tmp_path / "texts" / label).mkdir(parents=True)
        (tmp_path / "texts" / label / "a.txt").write_text("a")
        os.mkfifo(tmp_path / "texts" / label / "b.txt")
    assert len(list(read_documents(tmp_path / "texts"))) == 2
    (tmp_path / "vectors").mkdir()
    (tmp_path / "vectors" / "en.vec").write_text("1 2\ncat 0 1\n")
    os.mkfifo(tmp_path / "vectors" / "it.vec")
    assert list(find_vectors(tmp_path / "vectors")) == ["en"]


def test_a_line_of_vectors_without_end(tmp_path: Path, short: int) -> None:
    path = tmp_path / "en.vec"
    path.write_bytes(b"1 2\n" + b"a" * (2 * short))
    with pytest.raises(InputError, match=r"en\.vec:2: a line of more than"):
        read_vectors(path)


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ('{"text": "a"}\n{"text": "b", "text": "c"}\n', ":2: "),
        ('{"text": "a", "more": {"x": 1, "x": 2}}\n', ":1: "),
        ('[{"text": "b", "text": "c"}]', ":1: "),
    ],
)
def test_a_field_that_comes_twice(tmp_path: Path, content: str, place: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(content)
    said = refusal(path)
    assert said.startswith(f"{path}{place}an object has the field ")
    assert said.endswith(" twice. Drop one.")


def rewrite(sound: Path, target: Path, *changes: bytes) -> None:
    """A workbook with something in its parts replaced by something else, one after the other."""
    with ZipFile(sound) as before, ZipFile(target, "w", ZIP_DEFLATED) as after:
        for part in before.namelist():
            content = before.read(part)
            for old, new in zip(changes[::2], changes[1::2], strict=True):
                content = content.replace(old, new)
            after.writestr(part, content)


def test_cells_that_are_only_formatted_and_texts_like_places_are_no_matter(tmp_path: Path) -> None:
    sound = next(path for path in samples(tmp_path) if path.suffix == ".xlsx")
    stray = b'<row r="1048576"><c r="XFD1048576" s="1"/></row></sheetData>'
    texts = (b"</t>", b' r="ZZZZ1" </t>', b'text r="ZZZZ1" <', b"text<", b'labels r="ZZZZ1" <', b"labels<")
    rewrite(sound, tmp_path / "a.xlsx", b"</sheetData>", stray, *texts)
    assert len(list(read_documents(tmp_path / "a.xlsx"))) == len(list(read_documents(sound)))


def test_cells_too_far_off_to_be_held(tmp_path: Path) -> None:
    """The library that reads them would abort the process."""
    sound = next(path for path in samples(tmp_path) if path.suffix == ".xlsx")
    far = tmp_path / "far.xlsx"
    rewrite(sound, far, b'r="B2"', b'r="XFD1048576"')
    assert "1,048,576 rows and 16,384 columns, which is too large" in refusal(far)
    rewrite(sound, far, b'<row r="2"', b'<row r="1048577"', b'<c r="A2"', b"<c")
    assert "1,048,577 rows" in refusal(far)
    cell = '<table:table-cell{} office:value-type="string"><text:p>a</text:p></table:table-cell>'
    row = '<table:table-row table:number-rows-repeated="{}">{}</table:table-row>'
    for rows, columns in ((10**9, 1), (1, 10**9), (2**20, 2**14)):
        repeated = f' table:number-columns-repeated="{columns}"'
        write_open_document(tmp_path / "far.ods", row.format(rows, cell.format(repeated)))
        assert "which is too large" in refusal(tmp_path / "far.ods")


def test_a_spreadsheet_that_hides_what_it_unpacks_to(tmp_path: Path) -> None:
    """The library that reads them would unpack it all the same."""
    sound = next(path for path in samples(tmp_path) if path.suffix == ".xlsx")
    with ZipFile(sound) as before, ZipFile(tmp_path / "false.xlsx", "w", ZIP_DEFLATED) as after:
        for part in before.namelist():
            content = before.read(part)
            after.writestr(part, content.replace(b"</t>", b" " * 123_457 + b"</t>", 1))
        sizes = {after.getinfo(part).file_size for part in after.namelist()}
    content = (tmp_path / "false.xlsx").read_bytes()
    false = content.replace(max(sizes).to_bytes(4, "little"), (300).to_bytes(4, "little"))
    (tmp_path / "false.xlsx").write_bytes(false)
    assert "a part is larger than it says" in refusal(tmp_path / "false.xlsx")


def test_empty_rows_and_cells_to_the_end_of_a_sheet_are_no_matter(tmp_path: Path) -> None:
    """As LibreOffice writes them."""
    cell = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    rest = '<table:table-cell table:number-columns-repeated="16383"/>'
    rows = "".join(
        f"<table:table-row>{cell.format(text)}{rest}</table:table-row>" for text in ["text"] * 3000
    )
    empty = f'<table:table-row table:number-rows-repeated="1045576">{rest}</table:table-row>'
    write_open_document(tmp_path / "a.ods", rows + empty)
    assert len(list(read_documents(tmp_path / "a.ods"))) == 2999


def test_rows_that_repeat_one_huge_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet_files = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(parquet, "_MAX_BATCH_BYTES", 2**22)
    column = pyarrow.array(["a" * 2**16] * 1000).dictionary_encode()
    parquet_files.write_table(pyarrow.table({"text": column}), tmp_path / "a.parquet")
    assert "1,024 rows after row 0 hold more than 4 MiB" in refusal(tmp_path / "a.parquet")


@not_on_windows
def test_damaged_files_give_documents_or_one_line(tmp_path: Path) -> None:
    """In a process of little memory and time, which has nothing else in it."""
    script = (
        f"from pathlib import Path; import {__name__} as tests; tests.read_damaged(Path({str(tmp_path)!r}))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def read_damaged(folder: Path) -> None:
    import resource

    sound = samples(folder)
    (folder / "damaged").mkdir()
    resource.setrlimit(resource.RLIMIT_AS, (4 * 2**30, 4 * 2**30))
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
    for sample in sound:
        target = folder / "damaged" / sample.name
        for number in range(CASES):
            target.write_bytes(mutated(sample.read_bytes(), random.Random(f"{sample.name} {number}")))
            said = ""
            try:
                for _ in islice(read_documents(target), 10_000):
                    pass
            except InputError as error:
                said = str(error)
            assert "\n" not in said, (sample.name, number)
