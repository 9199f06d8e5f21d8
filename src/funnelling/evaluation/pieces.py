"""Results kept as they are found, so that interrupted work goes on where it stopped."""

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from funnelling.corpus import Corpus
from funnelling.evaluation.splits import Trial
from funnelling.formats.files import writing

FOLDER = "pieces"

Result = dict[str, Any]


class Pieces:
    """Independent parts of a longer work, each a file below ``folder``; without a folder none is kept.

    A piece is found again under its name and its key: all that its result depends on. The version of
    the package is part of every key.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = None if folder is None else folder / FOLDER

    def get(self, name: str, key: Any, make: Callable[[], Result]) -> Result:
        """The result that is kept, or else a new one."""
        if self._folder is None:
            return make()
        path = self._folder / f"{name}-{digest([key, version('funnelling')])[:16]}.json"
        with suppress(OSError, ValueError):  # a piece that is missing or cannot be read is made anew
            kept: Result = json.loads(path.read_text(encoding="utf-8"))
            return kept
        result = make()
        path.parent.mkdir(parents=True, exist_ok=True)
        with writing(path, force=True) as stream:
            json.dump(result, stream)
        return result


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
