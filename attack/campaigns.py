"""The campaigns, by name."""

from pathlib import Path
from typing import NamedTuple

from attack.bounded import Bounded
from attack.campaign import Campaign, create


class Entry(NamedTuple):
    """Where a campaign is defined, its share of the time, and the limits of children that it runs in."""

    path: str
    share: float
    seconds: float | None = None  # for one attack; None: it starts and watches processes of its own
    memory: int = 2**30  # bytes beyond what is there before the first attack


CAMPAIGNS = {
    "models": Entry("attack.models:Models", 1.5, 15.0),
    "files": Entry("attack.files:Files", 1.0, 60.0),
    "signals": Entry("attack.signals:Signals", 2.0),
    "writers": Entry("attack.writers:Writers", 1.5),
    "requests": Entry("attack.requests:Requests", 2.0),
    "texts": Entry("attack.texts:Texts", 1.0, 40.0),
    "vectors": Entry("attack.vectors:Vectors", 0.7, 10.0),
}


def begin(name: str, seed: int, home: Path) -> Campaign:
    """A campaign that may begin, in children where it needs bounds; what it keeps is in a folder."""
    entry = CAMPAIGNS[name]
    if entry.seconds is None:
        return create(entry.path, home)
    return Bounded(entry.path, seed, home, entry.seconds, entry.memory)
