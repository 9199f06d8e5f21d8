"""CSV and TSV: a header, then one document per row; the delimiter is found."""

import csv
import logging
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice

from funnelling.errors import InputError
from funnelling.formats.columns import distinct_names, header_names, known_names
from funnelling.formats.document import join_labels, quoted
from funnelling.formats.encoded import TextFile
from funnelling.formats.files import MAX_LINE_BYTES, too_long, writing
from funnelling.formats.layout import Layout

logger = logging.getLogger(__name__)

_COLUMNS = ("id", "language", "split", "group", "text", "labels")
_SAMPLE_LINES = 200
_SAID_DELIMITER = re.compile(r'\ufeff?"?sep=([,;\t|])"?\r?\n', re.IGNORECASE)  # as Excel writes it
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
WORDS = {**{word: mark for mark, word in DELIMITERS.items()}, "\\t": "\t"}  # as people may write them


class DelimitedRows:
    """The rows of a file with the lines where they start, cells under the names in the header."""

    options = ("encoding", "delimiter", "header")

    def __init__(self, path: str | os.PathLike[str], name: str, layout: Layout, usual: str) -> None:
        self.name = name
        self.found: list[str] = []
        self._file = TextFile(path, name, layout.encoding)
        self._has_header = layout.header
        self._said_short = False
        given = None if layout.delimiter is None else WORDS.get(layout.delimiter, layout.delimiter)
        if given is not None and (len(given) != 1 or given in '"\r\n'):
            raise InputError(f"{layout.delimiter!r} cannot stand between cells. Use one of , ; | or tab.")
        self._layout = layout
        lines = self._sample()
        said = _SAID_DELIMITER.fullmatch(lines[0]) if lines else None
        self._skipped = 0 if said is None else 1
        if given is None and said is not None:
            given = said[1]
        self._delimiter = given or self._find_delimiter(lines, usual)
        _, header = next(self._all_rows(), (0, []))
        numbers = [str(number) for number in range(1, len(header) + 1)]
        self.columns = header_names(header) if layout.header else numbers
        if given is None and self._delimiter != usual and len(self.columns) > 1:
            self.found.append(f"{DELIMITERS[self._delimiter]}s between cells")

    def rows(self, wanted: Collection[str] | None = None) -> Iterator[tuple[int, dict[str, object]]]:
        """All rows, and all their cells."""
        rows = self._all_rows()
        if self._has_header:
            next(rows, None)
        width, names = len(self.columns), distinct_names(self.columns)
        for number, row in rows:
            if not any(row) and width > 1:  # a lone empty cell was quoted: where all have one, it is a text
                continue
            if len(row) != width:
                self._check_width(row, number)
            yield number, dict(zip(names, row, strict=False))

    def _check_width(self, row: list[str], number: int) -> None:
        width = len(self.columns)
        if any(row[width:]):
            raise InputError(
                f"{self.name}:{number}: {len(row)} cells where the header has {width}. "
                f"Quote cells that hold a {DELIMITERS.get(self._delimiter, self._delimiter)}, or name "
                "what is between cells with --delimiter."
            )
        if len(row) < width and not self._said_short:
            self._said_short = True
            logger.info(
                "%s:%d: fewer cells than the header has; those that rows lack are taken to be empty. If "
                "texts hold line breaks, quote them.",
                self.name,
                number,
            )

    def _all_rows(self) -> Iterator[tuple[int, list[str]]]:
        lines = self._file.text_lines()
        return self._rows(islice(lines, self._skipped, None), self._delimiter, self._skipped)

    def _sample(self) -> list[str]:
        """The first lines, as far as they are needed to find the delimiter."""
        lines, size = [], 0
        for _, line in islice(self._file.text_lines(), _SAMPLE_LINES):
            lines.append(line)
            size += len(line)
            if size > MAX_LINE_BYTES:
                break
        self._is_cut = size > MAX_LINE_BYTES or len(lines) == _SAMPLE_LINES
        return lines

    def _find_delimiter(self, lines: list[str], usual: str) -> str:
        """The one that divides the header into the most known columns, then the most of the rows alike."""
        candidates = [usual, *(each for each in DELIMITERS if each != usual)]
        fitness = {delimiter: self._fitness(lines, delimiter) for delimiter in candidates}
        best = max(candidates, key=fitness.__getitem__)
        rivals = [each for each in candidates if fitness[each][:3] == fitness[best][:3] and fitness[best][0]]
        if len(rivals) > 1:
            names = " or ".join(f"{DELIMITERS[each]}s" for each in rivals)
            raise InputError(f"{self.name}: are {names} between its cells? Say it with --delimiter.")
        return best

    def _fitness(self, lines: list[str], delimiter: str) -> tuple[bool, int, float, int]:
        # A sample may end inside a quoted cell: what is left of that row does not count.
        widths: list[int] = []
        header: list[str] = []
        try:
            for number, row in self._rows(enumerate(lines, start=1), delimiter):
                header = row if number == 1 or not header else header
                widths.append(len(row))
        except InputError:
            widths = widths if self._is_cut else []
        if not widths:
            return (False, 0, 0.0, 0)
        alike = sum(width == widths[0] for width in widths) / len(widths)
        known = known_names(header, self._layout) if self._has_header else 0
        return (widths[0] > 1, known, alike, widths[0])

    def _rows(
        self, lines: Iterable[tuple[int, str]], delimiter: str, skipped: int = 0
    ) -> Iterator[tuple[int, list[str]]]:
        csv.field_size_limit(max(csv.field_size_limit(), MAX_LINE_BYTES))
        start = size = 0

        def of_row() -> Iterator[str]:
            nonlocal size
            for _, line in lines:
                size += len(line)
                if size > MAX_LINE_BYTES:
                    raise too_long(f"{self.name}:{start}", "a row")
                yield line

        # Strict, because otherwise a quote that is never closed swallows the rest of the file in silence.
        reader = csv.reader(of_row(), delimiter=delimiter, strict=True)
        while True:
            start, size = reader.line_num + 1 + skipped, 0
            try:
                row = next(reader, None)
            except csv.Error as error:
                if "new-line character" in str(error):
                    raise InputError(
                        f"{self.name}:{start}: carriage returns alone, as line ends or in a cell without "
                        "quotes. Save the file again with the line ends of Windows or Unix."
                    ) from None
                raise InputError(
                    f"{self.name}:{start}: not a row of cells ({error}). "
                    'Close every quote, and write a quote inside a quoted cell as "".'
                ) from None
            if row is None:
                return
            if row:
                yield start, row


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
