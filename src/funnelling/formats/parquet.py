"""Parquet: one column a field, labels as a list column, read and written by batches of rows."""

import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from funnelling.errors import InputError
from funnelling.formats.document import FIELDS, check_columns, split_labels
from funnelling.formats.files import reading, shown_name, writing_bytes

_ROWS_A_BATCH = 1024
# Without a buffer the whole column of a row group is read at once, which is often the whole file.
_READ_BUFFER = 2**20


def read(path: str | os.PathLike[str]) -> Iterator[tuple[int, dict[str, object]]]:
    """Each row with its number; labels may also be one string, joined by | as in CSV."""
    name = shown_name(path)
    pyarrow = _pyarrow("reading")
    damage = (pyarrow.ArrowException, OSError, UnicodeDecodeError)
    with reading(path) as stream:
        number = 0
        try:
            file = pyarrow.parquet.ParquetFile(stream, buffer_size=_READ_BUFFER, pre_buffer=False)
            columns = file.schema_arrow.names
            check_columns(columns, name)
            known = [field for field in FIELDS if field in columns]
            for batch in file.iter_batches(_ROWS_A_BATCH, columns=known):
                for record in batch.to_pylist():
                    number += 1
                    if isinstance(record.get("labels"), str):
                        record["labels"] = split_labels(record["labels"])
                    yield number, record
        except damage as error:
            reason = str(error).partition("\n")[0]
            raise InputError(
                f"{name}: not readable as Parquet after row {number} ({reason}). "
                "Write or copy the file again."
            ) from error


def write(path: str | os.PathLike[str], records: Iterable[Mapping[str, object]], force: bool) -> None:
    """All columns, absent values as null."""
    pyarrow = _pyarrow("writing")
    string = pyarrow.string()
    types = {"text": pyarrow.large_string(), "labels": pyarrow.list_(string)}
    schema = pyarrow.schema([(field, types.get(field, string)) for field in FIELDS])
    remaining = iter(records)
    with writing_bytes(path, force) as stream, pyarrow.parquet.ParquetWriter(stream, schema) as writer:
        while batch := list(islice(remaining, _ROWS_A_BATCH)):
            writer.write_batch(pyarrow.RecordBatch.from_pylist(batch, schema=schema))


def _pyarrow(purpose: str) -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise InputError(f"{purpose} Parquet needs pyarrow: pip install 'funnelling[parquet]'") from None
    return pyarrow
