"""Parquet and Arrow, read and written in batches of rows; and the text of a cell in any table."""

import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO, Literal

from funnelling.errors import InputError
from funnelling.formats.columns import distinct_names
from funnelling.formats.document import FIELDS, encodable
from funnelling.formats.files import reading, shown_name, writing_bytes
from funnelling.formats.reader import Spool, batches

_NUMBER = re.compile(r"[-+]?(?:\d[\d,]*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?%?", re.ASCII)
_COMMANDS = ("=", "+", "-", "@", "\t", "\r")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_REPLACEMENT = "\ufffd"


def is_number(cell: str) -> bool:
    """Whether a cell is a number and nothing else.

    >>> is_number("-.05"), is_number("1e-6"), is_number(".5 ± .1"), is_number("")
    (True, True, False, False)
    """
    return _NUMBER.fullmatch(cell) is not None


def defused(cell: str) -> str:
    """A cell that a spreadsheet does not take for a formula.

    >>> defused("=1+1"), defused("-1"), defused("cats")
    ("'=1+1", '-1', 'cats')
    """
    return f"'{cell}" if cell.startswith(_COMMANDS) and not is_number(cell) else cell


def as_text(value: object) -> str:
    """A value as text: nothing for what is missing, JSON for lists and objects.

    >>> as_text(None), as_text(True), as_text(0.25), as_text(["a", {"b": 1}])
    ('', 'true', '0.25', '["a", {"b": 1}]')
    """
    match value:
        case None:
            return ""
        case str():
            return encodable(value)
        case bool():
            return str(value).lower()
        case float():
            return "" if value != value else repr(value)
        case bytes():
            return value.decode(errors="backslashreplace")
        case list() | tuple() | dict():
            return encodable(json.dumps(value, ensure_ascii=False, default=as_text))
        case _:
            return str(value)


def printable(text: str) -> str:
    r"""Text with line ends as spreadsheets have them, and without other control characters, which XML lacks.

    >>> printable("a\r\nb\x01")
    'a\nb�'
    """
    return _CONTROL.sub(_REPLACEMENT, text.replace("\r\n", "\n").replace("\r", "\n"))


def without_nul(text: str) -> str:
    """Text without NUL, which most readers of text files stumble on."""
    return text.replace("\0", _REPLACEMENT)


Kind = Literal["text", "number", "list", "map"]  # of texts; of texts to numbers


def found_types(
    pyarrow: Any, columns: Sequence[str], batches: Iterable[Sequence[Mapping[str, object]]]
) -> dict[str, Any]:
    """The type that holds all values of each column, text where no other does."""
    found = dict.fromkeys(columns, pyarrow.null())
    for batch in batches:
        for column in columns:
            if found[column] is not None:
                found[column] = _common(pyarrow, found[column], _values(batch, column))
    return {
        column: pyarrow.string() if kind is None else _storable(pyarrow, kind) or pyarrow.string()
        for column, kind in found.items()
    }


def to_array(pyarrow: Any, batch: Sequence[Mapping[str, object]], column: str, kind: Any) -> Any:
    """The values of a column as an array of a type that `found_types` found, or that the caller knows."""
    values = _values(batch, column)
    if kind == pyarrow.string():
        values = [None if value is None else as_text(value) for value in values]
    try:
        return pyarrow.array(values, kind)
    except (pyarrow.ArrowException, OverflowError, TypeError) as error:
        reason = str(error).partition("\n")[0]
        raise InputError(
            f'column "{column}" does not fit into Parquet ({reason}). '
            "Choose a name that ends in .csv or .jsonl."
        ) from None


def _values(batch: Sequence[Mapping[str, object]], column: str) -> list[object]:
    return [_clean(row.get(column)) for row in batch]


def _clean(value: object) -> object:
    """A value without halves of surrogate pairs."""
    match value:
        case str():
            return encodable(value)
        case list():
            return [_clean(entry) for entry in value]
        case dict():
            return {_clean(key): _clean(entry) for key, entry in value.items()}
        case _:
            return value


def _common(pyarrow: Any, kind: Any, values: list[object]) -> Any:
    """A type for values of a type and for these, or None."""
    try:
        # Not infer_type, which finds a type for a number and a truth value that then holds only one of them.
        schemas = [pyarrow.schema([("", one)]) for one in (kind, pyarrow.array(values).type)]
        return pyarrow.unify_schemas(schemas, promote_options="permissive").field(0).type
    except (pyarrow.ArrowException, OverflowError, TypeError):
        return None


def _storable(pyarrow: Any, kind: Any) -> Any:
    """A type that Parquet can hold: text for what is always missing, None for objects without a field."""
    types = pyarrow.types
    if types.is_null(kind):
        return pyarrow.string()
    if types.is_list(kind):
        entry = _storable(pyarrow, kind.value_type)
        return entry and pyarrow.list_(entry)
    if types.is_struct(kind):
        fields = [(field.name, _storable(pyarrow, field.type)) for field in kind]
        return pyarrow.struct(fields) if fields and all(entry for _, entry in fields) else None
    return kind


_ROWS_PER_BATCH = 1024
_MAX_BATCH_BYTES = 2**29  # bytes
# Without a buffer the whole column of a row group is read at once, which is often the whole file.
_READ_BUFFER_BYTES = 2**20


class ParquetRows:
    """The rows of a file, with their numbers."""

    options = ()

    def __init__(self, path: str | os.PathLike[str], name: str) -> None:
        self.name = name
        self.found: list[str] = []
        self._path = path
        with _opened(path, name) as file:
            self.columns: list[str] = file.schema_arrow.names

    def rows(self, wanted: Collection[str] | None = None) -> Iterator[tuple[int, dict[str, object]]]:
        """All rows, and of their columns those that are wanted."""
        number = 0
        columns = None if wanted is None else [name for name in self.columns if name in wanted]
        pyarrow = import_pyarrow("reading")
        with _opened(self._path, self.name) as file:
            try:
                for batch in file.iter_batches(_ROWS_PER_BATCH, columns=columns):
                    if _size(pyarrow, batch) > _MAX_BATCH_BYTES:
                        raise InputError(
                            f"{self.name}: {_ROWS_PER_BATCH:,} rows after row {number} hold more than "
                            f"{_MAX_BATCH_BYTES // 2**20} MiB. Divide them into documents."
                        )
                    for record in batch.rename_columns(distinct_names(batch.schema.names)).to_pylist():
                        number += 1
                        yield number, record
            except (pyarrow.ArrowException, OSError, UnicodeDecodeError, MemoryError) as error:
                raise _damaged(self.name, number, error) from error


def distinct_values(path: str | os.PathLike[str], column: str) -> list[object]:
    """The distinct values of one column, none where the file lacks it."""
    with _opened(path, shown_name(path)) as file:
        if column not in file.schema_arrow.names:
            return []
        values: list[object] = file.read(columns=[column])[column].unique().to_pylist()
        return values


def rows_in(path: str | os.PathLike[str]) -> int:
    """How many rows a file says it has."""
    with _opened(path, shown_name(path)) as file:
        return int(file.metadata.num_rows)


@contextmanager
def _opened(path: str | os.PathLike[str], name: str) -> Iterator[Any]:
    pyarrow = import_pyarrow("reading")
    with reading(path) as stream:
        try:
            yield pyarrow.parquet.ParquetFile(stream, buffer_size=_READ_BUFFER_BYTES, pre_buffer=False)
        except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
            raise _damaged(name, 0, error) from error


def write(path: str | os.PathLike[str], records: Iterable[Mapping[str, object]], force: bool) -> None:
    """All columns, absent values as null."""
    pyarrow = import_pyarrow("writing")
    string = pyarrow.string()
    types = {"text": pyarrow.large_string(), "labels": pyarrow.list_(string)}
    schema = pyarrow.schema([(field, types.get(field, string)) for field in FIELDS])
    with writing_bytes(path, force) as stream, pyarrow.parquet.ParquetWriter(stream, schema) as writer:
        for batch in batches(records, _ROWS_PER_BATCH):
            writer.write_batch(pyarrow.RecordBatch.from_pylist(batch, schema=schema))


def write_table(
    stream: BinaryIO,
    columns: Sequence[str],
    rows: Spool,
    kinds: Mapping[str, Kind],
    attached: Mapping[str, Sequence[Mapping[str, object]]],
) -> None:
    """Rows of any columns: ``kinds`` says what some hold, of the others it is found out.

    A column whose values are of no one type becomes text. What is attached becomes metadata of the file, as
    JSON under ``funnelling.NAME``.
    """
    pyarrow = import_pyarrow("writing")
    string = pyarrow.string()
    known = {
        "text": string,
        "number": pyarrow.float64(),
        "list": pyarrow.list_(string),
        "map": pyarrow.map_(string, pyarrow.float64()),
    }
    found = found_types(pyarrow, [column for column in columns if column not in kinds], rows.batches())
    types = {column: known[kinds[column]] if column in kinds else found[column] for column in columns}
    metadata = {
        f"funnelling.{name}": json.dumps(value, ensure_ascii=False) for name, value in attached.items()
    }
    schema = pyarrow.schema(list(types.items()), metadata=metadata or None)
    with pyarrow.parquet.ParquetWriter(stream, schema) as writer:
        for batch in rows.batches():
            arrays = [to_array(pyarrow, batch, column, types[column]) for column in columns]
            writer.write_batch(pyarrow.RecordBatch.from_arrays(arrays, schema=schema))


def _size(pyarrow: Any, batch: Any) -> int:
    """The bytes of some rows, a text that several of them share counted for each."""
    size = int(batch.nbytes)
    for column in batch.columns:
        if hasattr(column, "dictionary"):  # of texts, as Parquet has no other
            lengths = pyarrow.compute.binary_length(column.dictionary)
            size += pyarrow.compute.sum(lengths.take(column.indices).cast("int64")).as_py() or 0
    return size


def _damaged(name: str, rows: int, error: Exception) -> InputError:
    reason = str(error).partition("\n")[0] or "too large for the memory"
    return InputError(
        f"{name}: not readable as Parquet after row {rows} ({reason}). Write or copy the file again."
    )


def import_pyarrow(purpose: str) -> Any:
    """The library that reads and writes Parquet, or the hint how to get it."""
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.parquet
    except ImportError:
        raise InputError(f"{purpose} Parquet needs pyarrow: pip install 'funnelling[parquet]'") from None
    return pyarrow
