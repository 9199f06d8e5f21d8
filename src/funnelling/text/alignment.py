"""Where in a text the characters of another spelling come from: lower case, without accents, in Latin."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Spelling = Callable[[str], str]

LONGEST_CLUSTER = 64  # characters that are spelled as one; no script has so many
_chunk = re.compile(r"\s+|\S+")


class Alignment(NamedTuple):
    """A text in another spelling: each character comes from ``starts`` to ``ends`` of the text as given."""

    text: str
    starts: npt.NDArray[np.intp]
    ends: npt.NDArray[np.intp]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where the characters from start to end, one or more, stand in the text as given."""
        return int(self.starts[start]), int(self.ends[end - 1])


def aligned(text: str, spell: Spelling) -> Alignment:
    """Spell a text in another way, and say where each character comes from.

    ``spell`` must leave blanks where they are, and what is between them must not depend on what is beyond.

    >>> aligned("so\\u00adft Cafe\\u0301", lambda text: text.replace("\\u00ad", "").upper()).span(0, 4)
    (0, 5)
    """
    spelled = spell(text)
    if text.isascii() and len(spelled) == len(text):
        places = np.arange(len(text))
        return Alignment(spelled, places, places + 1)
    sizes = _Sizes(spell)
    starts: list[int] = []
    ends: list[int] = []
    for chunk in _chunk.finditer(text):
        for start, end, size in _clusters(chunk[0], spell, sizes):
            starts += [chunk.start() + start] * size
            ends += [chunk.start() + end] * size
    if len(starts) != len(spelled):
        starts, ends = [0] * len(spelled), [len(text)] * len(spelled)
    return Alignment(spelled, np.array(starts, dtype=np.intp), np.array(ends, dtype=np.intp))


class _Sizes(dict[str, int]):
    """How many characters each character is spelled with."""

    def __init__(self, spell: Spelling) -> None:
        super().__init__()
        self._spell = spell

    def __missing__(self, character: str) -> int:
        self[character] = len(self._spell(character))
        return self[character]


def _clusters(chunk: str, spell: Spelling, sizes: _Sizes) -> list[tuple[int, int, int]]:
    """Pieces of a chunk that are spelled apart from each other: start, end, and how many characters it takes.

    They cover the chunk: what is spelled as nothing belongs to what is before it, or else to what follows.
    """
    expected = len(spell(chunk))
    cut = [(i, i + 1, sizes[character]) for i, character in enumerate(chunk)]
    if sum(size for *_, size in cut) != expected:
        cut = list(_joined(chunk, spell, sizes))
    if sum(size for *_, size in cut) != expected:
        cut = [(0, len(chunk), expected)]
    clusters: list[tuple[int, int, int]] = []
    for start, end, size in cut:
        if clusters and not size:
            clusters[-1] = (clusters[-1][0], end, clusters[-1][2])
        elif clusters and not clusters[-1][2]:
            clusters[-1] = (clusters[-1][0], end, size)
        else:
            clusters.append((start, end, size))
    return clusters


def _joined(chunk: str, spell: Spelling, sizes: _Sizes) -> Iterator[tuple[int, int, int]]:
    """Characters that are spelled otherwise together than apart, as one piece: a letter and its accent."""
    start, size = 0, sizes[chunk[0]]
    for i, character in enumerate(chunk[1:], start=1):
        together = len(spell(chunk[start : i + 1]))
        if together == size + sizes[character] or i - start >= LONGEST_CLUSTER:
            yield start, i, size
            start, together = i, sizes[character]
        size = together
    yield start, len(chunk), size
