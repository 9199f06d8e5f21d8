"""Documents in files: JSON Lines, CSV, TSV and Parquet, chosen by the extension."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import NamedTuple

from funnelling.errors import InputError
from funnelling.formats import delimited, jsonl, parquet
from funnelling.formats.document import Document, to_document, to_record
from funnelling.formats.files import STANDARD, cannot_read, shown_name

__all__ = ["Document", "parts_of", "read_documents", "read_part", "write_documents"]

_Path = str | os.PathLike[str]


class _Format(NamedTuple):
    read: Callable[[_Path], Iterator[tuple[int, dict[str, object]]]]
    write: Callable[[_Path, Iterable[Mapping[str, object]], bool], None]


_JSON_LINES = _Format(jsonl.read, jsonl.write)
_TEXT_FORMATS = {
    ".jsonl": _JSON_LINES,
    ".ndjson": _JSON_LINES,
    ".json": _JSON_LINES,
    ".csv": _Format(partial(delimited.read, delimiter=","), partial(delimited.write, delimiter=",")),
    ".tsv": _Format(partial(delimited.read, delimiter="\t"), partial(delimited.write, delimiter="\t")),
}
_PARQUET = _Format(parquet.read, parquet.write)


def read_documents(path: str | os.PathLike[str], keep_fields: bool = False) -> Iterator[Document]:
    r"""The documents of a file, one after the other; ``-`` is JSON Lines on standard input.

    A folder gives the documents of its files, in the order of their names. ``keep_fields`` keeps all columns of
    each document beside it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "docs.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("language,text,labels\nit,Il gatto dorme,animals|rest\n")
    ...     [(document.id, document.text, document.labels) for document in read_documents(path)]
    [('2', 'Il gatto dorme', ('animals', 'rest'))]
    >>> next(read_documents("nowhere.jsonl"))
    Traceback (most recent call last):
    funnelling.errors.InputError: nowhere.jsonl: no such file. Check the path.
    """
    if os.path.isdir(path):
        return chain.from_iterable(read_part(part, keep_fields) for part in parts_of(path))
    return _documents(path, _format_of(path), keep_fields=keep_fields)


def read_part(path: str, keep_fields: bool = False) -> Iterator[Document]:
    """The documents of one part of a folder; those without an id are named after the part and their line."""
    prefix = f"{os.path.basename(path).partition('.')[0]}:"
    return _documents(path, _format_of(path), prefix, keep_fields)


def parts_of(folder: str | os.PathLike[str]) -> list[str]:
    """The parts of a folder, which are its files of documents, by name; hidden files are passed over."""
    try:
        names = sorted(name for name in os.listdir(folder) if not name.startswith((".", "_")))
    except OSError as error:
        raise cannot_read(os.fspath(folder), error) from error
    paths = [os.path.join(folder, name) for name in names]
    parts = [path for path in paths if os.path.isfile(path) and _is_known(path)]
    if not parts:
        raise InputError(
            f"{folder}: no file of documents in this folder. Name one that holds .parquet or .jsonl files."
        )
    return parts


def _is_known(path: str) -> bool:
    try:
        return bool(_format_of(path))
    except InputError:
        return False


def write_documents(path: str | os.PathLike[str], documents: Iterable[Document], force: bool = False) -> None:
    """Write documents in the format that the extension names; ``-`` is JSON Lines on standard output.

    >>> write_documents("-", [Document("7", "Il gatto dorme", language="it", labels=())])
    {"id": "7", "language": "it", "text": "Il gatto dorme", "labels": []}
    >>> write_documents("docs.doc", [])
    Traceback (most recent call last):
    funnelling.errors.InputError: docs.doc: unknown format. Use a name that ends in \
.jsonl, .ndjson, .json, .csv, .tsv (each also with .gz) or .parquet.
    """
    _format_of(path).write(path, map(to_record, documents), force)


def _documents(
    path: _Path, file_format: _Format, prefix: str = "", keep_fields: bool = False
) -> Iterator[Document]:
    name = shown_name(path)
    empty = True
    for line, record in file_format.read(path):
        document = to_document(record, name, line)
        unnamed = prefix and record.get("id") in (None, "")
        if unnamed:
            document = replace(document, id=f"{prefix}{line}")
        yield replace(document, fields=record) if keep_fields else document
        empty = False
    if empty:
        raise InputError(f"{name}: no document in it. Check that it is the right file.")


def _format_of(path: _Path) -> _Format:
    name = os.fspath(path)
    if name == STANDARD:
        return _JSON_LINES
    lowered = name.lower()
    if lowered.endswith(".parquet"):
        return _PARQUET
    _, extension = os.path.splitext(lowered.removesuffix(".gz"))
    if extension not in _TEXT_FORMATS:
        raise InputError(
            f"{name}: unknown format. Use a name that ends in {', '.join(_TEXT_FORMATS)} "
            "(each also with .gz) or .parquet."
        )
    return _TEXT_FORMATS[extension]
