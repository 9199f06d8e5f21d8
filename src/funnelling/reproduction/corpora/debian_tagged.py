"""Debian packages with their debtags, and their descriptions in several languages."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from funnelling.errors import InputError
from funnelling.formats import Document
from funnelling.reproduction.corpora.debian_index import (
    indices_for,
    read_descriptions,
    read_packages,
    same_wording,
)
from funnelling.runtime.progress import progress_bar

ENGLISH = "en"

# A facet may be written once for several tags: devel::{lang:c,library}.
_TAG = re.compile(r"([^\s,{}]+)(?:\{([^{}]*)\})?")
_SAYS_NOTHING = ("::", "::TODO", "::not-applicable")
# What nearly every library has says little of what a package is for.
_SAYS_LITTLE = ("role::", "devel::library")
_MIN_TELLING = 2
TELLS_LITTLE = "with fewer than two tags beside role:: and devel::library"


class TaggedPackage(NamedTuple):
    """A package with tags."""

    name: str
    source: str
    tags: tuple[str, ...]
    texts: dict[str, str]  # its description by language


def parse_tags(field: str) -> tuple[str, ...]:
    """The tags of a package, without those that say nothing of what it is for.

    >>> parse_tags("devel::{lang:c,library}, role::devel-lib, special::obsolete, use::TODO")
    ('devel::lang:c', 'devel::library', 'role::devel-lib')
    """
    tags: set[str] = set()
    for facet, several in _TAG.findall(field):
        tags.update(f"{facet}{tag.strip()}" for tag in several.split(",")) if several else tags.add(facet)
    return tuple(
        sorted(tag for tag in tags if not tag.startswith("special::") and not tag.endswith(_SAYS_NOTHING))
    )


def read_tagged(languages: Sequence[str], sources: Sequence[Path], verbose: int = 0) -> list[TaggedPackage]:
    """All packages with tags, by name, with their descriptions in those of the languages that have one.

    A description that was left in English is none.
    """
    with (
        indices_for(sorted({*languages, ENGLISH}), sources, verbose) as indices,
        progress_bar("read indices", None, bool(verbose), "packages") as advance,
    ):
        tagged = {
            package.key: (package, tags)
            for package in sorted(read_packages(indices, advance))
            if (tags := parse_tags(package.tags))
        }
        texts: dict[tuple[str, str], dict[str, str]] = {key: {} for key in tagged}
        for language in sorted({*languages, ENGLISH}, key=lambda language: language != ENGLISH):
            for key, text in read_descriptions(indices, language, advance).items():
                if key in texts and text and not same_wording(text, texts[key].get(ENGLISH, "")):
                    texts[key][language] = text
    by_name: dict[str, TaggedPackage] = {}
    for key, (package, tags) in sorted(tagged.items()):
        descriptions = {language: texts[key][language] for language in languages if language in texts[key]}
        # Archives of updates repeat a package, mostly without translations.
        if package.name not in by_name or len(descriptions) > len(by_name[package.name].texts):
            by_name[package.name] = TaggedPackage(package.name, package.source, tags, descriptions)
    if not by_name:
        raise InputError("the index called Packages has no tags. Take that of Debian's main archive.")
    return list(by_name.values())


def telling_packages(packages: Sequence[TaggedPackage]) -> list[TaggedPackage]:
    """The packages with enough tags to learn something from."""
    return [
        package
        for package in packages
        if sum(not tag.startswith(_SAYS_LITTLE) for tag in package.tags) >= _MIN_TELLING
    ]


def document(package: TaggedPackage, language: str, split: str, labels: Iterable[str]) -> Document:
    """A package's description in a language, with those of its tags that are labels."""
    known = set(labels)
    return Document(
        f"{package.name}/{language}",
        package.texts[language],
        language=language,
        labels=tuple(tag for tag in package.tags if tag in known),
        split=split,
        group=package.source,
    )
