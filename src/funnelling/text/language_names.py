"""Languages by their English names, as the registry of IANA has them, and by some names in other languages.

Names are found whole or not at all: what only begins like a name may be anything.
"""

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from funnelling.text.tokens import fold_accents

# What people write and the registry does not.
_FURTHER_NAMES = {
    "azeri": "az",
    "bokmal": "nb",
    "brazilian portuguese": "pt_BR",
    "chinese simplified": "zh",
    "chinese traditional": "zh_Hant",
    "farsi": "fa",
    "greek": "el",
    "mandarin": "zh",
    "nynorsk": "nn",
    "simplified chinese": "zh",
    "slovene": "sl",
    "sorani": "ckb",
    "traditional chinese": "zh_Hant",
    "中文": "zh",
    "日本語": "ja",
    "한국어": "ko",
}

_QUALIFIER = re.compile(r"\([^()]*\)")


def tag_named(name: str) -> str | None:
    """The tag of a language by its name, whatever its case, or None.

    English names are those of all languages; those in some twenty other languages, of sixty.

    >>> tag_named("German"), tag_named("haitian creole"), tag_named("Französisch"), tag_named("Germanish")
    ('de', 'ht', 'fr', None)
    """
    return _tags().get(_plain(name))


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
    return _elsewhere() | named | _FURTHER_NAMES


def _elsewhere() -> dict[str, str]:
    """Tags by names in other languages than English, without accents."""
    lines = files("funnelling.text").joinpath("language_names.txt").read_text("utf-8").splitlines()
    return {name: tag for tag, names in (line.split(": ") for line in lines) for name in names.split(", ")}


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
