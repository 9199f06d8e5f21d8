"""Spreadsheets of Excel and OpenDocument: the rows of one sheet, never more than memory can hold."""

import copy
import datetime
import io
import os
import re
import zlib
from collections.abc import Collection, Iterator
from typing import IO, Any
from zipfile import BadZipFile, ZipFile, ZipInfo, is_zipfile

from funnelling.errors import InputError
from funnelling.formats.columns import distinct_names, header_names, known_names
from funnelling.formats.document import quoted
from funnelling.formats.files import reading
from funnelling.formats.layout import Layout

MAX_CELLS = 2**25  # of a sheet, empty ones before its last row and column included
MAX_ROWS = 2**20
MAX_COLUMNS = 2**14

_CHUNK_BYTES = 2**20  # bytes
_MAX_ROW_BYTES = 2**26  # bytes
_SHEET_NAMES = "xl/worksheets/"
# A cell with something in it, and where it says to be: one that is only formatted closes itself.
_PLACE = re.compile(rb"""<(?:\w+:)?c\s(?:[^<>]*?\s)?r\s*=\s*["']([A-Za-z]*)([0-9]+)["'][^<>]*+(?<!/)>""")
# A row that says where it is, when its first cell does not.
_ROW = re.compile(
    rb"""<(?:\w+:)?row\s(?:[^<>]*?\s)?r\s*=\s*["']([0-9]+)["'][^<>]*>\s*<(?:\w+:)?c(?![^<>]*\sr\s*=)"""
)
_OVERLAP_BYTES = 1_024  # bytes
_ROW_END = b"</table:table-row>"
_REPEATED = re.compile(rb"""table:number-(rows|columns)-repeated\s*=\s*["']([0-9]+)""")
_FILLED = (b"value-type", b"<text:p")


def check_cells(book: ZipFile) -> None:
    """Raise ValueError where a sheet has more cells than can be held."""
    for part in book.namelist():
        if part.startswith(_SHEET_NAMES) and part.endswith(".xml"):
            with book.open(part) as stream:
                _check_excel(stream)
        elif part == "content.xml":
            with book.open(part) as stream:
                _check_open_document(stream)


def _check_excel(stream: IO[bytes]) -> None:
    """Of Excel's sheets each cell, or its row, may say where it is."""
    rows = columns = 0
    for chunk in _chunks(stream):
        for letters, digits in set(_PLACE.findall(chunk)):
            rows = max(rows, _number(digits))
            columns = max(columns, _column(letters))
        rows = max([rows, *map(_number, set(_ROW.findall(chunk)))])
        _check(rows, columns)


def _check_open_document(stream: IO[bytes]) -> None:
    """Of OpenDocument's sheets each row and cell may say how often it is repeated."""
    rows = pending = columns = 0
    rest = b""
    for chunk in iter(lambda: stream.read(_CHUNK_BYTES), b""):
        *ended, rest = (rest + chunk).split(_ROW_END)
        if len(rest) > _MAX_ROW_BYTES:
            raise ValueError("a row without end")
        for row in ended:
            last = max(map(row.rfind, _FILLED))  # what is repeated after it is empty, and left out
            filled = _REPEATED.findall(row if last < 0 else row[: row.find(b">", last)])
            pending += max([_number(count) for kind, count in filled if kind == b"rows"], default=1)
            if last >= 0:
                rows, pending = rows + pending, 0
                columns = max(columns, sum(_number(count) for kind, count in filled if kind == b"columns"))
                _check(rows, columns)


def _chunks(stream: IO[bytes]) -> Iterator[bytes]:
    """Pieces that overlap, so that no place is cut in two."""
    end = b""
    for chunk in iter(lambda: stream.read(_CHUNK_BYTES), b""):
        yield end + chunk
        end = chunk[-_OVERLAP_BYTES:]


def _check(rows: int, columns: int) -> None:
    if rows > MAX_ROWS or columns > MAX_COLUMNS or rows * columns > MAX_CELLS:
        raise ValueError(f"a sheet of {rows:,} rows and {columns:,} columns, which is too large")


def _number(digits: bytes) -> int:
    return int(digits) if len(digits) < 12 else 10**12


def _column(letters: bytes) -> int:
    """The number of a column, such as 28 of AB."""
    number = 0
    for letter in letters[:8].upper():
        number = 26 * number + letter - ord("A") + 1
    return number


_BINARY_BOOK = "xl/workbook.bin"
_BOOK, _SHEETS = "xl/workbook.xml", "xl/worksheets/"
_MAX_UNPACKED_BYTES = 2**31  # bytes, when unpacked
_MAX_COMPRESSION_RATIO = 200  # times its size, far more than that of rows that are all the same
_ALWAYS_ALLOWED_BYTES = 2**28  # bytes, for which that does not matter
_DAMAGED = (ValueError, OSError, EOFError, RuntimeError, KeyError)  # what is raised of odd archives, too


class WorkbookRows:
    """The rows of a sheet with their numbers, cells as the text that a spreadsheet shows."""

    options = ("sheet", "header")

    def __init__(self, path: str | os.PathLike[str], name: str, layout: Layout) -> None:
        self.name = name
        self.found: list[str] = []
        sheets = _read(path, name)
        filled = [title for title, rows in sheets.items() if any(map(any, rows))]
        if layout.sheet is not None and layout.sheet not in sheets:
            raise InputError(
                f"{name}: no sheet {quoted(layout.sheet)}, only {', '.join(map(quoted, sheets))}."
            )
        telling = [title for title in filled if known_names(next(filter(any, sheets[title])), layout)]
        title = layout.sheet if layout.sheet is not None else next(iter(telling or filled), None)
        if layout.sheet is None and len(filled) > 1:
            others = ", ".join(quoted(other) for other in filled if other != title)
            self.found.append(f"sheet {quoted(str(title))}, not {others} (choose with --sheet)")
        self._rows = [] if title is None else sheets[title]
        start = next((number for number, row in enumerate(self._rows) if any(row)), 0)
        header = self._rows[start] if self._rows else []
        self._start = start + 1 if layout.header else start
        if layout.header:
            self.columns = header_names(header)
        else:
            self.columns = [str(number) for number in range(1, len(header) + 1)]

    def rows(self, wanted: Collection[str] | None = None) -> Iterator[tuple[int, dict[str, object]]]:
        """All rows that are not empty, and all their cells."""
        names = distinct_names(self.columns)
        for number, row in enumerate(self._rows[self._start :], start=self._start + 1):
            if any(row):
                if any(row[len(self.columns) :]):
                    raise InputError(
                        f"{self.name}:{number}: a cell beside the columns that have names. Name its column "
                        "in the first row, or clear it."
                    )
                yield number, dict(zip(names, row, strict=False))


def _read(path: str | os.PathLike[str], name: str) -> dict[str, list[list[str]]]:
    """The cells of each sheet."""
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise InputError(
            f"{name}: reading spreadsheets needs python-calamine: pip install 'funnelling[spreadsheet]'"
        ) from None
    with reading(path) as stream:
        content = io.BytesIO(stream.read(_ALWAYS_ALLOWED_BYTES + 1))
    if len(content.getbuffer()) > _ALWAYS_ALLOWED_BYTES:
        raise InputError(f"{name}: larger than {_ALWAYS_ALLOWED_BYTES // 2**20} MiB. Save it as CSV.")
    try:
        _check_parts(content, name)
        content.seek(0)
        workbook = CalamineWorkbook.from_filelike(content)
        return {
            title: [
                [_cell(value) for value in row]
                for row in workbook.get_sheet_by_name(title).to_python(skip_empty_area=False)
            ]
            for title in workbook.sheet_names
        }
    except InputError:
        raise
    except BaseException as error:
        # The library panics on some damage, with an exception of its own that is no Exception.
        is_panic = type(error).__name__ == "PanicException"
        if not is_panic and not isinstance(error, (CalamineError, BadZipFile, zlib.error, *_DAMAGED)):
            raise
        reason = str(error).partition("\n")[0]
        raise InputError(
            f"{name}: not readable as a spreadsheet ({reason}). Save it again, or as CSV."
        ) from None


def _check_parts(content: io.BytesIO, name: str) -> None:
    """Refuse what would not fit into memory, and formulas that no spreadsheet has computed.

    The latter is what libraries make of a text such as =1. They leave a mark that everything is to be
    computed when the file is opened.
    """
    if not is_zipfile(content):
        return
    with ZipFile(content) as parts:
        size = sum(part.file_size for part in parts.infolist())
        if size > _MAX_UNPACKED_BYTES or size > max(
            _ALWAYS_ALLOWED_BYTES, _MAX_COMPRESSION_RATIO * len(content.getbuffer())
        ):
            raise InputError(
                f"{name}: unpacks to {size / 2**30:.1f} GiB, which is too large. Save it as CSV."
            )
        for part in parts.infolist():
            _check_size(parts, part)
        check_cells(parts)
        names = parts.namelist()
        if _BINARY_BOOK in names:
            raise InputError(f"{name}: a binary workbook. Save it as .xlsx.")
        if _BOOK not in names or b"fullCalcOnLoad" not in parts.read(_BOOK):
            return
        sheets = [part for part in names if part.startswith(_SHEETS)]
        if any(b"</f>" in parts.read(sheet) for sheet in sheets):
            raise InputError(
                f'{name}: holds formulas that were never computed, or texts that begin with "=". Open it in '
                "a spreadsheet and save it again, or save it as CSV."
            )


def _check_size(parts: "ZipFile", part: "ZipInfo") -> None:
    """Raise ValueError where a part unpacks to more than it says, which the library would not notice."""
    patient = copy.copy(part)
    patient.file_size = _MAX_UNPACKED_BYTES  # else no more would be read than is said
    left = part.file_size
    with parts.open(patient) as stream:
        while left >= 0 and (chunk := stream.read(_CHUNK_BYTES)):
            left -= len(chunk)
    if left < 0:
        raise ValueError("a part is larger than it says")


def _cell(value: Any) -> str:
    """The text of a cell; a number without decimals is written without a point."""
    match value:
        case str():
            return value
        case bool():
            return "TRUE" if value else "FALSE"
        case float() if value.is_integer() and abs(value) < 1e15:
            return str(int(value))
        case datetime.date() | datetime.time():
            return value.isoformat()
        case _:
            return str(value)
