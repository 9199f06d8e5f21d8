"""RCV1 and RCV2, news of Reuters in many languages under one set of topics; they take a licence.

They are read from the zip archives as they are given out, wherever those lie in the folders: RCV1's numbered
days and RCV2's archives, one folder per language. The language is the one that the story names. They are read
twice, so that of all stories only those drawn are ever held; nothing is unpacked to disk.
"""

import re
import zipfile
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from funnelling.errors import InputError
from funnelling.formats import Document
from funnelling.formats.files import cannot_read
from funnelling.randomness import stream
from funnelling.research.corpora.builders import (
    DAMAGE,
    BuiltCorpus,
    OmissionCounts,
    check_folders,
    language_of,
    normal_languages,
    omissions_in_words,
    plain_text,
    read_xml,
    reason_of,
)
from funnelling.runtime.progress import Advance, progress_bar

LANGUAGES = ("da", "de", "en", "es", "fr", "it", "nl", "pt", "sv")
TRAIN, TEST = 1_000, 1_000

# Far beyond a story (some kilobytes) and an archive of them, far below what would hurt.
MAX_ARCHIVE_BYTES = 2**32
MAX_FILE_BYTES = 2**22

# Stories for Latin America name their language as es, like those of Spain: only their folder shows it.
_LATIN_AMERICAN, _SPANISH, _AMERICAN_SPANISH = "REUTE007", "es", "es_419"
_SOURCE = "RCV1 and RCV2, which NIST gives out under a licence of Reuters"
_ROOT = re.compile(rb"<newsitem\s[^>]*?\bxml:lang\s*=\s*[\"']([A-Za-z0-9_-]+)[\"']")
_HEAD = 4_096


class Place(NamedTuple):
    """Where a story is: in which archive and at which position of its names in alphabetical order."""

    archive: int
    position: int


class Story(NamedTuple):
    """What is taken from a story."""

    id: str
    language: str
    text: str
    topics: tuple[str, ...]


def build_rcv(
    languages: Sequence[str] = LANGUAGES,
    sources: Sequence[Path] = (),
    train: int = TRAIN,
    test: int = TEST,
    seeds: Sequence[int] = (0,),
    verbose: int = 0,
) -> Iterator[BuiltCorpus]:
    """Stories drawn at random for each seed, as many for training and for the test in each language.

    Where a language has fewer than both together the test gets what training leaves, and where it has no more
    than training alone 70 % of them are for training. Labels without a training document in any language
    are left out; a test document that has no other is kept, without labels, since dropping it would choose
    test documents by their labels. A story without topics or without paragraphs is never drawn. Topics are
    those that stories name. RCV1-v2, which the paper has, adds the broader ones of each and leaves out some
    stories: its counts differ from what is built here.
    """
    if not sources:
        raise InputError(f"rcv needs {_SOURCE}. Put their zip archives in a folder and add --source DIR.")
    if train < 1 or test < 1:
        raise InputError(f"rcv takes 1 document or more per split, not {train} and {test}. Ask for more.")
    check_folders(sources)
    languages = normal_languages(languages)
    archives = _archives(sources)
    omissions: OmissionCounts = Counter()
    with progress_bar("find stories", None, bool(verbose), "stories") as advance:
        places = _find(archives, languages, omissions, advance)
    for language in languages:
        if not places[language]:
            raise InputError(
                f"{', '.join(map(str, sources))}: no story in {language} with topics and text. "
                f"Put the archives of {language} there, or leave it out of --languages."
            )
        omissions["item", "not drawn"] += max(0, len(places[language]) - train - test)
    in_words = omissions_in_words(*((number, *what) for what, number in sorted(omissions.items())))
    for seed in seeds:
        splits: dict[Place, str] = {}
        for language in languages:
            splits |= _draw(places[language], train, test, seed, language)
        with progress_bar("read stories", len(splits), bool(verbose), "stories") as advance:
            stories = _read(archives, splits, advance)
        yield BuiltCorpus(_documents(stories, splits), in_words)


def _documents(stories: Mapping[Place, Story], splits: Mapping[Place, str]) -> list[Document]:
    """The stories with those of their topics that a story for training has, in the order of their ids."""
    known = {topic for place, story in stories.items() if splits[place] == "train" for topic in story.topics}
    documents = [
        Document(
            id=f"rcv/{story.id}/{story.language}",
            text=story.text,
            language=story.language,
            labels=tuple(topic for topic in story.topics if topic in known),
            split=splits[place],
        )
        for place, story in stories.items()
    ]
    return sorted(documents, key=lambda document: (document.language, document.id))


def _archives(sources: Sequence[Path]) -> list[Path]:
    """The zip archives in the folders, however deep, in the order of their names."""
    archives = [
        path
        for source in sources
        for path in sorted(source.rglob("*"), key=lambda path: path.relative_to(source).parts)
        if path.suffix.lower() == ".zip" and path.is_file()
    ]
    if not archives:
        raise InputError(
            f"{', '.join(map(str, sources))}: no .zip in it. Put the zip archives there of {_SOURCE}."
        )
    return archives


def _find(
    archives: Sequence[Path], languages: Collection[str], omissions: OmissionCounts, advance: Advance
) -> dict[str, dict[str, Place]]:
    """Where the stories of each language are, by their number; of those with the same the first."""
    places: dict[str, dict[str, Place]] = {language: {} for language in languages}
    for number, archive in enumerate(archives):
        with _zip_archive(archive) as (file, members):
            for position, member in enumerate(members):
                advance(1)
                story = _story(_bytes_of(file, member), archive, member.filename, languages)
                if story is None:
                    omissions["item", "of other languages"] += 1
                elif not story.id or not story.topics or not story.text:
                    omissions["item", "without a number, topics or text"] += 1
                elif story.id in places[story.language]:
                    omissions["item", "beside another one of the same number"] += 1
                else:
                    places[story.language][story.id] = Place(number, position)
    return places


def _draw(places: Mapping[str, Place], train: int, test: int, seed: int, language: str) -> dict[Place, str]:
    """The stories drawn, with their split."""
    ordered = sorted(places)
    positions = stream(seed, "rcv", language).permutation(len(ordered))[: train + test].tolist()
    if len(ordered) <= train:
        train = (7 * len(ordered) + 9) // 10
    return {
        places[ordered[position]]: "train" if rank < train else "test"
        for rank, position in enumerate(positions)
    }


def _read(archives: Sequence[Path], places: Collection[Place], advance: Advance) -> dict[Place, Story]:
    by_archive: defaultdict[int, list[Place]] = defaultdict(list)
    for place in sorted(places):
        by_archive[place.archive].append(place)
    stories: dict[Place, Story] = {}
    for number, here in by_archive.items():
        with _zip_archive(archives[number]) as (file, members):
            for place in here:
                member = members[place.position]
                story = _story(_bytes_of(file, member), archives[number], member.filename)
                if story is None:
                    raise ValueError("it changed meanwhile")
                stories[place] = story
                advance(1)
    return stories


def _story(
    content: bytes, archive: Path, member: str, languages: Collection[str] | None = None
) -> Story | None:
    """The story in a file, or None where it is not in one of the languages."""
    # Most stories are in other languages, some of them in encodings that expat does not know.
    hint = _ROOT.search(content, 0, _HEAD)
    if (
        hint
        and languages is not None
        and _language(hint[1].decode("ascii"), archive, member) not in languages
    ):
        return None
    root = read_xml(content, archive, member)
    language = _language(root.get("xml:lang", ""), archive, member)
    if language is None or (languages is not None and language not in languages):
        return None
    paragraphs = list(filter(None, map(plain_text, root.findall("text/p"))))
    headline = plain_text(root.find("headline")) or plain_text(root.find("title"))
    codes = root.findall('metadata/codes[@class="bip:topics:1.0"]/code')
    return Story(
        (root.get("itemid") or "").strip(),
        language,
        "\n".join(filter(None, [headline, *paragraphs])) if paragraphs else "",
        tuple(sorted({code.get("code", "").strip() for code in codes} - {""})),
    )


def _language(tag: str, archive: Path, member: str) -> str | None:
    language = language_of(tag)
    if language == _SPANISH:
        folders = {*archive.with_suffix("").parts, *member.split("/")[:-1]}
        if _LATIN_AMERICAN in map(str.upper, folders):
            return _AMERICAN_SPANISH
    return language


@contextmanager
def _zip_archive(path: Path) -> Iterator[tuple[zipfile.ZipFile, list[zipfile.ZipInfo]]]:
    """An archive and its XML files by name. A name that climbs out of its folder remains just a name."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = [info for info in archive.infolist() if info.filename.lower().endswith(".xml")]
            size = sum(info.file_size for info in members)
            if size > MAX_ARCHIVE_BYTES:
                raise ValueError(f"it unpacks to {size:,} bytes")
            yield archive, sorted(members, key=lambda info: (info.filename, info.header_offset))
    except InputError:
        raise
    except PermissionError as error:
        raise cannot_read(str(path), error) from None
    except (*DAMAGE, zipfile.BadZipFile, RuntimeError, ValueError, OverflowError) as error:
        raise InputError(
            f"{path}: not a zip archive, or one that cannot be read ({reason_of(error)}). "
            "Copy it again, unencrypted."
        ) from error


def _bytes_of(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    if member.file_size > MAX_FILE_BYTES:
        raise ValueError(f"a file of {member.file_size:,} bytes is in it")
    with archive.open(member) as file:
        return file.read(MAX_FILE_BYTES + 1)
