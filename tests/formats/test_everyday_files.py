"""Files as people have them are read as the same documents in JSON Lines, or refused with the cure."""

from pathlib import Path
from typing import Any

import pytest

from funnelling.errors import InputError
from funnelling.formats import Document, Layout, read_documents, write_documents
from tests.formats.everyday import FILES, File

pytest.importorskip("pandas")
pytest.importorskip("openpyxl")
pytest.importorskip("python_calamine")
pytest.importorskip("pyarrow")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_file_is_read_as_the_same_documents_in_json_lines(tmp_path: Path, file: File) -> None:
    path = tmp_path / file.name
    file.make(path)
    write_documents(tmp_path / "same.jsonl", file.documents)
    read = list(read_documents(path, Layout(**file.layout)))
    expected = list(read_documents(tmp_path / "same.jsonl"))
    assert [_fields(each, file) for each in read] == [_fields(each, file) for each in expected]


def _fields(document: Document, file: File) -> dict[str, object]:
    """What is compared; labels have no order."""
    values = {field: getattr(document, field) for field in file.same}
    return {field: set(value) if isinstance(value, tuple) else value for field, value in values.items()}


def test_there_are_many_of_them() -> None:
    names = [file.name for file in FILES]
    assert len(set(names)) == len(names) > 100


# What is not clear is asked for, and what cannot be read is refused: in one line, with the cure


def content(*lines: str) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


GERMAN = "Die Gemeinde Köln hat über höhere Gebühren für Müll beraten; viele Bürger ärgerten sich."
UNCLEAR: dict[str, tuple[Any, ...]] = {
    "is a comma part of a label": (
        "d.csv",
        content("text,label", 'a,"Food, Drink"', "b,Food"),
        "--label-separator ','",
    ),
    "one of few labels with a comma": (
        "d.csv",
        content("text,label", 'a,"x, y"', "b,z"),
        "--label-separator none",
    ),
    "names of people": (
        "d.csv",
        content(
            "text;label", *(f"a;{last}, {first}" for last in ("Doe", "Roe", "Poe") for first in ("Al", "Bo"))
        ),
        "--label-separator none",
    ),
    "names of countries": (
        "d.csv",
        content(
            "text;label", *(f"a;{name}, Republic of" for name in ("Korea", "Congo", "Moldova")), "b;France"
        ),
        "--label-separator none",
    ),
    "a subject and its parts": (
        "d.csv",
        content("text;label", *(f"a;Sport, {kind}" for kind in ("Tennis", "Golf", "Chess")), "b;Sport"),
        "--label-separator",
    ),
    "decimal commas": (
        "d.csv",
        content("text;label", "a;1,5", "b;2,0", "c;5,1", "d;2,5"),
        "--label-separator ','",
    ),
    "labels that are always together": (
        "d.csv",
        content("text,label", *["a,x;y"] * 9, *["a,z"] * 9),
        "--label-separator ';'",
    ),
    "two separators": (
        "d.csv",
        content("text,label", "a,x;y", "b,y;z", "c,x|z", "d,z;x", "e,z"),
        "--label-separator",
    ),
    "lists without quotes": ("d.csv", content("text;label", "a;[x, y]", "b;[y]"), "--label-separator none"),
    "shortened lists": ("d.csv", content("text;label", "a;['x' 'y' ... 'z']"), "--label-separator none"),
    "lists with gaps": ("d.csv", content("text;label", "a;['x', nan]"), "Quote the labels"),
    "objects": ("d.csv", content("text;label", 'a;{"x": 1}'), "Quote the labels"),
    "two label columns": ("d.csv", content("text,label,category", "a,x,y"), "--labels-column"),
    "two text columns": ("d.csv", content("body,content,label", "a,b,x"), "--text-column"),
    "two titles": ("d.csv", content("title,headline,text,label", "a,b,c,x"), "--text-column"),
    "two ids": ("d.csv", content("uuid,doc_id,text", "1,2,a"), "--id-column"),
    "two languages": ("d.csv", content("lang,locale,text", "de,de_AT,a"), "--language-column"),
    "no text column": ("d.csv", content("Frage,Antwort", "a,b"), "--text-column"),
    "a column that is not there": (
        "d.csv",
        content("text,label", "a,b"),
        "Did you mean text?",
        {"text": "Text2"},
    ),
    "columns of one name": ("d.csv", content("text,label,label", "a,x,y"), "Rename one"),
    "text columns of one name": ("d.csv", content("text,text,label", "a,b,x"), "Rename one"),
    "one-hot columns of one name": ("d.csv", content("text,x,y,x", "a,1,0,0", "b,0,1,1"), "Rename one"),
    "a label of all documents": ("d.csv", content("text,x,y,z", "a,1,0,1", "b,0,1,1"), "--labels-column"),
    "a flag that is none": (
        "d.csv",
        content("text,x,y", "a,1,0", "b,0,maybe"),
        "Write 0 or 1",
        {"labels": ("x", "y")},
    ),
    "no header": (
        "d.csv",
        content("1,Der Hund schläft im Garten.,article", "2,Die Katze auch.,review"),
        "--no-header",
    ),
    "delimiter without header": (
        "d.csv",
        content("a;b,c", "d;e,f", "g;h,i"),
        "--delimiter",
        {"header": False, "text": "2"},
    ),
    "a cell too many": ("d.csv", content("text,label", "Ciao, mondo,x"), "--delimiter"),
    "a delimiter of two": ("d.csv", content("text||label", "a||x"), "Use one of", {"delimiter": "||"}),
    "quotes in quotes": ("d.csv", content("text,label", '"Er sagte "ja"",x'), "Close every quote"),
    "escaped quotes": ("d.csv", content("text,label", r'"Er sagte \"ja\"",x'), "Close every quote"),
    "an open quote": ("d.csv", content("text,label", '"Er sagte,x', "b,y"), "Close every quote"),
    "damaged UTF-8": (
        "d.csv",
        content("text", GERMAN, GERMAN) + b"K\xc3\xb6ln \xff\xfe M\xfcll\n",
        "--encoding",
    ),
    "one odd byte": ("d.csv", f"text\n{GERMAN}\n{GERMAN}\n".encode("cp1252") + b"\x81 Ende\n", "--encoding"),
    "an old code page": ("d.csv", f"text\n{GERMAN}\n".encode("cp850"), "--encoding"),
    "another encoding than said": (
        "d.csv",
        f"text\n{GERMAN}\n".encode("cp1252"),
        "--encoding",
        {"encoding": "utf-8"},
    ),
    "another encoding than the mark's": (
        "d.csv",
        f"text\n{GERMAN}\n".encode("utf-8-sig"),
        "Leave out --encoding",
        {"encoding": "cp1252"},
    ),
    "one line of two in UTF-8": (
        "d.csv",
        f"text\n{GERMAN}\n".encode("cp1252") + f"{GERMAN}\n".encode(),
        "--encoding",
    ),
    "an unknown encoding": ("d.csv", content("text", "a"), "Use a name such as", {"encoding": "ansi!"}),
    "UTF-16 of other letters": ("d.txt", "Вчера вечером в театре".encode("utf-16-le"), "--encoding"),
    "an empty table": ("d.csv", b"", "Check that it is the right file"),
    "a header only": ("d.csv", content("id,text,label"), "Check that it is the right file"),
    "blank rows only": ("d.csv", content("id,text,label", ",,", ",,"), "Check that it is the right file"),
    "an empty spreadsheet": ("d.xlsx", b"", "Save it again"),
    "a spreadsheet that is none": ("d.xlsx", content("text,label", "a,x"), "Save it again"),
    "a page called a spreadsheet": (
        "d.xlsx",
        b"<html><table><tr><td>text</td></tr></table></html>",
        "Save it again",
    ),
    "columns as JSON": ("d.json", b'{"text": {"0": "a"}, "label": {"0": "x"}}', "Quote it"),
    "NaN in JSON": ("d.jsonl", b'{"text": "a", "label": NaN}', "Write null"),
    "an array of texts": ("d.json", b'["a", "b"]', 'Write {"text"'),
    "another name for labels": (
        "d.jsonl",
        content('{"text": "a", "label": "x"}', '{"text": "b", "labels": ["x"]}'),
        "--labels-column",
    ),
    "another name for texts": ("d.jsonl", content('{"body": "a"}', '{"text": "b"}'), "--text-column"),
    "true and false in a list": ("d.jsonl", b'{"text": "a", "labels": [true]}', "Quote it"),
    "weighted labels": ("d.jsonl", b'{"text": "a", "labels": {"x": 1}}', "Put it in brackets"),
    "another sheet": ("d.xlsx", None, "no sheet", {"sheet": "Nichts"}),
    "an unknown ending": ("d.docx", b"PK", "--format"),
}


@pytest.mark.parametrize("case", UNCLEAR)
def test_what_is_not_clear_is_asked_for(tmp_path: Path, case: str) -> None:
    name, raw, cure, *layout = UNCLEAR[case]
    path = tmp_path / name
    if raw is None:
        next(file for file in FILES if file.name == "plain.xlsx").make(path)
    else:
        path.write_bytes(raw)
    assert cure in refusal(path, **(layout[0] if layout else {}))


def refusal(path: Path, **layout: object) -> str:
    with pytest.raises(InputError) as caught:
        list(read_documents(path, Layout(**layout)))  # type: ignore[arg-type]
    message = str(caught.value)
    assert "\n" not in message
    return message


def labels_of(path: Path, **layout: object) -> list[tuple[str, ...] | None]:
    return [each.labels for each in read_documents(path, Layout(**layout))]  # type: ignore[arg-type]


def write(path: Path, *lines: str) -> Path:
    path.write_bytes(content(*lines))
    return path


def test_a_label_with_a_comma_that_is_always_the_same_is_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lines = ["a;Food, Drink"] * 6 + ["b;Arts, Music"] * 6 + ["c;Sport"]
    with caplog.at_level("INFO", "funnelling"):
        read = labels_of(write(tmp_path / "d.csv", "text;label", *lines))
    assert set(read) == {("Food, Drink",), ("Arts, Music",), ("Sport",)}
    assert '"," in "Food, Drink" is part of it (--label-separator' in caplog.text


def test_a_comma_within_labels_that_something_else_joins(tmp_path: Path) -> None:
    lines = ["a,'Food, Drink|News'", "b,News", "c,'Food, Drink'", "d,'Music|News'"]
    read = labels_of(write(tmp_path / "d.csv", "text,label", *(line.replace("'", '"') for line in lines)))
    assert read == [("Food, Drink", "News"), ("News",), ("Food, Drink",), ("Music", "News")]


def test_the_user_has_the_last_word_on_separators(tmp_path: Path) -> None:
    path = write(tmp_path / "d.csv", "text;label", "a;x, y", "b;z")
    assert labels_of(path, label_separator=",") == [("x", "y"), ("z",)]
    assert labels_of(path, label_separator="none") == [("x, y",), ("z",)]


def test_numbers_are_the_same_labels_in_every_format(tmp_path: Path) -> None:
    table = write(tmp_path / "d.csv", "text;label", "a;45.0", "b;3", "c;45")
    lines = write(tmp_path / "d.jsonl", *(f'{{"text": "a", "label": {n}}}' for n in ("45.0", "3", "45")))
    assert labels_of(table) == labels_of(lines) == [("45",), ("3",), ("45",)]


@pytest.mark.parametrize("value", ["0", "0.0", '"0"', '"0.0"'])
def test_a_number_may_say_that_there_is_no_label(tmp_path: Path, value: str) -> None:
    path = write(tmp_path / "d.jsonl", f'{{"text": "a", "label": {value}}}', '{"text": "b", "label": 1}')
    assert labels_of(path, no_label="0") == [(), ("1",)]


def test_a_missing_language_is_none(tmp_path: Path) -> None:
    rows = [f"{language},ciao" for language in ("it", "", "NaN", "NA", "nan", "<NA>")]
    path = write(tmp_path / "d.csv", "language,text", *rows)
    assert [each.language for each in read_documents(path)] == ["it", *[None] * 5]
    path = write(tmp_path / "d.jsonl", '{"text": "a", "language": "nan"}')
    assert [each.language for each in read_documents(path)] == ["nan"]  # Min Nan


@pytest.mark.parametrize("split", ["validation", "dev", "valid", "val"])
def test_splits_that_are_not_known_may_be_ignored(tmp_path: Path, split: str) -> None:
    path = write(tmp_path / "d.csv", "text,split", "a,train", f"b,{split}")
    assert "--split-column none" in refusal(path)
    assert [each.split for each in read_documents(path, Layout(split="none"))] == [None, None]


def test_a_row_may_lack_the_column_of_a_label_in_json(tmp_path: Path) -> None:
    path = write(
        tmp_path / "d.jsonl",
        '{"text": "a", "x": 1}',
        '{"text": "b", "y": 1}',
        '{"text": "c", "x": 1, "y": 1}',
    )
    assert labels_of(path) == [("x",), ("y",), ("x", "y")]


def test_numbers_of_rows_are_no_labels(tmp_path: Path) -> None:
    path = write(tmp_path / "d.csv", "Unnamed: 0,text,x,y", "0,a,1,0", "1,b,0,1")
    assert labels_of(path) == [("x",), ("y",)]


def test_an_empty_text_in_quotes_is_a_document(tmp_path: Path) -> None:
    path = write(tmp_path / "d.csv", "text", "a", '""', "", "b")
    assert [each.text for each in read_documents(path)] == ["a", "", "b"]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-16", "utf-8"])
def test_a_mark_is_no_part_of_the_first_name(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "d.csv"
    path.write_bytes("\ufeffid,text\nx,perché\n".encode("utf-16-be" if encoding == "utf-16" else encoding))
    read = list(read_documents(path, Layout(encoding=encoding)))
    assert [(each.id, each.text) for each in read] == [("x", "perché")]


def test_blank_rows_are_passed_over(tmp_path: Path) -> None:
    path = write(tmp_path / "d.csv", "text,label", "a,x", ",", '""', "", '"",""', "b,y")
    assert [each.text for each in read_documents(path)] == ["a", "b"]


def test_formulas_that_nobody_computed_are_refused(tmp_path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    book.active.append(["text", "label"])
    book.active.append(["=1+1", "x"])
    book.save(tmp_path / "d.xlsx")
    assert "never computed" in refusal(tmp_path / "d.xlsx")


def test_a_cell_beside_the_columns_of_a_sheet_is_refused(tmp_path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    book.active.append(["text", "label"])
    book.active.append(["a", "x", "y"])
    book.save(tmp_path / "d.xlsx")
    assert "beside the columns" in refusal(tmp_path / "d.xlsx")


def make_texts(folder: Path, *paths: str) -> Path:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("testo")
    return folder


@pytest.mark.parametrize(
    "paths",
    [("it/a.txt", "hr/b.txt"), ("it/de/a.txt", "hr/en/b.txt"), ("x/y/a.txt", "u/v/b.txt"), ("train/a.txt",)],
    ids=["departments", "departments and languages", "two of labels", "splits alone"],
)
def test_folders_that_may_be_several_things_are_asked_about(tmp_path: Path, paths: tuple[str, ...]) -> None:
    assert "--folders" in refusal(make_texts(tmp_path, *paths))


def test_folders_are_what_the_user_says(tmp_path: Path) -> None:
    folder = make_texts(tmp_path, "it/de/a.txt", "hr/en/b.txt")
    read = list(read_documents(folder, Layout(folders=("label", "language"))))
    assert [(each.labels, each.language) for each in read] == [(("hr",), "en"), (("it",), "de")]


def test_text_files_at_different_depths_are_refused(tmp_path: Path) -> None:
    assert "depths" in refusal(make_texts(tmp_path, "x/a.txt", "b.txt"))


@pytest.mark.parametrize(
    ("name", "lines", "said"),
    [
        ("d.csv", ["text;label", "a;x"], "semicolons between cells; labels from"),
        ("d.csv", ["Body,Tags", "a,x;y", "b,x", "c,y"], 'text from "Body"; labels from "Tags"'),
        ("d.csv", ["text,labels", "a,x;y", "b,x", "c,y"], 'labels divided at ";"'),
        ("d.csv", ["text,labels", "a,x", "b,NaN"], "NaN taken for no answer"),
        ("d.csv", ["text,labels", "a,x", "b,None"], "--no-label None"),
        ("d.csv", ["text,labels", "a,45.0", "b,3.0"], "whole numbers"),
        ("d.csv", ["text,x,y", "a,1,0", "b,0,1"], 'labels from "x", "y"'),
        ("d.csv", ["text,language,labels", "a,NaN,x"], "language NaN taken for no answer"),
        ("d.csv", ["id,text,labels", "1,a", "2,b,x"], "d.csv:2: fewer cells"),
        ("x/d.txt", ["a"], "folders are label"),
        ("x/d.txt", ["a"], "1 other file passed over (.pdf)"),
    ],
)
def test_what_was_found_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str, lines: list[str], said: str
) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    path = write(tmp_path / name, *lines)
    if path.parent != tmp_path:
        (path.parent / "scan.pdf").write_bytes(b"%PDF")
        path = tmp_path
    with caplog.at_level("INFO", "funnelling"):
        list(read_documents(path))
    assert said in caplog.text


def test_an_encoding_is_said_once_for_a_folder(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    next(file for file in FILES if file.name == "western").make(tmp_path)
    with caplog.at_level("INFO", "funnelling"):
        list(read_documents(tmp_path))
    assert caplog.text.count("read as cp1252") == 1


def test_columns_without_a_name_or_of_one_name_are_all_kept(tmp_path: Path) -> None:
    import openpyxl

    rows = [["", "text", "note", "", "note"], ["1", "a", "x", "y", "z"]]
    expected = {"column 1": "1", "text": "a", "note": "x", "column 4": "y", "note.2": "z"}
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(tmp_path / "d.xlsx")
    for path in (write(tmp_path / "d.csv", *map(",".join, rows)), tmp_path / "d.xlsx"):
        assert [each.fields for each in read_documents(path, keep_fields=True)] == [expected]


def test_one_column_of_yes_and_no_is_a_label(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = write(tmp_path / "d.csv", "text,spam", "a,1", "b,0", "c,")
    with caplog.at_level("INFO", "funnelling"):
        assert labels_of(path, labels="spam") == [("spam",), (), None]
    assert 'a yes is the label "spam"' in caplog.text
    path = write(tmp_path / "d.csv", "text,spam", "a,yes", "b,no")
    assert labels_of(path, labels="spam") == [("spam",), ()]
    path = write(tmp_path / "d.jsonl", '{"text": "a", "spam": true}', '{"text": "b", "spam": false}')
    assert labels_of(path, labels="spam") == [("spam",), ()]


def test_classes_0_and_1_stay_classes(tmp_path: Path) -> None:
    for name in ("label", "class"):
        path = write(tmp_path / "d.csv", f"text,{name}", "a,1", "b,0")
        assert labels_of(path, labels=name) == labels_of(path) == [("1",), ("0",)]
    path = write(tmp_path / "d.csv", "text,grade", "a,1", "b,2")
    assert labels_of(path, labels="grade") == [("1",), ("2",)]


def test_parts_agree_on_a_column_of_yes_and_no(tmp_path: Path) -> None:
    from funnelling.formats import read_part, settle_labels

    parts = [write(tmp_path / f"{n}.csv", "text,spam", "a,1", f"b,{n}") for n in (0, 1)]
    layout = settle_labels(tmp_path, Layout(labels="spam"))
    read = [[each.labels for each in read_part(str(part), layout)] for part in parts]
    assert read == [[("spam",), ()], [("spam",), ("spam",)]]


@pytest.mark.parametrize(
    ("name", "layout", "flag"),
    [
        ("d.csv", {"sheet": "x"}, "--sheet"),
        ("d.csv", {"folders": ("label",)}, "--folders"),
        ("d.jsonl", {"delimiter": ";"}, "--delimiter"),
        ("d.jsonl", {"header": False}, "--no-header"),
        ("d.xlsx", {"delimiter": ";"}, "--delimiter"),
        ("d.xlsx", {"encoding": "cp1252"}, "--encoding"),
        ("d.parquet", {"encoding": "cp1252"}, "--encoding"),
        ("x", {"sheet": "x"}, "--sheet"),
    ],
)
def test_what_does_not_go_with_a_file_is_refused(
    tmp_path: Path, name: str, layout: dict[str, Any], flag: str
) -> None:
    path = tmp_path / name
    if name == "x":
        make_texts(path, "news/a.txt")
    elif name == "d.xlsx":
        next(file for file in FILES if file.name == "plain.xlsx").make(path)
    elif name == "d.csv":
        write(path, "text", "a")
    else:
        write_documents(path, [Document("1", "a")])
    assert f"{flag} does not go with" in refusal(path, **layout)


def test_a_file_without_an_ending_beside_texts_is_no_document(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = make_texts(tmp_path / "endings", "it/food/a.txt", "it/food/README", "de/food/b.txt")
    with caplog.at_level("INFO", "funnelling"):
        assert [each.id for each in read_documents(folder)] == ["de/food/b.txt", "it/food/a.txt"]
    assert "1 other file passed over (without an ending)" in caplog.text
    folder = make_texts(tmp_path / "none", "it/food/1001", "de/food/1002")
    assert [each.id for each in read_documents(folder)] == ["de/food/1002", "it/food/1001"]


def test_keys_that_vary_take_one_more_look(tmp_path: Path) -> None:
    lines = (f'{{"text": "a", "key{number}": "x{number}"}}' for number in range(20_000))
    read = list(read_documents(write(tmp_path / "d.jsonl", *lines)))
    assert len(read) == 20_000
    lines = (f'{{"text": "a", "key{number}": 1}}' for number in range(20_000))
    path = write(tmp_path / "d.jsonl", *lines)
    assert [each.labels for each in read_documents(path)] == [(f"key{number}",) for number in range(20_000)]


def damaged_workbook(path: Path, kind: str) -> None:
    import zipfile

    next(file for file in FILES if file.name == "plain.xlsx").make(path)
    if kind == "bomb":
        with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as parts:
            parts.writestr("xl/media/zeros.bin", bytes(2**28 + 1))
        return
    raw = bytearray(path.read_bytes())
    start = raw.index(b"PK\x01\x02")
    while start >= 0:  # every entry of the directory
        if kind == "encrypted":
            raw[start + 8] |= 1
        elif kind == "unknown method":
            raw[start + 10 : start + 12] = b"\x63\x00"
        start = raw.find(b"PK\x01\x02", start + 1)
    if kind == "damaged":
        body = raw.index(b"xl/workbook.xml") + len(b"xl/workbook.xml")
        raw[body : body + 60] = b"\xff" * 60
    path.write_bytes(bytes(raw[:-30] if kind == "cut" else raw))


@pytest.mark.parametrize("kind", ["encrypted", "unknown method", "damaged", "cut"])
def test_a_damaged_spreadsheet_is_refused(tmp_path: Path, kind: str) -> None:
    damaged_workbook(tmp_path / "d.xlsx", kind)
    assert "not readable as a spreadsheet" in refusal(tmp_path / "d.xlsx")


def test_a_spreadsheet_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    damaged_workbook(tmp_path / "d.xlsx", "bomb")
    assert "too large" in refusal(tmp_path / "d.xlsx")
