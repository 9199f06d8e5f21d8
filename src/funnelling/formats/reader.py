"""From rows of any file to documents: their columns, how cells hold labels, and rows read again."""

import logging
import pickle
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from tempfile import SpooledTemporaryFile
from types import TracebackType
from typing import Protocol, Self

from funnelling.errors import InputError
from funnelling.formats.columns import Columns, find_columns, is_label_name, may_matter
from funnelling.formats.document import MISSING, Document, LineNumber, is_undetermined, quoted, to_document
from funnelling.formats.label_cells import LabelCells, find_label_cells
from funnelling.formats.layout import Layout, flag_columns, is_flag
from funnelling.formats.texts import strip_markup
from funnelling.runtime.progress import Advance, no_progress

logger = logging.getLogger(__name__)

_MAX_CACHED_CELLS = 2**16  # distinct cells whose labels are not read again
# Columns of row numbers
_INDEX = re.compile(r"|index|column \d+|unnamed: \d+|__index_level_\d+__", re.IGNORECASE)
_FLAGS = {
    "encoding": "--encoding",
    "delimiter": "--delimiter",
    "header": "--no-header",
    "sheet": "--sheet",
    "folders": "--folders",
}
_MAX_NAMES_SHOWN = 8  # names in a line
_N_PEEKED_ROWS = 200  # rows that tell whether columns may hold 0 and 1 alone, before all are looked at


class Rows(Protocol):
    """A file as rows that can be read more than once; ``found`` is what its reader found out about it."""

    name: str
    found: list[str]

    @property
    def options(self) -> Sequence[str]:
        """What a layout may say of such files alone."""

    @property
    def columns(self) -> Sequence[str] | None:
        """The columns of all rows, None where each row has its own."""

    def rows(self, wanted: Collection[str] | None = None) -> Iterator[tuple[int, dict[str, object]]]:
        """The rows, each with the line where it starts, as far as they are wanted."""


class DocumentReader:
    """Makes documents of the rows of one file, or of several that are alike.

    ``labels`` says whether labels are needed: what joins them in cells is told by all cells, which takes a
    second look at the file. ``keep_fields`` keeps all columns of each document beside it. Unless ``texts``
    are needed, rows may have an id in place of a text.
    """

    def __init__(
        self,
        files: Sequence[Rows],
        layout: Layout,
        labels: bool = True,
        keep_fields: bool = False,
        texts: bool = True,
    ) -> None:
        self._files = files
        self._layout = layout
        self._labels = labels
        self._keep_fields = keep_fields
        self._texts = texts
        self._read_cell: dict[str, Callable[[str], list[str] | None]] = {}
        self._said: set[str] = set()
        self._flags: dict[tuple[str, frozenset[str]], tuple[str, ...]] = {}

    def documents(self, prefix: Callable[[str], str] | None = None) -> Iterator[Document]:
        """All documents; those without an id are named after their line, and the ``prefix`` of their file."""
        if prefix is None or len(self._files) > 1:  # what goes with another part may not go with this
            self._check_options()
        for file in self._files:
            empty = True
            for document in self._of_file(file, prefix(file.name) if prefix else ""):
                yield document
                empty = False
            if empty:
                raise InputError(f"{file.name}: no document in it. Check that it is the right file.")

    def settled(self) -> Layout:
        """The layout with what joins labels, where they are in cells."""
        file = self._files[0]
        names = find_columns(file.columns or (), self._layout, file.name).labels
        if len(names) != 1:
            return self._layout
        if self._layout.labels and self._is_flag_column(names[0]):
            # A part may hold only one of yes and no: what is named twice is taken for a column of them.
            return replace(self._layout, labels=names * 2)
        return replace(self._layout, label_separator=self._find_cells(file, names[0]).separator)

    def _of_file(self, file: Rows, prefix: str) -> Iterator[Document]:
        if file.columns is not None and not any(file.columns):
            return
        columns = None if file.columns is None else self._columns(file, file.columns)
        varied = columns is None
        known: dict[str, None] = {}  # what rows with keys of their own have had so far
        wanted = None if self._keep_fields or columns is None else columns.taken()
        for line, row in file.rows(wanted):
            if columns is None or (varied and not row.keys() <= known.keys()):
                fresh = [name for name in row if name not in known]
                known.update(dict.fromkeys(fresh))
                if columns is None or self._may_change(file, columns, fresh):
                    columns = self._further_columns(file, list(known), columns, line)
            document = to_document(self._record(row, columns, file, line), file.name, line, self._texts)
            if prefix and isinstance(document.id, LineNumber):
                document = replace(document, id=LineNumber(f"{prefix}{line}"))
            yield replace(document, fields=row) if self._keep_fields else document

    def _check_options(self) -> None:
        """Refuse what the user says of files of another kind."""
        taken = {option for file in self._files for option in file.options}
        for option, flag in _FLAGS.items():
            said = not self._layout.header if option == "header" else getattr(self._layout, option)
            if said and option not in taken:
                raise InputError(f"{self._files[0].name}: {flag} does not go with such a file. Leave it out.")

    def _may_change(self, file: Rows, columns: Columns, fresh: Sequence[str]) -> bool:
        """Whether further keys may hold fields, or labels if these were not looked for in all rows."""
        if any(may_matter(name, self._layout) for name in fresh):
            return True
        if not self._labels or columns.labels or self._layout.labels:
            return False
        return (file.name, frozenset(columns.taken())) not in self._flags

    def _further_columns(
        self, file: Rows, names: Sequence[str], before: Columns | None, line: int
    ) -> Columns:
        """The columns, now that rows have further keys; what was read from others would have been wrong."""
        columns = self._columns(file, names)
        field = None if before is None else columns.replaces(before)
        if field is not None:
            raise InputError(
                f"{file.name}:{line}: another name for the {field} than in the lines before. Use one name, "
                f"or choose with --{field}-column."
            )
        return columns

    def _columns(self, file: Rows, names: Sequence[str]) -> Columns:
        """The columns of the fields, and a line that says so where that is worth it."""
        # An object without any key lacks a text, which is said with its line.
        columns = find_columns(names or ["text"], self._layout, file.name, self._labels, self._texts)
        if self._labels and not columns.labels and not self._layout.labels:
            columns = replace(columns, labels=self._flag_columns(file, names, columns))
            others = [quoted(name) for name in names if name not in columns.taken()]
            if others and not columns.labels:
                shown = ", ".join(others[:_MAX_NAMES_SHOWN]) + (", …" if others[_MAX_NAMES_SHOWN:] else "")
                self._say(file, [f"no column of labels known among {shown} (name it with --labels-column)"])
        elif self._labels and len(columns.labels) == 1 and self._layout.labels:
            columns = replace(columns, yes_or_no=self._is_flag_column(columns.labels[0]))
        self._say(file, columns.described())
        if columns.yes_or_no:
            label = quoted(columns.labels[0])
            self._say(file, [f"column {label} holds yes and no: a yes is the label {label}"])
        return columns

    def _flag_columns(self, file: Rows, names: Sequence[str], columns: Columns) -> tuple[str, ...]:
        """Columns of 0 and 1, one per label, where no column is called labels; they are at least two."""
        taken = columns.taken()
        if file.columns is not None or taken.issuperset(names):
            return self._found_flags(file, names, taken)
        key = file.name, frozenset(taken)
        if key not in self._flags:
            # A row may lack the columns of labels that it does not have.
            all_names = list(dict.fromkeys(name for _, row in file.rows() for name in row))
            self._flags[key] = self._found_flags(file, all_names, taken)
        return self._flags[key]

    def _found_flags(self, file: Rows, names: Sequence[str], taken: set[str]) -> tuple[str, ...]:
        free = [name for name in names if name not in taken and not _INDEX.fullmatch(name)]
        if len(free) < 2:
            return ()
        peeked = flag_columns((row for _, row in islice(file.rows(), _N_PEEKED_ROWS)), free)
        if len(peeked) < 2:
            return ()
        found = flag_columns((row for each in self._files for _, row in each.rows()), free)
        if len(found) < 2 or not any(True in values for values in found.values()):
            return ()
        counts = Counter(names)
        double = [name for name in found if counts[name] > 1]
        if double:
            raise InputError(
                f"{file.name}: two columns are called {quoted(double[0])}, which stands for a label. Rename "
                "one of them."
            )
        constant = [name for name, values in found.items() if values == {True}]
        if constant:
            raise InputError(
                f"{file.name}: column {quoted(constant[0])} says yes in every row. Is it a label? Name the "
                "columns of all labels with --labels-column, or none."
            )
        return tuple(found)

    def _is_flag_column(self, name: str) -> bool:
        """Whether the one column that the user names is of one label: it says yes and no, nothing else."""
        if is_label_name(name) or self._layout.label_separator or self._layout.no_label:
            return False
        rows = (row for file in self._files for _, row in file.rows({name}))
        return flag_columns(rows, [name]).get(name, set()) >= {True, False}

    def _record(
        self, row: Mapping[str, object], columns: Columns, file: Rows, line: int
    ) -> dict[str, object]:
        """A row under the names of the fields."""
        record: dict[str, object] = {}
        for field, name in columns.single:
            value = row.get(name)
            if not _is_missing(value):
                record[field] = value
        language = record.get("language")
        if isinstance(language, str) and language in MISSING:
            self._clean_language(record, file)
        if self._layout.default_language is not None and is_undetermined(str(record.get("language", ""))):
            record["language"] = self._layout.default_language
        text = columns.text
        if len(text) == 1 and text[0] in row and not self._layout.strip:
            record["text"] = row[text[0]]
        elif any(name in row for name in text):
            record["text"] = self._text([row.get(name) for name in text])
        if file.columns is not None and "text" in record and _is_missing(record["text"]):
            record["text"] = ""  # as a cell of CSV is
        if self._labels and columns.labels:
            record["labels"] = self._read_labels(row, columns, file, line)
        return record

    def _clean_language(self, record: dict[str, object], file: Rows) -> None:
        """Drop a language that says there is none; Min Nan, whose code is nan, is no name in a table."""
        if file.columns is not None or record["language"] != "nan":
            self._say(file, [f"language {record.pop('language')} taken for no answer"])

    def _text(self, pieces: Sequence[object]) -> object:
        """The text, its pieces below each other; whatever is no text is left to be refused."""
        if len(pieces) > 1:
            present = [piece for piece in pieces if piece != "" and not _is_missing(piece)]
            if not all(isinstance(piece, str) for piece in present):
                return next(piece for piece in present if not isinstance(piece, str))
            pieces = ["\n".join(str(piece).strip() for piece in present)]
        text = pieces[0]
        if isinstance(text, str) and self._layout.strip:
            return strip_markup(text, self._layout.strip)
        return text

    def _read_labels(
        self, row: Mapping[str, object], columns: Columns, file: Rows, line: int
    ) -> list[object] | None:
        names = columns.labels
        if len(names) > 1 or columns.yes_or_no:
            return self._flagged(row, columns.label_places, f"{file.name}:{line}")
        value = row.get(names[0])
        if _is_missing(value):
            return None
        if isinstance(value, str):
            read = self._read_cell.get(names[0])
            if read is None:
                read = lru_cache(_MAX_CACHED_CELLS)(self._find_cells(file, names[0]).read)
                self._read_cell[names[0]] = read
            return read(value)  # type: ignore[return-value]
        if isinstance(value, int | float):
            label = str(value)
            no_label = self._layout.no_label
            if no_label is not None and LabelCells(no_label=no_label).says_none(label):
                return []
            return [label if isinstance(value, bool) else value]
        return value  # type: ignore[return-value]

    def _flagged(
        self, row: Mapping[str, object], places: Mapping[str, int], place: str
    ) -> list[object] | None:
        """The labels whose columns say yes; none are known where all cells are empty."""
        flags: list[bool | None] = []
        names: Collection[str] = places
        if len(row) < len(places):  # a row may lack most of them
            names = sorted((name for name in row if name in places), key=places.__getitem__)
        for name in names:
            try:
                flags.append(is_flag(row.get(name)))
            except ValueError:
                raise InputError(
                    f"{place}: {quoted(str(row[name]))} in column {quoted(name)}, which stands for a label. "
                    "Write 0 or 1, or name the column of the labels with --labels-column."
                ) from None
        if all(flag is None for flag in flags):
            return None
        return [name for name, flag in zip(names, flags, strict=True) if flag]

    def _find_cells(self, file: Rows, name: str) -> LabelCells:
        """What joins labels in cells, by all cells of all files."""
        counts: Counter[str] = Counter()
        for each in self._files:
            for _, row in each.rows({name}):
                value = row.get(name)
                if isinstance(value, str):
                    counts[value] += 1
        cells = find_label_cells(counts, self._layout, file.name)
        self._say(file, cells.found)
        return cells

    def _say(self, file: Rows, found: Sequence[str]) -> None:
        fresh = [line for line in (*file.found, *found) if line not in self._said]
        self._said.update(fresh)
        if fresh:
            logger.info("%s: %s.", file.name, "; ".join(fresh))


def _is_missing(value: object) -> bool:
    return value is None or (isinstance(value, float) and value != value)


_ROWS_PER_BATCH = 1_000
_MAX_MEMORY_BYTES = 8 * 2**20  # bytes

Row = Mapping[str, object]


class Spool:
    """Rows that can be read again and again, and the columns that occur in them.

    >>> with Spool([{"a": 1}, {"b": 2, "a": 3}]) as rows:
    ...     print(rows.columns, len(rows), list(rows))
    ['a', 'b'] 2 [{'a': 1}, {'b': 2, 'a': 3}]
    """

    def __init__(self, rows: Iterable[Row], folder: str | None = None) -> None:
        # Nobody else can write to this file: it is the only one that is unpickled, and it has no name.
        self._file = SpooledTemporaryFile(_MAX_MEMORY_BYTES, dir=folder)  # noqa: SIM115
        self._batches = self._rows = 0
        self.advance: Advance = no_progress  # is told of rows that are read again
        seen: dict[str, None] = {}
        try:
            for batch in batches(rows, _ROWS_PER_BATCH):
                for row in batch:
                    seen.update(dict.fromkeys(row))
                pickle.dump(batch, self._file, pickle.HIGHEST_PROTOCOL)
                self._batches += 1
                self._rows += len(batch)
        except BaseException:
            self._file.close()
            raise
        self.columns = list(seen)

    def __len__(self) -> int:
        return self._rows

    def __iter__(self) -> Iterator[Row]:
        for batch in self.batches():
            yield from batch

    def batches(self) -> Iterator[list[Row]]:
        """The rows in lists of bounded length; one reader at a time."""
        self._file.seek(0)
        for _ in range(self._batches):
            batch = pickle.load(self._file)
            yield batch
            self.advance(len(batch))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def batches(rows: Iterable[Row], size: int) -> Iterator[list[Row]]:
    """The rows in lists of so many."""
    remaining = iter(rows)
    while batch := list(islice(remaining, size)):
        yield batch
