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


_ISO_639_1 = frozenset(
    re.findall(
        "[a-z]+",
        """
        aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de
        dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id
        ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu
        lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu
        rm rn ro ru rw sa sc sd se sg sh si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to
        tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
        """,
    )
)

# Further codes, of three letters: those that our tools know, and those of languages with many texts.
_LONGER = frozenset(
    re.findall(
        "[a-z]+",
        """
        ace ary arz ast azb bar bcl ceb ckb crh diq dsb enm ext frr fur fuv gcf gcr gom grc gsw gug guw haw
        hbo hbs hif hsb ilo kab kik krc ksh lij lmo ltg mai min mzn nan nap nds new nso pam pap pcm pms pnb
        rue sah sat scn sco sdh shn skr smn szl tyv udm uzs vec war wuu zea
        """,
    )
)


def normalise_tag(tag: str) -> str:
    """Return the one spelling of a language tag, such as `pt_BR`, whatever its case and separator.

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


def served_by(language: str, known: Collection[str]) -> str:
    """The known language that serves a document: its own, or for a regional variant the plain one.

    A language that none of those known serves is returned as it is.
    """
    if language in known:
        return language
    return primary(language) if primary(language) in known else language


def is_served(language: str | None, known: Collection[str]) -> bool:
    """Whether one of the known languages serves documents in a language.

    >>> is_served("pt_BR", ["en", "pt"]), is_served("pt", ["en", "pt_BR"]), is_served(None, ["en"])
    (True, False, False)
    """
    return language is not None and served_by(language, known) in known


def is_language(tag: str) -> bool:
    """Whether a tag names a language: one of ISO 639's two-letter codes, or one that our tools know.

    >>> is_language("gl"), is_language("pt-BR"), is_language("ceb"), is_language("xx")
    (True, True, True, False)
    """
    if not _TAG.fullmatch(tag.strip()):
        return False
    return any(primary(tag) in codes for codes in (_ISO_639_1, _RELATIVES, _LONGER))
