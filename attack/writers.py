"""Processes that write to one model folder and read from it at once, some of them killed."""

import traceback
from pathlib import Path

from attack.campaign import Outcome, Round
from attack.plants import plant
from tests.storage.contention import contend

TURNS = 12  # of all processes in a round


class Writers:
    """Lets two to four writers and readers contend for a folder that is there, or is not yet."""

    def __init__(self, home: Path) -> None:
        pass

    def attempt(self, turn: Round) -> Outcome:
        draw = turn.draw("writers")
        writers, readers, fresh = draw.randint(2, 4), draw.randint(1, 2), turn.number % 2 == 1
        what = f"{writers} writers, {readers} readers, {'no model' if fresh else 'a model'} before"
        try:
            counts = contend(
                turn.folder / "models",
                TURNS,
                writers,
                0 if fresh else readers,
                draw.getrandbits(32),
                killed=draw.choice((0.0, 0.3)),
                fresh=fresh,
                prepare=plant,
            )
        except AssertionError:
            return Outcome("lost", what, traceback.format_exc())
        return Outcome("answered", what, str(dict(counts)))

    def close(self) -> None:
        pass
