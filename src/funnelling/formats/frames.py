"""Data frames of pandas and polars, tables of Arrow and datasets of Hugging Face, as rows of documents.

None of these libraries is needed: a frame is whatever has columns that can be taken by name.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from funnelling.errors import InputError
from funnelling.formats.document import Document
from funnelling.formats.layout import Layout
from funnelling.formats.reader import DocumentReader

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

    def __init__(self, frame: Any, split: str | None = None) -> None:
        self.name = split or NAME
        self.found: list[str] = []
        names = getattr(frame, "column_names", None) or getattr(frame, "columns", None)
        if names is None or callable(names) or not hasattr(frame, "__getitem__"):
            raise InputError(
                f"{type(frame).__name__} is no data frame. Give one of pandas or polars, or a dataset."
            )
        self.columns: Sequence[str] = [str(name) for name in names]
        self._names = dict(zip(self.columns, names, strict=True))
        self._frame = frame
        self._split = {} if split is None or "split" in self.columns else {"split": split}
        self.columns = [*self.columns, *self._split]

    def rows(self, wanted: Collection[str] | None = None) -> Iterator[tuple[int, dict[str, object]]]:
        """All rows, and of their columns those that are wanted."""
        names = [name for name in self._names if wanted is None or name in wanted]
        columns = [self._values(self._names[name]) for name in names]
        for number, row in enumerate(zip(*columns, strict=True), start=1):
            yield number, {**dict(zip(names, row, strict=True)), **self._split}

    def _values(self, name: Any) -> list[object]:
        """A column, with the names of classes in place of their numbers where a dataset has such."""
        values = _plain_list(self._frame[name])
        feature = getattr(self._frame, "features", None)
        classes = getattr(feature[name], "names", None) if isinstance(feature, dict) else None
        if classes:
            values = [_class_name(value, classes) for value in values]
        return [_plain(value) for value in values]


def _plain_list(column: Any) -> list[Any]:
    for method in ("to_list", "to_pylist", "tolist"):
        if hasattr(column, method):
            return list(getattr(column, method)())
    return list(column)


def _class_name(value: Any, classes: Sequence[str]) -> object:
    """The name of a class; a number below 0 stands for none that is known."""
    return classes[value] if isinstance(value, int) and value >= 0 else None


def _plain(value: Any) -> object:
    """A value of Python: arrays and sets as lists, those of NumPy as plain ones, None for what is missing."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return None if value != value else value
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if hasattr(value, "tolist"):  # arrays and numbers of NumPy
        return _plain(value.tolist())
    if hasattr(value, "to_list"):  # a Series of polars in a cell
        return _plain(value.to_list())
    return None if type(value).__name__ in ("NAType", "NaTType") else value
