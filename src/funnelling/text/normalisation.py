"""Unicode's normal forms, in time that grows with the text and no faster."""

import re
import unicodedata
from functools import cache
from typing import Literal

MOST_MARKS = 30  # on one letter; no script stacks more

_MAYBE_MARK = r"[^\w\x00-\xbf\u2000-\u206f\u3000-\u3029]"  # all marks, and some signs
_maybe_mark = re.compile(_MAYBE_MARK)
_maybe_pile = re.compile(f"{_MAYBE_MARK}{_MAYBE_MARK}{{{MOST_MARKS},}}")


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
    if _maybe_mark.search(text[:: MOST_MARKS + 1]):
        text = _maybe_pile.sub(lambda run: _pile().sub(r"\1", run[0]), text)
    return unicodedata.normalize(form, text)


def compatible(character: str) -> str:
    r"""What a character stands for, however it is typeset: its NFKC.

    >>> compatible("ﬁ"), compatible("\uff9e") == "\u3099"
    ('fi', True)
    """
    return unicodedata.normalize("NFKC", character)


@cache
def _pile() -> re.Pattern[str]:
    """Marks beyond those that a letter may have."""
    codes = (*range(0x20000), *range(0xE0000, 0xE0200))  # no others are marks
    marks = "".join(mark for mark in map(chr, codes) if unicodedata.category(mark)[0] == "M")
    return re.compile(f"([{marks}][{marks}]{{{MOST_MARKS - 1}}})[{marks}]+")
