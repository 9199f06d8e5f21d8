"""The indices of a Debian archive, and its packages with debtags and descriptions in several languages."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TypeVar
from urllib.parse import unquote

from funnelling.errors import InputError
from funnelling.formats import Document
from funnelling.formats.files import text_lines
from funnelling.research.corpora.apt import private_apt
from funnelling.research.corpora.builders import check_folders, reading
from funnelling.runtime.progress import Advance, progress_bar
from funnelling.text.languages import normalise_tag

# Beside their plain names, those that apt gives them: deb.debian.org_debian_dists_stable_main_….
_PACKAGES = re.compile(r"(?:.*_)?Packages(?:\.gz|\.xz|\.bz2)?")
_TRANSLATION = re.compile(r"(?:.*_)?Translation-([a-z]{2,3}(?:_[A-Z]{2})?)(?:\.gz|\.xz|\.bz2)?", re.ASCII)
_RELEASE = re.compile(r"(?:.*_)?(?:In)?Release")
_OFFERED = re.compile(r"/i18n/Translation-([a-z]{2,3}(?:_[A-Z]{2})?)$", re.ASCII)

# A description belongs to a package and to the hash of the English wording.
Key = tuple[str, str]


class Indices(NamedTuple):
    """The index files of an archive."""

    packages: list[Path]
    translations: dict[str, list[Path]]  # by language


class Package(NamedTuple):
    """What the archive says of a package."""

    name: str
    source: str
    description: str  # the hash of its English wording
    tags: str

    @property
    def key(self) -> Key:
        """What its descriptions are found under."""
        return self.name, self.description


AnyPackage = TypeVar("AnyPackage", Package, "TaggedPackage")


@contextmanager
def indices_for(languages: Sequence[str], sources: Sequence[Path], verbose: int = 0) -> Iterator[Indices]:
    """The indices with descriptions in these languages, in folders or by apt, while the files are there."""
    if sources:
        check_folders(sources)
        indices = _indices_in(sources)
        _check(indices, languages, ", ".join(map(str, sources)), indices.translations)
        yield indices
        return
    with private_apt(languages, verbose) as apt:
        indices = _indices_in([apt.lists])
        _check(indices, languages, "apt's sources", _languages_offered(apt.lists))
        yield indices


def read_packages(indices: Indices, advance: Advance) -> list[Package]:
    """All packages that have a description, in the order of the files."""
    packages = []
    for path in indices.packages:
        for stanza in _stanzas(path, advance):
            name, description = stanza.get("Package"), stanza.get("Description-md5")
            if name and description:
                # A version in brackets may follow the source.
                source = stanza.get("Source", name).partition(" ")[0]
                packages.append(Package(name, source, description, stanza.get("Tag", "")))
    return packages


def read_descriptions(indices: Indices, language: str, advance: Advance) -> dict[Key, str]:
    """All descriptions in a language."""
    descriptions = {}
    for path in indices.translations[language]:
        for stanza in _stanzas(path, advance):
            name, description = stanza.get("Package"), stanza.get("Description-md5")
            field = next((field for field in stanza if _is_description(field)), None)
            if name and description and field:
                descriptions[name, description] = tidy_description(stanza[field])
    return descriptions


def one_per_source(packages: Iterable[AnyPackage]) -> dict[str, AnyPackage]:
    """For each source the package of its name, else the first by name."""
    chosen: dict[str, AnyPackage] = {}
    for package in sorted(packages, key=lambda package: (package.name != package.source, package)):
        chosen.setdefault(package.source, package)
    return chosen


def tidy_description(field: str) -> str:
    r"""The short description, then one line per paragraph, without the marks of the index.

    >>> tidy_description("a game\n A game in which\n one plays.\n .\n It has:\n  * cards")
    'a game\nA game in which one plays.\nIt has:\n* cards'
    """
    short, *lines = field.split("\n")
    paragraphs = [short.strip()]
    grows = False
    for line in lines:
        text = line.strip()
        verbatim = line.startswith("  ")
        if text in ("", "."):
            grows = False
        elif grows and not verbatim:
            paragraphs[-1] += f" {text}"
        else:
            paragraphs.append(text)
            grows = not verbatim
    return "\n".join(paragraphs)


def same_wording(text: str, english: str) -> bool:
    """Whether a description was left as it is in English."""
    return text.casefold().split() == english.casefold().split()


def _is_description(field: str) -> bool:
    return field.startswith("Description-") and field != "Description-md5"


def _indices_in(folders: Sequence[Path]) -> Indices:
    indices = Indices([], {})
    for path in sorted(path for folder in folders for path in folder.rglob("*")):
        if _PACKAGES.fullmatch(path.name):
            indices.packages.append(path)
        elif match := _TRANSLATION.fullmatch(unquote(path.name)):  # apt writes pt_BR as pt%5fBR
            indices.translations.setdefault(normalise_tag(match[1]), []).append(path)
    return indices


def _languages_offered(lists: Path) -> list[str]:
    """The languages that the archives offer, of which apt fetched only those asked for."""
    return [
        normalise_tag(match[1])
        for path in sorted(lists.iterdir())
        if _RELEASE.fullmatch(path.name)
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines()
        if (match := _OFFERED.search(line))
    ]


def _check(indices: Indices, languages: Iterable[str], place: str, offered: Iterable[str]) -> None:
    if not indices.packages:
        raise InputError(f"{place}: no index called Packages, as it is or as .gz, .xz or .bz2. Fetch it.")
    for language in languages:
        if language not in indices.translations:
            raise InputError(
                f"{place}: no index called Translation-{language}. "
                f"Use languages of those there: {', '.join(sorted(set(offered))) or 'none'}."
            )


def _stanzas(path: Path, advance: Advance) -> Iterator[dict[str, str]]:
    """The blocks of an index, one line per field; further lines of a field keep the space they begin with."""
    stanza: dict[str, str] = {}
    field = ""
    with reading(path) as stream:
        for number, line in text_lines(stream, str(path)):
            line = line.rstrip("\n")
            if not line:
                if stanza:
                    yield stanza
                    advance(1)
                stanza, field = {}, ""
            elif line[0] in " \t" and field:
                stanza[field] += f"\n{line}"
            else:
                field, colon, value = line.partition(":")
                if not colon or line[0] in " \t":
                    raise InputError(f"{path}:{number}: not an index of Debian packages. Fetch it again.")
                stanza[field] = value.strip()
    if stanza:
        yield stanza


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
