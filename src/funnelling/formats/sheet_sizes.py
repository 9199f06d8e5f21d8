"""How many cells a spreadsheet unfolds to: a few bytes can name a corner that no memory reaches."""

import re
from collections.abc import Iterator
from typing import IO
from zipfile import ZipFile

MOST_CELLS = 2**25  # of a sheet, empty ones before its last row and column included
MOST_ROWS = 2**20
MOST_COLUMNS = 2**14

_CHUNK = 2**20  # bytes
_LONGEST_ROW = 2**26  # bytes
_SHEETS = "xl/worksheets/"
# A cell with something in it, and where it says to be: one that is only formatted closes itself.
_PLACE = re.compile(rb"""<(?:\w+:)?c\s(?:[^<>]*?\s)?r\s*=\s*["']([A-Za-z]*)([0-9]+)["'][^<>]*+(?<!/)>""")
# A row that says where it is, when its first cell does not.
_ROW = re.compile(
    rb"""<(?:\w+:)?row\s(?:[^<>]*?\s)?r\s*=\s*["']([0-9]+)["'][^<>]*>\s*<(?:\w+:)?c(?![^<>]*\sr\s*=)"""
)
_OVERLAP = 1_024  # bytes
_ROW_END = b"</table:table-row>"
_REPEATED = re.compile(rb"""table:number-(rows|columns)-repeated\s*=\s*["']([0-9]+)""")
_FILLED = (b"value-type", b"<text:p")


def check_cells(book: ZipFile) -> None:
    """Raise ValueError where a sheet has more cells than can be held."""
    for part in book.namelist():
        if part.startswith(_SHEETS) and part.endswith(".xml"):
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
    for chunk in iter(lambda: stream.read(_CHUNK), b""):
        *ended, rest = (rest + chunk).split(_ROW_END)
        if len(rest) > _LONGEST_ROW:
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
    for chunk in iter(lambda: stream.read(_CHUNK), b""):
        yield end + chunk
        end = chunk[-_OVERLAP:]


def _check(rows: int, columns: int) -> None:
    if rows > MOST_ROWS or columns > MOST_COLUMNS or rows * columns > MOST_CELLS:
        raise ValueError(f"a sheet of {rows:,} rows and {columns:,} columns, which is too large")


def _number(digits: bytes) -> int:
    return int(digits) if len(digits) < 12 else 10**12


def _column(letters: bytes) -> int:
    """The number of a column, such as 28 of AB."""
    number = 0
    for letter in letters[:8].upper():
        number = 26 * number + letter - ord("A") + 1
    return number
