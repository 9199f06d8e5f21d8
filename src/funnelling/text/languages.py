"""Language tags and names: one tag for each language, and the language that serves a variant.

Names are found whole or not at all: what only begins like a name may be anything.
"""

import re
from collections.abc import Collection, Iterator
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from funnelling.errors import InputError
from funnelling.text.tokens import fold_accents

_QUALIFIER = re.compile(r"\([^()]*\)")


def tag_named(name: str) -> str | None:
    """The tag of a language by its name, whatever its case, or None.

    English names are those of all languages; those in some twenty other languages, of sixty.

    >>> tag_named("German"), tag_named("haitian creole"), tag_named("Französisch"), tag_named("Germanish")
    ('de', 'ht', 'fr', None)
    """
    return _tags().get(_plain(name))


def language_names() -> Collection[str]:
    """The names of languages that `tag_named` takes, in lower case and without accents."""
    return _tags()


@cache
def _tags() -> dict[str, str]:
    """Tags by name. Of languages that share one, that with a code of two letters has it, or none.

    What has no more than three letters is a code.
    """
    whole: dict[str, list[str]] = {}
    short: dict[str, list[str]] = {}  # as in Tonga (Zambia)
    for name, code in _registered():
        whole.setdefault(_plain(name.removesuffix(" (macrolanguage)")), []).append(code)
        short.setdefault(_plain(_QUALIFIER.sub(" ", name)), []).append(code)
    named = {
        name: codes[0]
        for names in (short, whole)
        for name, codes in names.items()
        if len(name) > 3 and (len(codes) == 1 or len(codes[0]) == 2 < len(codes[1]))
    }
    # Names in other languages, without accents, and what people write and the registry does not
    lines = files("funnelling.text").joinpath("language_names.txt").read_text("utf-8").splitlines()
    listed = (line.split(": ") for line in lines)
    return {name: tag for tag, names in listed for name in names.split(", ")} | named


def _registered() -> Iterator[tuple[str, str]]:
    """Names and codes of single languages and of macrolanguages; codes of two letters come first."""
    from langcodes.registry_parser import parse_registry

    records: Iterator[dict[str, Any]] = parse_registry()  # type: ignore[no-untyped-call]
    for record in records:
        scope = record.get("Scope", "macrolanguage")
        if record["Type"] == "language" and scope == "macrolanguage" and "Deprecated" not in record:
            for name in record["Description"]:
                yield name, record["Subtag"]


def _plain(name: str) -> str:
    return " ".join(re.findall(r"[^\s()_-]+", fold_accents(name.casefold())))


_TAG = re.compile(r"[a-z]{2,8}(?:[-_][a-z0-9]{1,8})*", re.ASCII | re.IGNORECASE)
_SCRIPT = re.compile(r"[A-Z][a-z]{3}", re.ASCII)
_REGION = re.compile(r"[A-Z]{2}|[0-9]{3}", re.ASCII)
_MAX_NAME_CHARACTERS = 100  # characters; the longest tags and names have some 60

# Codes of two letters that ISO 639 replaced; then languages that Unicode takes for a part of another.
_REPLACED = {"in": "id", "iw": "he", "ji": "yi", "jw": "jv", "mo": "ro"}
_APART = {"fat": "fat", "hbs": "sh", "tgl": "tl"}

# Of languages with a code of two letters, those that Unicode counts to another.
_COUNTED_TO = {"bh": "bho", "sh": "sr_Latn", "tl": "fil", "tw": "ak"}

# Languages close enough to share the resources of a tool.
_RELATIVES = {
    "bs": ("hbs", "hr"),
    "fil": ("tl",),
    "hr": ("hbs",),
    "nb": ("no",),
    "nn": ("no",),
    "no": ("nb",),
    "sh": ("hbs", "hr"),
    "sr": ("hbs", "hr"),
    "yue": ("zh",),
}

# Scripts that are part of what Unicode calls the usual one.
_USUAL_TOO = {"Hang": ("Kore",), "Hani": ("Hans", "Hant")}

_NO_LANGUAGE = frozenset({"mis", "mul", "und", "zxx"})


def normalise_tag(tag: str) -> str:
    """Return the one tag of a language or of its variant, such as `de` or `pt_BR`.

    Codes of ISO 639-1, -2 and -3 and names become the shortest code, and a script is left out where it is the
    usual one. A region stays. A code that no standard knows is a language by itself.

    >>> [normalise_tag(tag) for tag in ("DE", "deu", "ger", "deu_Latn", "German", "de-at")]
    ['de', 'de', 'de', 'de', 'de', 'de_AT']
    >>> [normalise_tag(tag) for tag in ("arb_Arab", "ary_Arab", "zho_Hans", "zh-Hant", "srp_Latn", "xx")]
    ['ar', 'ary', 'zh', 'zh_Hant', 'sr_Latn', 'xx']
    >>> normalise_tag("English, I think")
    Traceback (most recent call last):
    funnelling.errors.InputError: 'English, I think' is not a language tag. Write a code such as en or \
pt_BR, or a name such as German.
    """
    normal = _normalised(tag) if isinstance(tag, str) and len(tag) <= _MAX_NAME_CHARACTERS else None
    if normal is None:
        shown = f"{tag[:40]}…" if isinstance(tag, str) and len(tag) > 40 else tag
        raise InputError(
            f"{shown!r} is not a language tag. Write a code such as en or pt_BR, or a name such as German."
        )
    return normal


@lru_cache(maxsize=4096)
def _normalised(tag: str) -> str | None:
    """The one tag of a language, None for what is neither tag nor name."""
    tag = tag.strip()
    is_tag = _TAG.fullmatch(tag)
    language, *subtags = re.split("[-_]", tag.lower())
    if not is_tag or len(language) > 3:  # no code is that long
        named = tag_named(tag)
        return None if named is None else _normalised(named)
    language = _shortest(language)
    return _without_usual_script("_".join([language, *map(_cased, subtags)]))


def _cased(subtag: str) -> str:
    """Case a subtag as BCP 47 recommends: scripts as in `Hans`, regions as in `BR`."""
    if len(subtag) == 4 and subtag.isalpha():
        return subtag.capitalize()
    return subtag.upper() if len(subtag) == 2 and subtag.isalpha() else subtag


def _shortest(code: str) -> str:
    """The shortest code of a language. That of a macrolanguage stands for its standard language alone."""
    if len(code) == 2:  # what most corpora have needs no library
        return _REPLACED.get(code, code)
    if code in _APART:
        return _APART[code]
    from langcodes import standardize_tag

    current = standardize_tag(code)
    if "-" in current or len(current) > len(code):
        current = code
    general = standardize_tag(current, macro=True)
    return general if len(general) < len(current) else current


def _general(language: str) -> str:
    """What Unicode counts a language to, such as `fa_AF` for Dari, or else itself."""
    if len(language) == 2:
        return _COUNTED_TO.get(language, language)
    from langcodes import standardize_tag

    return standardize_tag(language, macro=True).replace("-", "_") if _is_code(language) else language


# --- scripts --------------------------------------------------------------------------------------


def _without_usual_script(tag: str) -> str:
    language, script, region = _parts(tag)
    is_usual = script and _usual_script(language, region) in (script, *_USUAL_TOO.get(script, ()))
    return tag.replace(f"_{script}", "", 1) if is_usual else tag


def _parts(tag: str) -> tuple[str, str, str]:
    """Language, script and region of a tag in its normal case; empty where it has none."""
    language, *subtags = tag.split("_")
    script = subtags.pop(0) if subtags and _SCRIPT.fullmatch(subtags[0]) else ""
    return language, script, subtags[0] if subtags and _REGION.fullmatch(subtags[0]) else ""


def _usual_script(language: str, region: str = "") -> str:
    """The script of a language, in a region, where a tag names none; empty where that is anyone's guess."""
    from langcodes.data_dicts import LIKELY_SUBTAGS

    general = _general(language)
    if script := _parts(general)[1]:
        return script
    for tag in (f"{language}_{region}", language, general, general.partition("_")[0]):
        if likely := LIKELY_SUBTAGS.get(tag.replace("_", "-")):
            return str(likely.split("-")[1])
    return "Latn" if _is_code(language) else ""  # Unicode lists most languages that are written otherwise


def _broader(tag: str) -> Iterator[str]:
    """A tag in its normal form, then that of its language in its script, then that of its language."""
    yield tag
    language, script, region = _parts(tag)
    if script or region:
        yield _without_usual_script(f"{language}_{script or _usual_script(language, region)}")
    yield language


# --- languages ------------------------------------------------------------------------------------


def primary(tag: str) -> str:
    """Return the language of a tag without script and region.

    >>> primary("pt-BR"), primary("por_Latn")
    ('pt', 'pt')
    """
    return normalise_tag(tag).partition("_")[0]


def is_language(tag: str) -> bool:
    """Whether a tag names a language: by a code of ISO 639, or in English.

    >>> is_language("gl"), is_language("pt-BR"), is_language("ceb"), is_language("German"), is_language("xx")
    (True, True, True, True, False)
    """
    return _is_code(_normal_or_same(tag).partition("_")[0])


def _is_code(language: str) -> bool:
    from langcodes import tag_is_valid

    if len(language) > 3 or language in _NO_LANGUAGE or "qaa" <= language <= "qtz":  # of private use
        return False
    return tag_is_valid(language)


def is_tag(tag: str) -> bool:
    """Whether `normalise_tag` takes a tag.

    >>> is_tag("xx"), is_tag("English, I think")
    (True, False)
    """
    return len(tag) <= _MAX_NAME_CHARACTERS and _normalised(tag) is not None


def name_among(tag: str, known: Collection[str]) -> str | None:
    """Return the code under which a tool knows a tag's language, or None.

    >>> name_among("sr_Latn", {"en", "hbs"}), name_among("tlh", {"en", "hbs"})
    ('hbs', None)
    """
    language = primary(tag)
    for name in (language, *_RELATIVES.get(language, ())):
        if name in known:
            return name
    general = _general(language).partition("_")[0]
    names = (general, *_RELATIVES.get(general, ()))
    return next((name for name in names if name in known), None) or known_as(language, known)


# --- the languages of a model ---------------------------------------------------------------------


def known_as(language: str, known: Collection[str]) -> str | None:
    """The name of a language among those known, where it may be spelt in another way, or None.

    >>> known_as("de", ["en", "deu_Latn"]), known_as("pt_BR", ["en", "pt"])
    ('deu_Latn', None)
    """
    if language in known:
        return language
    tag = _normal_or_same(language)
    return next((name for name in sorted(known) if _normal_or_same(name) == tag), None)


def served_by(language: str, known: Collection[str]) -> str:
    """The known language that serves a document: its own, or for a variant the plain one.

    A language that is known in one unusual script only is served by that. A language that none of those
    known serves is returned as it is.

    >>> [served_by(tag, ["pt", "sr_Latn"]) for tag in ("pt_BR", "sr_Latn_RS", "sr", "de")]
    ['pt', 'sr_Latn', 'sr_Latn', 'de']
    """
    return language if language in known else _served_by(language, tuple(known))


@lru_cache(maxsize=4096)
def _served_by(language: str, known: tuple[str, ...]) -> str:
    tag = _normal_or_same(language)
    names = {_normal_or_same(name): name for name in reversed(known)}
    for broader in _broader(tag):
        if broader in names:
            return names[broader]
    own = _parts(tag)[0]
    scripts = [name for name in names if name == f"{own}_{_parts(name)[1]}"]
    return names[scripts[0]] if len(scripts) == 1 else language


def is_served(language: str | None, known: Collection[str]) -> bool:
    """Whether one of the known languages serves documents in a language.

    >>> is_served("pt_BR", ["en", "pt"]), is_served("pt", ["en", "pt_BR"]), is_served(None, ["en"])
    (True, False, False)
    """
    return language is not None and served_by(language, known) in known


def _normal_or_same(name: str) -> str:
    """The one tag of a language; vectors may have languages of any name, which stays as it is."""
    return (_normalised(name) if len(name) <= _MAX_NAME_CHARACTERS else None) or name
