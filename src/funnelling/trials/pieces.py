"""Results kept as they are found, so that interrupted work goes on where it stopped."""

import hashlib
import json
import time
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from funnelling.corpus import Corpus
from funnelling.formats.files import writing
from funnelling.trials.splits import Trial

FOLDER = "pieces"
LONGEST_NAME = 100  # of a piece; language tags are part of some, and may be long

Result = dict[str, Any]


class Pieces:
    """Independent parts of a longer work, each a file below ``folder``; without a folder none is kept.

    A piece is found again under its name and its key: all that its result depends on. The version of
    the package is part of every key. How long it took is kept too.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = None if folder is None else folder / FOLDER
        self._seconds: dict[str, float] = {}

    @property
    def seconds(self) -> float:
        """How long all pieces took that were asked for, whenever they were made."""
        return sum(self._seconds.values())

    def get(self, name: str, key: Any, make: Callable[[], Result]) -> Result:
        """The result that is kept, or else a new one."""
        short = name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}-{digest(name)[:16]}"
        file_name = f"{short}-{digest([key, version('funnelling')])[:16]}.json"
        piece = self._kept(file_name) or self._made(file_name, make)
        self._seconds[file_name] = piece["seconds"]
        result: Result = piece["result"]
        return result

    def _kept(self, file_name: str) -> Result | None:
        """None for a piece that is missing or cannot be read."""
        if self._folder is not None:
            with suppress(OSError, ValueError):
                piece: Result = json.loads((self._folder / file_name).read_text(encoding="utf-8"))
                if piece.keys() == {"seconds", "result"}:
                    return piece
        return None

    def _made(self, file_name: str, make: Callable[[], Result]) -> Result:
        start = time.perf_counter()
        result = make()
        piece = {"seconds": time.perf_counter() - start, "result": result}
        if self._folder is not None:
            self._folder.mkdir(parents=True, exist_ok=True)
            with writing(self._folder / file_name, force=True) as stream:
                json.dump(piece, stream)
        return piece


def digest(value: Any) -> str:
    """What tells a value of JSON from others."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def trial_digest(trial: Trial) -> str:
    """What tells a trial from others: all of its documents."""
    mark = hashlib.sha256()
    for side in trial:
        mark.update(corpus_digest(side).encode())
    return mark.hexdigest()


def corpus_digest(corpus: Corpus) -> str:
    """What tells documents from others."""
    mark = hashlib.sha256()
    for document in corpus:
        mark.update(repr(document).encode("utf-8", "surrogatepass"))
    return mark.hexdigest()
