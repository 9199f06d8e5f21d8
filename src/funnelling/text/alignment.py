"""Where in a text the characters of another spelling come from, and Unicode's normal forms in linear time."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from funnelling.runtime.threads import raise_if_cancelled

Spelling = Callable[[str], str]

MAX_CLUSTER_CHARACTERS = 64  # characters that are spelled as one; no script has so many
CHARACTERS_PER_BLOCK = 32  # characters that are first tried together
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
    each = _one_by_one(text, spell)
    if int(each.sum()) != len(spelled):  # some characters are spelled as one
        return _by_chunk(text, spelled, each, spell)
    starts = np.flatnonzero(each)
    ends = np.append(starts, len(text))[1:]  # what is spelled as nothing belongs to what is before it
    sizes = each[starts]
    return Alignment(spelled, starts.repeat(sizes), ends[: len(starts)].repeat(sizes))


def _one_by_one(text: str, spell: Spelling) -> npt.NDArray[np.intp]:
    """How many characters each character is spelled with, on its own."""
    letters = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    codes, numbers = np.unique(letters, return_inverse=True)
    sizes = np.array([len(spell(chr(code))) for code in codes.tolist()], dtype=np.intp)
    return sizes[numbers]


def _by_chunk(text: str, spelled: str, each: npt.NDArray[np.intp], spell: Spelling) -> Alignment:
    starts: list[int] = []
    ends: list[int] = []
    known: dict[str, list[tuple[int, int, int]]] = {}
    size_of = cache(lambda piece: len(spell(piece)))
    for found in _chunk.finditer(text):
        chunk, before = found[0], found.start()
        if chunk not in known:
            raise_if_cancelled()
            known[chunk] = _clusters(chunk, each[before : found.end()].tolist(), size_of)
        for start, end, size in known[chunk]:
            starts += [before + start] * size
            ends += [before + end] * size
    if len(starts) != len(spelled):
        starts, ends = [0] * len(spelled), [len(text)] * len(spelled)
    return Alignment(spelled, np.array(starts, dtype=np.intp), np.array(ends, dtype=np.intp))


def _clusters(chunk: str, sizes: Sequence[int], size_of: Callable[[str], int]) -> list[tuple[int, int, int]]:
    """Pieces of a chunk that are spelled apart from each other: start, end, and how many characters it takes.

    They cover the chunk: what is spelled as nothing belongs to what is before it, or else to what follows.
    """
    expected = size_of(chunk)
    cut = [(i, i + 1, size) for i, size in enumerate(sizes)]
    if sum(sizes) != expected:
        cut = _joined(chunk, sizes, size_of)
    if sum(size for *_, size in cut) != expected:
        return [(0, len(chunk), expected)]
    clusters: list[tuple[int, int, int]] = []
    for start, end, size in cut:
        if clusters and not (size and clusters[-1][2]):
            clusters[-1] = (clusters[-1][0], end, clusters[-1][2] + size)
        else:
            clusters.append((start, end, size))
    return clusters


def _joined(chunk: str, sizes: Sequence[int], size_of: Callable[[str], int]) -> list[tuple[int, int, int]]:
    """Characters that are spelled otherwise together than apart, as one piece: a letter and its accent.

    None where that would be more than any script has.
    """
    pieces = []
    start, size = 0, sizes[0]
    # How far each character is known to be spelled on its own, and how far that was tried.
    apart = untried = 1
    for i in range(1, len(chunk)):
        if i >= untried and start == i - 1:
            untried = i + CHARACTERS_PER_BLOCK
            if size_of(chunk[start:untried]) == sum(sizes[start:untried]):
                apart = untried
        together = size + sizes[i] if i < apart else size_of(chunk[start : i + 1])
        if together == size + sizes[i]:
            pieces.append((start, i, size))
            start, together = i, sizes[i]
        elif i - start >= MAX_CLUSTER_CHARACTERS:
            return []
        size = together
    return [*pieces, (start, len(chunk), size)]


MAX_MARKS = 30  # on one letter; no script stacks more

_MAYBE_MARK = r"[^\w\x00-\xbf\u2000-\u206f\u3000-\u3029]"  # all marks, and some signs
_maybe_mark = re.compile(_MAYBE_MARK)
_maybe_pile = re.compile(f"{_MAYBE_MARK}{{{MAX_MARKS + 1}}}")
_CODES = 0x110000


def normalised(form: Literal["NFC", "NFD"], text: str) -> str:
    r"""A text in a normal form, without the marks beyond the thirtieth on one letter.

    Python puts the marks on a letter into their order by insertion, which takes quadratic time and never
    lets another thread run; so all text is normalised here.

    >>> normalised("NFC", "e\u0301"), len(normalised("NFC", "x" + "\u0300\u0316" * 10**6))
    ('é', 31)
    """
    if text.isascii():
        return text
    # Of a run that is too long, one in every so many characters is a mark: most texts are told by a glance.
    if _maybe_mark.search(text[:: MAX_MARKS + 1]) and _maybe_pile.search(text):
        text = _without_piles(text)
    return unicodedata.normalize(form, text)


def compatible(character: str) -> str:
    r"""What a character stands for, however it is typeset: its NFKC.

    >>> compatible("ﬁ"), compatible("\uff9e") == "\u3099"
    ('fi', True)
    """
    return unicodedata.normalize("NFKC", character)


def _without_piles(text: str) -> str:
    """A text without the marks beyond those that a letter may have."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    places = np.arange(len(codes))
    letters = np.maximum.accumulate(np.where(_marks()[codes], -1, places))  # the last one up to each place
    kept: bytes = codes[places - letters <= MAX_MARKS].tobytes()
    return kept.decode("utf-32-le", "surrogatepass")


@cache
def _marks() -> npt.NDArray[np.bool_]:
    """Which code points are marks."""
    marks = np.zeros(_CODES, dtype=bool)
    codes = (*range(0x20000), *range(0xE0000, 0xE0200))  # no others are
    marks[list(codes)] = [unicodedata.category(chr(code))[0] == "M" for code in codes]
    return marks
