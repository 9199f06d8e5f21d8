"""Count the files that documents pass, from a command to its answer: their texts, vectors and scores.

    python scripts/paths.py            # the files of train and of predict, and how many they are
    python scripts/paths.py --calls    # with the functions, too

A file counts if one of its functions is given documents: a list or a table of them, a matrix with a row for
each, or an object that holds such. Not counted are `runtime`, `matrices` and `errors`, which know nothing of
documents, and training past the fitted tree: what measures and saves it.
"""

import argparse
import contextlib
import dataclasses
import io
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
from scipy import sparse

import funnelling
from funnelling.commands import main as command
from funnelling.formats import Document, write_documents

SOURCE = Path(funnelling.__file__).parent
NOT_COUNTED = ("runtime/", "matrices.py", "errors.py")
DEPTH = 4  # objects within objects that are looked into
# Documents by language: primes, so that no other table has as many rows, and others to train than to predict.
SIZES = {"train": {"en": 41, "it": 43}, "predict": {"en": 59, "it": 61}}
WORDS = {"en": ("loan bank rate", "game ball team"), "it": ("prestito banca tasso", "gioco palla squadra")}
END_OF_TRAINING = "state.py:freeze"  # gets the fitted tree; what follows stores, measures and saves it


def holds_documents(value: Any, rows: set[int], depth: int = DEPTH) -> bool:
    """Whether a value has something of each document, in one of so many ``rows``."""
    if isinstance(value, np.ndarray) or sparse.issparse(value):
        return value.ndim > 0 and value.shape[0] in rows
    if isinstance(value, list | tuple):
        return len(value) in rows and isinstance(value[0], str | Document | dict | np.ndarray)
    if depth == 0:
        return False
    if isinstance(value, Mapping):
        return any(holds_documents(each, rows, depth - 1) for each in list(value.values())[:8])
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        inner = [getattr(value, field.name, None) for field in dataclasses.fields(value)]
        return any(holds_documents(each, rows, depth - 1) for each in inner)
    return False


class Passed:
    """The functions that documents come to while a command runs, by file, in their order."""

    def __init__(self, what: str, until: str = "") -> None:
        self.files: dict[str, list[str]] = {}
        sizes = SIZES[what].values()
        self._rows = {*sizes, sum(sizes)}
        self._until = until
        self._over = False

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        path = Path(code.co_filename)
        if self._over or event != "call" or not path.is_relative_to(SOURCE) or code.co_name.startswith("<"):
            return
        name = path.relative_to(SOURCE).as_posix()
        if f"{name}:{code.co_name}" == self._until:
            self._over = True
            return
        arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        if not name.startswith(NOT_COUNTED) and any(
            holds_documents(frame.f_locals.get(each), self._rows)
            for each in arguments
            if each not in ("self", "cls")
        ):
            calls = self.files.setdefault(name, [])
            if code.co_qualname not in calls:
                calls.append(code.co_qualname)


@contextlib.contextmanager
def traced(passed: Passed) -> Iterator[None]:
    sys.settrace(passed)
    try:
        yield
    finally:
        sys.settrace(None)


def run(*words: object) -> None:
    """Run a command here, on one thread."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
        if command(list(map(str, words))):
            raise SystemExit(said.getvalue())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", action="store_true", help="name the functions, too")
    parser.add_argument("--method", default="fun-tat", help="what is trained (fun-tat)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model"
        data = {what: Path(folder) / f"{what}.jsonl" for what in SIZES}
        for what, sizes in SIZES.items():
            documents = [
                Document(f"{tag}{i}", f"{WORDS[tag][i % 2]} {i % 7}", tag, (("money", "sport")[i % 2],))
                for tag, size in sizes.items()
                for i in range(size)
            ]
            write_documents(data[what], documents)
        passed = {"train": Passed("train", END_OF_TRAINING), "predict": Passed("predict")}
        options = ("--method", given.method, "--several-labels", "--jobs", 1, "--no-measure")
        with traced(passed["train"]):
            run("train", data["train"], "-o", model, *options)
        with traced(passed["predict"]):
            run("predict", model, data["predict"], "-o", Path(folder) / "out.jsonl")
    for name, each in passed.items():
        print(f"{name}: {len(each.files)} files")
        for file, calls in each.files.items():
            print(f"  {file}" + (f"  {', '.join(calls)}" if given.calls else ""))


if __name__ == "__main__":
    main()
