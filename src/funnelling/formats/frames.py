"""Data frames of pandas and polars, tables of Arrow and datasets of Hugging Face, as rows of documents."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from funnelling.errors import InputError
from funnelling.formats.document import Document
from funnelling.formats.layout import Layout
from funnelling.formats.reader import DocumentReader
from funnelling.frames import cells, columns_of, is_table

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
        values = [_plain(cell) for cell in cells(column)]
        return [_named(value, classes) for value in values] if classes else values


def _named(value: Any, classes: Sequence[str]) -> object:
    """The name of a class, or those of several; a number below 0 stands for none that is known."""
    if isinstance(value, list):
        return [classes[number] for number in value]
    return classes[value] if value is not None and value >= 0 else None


def _plain(cell: Any) -> object:
    """A cell with its lists as lists, and numbers of NumPy as those of Python."""
    if isinstance(cell, set | frozenset):
        return sorted(cell, key=str)
    if isinstance(cell, tuple):
        return list(cell)
    for method in ("item", "to_list"):  # a number of NumPy, a Series of polars
        if hasattr(cell, method):
            return getattr(cell, method)()
    return cell
