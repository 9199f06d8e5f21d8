"""Parquet: one column per field, labels as a list column, read and written in batches of rows."""

import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, BinaryIO

from funnelling.errors import InputError
from funnelling.formats.arrow import Kind, found_types, to_array
from funnelling.formats.columns import distinct_names
from funnelling.formats.document import FIELDS
from funnelling.formats.files import reading, shown_name, writing_bytes
from funnelling.formats.spool import Spool

_ROWS_PER_BATCH = 1024
_LARGEST_BATCH = 2**29  # bytes
# Without a buffer the whole column of a row group is read at once, which is often the whole file.
_READ_BUFFER = 2**20


class ParquetRows:
    """The rows of a file, with their numbers."""

    options = ()

    def __init__(self, path: str | os.PathLike[str], name: str) -> None:
        self.name = name
        self.found: list[str] = []
        self._path = path
        self._pyarrow = _pyarrow("reading")
        with self._open() as file:
            self.columns: list[str] = file.schema_arrow.names

    def rows(self, wanted: Collection[str] | None = None) -> Iterator[tuple[int, dict[str, object]]]:
        """All rows, and of their columns those that are wanted."""
        number = 0
        columns = None if wanted is None else [name for name in self.columns if name in wanted]
        with self._open() as file:
            try:
                for batch in file.iter_batches(_ROWS_PER_BATCH, columns=columns):
                    if _size(self._pyarrow, batch) > _LARGEST_BATCH:
                        raise InputError(
                            f"{self.name}: {_ROWS_PER_BATCH:,} rows after row {number} hold more than "
                            f"{_LARGEST_BATCH // 2**20} MiB. Divide them into documents."
                        )
                    for record in batch.rename_columns(distinct_names(batch.schema.names)).to_pylist():
                        number += 1
                        yield number, record
            except (self._pyarrow.ArrowException, OSError, UnicodeDecodeError, MemoryError) as error:
                raise _damaged(self.name, number, error) from error

    @contextmanager
    def _open(self) -> Iterator[Any]:
        with reading(self._path) as stream:
            try:
                file = self._pyarrow.parquet.ParquetFile(stream, buffer_size=_READ_BUFFER, pre_buffer=False)
            except (self._pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
                raise _damaged(self.name, 0, error) from error
            yield file


def distinct_values(path: str | os.PathLike[str], column: str) -> list[object]:
    """The distinct values of one column, none where the file lacks it."""
    pyarrow = _pyarrow("reading")
    with reading(path) as stream:
        try:
            file = pyarrow.parquet.ParquetFile(stream)
            if column not in file.schema_arrow.names:
                return []
            values: list[object] = file.read(columns=[column])[column].unique().to_pylist()
            return values
        except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
            raise _damaged(shown_name(path), 0, error) from error


def rows_in(path: str | os.PathLike[str]) -> int:
    """How many rows a file says it has."""
    pyarrow = _pyarrow("reading")
    with reading(path) as stream:
        try:
            return int(pyarrow.parquet.ParquetFile(stream).metadata.num_rows)
        except (pyarrow.ArrowException, OSError) as error:
            raise _damaged(shown_name(path), 0, error) from error


def write(path: str | os.PathLike[str], records: Iterable[Mapping[str, object]], force: bool) -> None:
    """All columns, absent values as null."""
    pyarrow = _pyarrow("writing")
    string = pyarrow.string()
    types = {"text": pyarrow.large_string(), "labels": pyarrow.list_(string)}
    schema = pyarrow.schema([(field, types.get(field, string)) for field in FIELDS])
    _write(path, records, schema, force)


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
    pyarrow = _pyarrow("writing")
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


def check_installed(purpose: str) -> None:
    """Refuse to go on without the library that reads and writes Parquet."""
    _pyarrow(purpose)


def _write(
    path: str | os.PathLike[str], records: Iterable[Mapping[str, object]], schema: Any, force: bool
) -> None:
    pyarrow = _pyarrow("writing")
    remaining = iter(records)
    with writing_bytes(path, force) as stream, pyarrow.parquet.ParquetWriter(stream, schema) as writer:
        while batch := list(islice(remaining, _ROWS_PER_BATCH)):
            writer.write_batch(pyarrow.RecordBatch.from_pylist(batch, schema=schema))


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


def _pyarrow(purpose: str) -> Any:
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.parquet
    except ImportError:
        raise InputError(f"{purpose} Parquet needs pyarrow: pip install 'funnelling[parquet]'") from None
    return pyarrow
