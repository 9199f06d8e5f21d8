"""JRC-Acquis 3.0, laws of the European Union under EuroVoc labels: one group per law, in many languages.

It is read from the archives as the Joint Research Centre gives them, ``jrc-XX.tgz`` for each language, with
files ``XX/YEAR/*.xml`` in them. Nothing is unpacked to disk.
"""

import re
import tarfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from funnelling.errors import InputError
from funnelling.formats import Document
from funnelling.randomness import stream
from funnelling.research.corpora.builders import (
    DAMAGE,
    BuiltCorpus,
    OmissionCounts,
    RationedStream,
    check_folders,
    language_of,
    most_frequent,
    normal_languages,
    omissions_in_words,
    plain_text,
    read_xml,
    reading,
    reason_of,
)
from funnelling.runtime.progress import Advance, progress_bar

LANGUAGES = ("da", "de", "en", "es", "fi", "fr", "hu", "it", "nl", "pt", "sv")
LABELS = 300
TRAINING_YEARS = range(1950, 2006)
TEST_YEARS = range(2006, 2007)

# Far beyond the real archives (some 24,000 files each), far below what would hurt.
MAX_FILES = 200_000
MAX_ARCHIVE_BYTES = 2**32
MAX_FILE_BYTES = 2**25
MAX_HEADERS_BYTES = 2**20

_MEMBER = re.compile(r"(?:\./)?([^/]+)/([^/]+)/[^/]+\.xml")
_YEAR = re.compile(r"\d{4}", re.ASCII)
_SITE = "JRC-Acquis 3.0 from the site of the Joint Research Centre"
_OTHER_YEARS = f"of other years than {TRAINING_YEARS[0]} to {TEST_YEARS[-1]}"


class Version(NamedTuple):
    """A law in one language: in which file it was found, whether it is for the test, and what is in it."""

    member: str
    is_test: bool
    labels: frozenset[str]
    text: str


Law = dict[str, Version]


def build_jrc_acquis(
    languages: Sequence[str] = LANGUAGES,
    sources: Sequence[Path] = (),
    labels: int = LABELS,
    seeds: Sequence[int] = (0,),
    verbose: int = 0,
) -> Iterator[BuiltCorpus]:
    """The laws that have text and labels in all languages, as the paper splits them; a corpus per seed.

    Laws of 1950 to 2005 are for training: the seed draws one language for each, and its other versions are
    ``parallel``. Laws of 2006 are for the test, in all languages. The labels are those that most training
    laws carry, ties in the order of their codes; the laws of 2006 have no say in it. A law without any
    of them is left out. The labels of a law are those of all its versions: it is the law that EuroVoc
    classifies. The paper takes all laws for training, and does not say what it does about those that some
    languages lack; here they are left out, so that UpperBound has an English version of each.
    """
    if not sources:
        raise InputError(
            f"jrc-acquis needs {_SITE}. Put its jrc-XX.tgz, one per language, in a folder and add "
            "--source DIR."
        )
    if labels < 1:
        raise InputError(f"jrc-acquis takes 1 label or more, not {labels}. Ask for more.")
    check_folders(sources)
    languages = normal_languages(languages)
    omissions: OmissionCounts = Counter()
    with progress_bar("read laws", None, bool(verbose), "documents") as advance:
        laws = _laws_in_all(sources, languages, omissions, advance)
    codes = {
        group: frozenset[str]().union(*(version.labels for version in law.values()))
        for group, law in laws.items()
    }
    frequent = set(most_frequent((codes[group] for group, law in laws.items() if not _is_test(law)), labels))
    labels_of = {group: tuple(sorted(codes[group] & frequent)) for group in sorted(laws)}
    omissions["law", "without any of the labels chosen"] += list(labels_of.values()).count(())
    labelled = {group: (law_labels, laws[group]) for group, law_labels in labels_of.items() if law_labels}
    if all(_is_test(law) for _, law in labelled.values()):
        raise InputError(
            f"no law of {TRAINING_YEARS[0]} to {TRAINING_YEARS[-1]} has text and EuroVoc codes in all of "
            f"{', '.join(languages)}. Ask for fewer --languages, or check the archives."
        )
    in_words = omissions_in_words(*((number, *what) for what, number in sorted(omissions.items())))
    for seed in seeds:
        documents: list[Document] = []
        for group, (law_labels, law) in labelled.items():
            training_language = languages[stream(seed, "jrc-acquis", group).integers(len(languages))]
            for language, version in law.items():
                split = (
                    "test" if version.is_test else "train" if language == training_language else "parallel"
                )
                name = f"jrc-acquis/{group}/{language}"
                documents.append(Document(name, version.text, language, law_labels, split, group))
        yield BuiltCorpus(documents, in_words)


def _laws_in_all(
    sources: Sequence[Path], languages: Sequence[str], omissions: OmissionCounts, advance: Advance
) -> dict[str, Law]:
    """The laws that are in all languages, one language after the other so that few others are ever held."""
    archives = {language: _archive(sources, language) for language in languages}
    groups: set[str] = set()
    laws: dict[str, Law] | None = None
    for language, archive in archives.items():
        versions = _versions(archive, language, omissions, advance)
        groups |= versions.keys()
        before = {group: Law() for group in versions} if laws is None else laws
        laws = {
            group: {**before[group], language: version}
            for group, version in versions.items()
            if group in before
        }
    complete = laws or {}
    one_side = {group: law for group, law in complete.items() if len({v.is_test for v in law.values()}) == 1}
    omissions["law", "not in all languages"] += len(groups) - len(complete)
    omissions["law", "of a training year here and of a test year there"] += len(complete) - len(one_side)
    return one_side


def _is_test(law: Law) -> bool:
    return any(version.is_test for version in law.values())


def _archive(sources: Sequence[Path], language: str) -> Path:
    name = f"jrc-{language}.tgz"
    for source in sources:
        if (source / name).is_file():
            return source / name
    raise InputError(
        f"{', '.join(map(str, sources))}: no {name}. Put it there ({_SITE}), "
        f"or leave {language} out of --languages."
    )


def _versions(
    archive: Path, language: str, omissions: OmissionCounts, advance: Advance
) -> dict[str, Version]:
    """The laws in an archive by number; of two files with the same law the first by name."""
    versions: dict[str, Version] = {}
    files = 0
    for member, year, content in _files(archive, language):
        advance(1)
        files += 1
        if year not in TRAINING_YEARS and year not in TEST_YEARS:
            omissions["document", _OTHER_YEARS] += 1
            continue
        root = read_xml(content, archive, member)
        group = (root.get("n") or "").strip()
        if not group or language_of(root.get("lang", "")) != language:
            omissions["document", "without a number, or not in the language of the archive"] += 1
            continue
        codes = root.findall('teiHeader/profileDesc/textClass/classCode[@scheme="eurovoc"]')
        labels = frozenset(filter(None, map(plain_text, codes)))
        paragraphs = root.findall('text/body/div[@type="body"]/p')
        text = "\n".join(filter(None, map(plain_text, paragraphs)))
        if not labels or not text:
            omissions["document", "without text or without EuroVoc codes"] += 1
            continue
        version = Version(member, year in TEST_YEARS, labels, text)
        if group in versions:
            omissions["document", "beside another one of the law in the language"] += 1
            version = min(version, versions[group], key=lambda version: version.member)
        versions[group] = version
    if not files:
        raise InputError(f"{archive}: no {language}/YEAR/*.xml in it. Fetch {_SITE} again.")
    return versions


def _files(archive: Path, language: str) -> Iterator[tuple[str, int, bytes]]:
    """The names, years (0 where a folder is none) and contents of the files of an archive.

    Nothing is written anywhere, so that a name that climbs out of its folder remains just a name.
    """
    try:
        with reading(archive) as data:
            too_long = f"a header of more than {MAX_HEADERS_BYTES:,} bytes is in it"
            rationed = RationedStream(data, MAX_HEADERS_BYTES, too_long)
            with tarfile.open(fileobj=cast(BinaryIO, rationed), mode="r|") as tar:
                left = MAX_ARCHIVE_BYTES
                for number, member in enumerate(tar):
                    left -= member.size
                    if left < 0:
                        raise ValueError(f"it unpacks to more than {MAX_ARCHIVE_BYTES:,} bytes")
                    if number >= MAX_FILES:
                        raise ValueError(f"more than {MAX_FILES:,} files are in it")
                    rationed.left = MAX_HEADERS_BYTES + member.size
                    match = _MEMBER.fullmatch(member.name)
                    if not match or match[1] != language or not member.isreg():
                        continue
                    if member.size > MAX_FILE_BYTES:
                        raise ValueError(f"a file of {member.size:,} bytes is in it")
                    content = tar.extractfile(member)
                    year = int(match[2]) if _YEAR.fullmatch(match[2]) else 0
                    yield member.name, year, content.read() if content else b""
            while rationed.read(2**16):  # the checksum is behind the last byte
                pass
    except InputError:
        raise
    except (*DAMAGE, tarfile.TarError, ValueError, OverflowError, RecursionError) as error:
        raise InputError(
            f"{archive}: not an archive of JRC-Acquis, or a damaged one ({reason_of(error)}). "
            "Download it again."
        ) from error
