"""One set of documents, written in every form in which people have theirs."""

import csv
import datetime
import gzip
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from funnelling.formats import Document

ALL = ("id", "text", "language", "labels")
SUBJECTS = ("culture", "economy", "politics", "science", "sport")


def _document(number: int, language: str, title: str, body: str, *labels: str) -> Document:
    return Document(f"d{number}", f"{title}\n{body}", language, labels)


DOCUMENTS = [
    _document(1, "de", "Köln wählt", "Die Bürger wählten am Sonntag; viele kamen früh.", "politics"),
    _document(
        2, "de", "Müllgebühr", "Höhere Gebühren, sagt der Rat, seien „unvermeidlich“.", "politics", "economy"
    ),
    _document(3, "de", "Fußball", 'Der Trainer rief: "Weiter, weiter!" und lächelte.', "sport"),
    _document(4, "de", "Börse", "Die Aktien fielen um 3,5 %; Grund waren die Zölle.", "economy"),
    _document(5, "de", "Theater", "Ein Stück über Äpfel, Öl und Übermut.", "culture"),
    _document(6, "de", "Doping", "Forscher prüfen Blut von Läufern; es geht um Hormone.", "science", "sport"),
    _document(7, "fr", "Élections", "Les députés ont voté la loi; l'opposition s'est tue.", "politics"),
    _document(8, "fr", "Café cher", "Le prix du café, à Paris, dépasse 4 € la tasse.", "economy"),
    _document(9, "fr", "Musée", "Le musée rouvre à Noël, après six années de travaux.", "culture"),
    _document(10, "fr", "Tour", "Le peloton a gravi le col; la pluie tombait.", "sport"),
    _document(
        11, "fr", "Fusée", "La fusée a décollé à l'aube; coût : 90 millions d'€.", "science", "economy"
    ),
    _document(12, "fr", "Mécène", "Il a dit : \"L'art, c'est l'État.\"", "culture", "politics"),
    _document(13, "it", "Città", "La città è più bella così; perché no?", "culture"),
    _document(14, "it", "Calcio", "La squadra ha vinto, però soffrì fino all'ultimo.", "sport"),
    _document(15, "it", "Governo", "Il governo cadrà, dicono; nessuno lo sa.", "politics"),
    _document(16, "it", "Vino", "Il vino costerà di più; la siccità è la causa.", "economy", "science"),
    _document(
        17,
        "it",
        "Stadio",
        "Lo stadio si farà: pagherà la città, non il club.",
        "sport",
        "economy",
        "politics",
    ),
    _document(18, "it", "Cometa", "Una cometa è passata vicino alla Terra.", "science"),
    _document(
        19, "en", "Strikes", "The unions met; talks, they said, “went nowhere”.", "economy", "politics"
    ),
    _document(20, "en", "Cup final", 'The keeper said "no comment", then left; fans sang.', "sport"),
    _document(21, "en", "Vaccine", "A new vaccine, tested on mice, works; people are next.", "science"),
    _document(22, "en", "Novel", "Her third novel — a comedy — sold 10,000 copies.", "culture", "economy"),
    _document(23, "en", "Budget", "The budget passed; science gets 5% less.", "politics", "science"),
    _document(24, "en", "Dance", "They danced on ice; judges gave 9.5, not 10.", "culture", "sport"),
]
EASTERN = [
    _document(1, "pl", "Szkoła", "Rada miasta podjęła decyzję o budowie nowej szkoły.", "politics"),
    _document(2, "pl", "Źródło", "Zażółć gęślą jaźń; wczoraj wieczorem świeciło słońce.", "culture"),
    _document(3, "pl", "Mecz", "Drużyna wygrała mecz, chociaż padał śnieg.", "sport"),
    _document(4, "cs", "Kůň", "Příliš žluťoučký kůň úpěl ďábelské ódy.", "culture"),
    _document(5, "cs", "Rada", "Včera večer rozhodla rada města o nové škole.", "politics"),
    _document(6, "cs", "Zápas", "Hráči prohráli zápas, přestože vedli dvě třetiny.", "sport"),
]
CYRILLIC = [
    _document(1, "ru", "Школа", "Городской совет принял решение о строительстве новой школы.", "politics"),
    _document(2, "ru", "Матч", "Команда выиграла матч, хотя шёл сильный снег.", "sport"),
    _document(3, "ru", "Театр", "Вчера вечером в театре показали новую пьесу.", "culture"),
    _document(4, "bg", "Училище", "Общинският съвет взе решение за ново училище.", "politics"),
    _document(5, "bg", "Мач", "Отборът спечели мача, въпреки че валеше сняг.", "sport"),
    _document(6, "bg", "Музей", "Музеят отвори врати след шест години ремонт.", "culture"),
]

Cell = Callable[[Document], object]


@dataclass(frozen=True)
class File:
    """A file that someone may have, what it takes to read it, and the documents that it stands for."""

    name: str
    make: Callable[[Path], object]
    layout: Mapping[str, Any] = field(default_factory=dict)
    documents: Sequence[Document] = tuple(DOCUMENTS)
    same: Sequence[str] = ALL  # the fields that can be told from it


def title(document: Document) -> str:
    return document.text.partition("\n")[0]


def body(document: Document) -> str:
    return document.text.partition("\n")[2]


def joined(separator: str) -> Cell:
    return lambda document: separator.join(document.labels or ())


def has(label: str, yes: object = "1", no: object = "0") -> Cell:
    return lambda document: yes if label in (document.labels or ()) else no


def one_hot(yes: object = "1", no: object = "0") -> dict[str, Cell]:
    return {subject: has(subject, yes, no) for subject in SUBJECTS}


BASE: dict[str, Cell] = {
    "id": lambda document: document.id,
    "language": lambda document: document.language,
    "text": lambda document: document.text,
}
USUAL: dict[str, Cell] = {**BASE, "labels": joined("|")}


def labelled(cell: Cell, name: str = "labels") -> dict[str, Cell]:
    return {**BASE, name: cell}


def cells(columns: Mapping[str, Cell], documents: Iterable[Document] = DOCUMENTS) -> list[list[object]]:
    return [list(columns), *([cell(each) for cell in columns.values()] for each in documents)]


def delimited(
    name: str,
    columns: Mapping[str, Cell] = USUAL,
    delimiter: str = ",",
    encoding: str = "utf-8",
    ends: str = "\n",
    before: str = "",
    edit: Callable[[list[list[object]]], list[list[object]]] = lambda rows: rows,
    quoting: Any = csv.QUOTE_MINIMAL,
    **more: Any,
) -> File:
    """A table; ``edit`` changes its rows, header included."""
    documents = more.get("documents", DOCUMENTS)

    def make(path: Path) -> None:
        stream = io.StringIO(newline="")
        writer = csv.writer(stream, delimiter=delimiter, lineterminator=ends, quoting=quoting)
        writer.writerows(edit(cells(columns, documents)))
        content = (before + stream.getvalue()).encode(encoding)
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)

    return File(name, make, **more)


def json_lines(name: str, columns: Mapping[str, Cell], array: bool = False, **more: Any) -> File:
    documents = more.get("documents", DOCUMENTS)

    def make(path: Path) -> None:
        rows = [{key: cell(each) for key, cell in columns.items()} for each in documents]
        text = json.dumps(rows, indent=2) if array else "".join(f"{json.dumps(row)}\n" for row in rows)
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())

    return File(name, make, **more)


def parquet(name: str, column: Callable[[Any, list[Document]], object], **more: Any) -> File:
    documents = list(more.get("documents", DOCUMENTS))

    def make(path: Path) -> None:
        import pyarrow
        import pyarrow.parquet

        columns = {key: [cell(each) for each in documents] for key, cell in BASE.items()}
        table = pyarrow.table({**columns, "labels": column(pyarrow, documents)})
        pyarrow.parquet.write_table(table, path)

    return File(name, make, **more)


def workbook(
    name: str,
    columns: Mapping[str, Cell] = USUAL,
    edit: Callable[[list[list[object]]], list[list[object]]] = lambda rows: rows,
    other_sheets: Mapping[str, list[list[object]]] | None = None,
    **more: Any,
) -> File:
    documents = more.get("documents", DOCUMENTS)

    def make(path: Path) -> None:
        import openpyxl

        book = openpyxl.Workbook()
        book.remove(book.active)
        sheets = {**(other_sheets or {}), "Daten": edit(cells(columns, documents))}
        for heading, rows in sheets.items():
            sheet = book.create_sheet(heading)
            for row in rows:
                sheet.append(row)
        book.save(path)

    return File(name, make, **more)


def open_document(name: str, columns: Mapping[str, Cell] = USUAL, **more: Any) -> File:
    def make(path: Path) -> None:
        import pandas

        header, *rows = cells(columns)
        pandas.DataFrame(rows, columns=header).to_excel(path, index=False, engine="odf")

    return File(name, make, **more)


def folders(
    name: str, place: Callable[[Document], str], encoding: str = "utf-8", ending: str = ".txt", **more: Any
) -> File:
    """A text file per document; only one label can be told by a folder."""
    documents = [
        Document(f"{place(each)}/{each.id}{ending}", each.text, each.language, (each.labels or ())[:1])
        for each in more.pop("documents", DOCUMENTS)
    ]
    ordered = sorted(documents, key=lambda document: document.id.split("/"))

    def make(path: Path) -> None:
        for document in documents:
            file = path / document.id
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(document.text.encode(encoding))

    return File(name, make, documents=ordered, **more)


def changed(change: Callable[[Document], tuple[str, ...] | None]) -> list[Document]:
    """The documents under other labels."""
    return [Document(each.id, each.text, each.language, change(each)) for each in DOCUMENTS]


def without_culture(document: Document) -> tuple[str, ...] | None:
    """Labels as they are where documents about culture have not been labelled."""
    return None if "culture" in (document.labels or ()) else document.labels


def none_for_culture(document: Document) -> tuple[str, ...] | None:
    return () if "culture" in (document.labels or ()) else document.labels


CODES = {subject: str(code) for code, subject in enumerate(SUBJECTS, start=43)}


def in_codes(document: Document) -> tuple[str, ...]:
    return tuple(CODES[label] for label in document.labels or ())


def first_code(document: Document) -> tuple[str, ...]:
    return in_codes(document)[:1]


def unless_missing(cell: Cell, missing: object = "") -> Cell:
    return lambda document: missing if document.labels is None else cell(document)


def _padded(rows: list[list[object]]) -> list[list[object]]:
    """As Excel saves a sheet: empty columns at the right, blank rows between and below."""
    blank = [""] * (len(rows[0]) + 3)
    padded = [[*row, "", "", ""] for row in rows]
    return [*padded[:9], blank, *padded[9:], blank, blank]


def _sloppy(document: Document) -> str:
    return " ; ".join(f" {label}  " for label in document.labels or ()) + " ;"


def _date(document: Document) -> datetime.date:
    return datetime.date(2024, 1, int(document.id[1:]))


def _part(document: Document) -> str:
    return "train" if int(document.id[1:]) % 3 else "test"


UNLABELLED = changed(without_culture)
OF_NONE = changed(none_for_culture)
NUMBERED = changed(in_codes)
ONE_NUMBER = changed(first_code)
ONE_LABEL = changed(lambda document: (document.labels or ())[:1])
NUMBERED_COLUMNS = {"text": "3", "labels": "4", "language": "2", "id": "1"}

FILES = [
    # Delimiters, encodings, line ends
    delimited("plain.csv"),
    delimited("semicolons.csv", delimiter=";"),
    delimited("tabs.tsv", delimiter="\t"),
    delimited("tabs.csv", delimiter="\t"),
    delimited("bars.csv", labelled(joined(";")), delimiter="|"),
    delimited("commas.tsv"),
    delimited("mark.csv", delimiter=";", encoding="utf-8-sig", ends="\r\n"),
    delimited("utf16-mark.csv", delimiter="\t", encoding="utf-16", ends="\r\n"),
    delimited("utf16-le.csv", encoding="utf-16-le", layout={"encoding": "utf-16-le"}),
    delimited("utf16-be.csv", delimiter=";", encoding="utf-16-be", layout={"encoding": "utf-16-be"}),
    delimited("utf16-be-mark.csv", before="\ufeff", encoding="utf-16-be"),
    delimited("utf32.csv", encoding="utf-32"),
    delimited("western.csv", delimiter=";", encoding="cp1252", ends="\r\n"),
    delimited("western-commas.csv", encoding="cp1252"),
    delimited("western-said.csv", encoding="cp1252", layout={"encoding": "windows-1252"}),
    delimited(
        "eastern.csv", delimiter=";", encoding="cp1250", documents=EASTERN, layout={"encoding": "cp1250"}
    ),
    delimited(
        "cyrillic.csv", delimiter=";", encoding="cp1251", documents=CYRILLIC, layout={"encoding": "cp1251"}
    ),
    delimited("dos.csv", encoding="cp850", layout={"encoding": "cp850"}, documents=DOCUMENTS[2:7]),
    delimited("windows.csv", ends="\r\n"),
    delimited("all-quoted.csv", quoting=csv.QUOTE_ALL),
    delimited("packed.csv.gz", delimiter=";"),
    delimited("packed.tsv.gz", delimiter="\t", encoding="utf-16"),
    delimited("hash.csv", delimiter="#", layout={"delimiter": "#"}),
    # What spreadsheets add
    delimited("excel.csv", delimiter=";", encoding="utf-8-sig", ends="\r\n", edit=_padded),
    delimited("excel-commas.csv", encoding="cp1252", ends="\r\n", edit=_padded),
    delimited("sep.csv", delimiter=";", before="sep=;\r\n", ends="\r\n", encoding="utf-8-sig"),
    delimited("sep-tab.csv", delimiter="\t", before='"sep=\t"\r\n', ends="\r\n", encoding="utf-16"),
    delimited("sep-unusual.csv", labelled(joined("; ")), before="SEP=,\n"),
    delimited("index.csv", {"": lambda each: int(each.id[1:]) - 1, **USUAL}),
    # Columns
    delimited(
        "mixed-case.csv",
        {"ID": BASE["id"], "Lang": BASE["language"], "BODY": BASE["text"], "Tags": joined("|")},
    ),
    delimited(
        "title.csv",
        {"Id": BASE["id"], "Title": title, "Text": body, "LANG": BASE["language"], "CLASS": joined("|")},
    ),
    delimited(
        "mail.csv",
        {
            "id": BASE["id"],
            "subject": title,
            "body": body,
            "language": BASE["language"],
            "Category": joined("|"),
        },
    ),
    delimited(
        "news.csv",
        {
            "doc_id": BASE["id"],
            "headline": title,
            "content": body,
            "locale": BASE["language"],
            "topics": joined("|"),
        },
    ),
    delimited(
        "german.csv",
        {
            "ID": BASE["id"],
            "Titel": title,
            "Text": body,
            "Sprache": BASE["language"],
            "Kategorie": joined("|"),
        },
        delimiter=";",
    ),
    delimited(
        "blanks-in-names.csv",
        {
            " Doc ID ": BASE["id"],
            "Language Code": BASE["language"],
            " text": BASE["text"],
            "label ": joined("|"),
        },
    ),
    delimited(
        "own-names.csv",
        {"Nr": BASE["id"], "Frage": title, "Antwort": body, "Spr": BASE["language"], "Thema": joined("|")},
        delimiter=";",
        layout={"text": ("Frage", "antwort"), "labels": "thema", "language": "SPR", "id": "nr"},
    ),
    delimited("no-header.csv", edit=lambda rows: rows[1:], layout={"header": False, **NUMBERED_COLUMNS}),
    delimited(
        "no-header.tsv",
        delimiter="\t",
        edit=lambda rows: rows[1:],
        layout={"header": False, **NUMBERED_COLUMNS},
    ),
    delimited(
        "no-ids.csv",
        {key: cell for key, cell in USUAL.items() if key != "id"},
        same=("text", "language", "labels"),
    ),
    delimited(
        "no-languages.csv",
        {key: cell for key, cell in USUAL.items() if key != "language"},
        same=("id", "text", "labels"),
    ),
    delimited("metadata.csv", {**USUAL, "is_draft": has("sport", "TRUE", "FALSE"), "seen": has("science")}),
    delimited("two-classes.csv", {**USUAL, "category": title}),
    # Labels in cells
    delimited("semicolon-labels.csv", labelled(joined(";"), "Labels")),
    delimited("semicolon-blank-labels.csv", labelled(joined("; "), "tags"), delimiter=";"),
    delimited("comma-labels.csv", labelled(joined(","), "label")),
    delimited("comma-blank-labels.csv", labelled(joined(", "), "Category"), delimiter=";"),
    delimited("bar-blank-labels.csv", labelled(joined(" | "), "CLASS")),
    delimited("line-break-labels.csv", labelled(joined("\n"))),
    delimited("json-lists.csv", labelled(lambda each: json.dumps(list(each.labels or ())))),
    delimited("python-lists.csv", labelled(lambda each: str(list(each.labels or ())))),
    delimited("tuples.csv", labelled(lambda each: str(each.labels)), delimiter=";"),
    delimited("stray-blanks.csv", labelled(_sloppy)),
    delimited("slashes.csv", labelled(joined("/")), layout={"label_separator": "/"}),
    delimited("spaces.csv", labelled(joined(" ")), layout={"label_separator": " "}),
    delimited("numbers.csv", labelled(joined(";")), documents=NUMBERED),
    delimited("comma-numbers.csv", labelled(joined(", ")), documents=NUMBERED, delimiter=";"),
    delimited(
        "floats.csv", labelled(lambda each: f"{(each.labels or ('',))[0]}.0", "label"), documents=ONE_NUMBER
    ),
    # One column per label
    delimited("one-hot.csv", {**BASE, **one_hot()}),
    delimited("one-hot-true.csv", {**BASE, **one_hot("TRUE", "FALSE")}, delimiter=";"),
    delimited("one-hot-x.csv", {**BASE, **one_hot("x", "")}, delimiter=";", encoding="cp1252"),
    delimited("one-hot-float.csv", {**BASE, **one_hot("1.0", "0.0")}),
    delimited("one-hot-comma.csv", {**BASE, **one_hot("1,0", "0,0")}, delimiter=";"),
    delimited("one-hot-ja.csv", {**BASE, **one_hot("ja", "nein")}, delimiter=";"),
    delimited("one-hot-some.csv", {**BASE, **one_hot(), "draft": has("sport")}, layout={"labels": SUBJECTS}),
    json_lines("one-hot.jsonl", {**BASE, **one_hot(1, 0)}),
    workbook("one-hot.xlsx", {**BASE, **one_hot(True, False)}),
    # Documents without labels, and of no label
    delimited("empty-labels.csv", labelled(unless_missing(joined(";"))), documents=UNLABELLED),
    delimited("nan.csv", labelled(unless_missing(joined(";"), "NaN")), documents=UNLABELLED),
    delimited("na.csv", labelled(unless_missing(joined(";"), "<NA>")), documents=UNLABELLED),
    delimited(
        "excel-na.csv", labelled(unless_missing(joined(", "), "#N/A")), documents=UNLABELLED, delimiter=";"
    ),
    delimited(
        "r.csv",
        labelled(unless_missing(joined("|"), "NA")),
        documents=UNLABELLED,
        quoting=csv.QUOTE_NONNUMERIC,
    ),
    delimited("brackets.csv", labelled(lambda each: str(list(each.labels or ()))), documents=OF_NONE),
    delimited(
        "word.csv",
        labelled(lambda each: ";".join(each.labels or ()) or "Keine"),
        documents=OF_NONE,
        layout={"no_label": "keine"},
    ),
    delimited(
        "dash.csv",
        labelled(lambda each: ", ".join(each.labels or ()) or "-"),
        documents=OF_NONE,
        layout={"no_label": "-"},
        delimiter=";",
    ),
    delimited(
        "zero.csv",
        labelled(lambda each: (each.labels or ("0",))[0]),
        documents=changed(lambda each: none_for_culture(each) and first_code(each)),
        layout={"no_label": "0"},
    ),
    # Spreadsheets
    workbook("plain.xlsx"),
    workbook("sheets.xlsx", other_sheets={"Readme": [["Exported on", "2024-01-01"], ["By", "Eva"]]}),
    workbook(
        "chosen.xlsx", other_sheets={"Old": [["text", "labels"], ["x", "y"]]}, layout={"sheet": "Daten"}
    ),
    workbook(
        "numbers.xlsx",
        labelled(lambda each: float((each.labels or ("0",))[0]), "label"),
        documents=ONE_NUMBER,
    ),
    workbook(
        "gaps.xlsx",
        {**labelled(unless_missing(joined(", "), None)), "Datum": _date, "Zahl": lambda _: 3.5},
        edit=lambda rows: [[], *rows[:5], [None, None], *rows[5:]],
        documents=UNLABELLED,
    ),
    open_document("plain.ods"),
    open_document(
        "titles.ods",
        {
            "ID": BASE["id"],
            "Headline": title,
            "Content": body,
            "Lang": BASE["language"],
            "label": joined("; "),
        },
    ),
    # JSON
    json_lines("lists.jsonl", labelled(lambda each: list(each.labels or ()))),
    json_lines("array.json", labelled(lambda each: list(each.labels or ())), array=True),
    json_lines("packed.jsonl.gz", labelled(joined(";"))),
    json_lines("packed.json.gz", labelled(joined(", ")), array=True),
    json_lines(
        "one-label.jsonl", labelled(lambda each: (each.labels or ("",))[0], "label"), documents=ONE_LABEL
    ),
    json_lines(
        "one-number.ndjson",
        labelled(lambda each: int((each.labels or ("",))[0]), "label"),
        documents=ONE_NUMBER,
    ),
    json_lines(
        "float.jsonl", labelled(lambda each: float((each.labels or ("",))[0]), "class"), documents=ONE_NUMBER
    ),
    json_lines(
        "null.jsonl",
        labelled(lambda each: None if each.labels is None else list(each.labels)),
        documents=UNLABELLED,
    ),
    json_lines("empty-lists.jsonl", labelled(lambda each: list(each.labels or ())), documents=OF_NONE),
    json_lines(
        "titles.jsonl",
        {"ID": BASE["id"], "Title": title, "Text": body, "lang": BASE["language"], "labels": joined("|")},
    ),
    # Parquet
    parquet("lists.parquet", lambda _, documents: [list(each.labels or ()) for each in documents]),
    parquet("strings.parquet", lambda _, documents: [joined(";")(each) for each in documents]),
    parquet(
        "categories.parquet",
        lambda arrow, documents: arrow.array([joined("|")(each) for each in documents]).dictionary_encode(),
    ),
    parquet(
        "nulls.parquet",
        lambda _, documents: [None if each.labels is None else list(each.labels) for each in documents],
        documents=UNLABELLED,
    ),
    parquet(
        "null-strings.parquet",
        lambda _, documents: [None if each.labels is None else joined(", ")(each) for each in documents],
        documents=UNLABELLED,
    ),
    parquet(
        "numbers.parquet",
        lambda _, documents: [int((each.labels or ("",))[0]) for each in documents],
        documents=ONE_NUMBER,
    ),
    # Folders
    folders("by-label", lambda each: (each.labels or ("",))[0], same=("id", "text", "labels")),
    folders("by-language", lambda each: f"{each.language}/{(each.labels or ('',))[0]}"),
    folders("by-split", lambda each: f"{_part(each)}/{each.language}/{(each.labels or ('',))[0]}"),
    folders("western", lambda each: f"{each.language}/{(each.labels or ('',))[0]}", encoding="cp1252"),
    folders(
        "eastern",
        lambda each: f"{each.language}/{(each.labels or ('',))[0]}",
        encoding="cp1250",
        documents=EASTERN,
        layout={"encoding": "cp1250"},
    ),
    folders("utf16", lambda each: f"{each.language}/{(each.labels or ('',))[0]}", encoding="utf-16"),
    folders("no-endings", lambda each: (each.labels or ("",))[0], ending="", same=("id", "text", "labels")),
]
