"""What holds for the whole process while anybody needs it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

Undo = Callable[[], object]


class Together:
    """A context that many may be in at once: the first to enter sets something, the last to leave undoes it.

    ``begin`` sets it and returns what undoes that. Were each to undo its own, one that leaves would undo it
    for those that are still in it.
    """

    def __init__(self, begin: Callable[[], Undo]) -> None:
        self._begin = begin
        self._lock = Lock()
        self._inside = 0
        self._undo: Undo | None = None

    @contextmanager
    def __call__(self) -> Iterator[None]:
        with self._lock:
            if self._undo is None:
                self._undo = self._begin()
            self._inside += 1
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if not self._inside:
                    undo, self._undo = self._undo, None
                    undo()
