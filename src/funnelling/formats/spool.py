"""Rows that are set aside until all their columns are known: in memory while they are few, else on disk."""

import pickle
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from tempfile import SpooledTemporaryFile
from types import TracebackType
from typing import Self

from funnelling.runtime.progress import Advance, quietly

_ROWS_PER_BATCH = 1_000
_MOST_IN_MEMORY = 8 * 2**20  # bytes

Row = Mapping[str, object]


class Spool:
    """Rows that can be read again and again, and the columns that occur in them.

    >>> with Spool([{"a": 1}, {"b": 2, "a": 3}]) as rows:
    ...     print(rows.columns, len(rows), list(rows))
    ['a', 'b'] 2 [{'a': 1}, {'b': 2, 'a': 3}]
    """

    def __init__(self, rows: Iterable[Row], folder: str | None = None) -> None:
        # Nobody else can write to this file: it is the only one that is unpickled, and it has no name.
        self._file = SpooledTemporaryFile(_MOST_IN_MEMORY, dir=folder)  # noqa: SIM115
        self._batches = self._rows = 0
        self.advance: Advance = quietly  # is told of rows that are read again
        seen: dict[str, None] = {}
        try:
            for batch in _batches(rows):
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


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    remaining = iter(rows)
    while batch := list(islice(remaining, _ROWS_PER_BATCH)):
        yield batch
