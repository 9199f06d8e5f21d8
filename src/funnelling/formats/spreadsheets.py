"""Excel's format (.xlsx), in which text is text: no cell is a formula, a link or a guess at a number."""

import datetime
import logging
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

from funnelling.errors import InputError, counted
from funnelling.formats.cells import as_text, printable
from funnelling.formats.spool import Row

MOST_ROWS = 1_048_576  # the header's included
MOST_COLUMNS = 16_384
LONGEST_CELL = 32_767  # in units of UTF-16, as Excel counts
LARGEST_INTEGER = 10**15  # beyond it, numbers of Excel are not exact

_FIRST_YEAR = 1900  # of Excel's calendar, whose first two months are not like ours
_EPOCH = datetime.datetime(2000, 1, 1)  # when all files say they were made: equal rows are equal bytes

_log = logging.getLogger(__name__)


def bounded(rows: Iterable[Row], name: str) -> Iterator[Row]:
    """The rows, unless they are more than a sheet holds."""
    for number, row in enumerate(rows, start=2):
        if number > MOST_ROWS:
            raise InputError(
                f"{name}: a sheet holds {MOST_ROWS - 1:,} rows, and there are more. "
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
        if len(columns) > MOST_COLUMNS:
            raise InputError(
                f"{name}: a sheet holds {MOST_COLUMNS:,} columns, and there are {len(columns):,}. "
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
            f"{name}: {counted(book.cut, 'cell')} longer than the {LONGEST_CELL:,} characters that a "
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
        if 2 * len(text) <= LONGEST_CELL:  # no character takes more than two units
            return text
        units = text.encode("utf-16-le")
        if len(units) <= 2 * LONGEST_CELL:
            return text
        self.cut += 1
        return units[: 2 * (LONGEST_CELL - 1)].decode("utf-16-le", errors="ignore") + "…"


def _fits(number: float | Decimal) -> bool:
    """Whether a cell can hold a number as it is."""
    return abs(number) < LARGEST_INTEGER if isinstance(number, int) else math.isfinite(number)
