"""Documents in files: JSON Lines, tables, spreadsheets, Parquet and plain texts, chosen by the extension."""

import logging
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import NamedTuple

from funnelling.errors import InputError
from funnelling.formats import delimited, jsonl, parquet
from funnelling.formats.delimited import DelimitedRows
from funnelling.formats.document import Document, to_record
from funnelling.formats.encoded import TextFile
from funnelling.formats.files import (
    COMPRESSIBLE,
    STANDARD,
    cannot_read,
    file_ending,
    raw_lines,
    reading,
    shown_name,
)
from funnelling.formats.jsonl import JsonRows
from funnelling.formats.layout import AS_FOUND, Layout
from funnelling.formats.parquet import ParquetRows
from funnelling.formats.reader import DocumentReader, Rows
from funnelling.formats.texts import FolderRows, LineRows, TextRow, holds_text_files
from funnelling.formats.workbooks import WorkbookRows

__all__ = [
    "Document",
    "Layout",
    "is_text",
    "is_text_folder",
    "parts_of",
    "read_documents",
    "read_part",
    "read_rows",
    "settle_labels",
    "write_documents",
]

_Path = str | os.PathLike[str]
_Reader = Callable[[Sequence[Rows]], DocumentReader]
logger = logging.getLogger(__name__)


class _Format(NamedTuple):
    rows: Callable[[_Path, str, Layout], Rows]
    write: Callable[[_Path, Iterable[Mapping[str, object]], bool], None] | None = None


_JSON_LINES = _Format(JsonRows, jsonl.write)
_FORMATS = {
    "jsonl": _JSON_LINES,
    "ndjson": _JSON_LINES,
    "json": _JSON_LINES,
    "csv": _Format(partial(DelimitedRows, usual=","), partial(delimited.write, delimiter=",")),
    "tsv": _Format(partial(DelimitedRows, usual="\t"), partial(delimited.write, delimiter="\t")),
    "xlsx": _Format(WorkbookRows),
    "xls": _Format(WorkbookRows),
    "ods": _Format(WorkbookRows),
    "txt": _Format(
        lambda path, name, layout: TextRow(
            TextFile(path, name, layout.encoding).text(), name, os.path.basename(os.fspath(path))
        )
    ),
    "parquet": _Format(lambda path, name, _layout: ParquetRows(path, name), parquet.write),
}
_GIVEN = {**_FORMATS, "lines": _Format(LineRows), "text": _FORMATS["txt"]}  # that a layout may name
_STREAMS = ("/dev/stdin", "/dev/fd/")
_MAX_NAME_CHARACTERS = 200  # characters of a name


def read_documents(
    path: str | os.PathLike[str],
    layout: Layout = AS_FOUND,
    *,
    labels: bool = True,
    keep_fields: bool = False,
    texts: bool = True,
) -> Iterator[Document]:
    r"""The documents of a file, one after the other; ``-`` is JSON Lines on standard input.

    A folder gives the documents of its files, in the order of their names; one of nested folders with text
    files gives a document per file, labelled by their names. A path with blanks that is no file is a text.

    Parameters
    ----------
    path : file or folder, or - for standard input
    layout : where the fields are in it, as far as that should not be found
    labels : whether labels are needed; where they are not, nothing is asked about them
    keep_fields : whether all columns of each document are kept beside it
    texts : whether texts are needed; where they are not, a row with an id may have none, which is `NO_TEXT`

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "docs.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("Lang;Body;Category\nit;Il gatto dorme;animals|rest\n")
    ...     [(document.id, document.text, document.labels) for document in read_documents(path)]
    [('2', 'Il gatto dorme', ('animals', 'rest'))]
    >>> next(read_documents("nowhere.jsonl"))
    Traceback (most recent call last):
    funnelling.errors.InputError: nowhere.jsonl: no such file. Check the path.
    """
    if not os.fspath(path):
        raise InputError("The name of the file is empty. Name a file, or give a text.")
    reader = partial(DocumentReader, layout=layout, labels=labels, keep_fields=keep_fields, texts=texts)
    if os.path.isdir(path):
        return _of_folder(path, layout, labels, reader)
    if is_text(path, layout):
        return reader([TextRow(os.fspath(path), "the text")]).documents()
    return _of_file(path, _format_of(path, layout), layout, labels, reader)


def read_part(
    path: str, layout: Layout = AS_FOUND, *, labels: bool = True, keep_fields: bool = False
) -> Iterator[Document]:
    """The documents of one part of a folder; those without an id are named after the part and their line."""
    return DocumentReader([_rows(path, layout)], layout, labels, keep_fields).documents(_prefix)


def read_rows(path: str | os.PathLike[str], layout: Layout = AS_FOUND) -> Rows:
    """The rows of a table, or of JSON, that holds something else than documents."""
    if os.path.isdir(path):
        raise InputError(f"{path}: is a folder. Name a file in it.")
    return _rows(path, layout)


def parts_of(folder: str | os.PathLike[str]) -> list[str]:
    """The parts of a folder, which are its files of documents, by name; hidden files are passed over."""
    parts = _parts(folder)
    if not parts:
        raise InputError(
            f"{folder}: no file of documents in this folder. Name one that holds .parquet, .jsonl or "
            ".csv files, or folders of text files."
        )
    return parts


def settle_labels(folder: str | os.PathLike[str], layout: Layout) -> Layout:
    """A layout that says what joins labels in the cells of a folder's parts, which only all of them tell."""
    return DocumentReader([_rows(part, layout) for part in parts_of(folder)], layout).settled()


def is_text_folder(path: str | os.PathLike[str]) -> bool:
    """Whether a folder holds folders of text files, and no files of documents."""
    return os.path.isdir(path) and not _parts(path) and holds_text_files(path)


def is_text(path: str | os.PathLike[str], layout: Layout = AS_FOUND) -> bool:
    """Whether what was given in place of a file is a text: it has blanks, and is no name of a file.

    >>> is_text("Il gatto dorme"), is_text("gatto"), is_text("my documents.csv")
    (True, False, False)
    """
    name = os.fspath(path)
    with suppress(OSError, ValueError):  # a text may be too long for a name, or hold what none may
        if name == STANDARD or os.path.lexists(name):
            return False
    if layout.file_format is not None:
        return layout.file_format == "text"
    return len(name.split()) > 1 and file_ending(name) not in _FORMATS


def write_documents(path: str | os.PathLike[str], documents: Iterable[Document], force: bool = False) -> None:
    """Write documents in the format that the extension names; ``-`` is JSON Lines on standard output.

    Parameters
    ----------
    path : the file; it is there whole or not at all
    documents : `Document` objects, which are written as they come
    force : whether a file that exists is replaced

    Examples
    --------
    >>> write_documents("-", [Document("7", "Il gatto dorme", language="it", labels=())])
    {"id": "7", "language": "it", "text": "Il gatto dorme", "labels": []}
    >>> write_documents("docs.doc", [])
    Traceback (most recent call last):
    funnelling.errors.InputError: docs.doc: unknown format. Use a name that ends in \
.jsonl, .ndjson, .json, .csv, .tsv (each also with .gz) or .parquet.
    """
    write = _format_of(path, writing=True).write
    assert write is not None
    write(path, map(to_record, documents), force)


def _of_folder(path: _Path, layout: Layout, labels: bool, reader: _Reader) -> Iterator[Document]:
    if is_text_folder(path) or (not labels and not _parts(path) and holds_text_files(path, nested=False)):
        yield from reader([FolderRows(path, layout)]).documents()
        return
    parts = parts_of(path)
    if holds_text_files(path):
        logger.info("%s: read are its files of documents, not the text files in its folders.", path)
    yield from reader([_rows(part, layout) for part in parts]).documents(_prefix)


def _of_file(
    path: _Path, file_format: _Format, layout: Layout, labels: bool, reader: _Reader
) -> Iterator[Document]:
    # Labels and tables may take a second look, for which what comes through a pipe has to be kept.
    streamed = not labels and file_format in (_JSON_LINES, _GIVEN["lines"])
    with _rereadable(path, streamed or os.path.isfile(path)) as file:
        yield from reader([file_format.rows(file, shown_name(path), layout)]).documents()


@contextmanager
def _rereadable(path: _Path, as_it_is: bool) -> Iterator[_Path]:
    if as_it_is or (os.fspath(path) != STANDARD and not os.path.lexists(path)):
        yield path
        return
    with tempfile.NamedTemporaryFile(prefix="funnelling-") as copy:
        with reading(path) as stream:
            # By lines: a device without end has none.
            copy.writelines(raw for _, raw in raw_lines(stream, shown_name(path)))
        copy.flush()
        yield copy.name


def _rows(path: _Path, layout: Layout) -> Rows:
    return _format_of(path, layout).rows(path, shown_name(path), layout)


def _parts(folder: _Path) -> list[str]:
    try:
        names = sorted(name for name in os.listdir(folder) if not name.startswith((".", "_")))
    except OSError as error:
        raise cannot_read(os.fspath(folder), error) from error
    paths = [os.path.join(folder, name) for name in names]
    return [
        path
        for path in paths
        if os.path.isfile(path) and file_ending(path) in _FORMATS and file_ending(path) != "txt"
    ]


def _prefix(path: str) -> str:
    return f"{os.path.basename(path).partition('.')[0]}:"


def _format_of(path: _Path, layout: Layout = AS_FOUND, writing: bool = False) -> _Format:
    if layout.file_format is not None:
        return _GIVEN[layout.file_format]
    if os.fspath(path) == STANDARD or (not writing and _is_stream(path)):
        return _JSON_LINES
    found = _FORMATS.get(file_ending(path))
    if found is None or (writing and found.write is None):
        raise InputError(_unknown(os.fspath(path), writing))
    return found


def _is_stream(path: _Path) -> bool:
    """Whether a path without an ending leads to what another process writes, as ``<(zcat …)`` does."""
    special = os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)
    return not file_ending(path) and (special or os.fspath(path).startswith(_STREAMS))


def _unknown(name: str, writing: bool) -> str:
    name = name if len(name) <= _MAX_NAME_CHARACTERS else f"{name[:_MAX_NAME_CHARACTERS]}…"  # a text, perhaps
    plain = ", ".join(f".{ending}" for ending in COMPRESSIBLE if not writing or _FORMATS[ending].write)
    others = ".parquet" if writing else ".parquet, .xlsx or .ods"
    joint = " or" if writing else ","
    cure = "" if writing else ", or say what it is with --format: text if it is a text"
    return (
        f"{name}: unknown format. Use a name that ends in {plain} (each also with .gz){joint} {others}{cure}."
    )
