"""Which types of Arrow hold the values of a column, and columns as arrays of these types."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from funnelling.errors import InputError
from funnelling.formats.cells import as_text, encodable

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
