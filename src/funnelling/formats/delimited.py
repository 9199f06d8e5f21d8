"""CSV and TSV: a header, then one document per row; the delimiter is found."""

import csv
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice

from funnelling.errors import InputError
from funnelling.formats.columns import known_names
from funnelling.formats.document import join_labels, quoted
from funnelling.formats.encoded import TextFile
from funnelling.formats.files import writing
from funnelling.formats.layout import Layout

_COLUMNS = ("id", "language", "split", "group", "text", "labels")
_LONGEST_CELL = 2**28
_SAMPLE_LINES = 200
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
WORDS = {**{word: mark for mark, word in DELIMITERS.items()}, "\\t": "\t"}  # as people may write them


class DelimitedRows:
    """The rows of a file with the lines where they start, cells under the names in the header."""

    def __init__(self, path: str | os.PathLike[str], name: str, layout: Layout, usual: str) -> None:
        self.name = name
        self.found: list[str] = []
        self._file = TextFile(path, name, layout.encoding)
        self._has_header = layout.header
        given = None if layout.delimiter is None else WORDS.get(layout.delimiter, layout.delimiter)
        if given is not None and (len(given) != 1 or given in '"\r\n'):
            raise InputError(f"{layout.delimiter!r} cannot stand between cells. Use one of , ; | or tab.")
        self._delimiter = given or self._find_delimiter(usual)
        if given is None and self._delimiter != usual:
            self.found.append(f"{DELIMITERS[self._delimiter]}s between cells")
        self.columns = self._header()

    def rows(self, wanted: Collection[str] | None = None) -> Iterator[tuple[int, dict[str, object]]]:  # noqa: ARG002
        """All rows, and all their cells."""
        rows = self._rows(self._file.lines(), self._delimiter)
        if self._has_header:
            next(rows, None)
        for number, row in rows:
            if not any(row):
                continue
            if len(row) > len(self.columns) and any(row[len(self.columns) :]):
                raise InputError(
                    f"{self.name}:{number}: {len(row)} cells where the header has {len(self.columns)}. "
                    f"Quote cells that hold a {DELIMITERS.get(self._delimiter, self._delimiter)}, or name "
                    "what is between cells with --delimiter."
                )
            yield number, dict(zip(self.columns, row, strict=False))

    def _header(self) -> list[str]:
        _, header = next(self._rows(self._file.lines(), self._delimiter), (0, []))
        if not self._has_header:
            return [str(number) for number in range(1, len(header) + 1)]
        while header and not header[-1].strip():  # spreadsheets save empty columns, too
            header.pop()
        return [cell.strip() for cell in header]

    def _find_delimiter(self, usual: str) -> str:
        """The one that divides the first rows alike: the most of them, then into the most known columns."""
        lines = [line for _, line in islice(self._file.lines(), _SAMPLE_LINES)]
        candidates = [usual, *(each for each in DELIMITERS if each != usual)]
        return max(candidates, key=lambda delimiter: self._fitness(lines, delimiter))

    def _fitness(self, lines: list[str], delimiter: str) -> tuple[bool, int, float, int]:
        # A sample may end inside a quoted cell: what is left of that row does not count.
        widths: list[int] = []
        header: list[str] = []
        try:
            for number, row in self._rows(enumerate(lines, start=1), delimiter):
                header = row if number == 1 or not header else header
                widths.append(len(row))
        except InputError:
            widths = widths if len(lines) == _SAMPLE_LINES else []
        if not widths:
            return (False, 0, 0.0, 0)
        alike = sum(width == widths[0] for width in widths) / len(widths)
        return (widths[0] > 1, known_names(header), alike, widths[0])

    def _rows(self, lines: Iterable[tuple[int, str]], delimiter: str) -> Iterator[tuple[int, list[str]]]:
        csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_CELL))
        # Strict, because otherwise a quote that is never closed swallows the rest of the file in silence.
        reader = csv.reader(self._checked(lines), delimiter=delimiter, strict=True)
        while True:
            start = reader.line_num + 1
            try:
                row = next(reader, None)
            except csv.Error as error:
                raise InputError(
                    f"{self.name}:{start}: not a row of cells ({error}). "
                    'Close every quote, and write a quote inside a quoted cell as "".'
                ) from None
            if row is None:
                return
            if row:
                yield start, row

    def _checked(self, lines: Iterable[tuple[int, str]]) -> Iterator[str]:
        for number, line in lines:
            if "\0" in line:
                raise InputError(f"{self.name}:{number}: holds a NUL byte. Save the file as UTF-8 text.")
            yield line


def write(
    path: str | os.PathLike[str], records: Iterable[Mapping[str, object]], force: bool, delimiter: str
) -> None:
    """A header of all columns, then one row per document; the cell of an unlabelled one is empty."""
    with writing(path, force) as stream:
        # The line end of RFC 4180; with a bare \n Python 3.11 would leave a \r in a text unquoted.
        writer = csv.writer(stream, delimiter=delimiter, lineterminator="\r\n")
        writer.writerow(_COLUMNS)
        for record in records:
            labels = record.get("labels")
            joined = join_labels(labels) if isinstance(labels, list) else ""
            row = [*(record.get(column, "") for column in _COLUMNS[:-1]), joined]
            if any("\0" in str(cell) for cell in row):
                raise InputError(
                    f"document {quoted(str(record['id']))} holds a NUL character, "
                    "which a table cannot carry. Write JSON Lines instead."
                )
            writer.writerow(row)
