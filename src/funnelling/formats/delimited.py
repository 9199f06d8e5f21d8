"""CSV and TSV: a header, then one document per row, its labels joined by | in one cell."""

import csv
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import BinaryIO

from funnelling.errors import InputError
from funnelling.formats.document import check_columns, join_labels, quoted, split_labels
from funnelling.formats.files import reading, shown_name, text_lines, writing

# The labels come last because a row may end before them: that is how an unlabelled document differs from one
# of no label, whose cell is there and empty.
_COLUMNS = ("id", "language", "split", "group", "text", "labels")
_LONGEST_CELL = 2**28


def read(path: str | os.PathLike[str], delimiter: str) -> Iterator[tuple[int, dict[str, object]]]:
    """Each row with the number of the line where it starts, cells under the names in the header."""
    name = shown_name(path)
    with reading(path) as stream:
        rows = _rows(stream, name, delimiter)
        number, header = next(rows, (0, []))
        if not header:
            return
        columns = [cell.strip() for cell in header]
        check_columns(columns, f"{name}:{number}")
        for number, row in rows:
            if len(row) > len(columns):
                raise InputError(
                    f"{name}:{number}: {len(row)} cells where the header has {len(columns)}. "
                    f"Quote the cells that hold a {_DELIMITER_NAMES[delimiter]}."
                )
            record: dict[str, object] = dict(zip(columns, row, strict=False))
            labels = record.get("labels")
            if isinstance(labels, str):
                record["labels"] = split_labels(labels)
            yield number, record


def write(
    path: str | os.PathLike[str], records: Iterable[Mapping[str, object]], force: bool, delimiter: str
) -> None:
    """A header of all columns, then one row per document, without a labels cell if it is unlabelled."""
    with writing(path, force) as stream:
        # The line end of RFC 4180; with a bare \n Python 3.11 would leave a \r in a text unquoted.
        writer = csv.writer(stream, delimiter=delimiter, lineterminator="\r\n")
        writer.writerow(_COLUMNS)
        for record in records:
            row = [record.get(column, "") for column in _COLUMNS[:-1]]
            labels = record.get("labels")
            if isinstance(labels, list):
                row.append(join_labels(labels))
            if any("\0" in str(cell) for cell in row):
                raise InputError(
                    f"document {quoted(str(record['id']))} holds a NUL character, "
                    "which a table cannot carry. Write JSON Lines instead."
                )
            writer.writerow(row)


def _rows(stream: BinaryIO, name: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_CELL))
    # Strict, because otherwise a quote that is never closed swallows the rest of the file in silence.
    reader = csv.reader(_lines(stream, name), delimiter=delimiter, strict=True)
    while True:
        start = reader.line_num + 1
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise InputError(
                f"{name}:{start}: not a row of cells ({error}). "
                'Close every quote, and write a quote inside a quoted cell as "".'
            ) from None
        if row is None:
            return
        if row:
            yield start, row


def _lines(stream: BinaryIO, name: str) -> Iterator[str]:
    for number, line in text_lines(stream, name):
        if "\0" in line:
            raise InputError(f"{name}:{number}: holds a NUL byte. Save the file as UTF-8 text.")
        yield line


_DELIMITER_NAMES = {",": "comma", "\t": "tab"}
