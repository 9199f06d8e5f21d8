"""Language tags: one spelling for each, and the language behind a regional variant."""

import re
from collections.abc import Collection
from functools import lru_cache

from funnelling.errors import InputError

_TAG = re.compile(r"[a-z]{2,8}(?:[-_][a-z0-9]{1,8})*", re.ASCII | re.IGNORECASE)

# What other tools call the same language, or one close enough to share its resources.
_RELATIVES = {
    "bs": ("hbs", "hr"),
    "cmn": ("zh",),
    "fil": ("tl",),
    "hr": ("hbs",),
    "in": ("id",),
    "iw": ("he",),
    "nb": ("no",),
    "nn": ("no",),
    "no": ("nb",),
    "sh": ("hbs", "hr"),
    "sr": ("hbs", "hr"),
    "yue": ("zh",),
}


def normalise_tag(tag: str) -> str:
    """Return the one spelling of a language tag: `pt_BR`, however it came.

    >>> [normalise_tag(tag) for tag in ("EN", "pt-BR", "PT_br", " zh-hans ")]
    ['en', 'pt_BR', 'pt_BR', 'zh_Hans']
    >>> normalise_tag("English, I think")
    Traceback (most recent call last):
    funnelling.errors.InputError: 'English, I think' is not a language tag. Write a code such as en or pt_BR.
    """
    if not isinstance(tag, str):
        raise InputError(f"{tag!r} is not a language tag. Write a code such as en or pt_BR.")
    return _normalise(tag)


@lru_cache(maxsize=1024)
def _normalise(tag: str) -> str:
    stripped = tag.strip()
    if not _TAG.fullmatch(stripped):
        shown = tag if len(tag) <= 40 else f"{tag[:40]}…"
        raise InputError(f"{shown!r} is not a language tag. Write a code such as en or pt_BR.")
    language, *subtags = re.split("[-_]", stripped.lower())
    return "_".join([language, *map(_cased, subtags)])


def _cased(subtag: str) -> str:
    """Case a subtag as BCP 47 recommends: scripts as in `Hans`, regions as in `BR`."""
    if len(subtag) == 4 and subtag.isalpha():
        return subtag.capitalize()
    return subtag.upper() if len(subtag) == 2 and subtag.isalpha() else subtag


def primary(tag: str) -> str:
    """Return the language of a tag without script and region.

    >>> primary("pt-BR")
    'pt'
    """
    return normalise_tag(tag).partition("_")[0]


def name_among(tag: str, known: Collection[str]) -> str | None:
    """Return the code under which a tool knows a tag's language, or None.

    >>> name_among("sr_Latn", {"en", "hbs"}), name_among("tlh", {"en", "hbs"})
    ('hbs', None)
    """
    language = primary(tag)
    return next((name for name in (language, *_RELATIVES.get(language, ())) if name in known), None)
