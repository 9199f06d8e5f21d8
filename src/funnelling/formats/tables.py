"""Tables for other programs: CSV, TSV, Excel, Parquet or JSON Lines by the name's ending; never a formula."""

import csv
import datetime
import io
import json
import logging
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import chain
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

from funnelling.errors import InputError, counted
from funnelling.formats import parquet
from funnelling.formats.document import encodable
from funnelling.formats.files import STANDARD, file_ending, writing, writing_bytes
from funnelling.formats.parquet import Kind, as_text, defused, printable, without_nul
from funnelling.formats.reader import Row, Spool
from funnelling.runtime.progress import progress_bar

MAX_ROWS = 1_048_576  # the header's included
MAX_COLUMNS = 16_384
MAX_CELL_UNITS = 32_767  # in units of UTF-16, as Excel counts
MAX_EXACT_INTEGER = 10**15  # beyond it, numbers of Excel are not exact

_FIRST_YEAR = 1900  # of Excel's calendar, whose first two months are not like ours
_EPOCH = datetime.datetime(2000, 1, 1)  # when all files say they were made: equal rows are equal bytes

_log = logging.getLogger(__name__)


def bounded(rows: Iterable[Row], name: str) -> Iterator[Row]:
    """The rows, unless they are more than a sheet holds."""
    for number, row in enumerate(rows, start=2):
        if number > MAX_ROWS:
            raise InputError(
                f"{name}: a sheet holds {MAX_ROWS - 1:,} rows, and there are more. "
                "Choose a name that ends in .csv or .parquet."
            )
        yield row


def write(
    stream: BinaryIO,
    name: str,
    sheets: Mapping[str, tuple[Sequence[str], Iterable[Row]]],
    folder: str | None = None,
) -> None:
    """Write sheets of columns and rows; ``folder`` takes what has to be set aside meanwhile."""
    for columns, _ in sheets.values():
        if len(columns) > MAX_COLUMNS:
            raise InputError(
                f"{name}: a sheet holds {MAX_COLUMNS:,} columns, and there are {len(columns):,}. "
                "Choose a name that ends in .csv or .parquet."
            )
    with TemporaryDirectory(prefix=".funnelling-", dir=folder) as scratch:
        book = _Book(stream, scratch)
        try:
            for title, (columns, rows) in sheets.items():
                book.add_sheet(title, columns, rows)
            book.close()
        except BaseException:
            book.abandon()
            raise
    if book.cut:
        _log.info(
            f"{name}: {counted(book.cut, 'cell')} longer than the {MAX_CELL_UNITS:,} characters that a "
            "spreadsheet holds, cut with … at the end. Other formats keep them whole."
        )


def xlsxwriter() -> Any:
    """The library that writes this format, or the hint how to get it."""
    try:
        import xlsxwriter
    except ImportError:
        raise InputError("writing .xlsx needs XlsxWriter: pip install 'funnelling[spreadsheet]'") from None
    return xlsxwriter


class _Book:
    def __init__(self, stream: BinaryIO, scratch: str) -> None:
        options = {
            "constant_memory": True,
            "tmpdir": os.path.abspath(scratch),
            "strings_to_formulas": False,
            "strings_to_numbers": False,
            "strings_to_urls": False,
        }
        self._book = xlsxwriter().Workbook(stream, options)
        self._book.use_zip64()
        self._book.set_properties({"created": _EPOCH})
        self._title = self._book.add_format({"bold": True})
        self._date = self._book.add_format({"num_format": "yyyy-mm-dd"})
        self._time = self._book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})
        self.cut = 0

    def add_sheet(self, title: str, columns: Sequence[str], rows: Iterable[Row]) -> None:
        sheet = self._book.add_worksheet(title)
        sheet.freeze_panes(1, 0)
        for j, column in enumerate(columns):
            sheet.write_string(0, j, self._fitting(printable(as_text(column))), self._title)
        for i, row in enumerate(rows, start=1):
            for j, column in enumerate(columns):
                self._write(sheet, i, j, row.get(column))

    def close(self) -> None:
        self._book.close()

    def abandon(self) -> None:
        self._book.fileclosed = True  # else the library would write the file when it is forgotten

    def _write(self, sheet: Any, i: int, j: int, value: object) -> None:
        match value:
            case None | "":
                pass
            case bool():
                sheet.write_boolean(i, j, value)
            case int() | float() | Decimal() if _fits(value):
                sheet.write_number(i, j, value)
            case datetime.datetime() if value.tzinfo is None and value.year > _FIRST_YEAR:
                sheet.write_datetime(i, j, value, self._time)
            case datetime.date() if not isinstance(value, datetime.datetime) and value.year > _FIRST_YEAR:
                sheet.write_datetime(i, j, value, self._date)
            case _:
                sheet.write_string(i, j, self._fitting(printable(as_text(value))))

    def _fitting(self, text: str) -> str:
        if 2 * len(text) <= MAX_CELL_UNITS:  # no character takes more than two units
            return text
        units = text.encode("utf-16-le")
        if len(units) <= 2 * MAX_CELL_UNITS:
            return text
        self.cut += 1
        return units[: 2 * (MAX_CELL_UNITS - 1)].decode("utf-16-le", errors="ignore") + "…"


def _fits(number: float | Decimal) -> bool:
    """Whether a cell can hold a number as it is."""
    return abs(number) < MAX_EXACT_INTEGER if isinstance(number, int) else math.isfinite(number)


CSV, TSV, XLSX, PARQUET, JSON_LINES = ".csv", ".tsv", ".xlsx", ".parquet", ".jsonl"

_ENDINGS = {ending: ending for ending in (CSV, TSV, XLSX, PARQUET, JSON_LINES)}
_ENDINGS |= {".ndjson": JSON_LINES, ".json": JSON_LINES}
_DELIMITERS = {CSV: ",", TSV: "\t"}


def ending_of(path: str | os.PathLike[str]) -> str:
    """What a name asks for: .csv, .tsv, .xlsx, .parquet or .jsonl, as standard output. Others are refused.

    >>> ending_of("out.CSV.gz"), ending_of("out.ndjson"), ending_of("-")
    ('.csv', '.jsonl', '.jsonl')
    >>> ending_of("out.doc")
    Traceback (most recent call last):
    funnelling.errors.InputError: out.doc: unknown format. Use a name that ends in \
.csv, .tsv, .jsonl (each also with .gz), .xlsx or .parquet.
    """
    found = JSON_LINES if os.fspath(path) == STANDARD else _ENDINGS.get(f".{file_ending(path)}")
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
        xlsxwriter()
    elif ending == PARQUET:
        parquet.import_pyarrow("writing")
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
    if ending == JSON_LINES:
        with writing(name, force) as lines:
            lines.writelines(to_json(row) + "\n" for row in rows)
        return
    with writing_bytes(name, force) as stream:
        if ending == XLSX:
            rows = bounded(rows, name)
        with (
            Spool(rows, folder) as spool,
            progress_bar("write", None, bool(verbose), "rows") as spool.advance,
        ):
            ends = last or {}
            columns = [column for column in spool.columns if column not in ends] + list(ends)
            if ending == XLSX:
                sheets: dict[str, tuple[Sequence[str], Iterable[Row]]] = {title: (columns, spool)}
                for sheet, more in further.items():
                    sheets[sheet] = list(dict.fromkeys(chain.from_iterable(more))), more
                write(stream, name, sheets, folder)
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


def _folder_of(name: str) -> str | None:
    """Where to set aside what is on its way into a file: beside it, which has room for it, if need be."""
    folder = os.path.dirname(os.path.realpath(name))
    return folder if os.access(folder, os.W_OK) else None
