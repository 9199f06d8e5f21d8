"""The part of a long text that is worth showing."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

GAP = "…"
BEGINNING_CHARACTERS = 200  # characters that are kept of a text
LONG_WORD = 40  # characters; one that is longer may be cut in two


def telling_part(text: str, passages: Sequence[Sequence[float]], longest: int) -> tuple[int, int]:
    """Where the part of a text begins and ends that spoke most, for or against; a short text is whole.

    >>> text = "one " * 200 + "loan game"
    >>> start, end = telling_part(text, [(0, 3, 0.1), (800, 804, 2.0), (805, 809, -0.3)], longest=40)
    >>> text[start:end]
    'one one one one one one one loan game'
    """
    if len(text) <= longest:
        return 0, len(text)
    if not passages:
        return _at_blanks(text, 0, longest)
    starts, ends, weights = (np.array(column) for column in zip(*passages, strict=True))
    sums = np.concatenate([[0.0], np.cumsum(np.abs(weights))])
    last = np.searchsorted(ends, starts + longest, side="right")  # the passages that fit behind each start
    best = int(np.argmax(sums[last] - sums[:-1]))
    left, right = int(starts[best]), int(ends[max(last[best] - 1, best)])
    start = max(0, min(left - (longest - (right - left)) // 2, len(text) - longest))
    return _at_blanks(text, start, start + longest)


def start_within(text: str, most: int) -> str:
    """As much of a text as has at most so many bytes of UTF-8, from its beginning.

    >>> start_within("naïve", 3), start_within("naïve", 4), start_within("naïve", 10)
    ('na', 'naï', 'naïve')
    """
    codes = np.frombuffer(text[:most].encode("utf-32-le", "surrogatepass"), "<u4")
    sizes = 1 + (codes > 0x7F) + (codes > 0x7FF) + (codes > 0xFFFF)
    return text[: int(np.searchsorted(np.cumsum(sizes), most, side="right"))]


def cut_out(text: str, start: int, end: int) -> tuple[str, int]:
    """A part of a text, with ellipses where the text goes on, and how far that moves its places.

    >>> cut_out("nothing at all but tea", 15, 22)
    ('… but tea', -13)
    """
    before, after = f"{GAP} " if start > 0 else "", f" {GAP}" if end < len(text) else ""
    return before + text[start:end] + after, len(before) - start


def _at_blanks(text: str, start: int, end: int) -> tuple[int, int]:
    """A part of a text without the words that it would cut in two at its ends, unless they are long ones."""
    if start > 0 and not text[start - 1].isspace():
        places = range(start, min(start + LONG_WORD, end))
        start = next((place + 1 for place in places if text[place].isspace()), start)
    if end < len(text) and not text[end].isspace():
        places = range(end, max(end - LONG_WORD, start), -1)
        end = next((place for place in places if text[place].isspace()), end)
    return start, end


def beginning(text: str) -> str:
    """The beginning of a text on one line, with an ellipsis where the text goes on.

    >>> beginning("A short\\n text"), len(beginning("word " * 100)) <= BEGINNING_CHARACTERS
    ('A short text', True)
    """
    line = " ".join(text[: 2 * BEGINNING_CHARACTERS].split())
    whole = len(line) <= BEGINNING_CHARACTERS and len(text) <= 2 * BEGINNING_CHARACTERS
    return line if whole else line[: BEGINNING_CHARACTERS - 2].rstrip() + " …"


def amounts_by_word(text: str, passages: Sequence[Sequence[float]]) -> list[tuple[str, float]]:
    """What each word of a text added, all its occurrences together, as it is first written."""
    amounts: dict[str, float] = defaultdict(float)
    written: dict[str, str] = {}
    for start, end, amount in passages:
        word = text[int(start) : int(end)]
        written.setdefault(word.casefold(), word)
        amounts[word.casefold()] += amount
    return [(written[word], amount) for word, amount in amounts.items()]
