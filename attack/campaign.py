"""What all campaigns share: a round of attack, and what may come of it."""

import os
import random
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import Protocol

from funnelling.errors import InputError

WELL = ("refused", "answered")
FOUND = ("lost", "hung", "over memory", "let in", "traceback", "died")  # none of which may be
ANNOUNCED = "case.txt"


@dataclass(frozen=True)
class Outcome:
    """What came of an attack: the ``kind``, ``what`` was tried, and what was said."""

    kind: str
    what: str
    said: str = ""

    @property
    def is_found(self) -> bool:
        return self.kind in FOUND


@dataclass(frozen=True)
class Round:
    """One attack: its number, which with the seed of the run gives all that it draws, and a folder for it."""

    number: int
    seed: int
    folder: Path

    def draw(self, campaign: str) -> random.Random:
        return random.Random(f"{self.seed} {campaign} {self.number}")

    def announce(self, what: str) -> None:
        """Say what is tried, for whoever finds the process that tried it dead."""
        (self.folder / ANNOUNCED).write_text(what, encoding="utf-8")


class Campaign(Protocol):
    """Attacks of one kind. Each kind of case comes up in turn, so that few rounds try all."""

    def attempt(self, turn: Round) -> Outcome:
        """Attack once."""

    def close(self) -> None:
        """End what was started for the attacks."""


def create(path: str, home: Path) -> Campaign:
    """A campaign in this process, by the path of its class, such as "attack.models:Models"."""
    campaign: Campaign = resolve_name(path)(home)
    return campaign


def judged(what: str, call: Callable[[], object], checks: Sequence[str] = ()) -> Outcome:
    """Call the library: it may answer, or refuse in one line; functions that are ``checks``, by any error."""
    try:
        call()
    except InputError as error:
        return Outcome("refused", what, str(error))
    except MemoryError:
        return Outcome("over memory", what, traceback.format_exc())
    except Exception as error:
        if any(frame.name in checks for frame in traceback.extract_tb(error.__traceback__)):
            return Outcome("refused", what, str(error))
        return Outcome("traceback", what, traceback.format_exc())
    return Outcome("answered", what)


def command(*arguments: object) -> list[str]:
    """A command of funnelling, with the bug that is planted."""
    return [sys.executable, "-m", "attack.planted", *map(str, arguments)]


def environment() -> dict[str, str]:
    """What processes are started with: our folder to import from, wherever they run, and one thread each.

    Arrow would take a gigabyte of addresses in advance, and our children have not many.
    """
    paths = [str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        "FUNNELLING_DEBUG": "1",
        "PYTHONPATH": os.pathsep.join(paths),
    }


def judged_command(what: str, status: int, said: str) -> Outcome:
    """What a command that ended by itself came to: success, or one line and status 2 or 3."""
    if status < 0:
        return Outcome("died", what, f"signal {-status}\n{said}")
    if "Traceback (most recent call last)" in said or status not in (0, 2, 3):
        return Outcome("traceback", what, f"status {status}\n{said}")
    if "out of memory" in said:
        return Outcome("over memory", what, said)
    return Outcome("refused" if status else "answered", what, said)
