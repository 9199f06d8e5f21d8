"""What pandas and polars write of any frame of documents comes back the same or is refused, never else."""

import csv
import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from funnelling.errors import InputError
from funnelling.formats import Document, Layout, read_documents

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pytest.importorskip("pyarrow")

NASTY = "ab \"',;|\t\n\r=+-@#\\/[]{}()0.5äßé€猫🐈שלוםمرحبا\u2028\x85\ufeff\u200f"
LABELS = (
    "sport",
    "news",
    "Food & Drink",
    "sci fi",
    "C++",
    "45",
    "7",
    "-",
    "Größe",
    "новости",
    "a/b",
    "A",
    "it's",
)
DELIMITERS = (",", ";", "\t", "|")

# A character that XML cannot hold cannot be in a spreadsheet, and a carriage return is a line feed there.
nasty = st.text(NASTY, max_size=12) | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12
)
# A spreadsheet's cell of blanks alone may come back empty.
printable = st.text(NASTY.replace("\r", "").replace("\x85", ""), max_size=12).filter(
    lambda text: not text or not text.isspace()
)


@st.composite
def frames(draw: Any, text: st.SearchStrategy[str], most: int = 15) -> list[Document]:
    """Documents with few labels, so that they recur."""
    few = draw(st.lists(st.sampled_from(LABELS), unique=True, min_size=1, max_size=5))
    labels = st.lists(st.sampled_from(few), unique=True, max_size=3).map(tuple)
    rows = st.tuples(text, st.sampled_from(["de", "fr", "it", None]), st.none() | labels)
    drawn = draw(st.lists(rows, min_size=1, max_size=most))
    return [Document(f"d{number}", *row) for number, row in enumerate(drawn)]


def joined(separator: str) -> Callable[[Document], str | None]:
    """Labels in a cell, as people join them; for none there is only the empty list."""
    return lambda document: None if document.labels is None else separator.join(document.labels) or "[]"


def listed(write: Callable[[list[str]], str]) -> Callable[[Document], str | None]:
    return lambda document: None if document.labels is None else write(list(document.labels))


def numpy_text(labels: list[str]) -> str:
    import numpy

    return str(numpy.array(labels))


CELLS = {
    **{f"joined by {separator!r}": joined(separator) for separator in ("|", ";", "; ", ",", ", ", "\n")},
    "JSON": listed(json.dumps),
    "Python": listed(str),
    "tuple": lambda document: str(document.labels) if document.labels else joined(";")(document),
    "NumPy": listed(numpy_text),
}
forms = st.sampled_from(sorted(CELLS))


def columns(documents: list[Document], labels: Callable[[Document], object]) -> dict[str, list[object]]:
    return {
        "id": [document.id for document in documents],
        "Lang": [document.language for document in documents],
        "text": [document.text for document in documents],
        "Labels": [labels(document) for document in documents],
    }


def flags(documents: list[Document], yes: object, no: object) -> dict[str, list[object]]:
    """One column per label; documents of which none is known have empty cells."""
    table = columns(documents, lambda _: None)
    del table["Labels"]
    for label in LABELS:
        table[label] = [
            None if each.labels is None else yes if label in each.labels else no for each in documents
        ]
    return table


@contextmanager
def same_or_refused(
    path: Path, documents: list[Document], sure: bool = False, **layout: Any
) -> Iterator[None]:
    """A file is written in this block, then read: it is never read as other documents without a word."""
    yield
    with _listening() as said:
        read = _read(path, Layout(**layout))
    if isinstance(read, str):
        assert not sure, read
        assert "\n" not in read
        return
    if any("is part of it" in line for line in said):  # labels that are always together, and it is said
        read, documents = _without_labels(read), _without_labels(documents)
    assert [_comparable(document) for document in read] == [_comparable(document) for document in documents]


def _read(path: Path, layout: Layout) -> list[Document] | str:
    try:
        return list(read_documents(path, layout))
    except InputError as error:
        return str(error)


@contextmanager
def _listening() -> Iterator[list[str]]:
    """What is said while files are read."""
    logger, said = logging.getLogger("funnelling.formats"), list[str]()
    handler = logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage())  # type: ignore[method-assign]
    level, propagate = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel("INFO")
    logger.propagate = False
    try:
        yield said
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = propagate


def _without_labels(documents: list[Document]) -> list[Document]:
    return [Document(each.id, each.text, each.language) for each in documents]


def _comparable(document: Document) -> tuple[object, ...]:
    labels = None if document.labels is None else frozenset(document.labels)
    return document.id, document.text, document.language, labels


def rounds(examples: int) -> Any:
    return settings(
        max_examples=examples,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )


@rounds(150)
@given(
    frames(nasty),
    forms,
    st.sampled_from(DELIMITERS),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]),
    st.sampled_from(["", "NaN", "<NA>", "NA"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    st.booleans(),
)
def test_csv_of_pandas(
    tmp_path: Path,
    documents: list[Document],
    form: str,
    delimiter: str,
    encoding: str,
    missing: str,
    quoting: Any,
    index: bool,
) -> None:
    path = tmp_path / "docs.csv"
    with same_or_refused(path, documents):
        pandas.DataFrame(columns(documents, CELLS[form])).to_csv(
            path, sep=delimiter, encoding=encoding, na_rep=missing, quoting=quoting, index=index
        )


@rounds(60)
@given(frames(st.text("abc äßéçñ,;\"'\n„“€–", max_size=20)), forms, st.sampled_from(DELIMITERS))
def test_csv_of_pandas_in_a_code_page(
    tmp_path: Path, documents: list[Document], form: str, delimiter: str
) -> None:
    assume("новости" not in str(documents))
    path = tmp_path / "docs.csv"
    with same_or_refused(path, documents, encoding="cp1252"):
        pandas.DataFrame(columns(documents, CELLS[form])).to_csv(path, sep=delimiter, encoding="cp1252")


@rounds(60)
@given(frames(printable), st.sampled_from(["|", ";", ",", "\n"]), st.sampled_from(DELIMITERS))
def test_what_the_user_says_is_never_refused(
    tmp_path: Path, documents: list[Document], separator: str, delimiter: str
) -> None:
    path = tmp_path / "docs.csv"
    with same_or_refused(path, documents, sure=True, label_separator=separator, delimiter=delimiter):
        pandas.DataFrame(columns(documents, joined(separator))).to_csv(path, sep=delimiter, index=False)


@rounds(60)
@given(
    frames(nasty),
    st.sampled_from(
        [("1", "0"), (1, 0), (1.0, 0.0), (True, False), ("x", ""), ("ja", "nein"), ("1,0", "0,0")]
    ),
    st.sampled_from(DELIMITERS),
)
def test_one_hot_csv_of_pandas(
    tmp_path: Path, documents: list[Document], words: tuple[object, object], delimiter: str
) -> None:
    used = {label for document in documents for label in document.labels or ()}
    assume(len(used) > 1)  # else nobody can tell that these are labels
    assume(words[1] != "" or () not in [document.labels for document in documents])
    path = tmp_path / "docs.csv"
    with same_or_refused(path, documents):
        pandas.DataFrame(flags(documents, *words)).to_csv(path, sep=delimiter, index=False)


@rounds(100)
@given(frames(nasty), forms | st.just("lists"), st.booleans(), st.booleans())
def test_json_of_pandas(
    tmp_path: Path, documents: list[Document], form: str, lines: bool, ascii_only: bool
) -> None:
    path = tmp_path / "docs.json"
    cells = CELLS.get(form, lambda document: None if document.labels is None else list(document.labels))
    with same_or_refused(path, documents, sure=form == "lists"):
        pandas.DataFrame(columns(documents, cells)).to_json(
            path, orient="records", lines=lines, force_ascii=ascii_only
        )


@rounds(60)
@given(frames(nasty), forms | st.just("lists"), st.booleans())
def test_parquet_of_pandas(tmp_path: Path, documents: list[Document], form: str, category: bool) -> None:
    path = tmp_path / "docs.parquet"
    cells = CELLS.get(form, lambda document: None if document.labels is None else list(document.labels))
    with same_or_refused(path, documents, sure=form == "lists"):
        frame = pandas.DataFrame(columns(documents, cells))
        if category and form != "lists":
            frame["Labels"] = frame["Labels"].astype("category")
        frame.to_parquet(path)


@pytest.mark.parametrize(("ending", "engine"), [("xlsx", "openpyxl"), ("xlsx", "xlsxwriter"), ("ods", "odf")])
@rounds(15)
@given(frames(printable, most=5), forms)
@example([Document("d0", "=1+1", "de", ("A",)), Document("d1", "'ciao", None, None)], "JSON")
def test_spreadsheets_of_pandas(
    tmp_path: Path, ending: str, engine: str, documents: list[Document], form: str
) -> None:
    pytest.importorskip({"odf": "odf"}.get(engine, engine))
    pytest.importorskip("python_calamine")
    path = tmp_path / f"docs.{ending}"
    with same_or_refused(path, documents):
        pandas.DataFrame(columns(documents, CELLS[form])).to_excel(path, index=False, engine=engine)


@rounds(100)
@given(
    frames(nasty),
    forms,
    st.sampled_from(DELIMITERS),
    st.booleans(),
    st.sampled_from(["necessary", "always", "non_numeric"]),
)
def test_csv_of_polars(
    tmp_path: Path, documents: list[Document], form: str, delimiter: str, mark: bool, quotes: Any
) -> None:
    path = tmp_path / "docs.csv"
    with same_or_refused(path, documents):
        polars.DataFrame(columns(documents, CELLS[form]), strict=False).write_csv(
            path, separator=delimiter, include_bom=mark, quote_style=quotes
        )


@rounds(40)
@given(frames(nasty), st.sampled_from([(1, 0), (1.0, 0.0), (True, False), ("x", "")]))
def test_one_hot_csv_of_polars(
    tmp_path: Path, documents: list[Document], words: tuple[object, object]
) -> None:
    assume(len({label for document in documents for label in document.labels or ()}) > 1)
    assume(words[1] != "" or () not in [document.labels for document in documents])
    path = tmp_path / "docs.csv"
    with same_or_refused(path, documents):
        polars.DataFrame(flags(documents, *words)).write_csv(path)


@pytest.mark.parametrize("how", ["ndjson", "json", "parquet"])
@rounds(60)
@given(frames(nasty), forms | st.just("lists"))
def test_other_files_of_polars(tmp_path: Path, how: str, documents: list[Document], form: str) -> None:
    path = tmp_path / f"docs.{how}"
    cells = CELLS.get(form, lambda document: None if document.labels is None else list(document.labels))
    with same_or_refused(path, documents, sure=form == "lists"):
        frame = polars.DataFrame(columns(documents, cells))
        getattr(frame, f"write_{how}")(path)
