"""Unicode's normal forms, in time that grows with the text and no faster."""

import re
import unicodedata
from functools import cache
from typing import Literal

import numpy as np
import numpy.typing as npt

MOST_MARKS = 30  # on one letter; no script stacks more

_MAYBE_MARK = r"[^\w\x00-\xbf\u2000-\u206f\u3000-\u3029]"  # all marks, and some signs
_maybe_mark = re.compile(_MAYBE_MARK)
_maybe_pile = re.compile(f"{_MAYBE_MARK}{{{MOST_MARKS + 1}}}")
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
    if _maybe_mark.search(text[:: MOST_MARKS + 1]) and _maybe_pile.search(text):
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
    kept: bytes = codes[places - letters <= MOST_MARKS].tobytes()
    return kept.decode("utf-32-le", "surrogatepass")


@cache
def _marks() -> npt.NDArray[np.bool_]:
    """Which code points are marks."""
    marks = np.zeros(_CODES, dtype=bool)
    codes = (*range(0x20000), *range(0xE0000, 0xE0200))  # no others are
    marks[list(codes)] = [unicodedata.category(chr(code))[0] == "M" for code in codes]
    return marks
