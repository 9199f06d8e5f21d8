"""Tables for other programs: CSV, TSV, Excel's format, Parquet or JSON Lines, by the name's ending."""

import csv
import io
import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import BinaryIO

from funnelling.errors import InputError
from funnelling.formats import parquet, spreadsheets
from funnelling.formats.arrow import Kind
from funnelling.formats.cells import as_text, defused, encodable, without_nul
from funnelling.formats.files import writing_bytes
from funnelling.formats.spool import Row, Spool
from funnelling.runtime.progress import progress_bar

CSV, TSV, XLSX, PARQUET, JSON_LINES = ".csv", ".tsv", ".xlsx", ".parquet", ".jsonl"

_ENDINGS = {
    CSV: CSV,
    TSV: TSV,
    JSON_LINES: JSON_LINES,
    ".ndjson": JSON_LINES,
    ".json": JSON_LINES,
}
_WHOLE_ENDINGS = {XLSX: XLSX, PARQUET: PARQUET}  # these compress themselves
_DELIMITERS = {CSV: ",", TSV: "\t"}


def ending_of(path: str | os.PathLike[str]) -> str:
    """What a name asks for: .csv, .tsv, .xlsx, .parquet or .jsonl. Other names are refused.

    >>> ending_of("out.CSV.gz"), ending_of("out.ndjson")
    ('.csv', '.jsonl')
    >>> ending_of("out.doc")
    Traceback (most recent call last):
    funnelling.errors.InputError: out.doc: unknown format. Use a name that ends in \
.csv, .tsv, .jsonl (each also with .gz), .xlsx or .parquet.
    """
    name = os.fspath(path).lower()
    found = _WHOLE_ENDINGS.get(os.path.splitext(name)[1])
    found = found or _ENDINGS.get(os.path.splitext(name.removesuffix(".gz"))[1])
    if found is None:
        raise InputError(
            f"{os.fspath(path)}: unknown format. Use a name that ends in {CSV}, {TSV}, {JSON_LINES} "
            f"(each also with .gz), {XLSX} or {PARQUET}."
        )
    return found


def check_writable(path: str | os.PathLike[str]) -> str:
    """What a name asks for, as `ending_of`; refused too where the library for it is not installed."""
    ending = ending_of(path)
    if ending == XLSX:
        spreadsheets.xlsxwriter()
    elif ending == PARQUET:
        parquet.check_installed("writing")
    return ending


def write_table(
    path: str | os.PathLike[str],
    rows: Iterable[Row],
    last: Mapping[str, Kind] | None = None,
    force: bool = False,
    *,
    title: str = "documents",
    attached: Mapping[str, Sequence[Row]] | None = None,
    verbose: int = 0,
) -> None:
    """Write rows in the format that the name's ending asks for; the file appears when it is whole.

    Parameters
    ----------
    path : name of the file
    rows : mappings of columns to values; what a row lacks stays empty
    last : columns that stand at the end in this order, whether they occur or not, and what they hold
        ("text", "number", "list" of texts, or "map" of texts to numbers); those before them stand in the
        order in which they occur, and what they hold is found out
    force : whether a file that exists is replaced
    title : of the sheet, in .xlsx
    attached : further tables by name, which only .xlsx (sheets) and Parquet (metadata, as JSON under
        ``funnelling.NAME``) have a place for
    verbose : above 0 for a progress bar once all rows are there

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "table.csv")
    ...     write_table(path, [{"a": "=1+1", "b": 2}, {"c": [1]}], last={"a": "text"})
    ...     print(open(path).read())
    b,c,a
    2,,'=1+1
    ,[1],
    <BLANKLINE>
    """
    name = os.fspath(path)
    ending = check_writable(name)
    further = attached or {}
    folder = _folder_of(name)
    with writing_bytes(name, force) as stream:
        if ending == JSON_LINES:
            for row in rows:
                stream.write((to_json(row) + "\n").encode())
            return
        if ending == XLSX:
            rows = spreadsheets.bounded(rows, name)
        with (
            Spool(rows, folder) as spool,
            progress_bar("write", None, bool(verbose), "rows") as spool.advance,
        ):
            ends = last or {}
            columns = [column for column in spool.columns if column not in ends] + list(ends)
            if ending == XLSX:
                sheets = {title: (columns, spool)} | {
                    sheet: (_columns(more), more) for sheet, more in further.items()
                }
                spreadsheets.write(stream, name, sheets, folder)
            elif ending == PARQUET:
                parquet.write_table(stream, columns, spool, ends, further)
            else:
                _write_delimited(stream, columns, spool, _DELIMITERS[ending])


def to_json(row: Row) -> str:
    """A row as one line of JSON, characters of every script as themselves, null for what is no number.

    >>> to_json({"città": "Roma", "area": float("nan")})
    '{"città": "Roma", "area": null}'
    """
    try:
        text = json.dumps(row, ensure_ascii=False, default=as_text, allow_nan=False)
    except ValueError:
        text = json.dumps(_with_numbers_only(row), ensure_ascii=False, default=as_text)
    return encodable(text)


def _with_numbers_only(value: object) -> object:
    match value:
        case float() if not math.isfinite(value):
            return None
        case dict():
            return {key: _with_numbers_only(entry) for key, entry in value.items()}
        case list() | tuple():
            return [_with_numbers_only(entry) for entry in value]
        case _:
            return value


def _write_delimited(stream: BinaryIO, columns: Sequence[str], rows: Iterable[Row], delimiter: str) -> None:
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
    # The line end of RFC 4180; with a bare \n Python 3.11 would leave a \r in a text unquoted.
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\r\n")
    try:
        writer.writerow(map(_cell, columns))
        for row in rows:
            writer.writerow([_cell(row.get(column)) for column in columns])
    finally:
        text.detach()


def _cell(value: object) -> str:
    text = as_text(value)
    return text if isinstance(value, int | float) else defused(without_nul(text))


def _columns(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(column for row in rows for column in row))


def _folder_of(name: str) -> str | None:
    """Where to set aside what is on its way into a file: beside it, which has room for it, if need be."""
    folder = os.path.dirname(os.path.realpath(name))
    return folder if os.access(folder, os.W_OK) else None
