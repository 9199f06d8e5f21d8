"""Data frames of pandas and polars, tables of Arrow and datasets of Hugging Face: read, and made.

None of them is imported, but pandas to make a frame. A *table* has named columns; a *column* becomes a list
of Python's own values, with None for an empty cell, whatever its library, type or index. Rows are known by
their place alone.
"""

import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from funnelling.errors import InputError
from funnelling.formats.document import Document
from funnelling.formats.layout import Layout
from funnelling.formats.reader import DocumentReader
from funnelling.randomness import is_missing

if TYPE_CHECKING:
    from pandas import DataFrame


TEXT, LANGUAGE = "text", "language"  # the columns of X that are read
MAX_COLUMNS_SHOWN = 6  # names of columns in a message
LIKELY = {  # how names of columns begin, more often than not, by what is asked for
    "X": ("text", "body", "content"),
    "y": ("label", "class", "categor", "topic"),
    "languages": ("lang",),
}


def as_frame(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> "DataFrame":
    """Rows as a data frame of pandas, which has these columns at least."""
    try:
        from pandas import DataFrame
    except ImportError:
        raise InputError("a data frame needs pandas: pip install 'funnelling[frames]'") from None
    names = dict.fromkeys([*(name for row in rows[:1] for name in row), *columns])
    return DataFrame(list(rows), columns=list(names))


def is_table(values: Any) -> bool:
    """Whether values are a table, with columns that have names."""
    kind = type(values)  # a lazy table would work out its columns
    return hasattr(kind, "columns") or hasattr(kind, "column_names")


def is_column(values: Any) -> bool:
    """Whether values are one column of some library, and neither a list nor an array."""
    if isinstance(values, list | tuple | str | bytes):
        return False
    return hasattr(values, "to_list") or hasattr(values, "to_pylist") or isinstance(values, Sequence)


def cells(column: Any) -> list[Any]:
    """The cells of a column: None where one is empty, a list where one holds an array (as Parquet's do)."""
    for name in ("to_list", "to_pylist"):
        if hasattr(column, name):
            return list(map(_plain, getattr(column, name)()))
    return list(map(_plain, column[:]))


def columns_of(table: Any, name: str) -> list[tuple[Any, Any]]:
    """The columns of a table with their names, in its order; messages call the table ``name``."""
    if not hasattr(table, "__len__"):
        raise InputError(f"{name} is a table that has not been read yet. Collect it first.")
    names = list(table.column_names if hasattr(table, "column_names") else table.columns)
    if hasattr(table, "iloc"):  # pandas, where two columns may have one name
        return [(each, table.iloc[:, place]) for place, each in enumerate(names)]
    return [(each, table[each]) for each in names]


def text_table(X: Any) -> tuple[Any, Any] | None:
    """The texts of a table, and their languages where it has such; None where X is no table of texts.

    A table is a frame with a column ``text``, a dict of columns whose ``text`` is a flat list of strings, or
    an array of two columns, text and language. One warning names the columns that are not read.

    >>> text_table({"text": ["a cat"], "language": ["en"]})
    (['a cat'], ['en'])
    >>> text_table({"en": ["a cat"], "it": ["un gatto"]})
    """
    if isinstance(X, np.ndarray):
        of_two = X.ndim == 2 and X.shape[1] == 2 and X.dtype.kind in "OUT" and len(X)
        return (X[:, 0].tolist(), X[:, 1].tolist()) if of_two and isinstance(X[0, 0], str) else None
    if isinstance(X, Mapping):
        columns = dict(X) if TEXT in X and _holds_only_texts(X[TEXT]) else {}
    else:
        columns = dict(columns_of(X, "X")) if is_table(X) else {}
    if TEXT not in columns or (len(columns) == 1 and not isinstance(X, Mapping)):
        return None
    ignored = [str(name) for name in columns if name not in (TEXT, LANGUAGE)]
    if ignored:
        warnings.warn(f"X: columns that are not read: {', '.join(ignored)}.", stacklevel=2)
    languages = columns.get(LANGUAGE)
    return as_documents(columns[TEXT]), None if languages is None else as_values(languages, "languages")


def _holds_only_texts(column: Any) -> bool:
    values = cells(column) if is_column(column) else column
    flat = isinstance(values, list | tuple) or (isinstance(values, np.ndarray) and values.ndim == 1)
    return flat and all(isinstance(value, str) for value in values)


def as_documents(X: Any) -> Any:
    """X, with a column of texts as a list; a table of numbers is a matrix and stays as it is.

    >>> as_documents(range(2))
    range(0, 2)
    """
    if is_table(X):
        columns = columns_of(X, "X")
        textual = [each for each in columns if _holds_texts(each[1])] if len(columns) > 1 else []
        if textual:
            raise InputError(f"{_several('X', columns)}. Give its texts, such as {_likely('X', textual)}.")
        column = columns[0][1] if len(columns) == 1 else None
    else:
        column = X if is_column(X) else None
    if column is None or _is_numeric(column):
        return X
    values = cells(column)
    is_texts = any(isinstance(value, str) for value in values) or all(value is None for value in values)
    return values if is_texts else X


def as_values(values: Any, name: str) -> Any:
    """What runs along documents, with a column or a table of one column as a list; else as it is."""
    if is_table(values):
        columns = columns_of(values, name)
        if len(columns) != 1:
            raise InputError(f"{_several(name, columns)}. Give one, such as {_likely(name, columns)}.")
        values = columns[0][1]
    return cells(values) if is_column(values) else values


@dataclass(frozen=True)
class OneHot:
    """A table with a column of 0 and 1 for each label: its labels, and which document has which."""

    labels: list[Any]
    matrix: npt.NDArray[np.bool_]

    def lists(self) -> list[list[Any]]:
        """The labels of each document."""
        return [[label for label, has in zip(self.labels, row, strict=True) if has] for row in self.matrix]

    def ordered(self, labels: Sequence[Any]) -> npt.NDArray[np.bool_]:
        """The matrix with its columns in another order."""
        return self.matrix[:, [self.labels.index(label) for label in labels]]


def one_hot(y: Any) -> OneHot | None:
    """Labels with a column of 0 and 1 each; None where y is no table, or its only column holds labels."""
    if not is_table(y):
        return None
    columns = columns_of(y, "y")
    rows = [(each, cells(column)) for each, column in columns]
    for each, values in rows:
        if any(value not in (None, 0, 1) for value in values):
            if len(columns) == 1:
                return None
            raise InputError(
                f"{_several('y', columns)}, and {each!r} holds more than 0 and 1. Give one column of labels, "
                f"such as {_likely('y', columns)}, or a column of 0 and 1 for each label."
            )
    if len(columns) == 1 and all(value is None for value in rows[0][1]):
        return None
    for each, values in rows:
        if None in values:
            raise InputError(
                f"y: document {values.index(None)} has nothing in column {each!r}. "
                "Give 0 or 1, or leave the document out."
            )
    labels = [each for each, _ in rows]
    if len(set(labels)) < len(labels):
        twice = next(label for label in labels if labels.count(label) > 1)
        raise InputError(f"y has several columns {twice!r}. Give each label one column.")
    return OneHot(labels, np.array([values for _, values in rows], dtype=bool).T)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return None if is_missing(value) else value


def _is_numeric(column: Any) -> bool:
    """Whether the type of a column, NumPy's or that of its library, says that it holds numbers."""
    dtype: Any = getattr(column, "dtype", None)
    if hasattr(dtype, "is_numeric"):
        return bool(dtype.is_numeric())
    return str(getattr(dtype, "kind", "O")) in "biufc"


def _holds_texts(column: Any) -> bool:
    return not _is_numeric(column) and any(isinstance(cell, str) for cell in cells(column))


def _several(name: str, columns: Sequence[tuple[Any, Any]]) -> str:
    names = [str(each) for each, _ in columns]
    more = ", …" if names[MAX_COLUMNS_SHOWN:] else ""
    return f"{name} is a table with the columns {', '.join(names[:MAX_COLUMNS_SHOWN])}{more}"


def _likely(name: str, columns: Sequence[tuple[Any, Any]]) -> str:
    """The column that is most likely meant, as Python takes it out of a table."""
    names = [each for each, _ in columns]
    beginnings = LIKELY.get(name, (name,))
    others = names[0] if name == "X" else names[-1]
    wanted = next((each for each in names if str(each).lower().startswith(beginnings)), others)
    return f'df["{wanted}"]' if isinstance(wanted, str) else f"df[{wanted!r}]"


NAME = "the frame"


def read_frame(frame: Any, layout: Layout) -> Iterator[Document]:
    """The documents of a frame; those without an id are named after their row, counted from 1.

    Of several frames under the names of splits, such as a dataset of Hugging Face has, documents get those.
    """
    if isinstance(frame, Mapping):
        frames = [FrameRows(each, str(split)) for split, each in frame.items()]
        return DocumentReader(frames, layout).documents(lambda split: f"{split}:")
    return DocumentReader([FrameRows(frame)], layout).documents()


class FrameRows:
    """The rows of a frame, as plain values of Python."""

    options = ()

    def __init__(self, frame: Any, split: str | None = None) -> None:
        if not is_table(frame):
            raise InputError(
                f"{type(frame).__name__} is no data frame. Give one of pandas or polars, or a dataset."
            )
        self.name = split or NAME
        self.found: list[str] = []
        self._columns = [(str(name), column) for name, column in columns_of(frame, self.name)]
        self._features = getattr(frame, "features", None) or {}
        names = [name for name, _ in self._columns]
        self._split = {} if split is None or "split" in names else {"split": split}
        self.columns: Sequence[str] = [*names, *self._split]

    def rows(self, wanted: Collection[str] | None = None) -> Iterator[tuple[int, dict[str, object]]]:
        """All rows, and of their columns those that are wanted."""
        chosen = [(name, column) for name, column in self._columns if wanted is None or name in wanted]
        names = [name for name, _ in chosen]
        values = [self._values(name, column) for name, column in chosen]
        for number, row in enumerate(zip(*values, strict=True), start=1):
            yield number, {**dict(zip(names, row, strict=True)), **self._split}

    def _values(self, name: str, column: Any) -> list[object]:
        """A column, with the names of classes in place of their numbers where a dataset has such."""
        feature = self._features.get(name)
        classes = getattr(feature, "names", None) or getattr(getattr(feature, "feature", None), "names", None)
        values = [_plain_value(cell) for cell in cells(column)]
        return [_named(value, classes) for value in values] if classes else values


def _named(value: Any, classes: Sequence[str]) -> object:
    """The name of a class, or those of several; a number below 0 stands for none that is known."""
    if isinstance(value, list):
        return [classes[number] for number in value]
    return classes[value] if value is not None and value >= 0 else None


def _plain_value(cell: Any) -> object:
    """A cell with its lists as lists, and numbers of NumPy as those of Python."""
    if isinstance(cell, set | frozenset):
        return sorted(cell, key=str)
    if isinstance(cell, tuple):
        return list(cell)
    for method in ("item", "to_list"):  # a number of NumPy, a Series of polars
        if hasattr(cell, method):
            return getattr(cell, method)()
    return cell
