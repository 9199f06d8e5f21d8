"""Bugs that can be planted, each of which the campaigns have to find: a protection taken away.

The name of one in the environment plants it in every process that a campaign starts.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

PLANT = "FUNNELLING_ATTACK_PLANT"  # the bug that processes are started with


def plant() -> None:
    """Plant the bug that the environment names, in this process."""
    if name := os.environ.get(PLANT):
        PLANTS[name]()


def _no_lock() -> None:
    """Who writes does not wait for others that write to the same folder."""
    from funnelling.runtime import alone

    vars(alone)["fcntl"] = SimpleNamespace(flock=lambda *_: None, LOCK_EX=0, LOCK_NB=0)


def _no_bound_on_heads() -> None:
    """The head of a request may have any length."""
    from funnelling.serving import protocol

    vars(protocol)["MAX_HEAD_BYTES"] = 2**40


def _no_bound_on_lines() -> None:
    """A line of a file may have any length."""
    from funnelling.formats import files

    vars(files)["MAX_LINE_BYTES"] = 2**40
    vars(files)["_MAX_COMPRESSION_RATIO"] = 2**40


def _no_check_of_places() -> None:
    """A sparse matrix is taken with entries outside it."""
    from funnelling import matrices
    from funnelling.methods import inputs

    for module in (matrices, inputs):
        vars(module)["check_places"] = lambda *_: None


def _traceback() -> None:
    """What goes wrong with a folder's content is not taken for damage."""
    from funnelling.storage import folders

    @contextmanager
    def passing(_folder: Any) -> Iterator[None]:
        yield

    vars(folders)["report_damage"] = passing


def _half_write() -> None:
    """Files are written where they belong, without a draft."""
    from funnelling.formats import files

    @contextmanager
    def writing_in_place(name: str, _force: bool) -> Iterator[Any]:
        with open(name, "wb", buffering=0) as stream:
            yield stream

    vars(files)["_drafting"] = writing_in_place


def _quadratic() -> None:
    """Piles of marks are not cut before they are normalised."""
    import re

    from funnelling.text import alignment

    vars(alignment)["_maybe_pile"] = re.compile(r"(?!)")


def _trust() -> None:
    """A model folder may hold what is not ours."""
    from funnelling.storage import trees

    stands_for, classes, kinds = trees._stands_for, trees._classes, trees.field_kinds
    vars(trees).update(
        _stands_for=lambda tree, mark, *more: mark == "FileIO" or stands_for(tree, mark, *more),
        _classes=lambda kind: {**classes(kind), "FileIO": "io.FileIO"},
        field_kinds=lambda kind: {"file": str, "mode": str} if kind.__name__ == "FileIO" else kinds(kind),
    )


def _trust_estimators() -> None:
    """An estimator may hold whatever its file names."""
    from skops.io import get_untrusted_types, loads

    from funnelling.storage import trees

    vars(trees)["from_bytes"] = lambda content: loads(content, trusted=get_untrusted_types(data=content))


PLANTS: dict[str, Callable[[], None]] = {
    "no-lock": _no_lock,
    "no-bound": _no_bound_on_heads,
    "no-bound-on-lines": _no_bound_on_lines,
    "no-check-of-places": _no_check_of_places,
    "traceback": _traceback,
    "half-write": _half_write,
    "quadratic": _quadratic,
    "trust": _trust,
    "trust-estimators": _trust_estimators,
}
