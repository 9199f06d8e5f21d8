"""What all builders of corpora share: what they give, options, files that others compressed, safe XML."""

import bz2
import gzip
import io
import lzma
import os
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from html.entities import html5
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from funnelling.errors import InputError, counted
from funnelling.formats import Document
from funnelling.formats.document import quoted
from funnelling.formats.files import cannot_read
from funnelling.text.languages import normalise_tag

# How often something was left out: a noun, and the reason.
OmissionCounts = Counter[tuple[str, str]]


class BuiltCorpus(NamedTuple):
    """A corpus, and what was left out of it, in words."""

    documents: list[Document]
    omissions: list[str]


def normal_languages(tags: Iterable[str]) -> tuple[str, ...]:
    """Language tags in their one spelling and in alphabetical order, none twice.

    >>> normal_languages(["pt-br", "IT", "it"])
    ('it', 'pt_BR')
    """
    return tuple(sorted(set(map(normalise_tag, tags))))


def language_of(tag: str) -> str | None:
    """The one spelling of a language tag, None where it is no language tag.

    >>> language_of("pt-br"), language_of("not a tag")
    ('pt_BR', None)
    """
    try:
        return normalise_tag(tag)
    except InputError:
        return None


def check_folders(sources: Sequence[Path]) -> None:
    """Refuse a source that is no folder."""
    for source in sources:
        if not source.is_dir():
            raise InputError(f"{source}: no such folder. Give the folder of the files as --source.")


def most_frequent(labels: Iterable[Iterable[str]], number: int) -> list[str]:
    """The labels that most documents have; of equals the first by name.

    >>> most_frequent([["b", "a"], ["b"], ["c"]], 2)
    ['b', 'a']
    """
    counts = Counter(label for document in labels for label in document)
    return sorted(counts, key=lambda label: (-counts[label], label))[:number]


def omissions_in_words(*counts: tuple[int, str, str]) -> list[str]:
    """What was left out and why, where it was anything.

    >>> omissions_in_words((1, "page", "too short"), (0, "page", "too long"))
    ['1 page too short']
    """
    return [f"{counted(number, noun)} {reason}" for number, noun, reason in counts if number]


DAMAGE = (EOFError, OSError, zlib.error, lzma.LZMAError)

_READERS: dict[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": lambda stream: gzip.GzipFile(fileobj=stream),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}


def decompressed(stream: io.BufferedReader) -> BinaryIO:
    """The stream itself, or what was compressed into it."""
    start = stream.peek(8)
    for magic, reader in _READERS.items():
        if start.startswith(magic):
            return cast(BinaryIO, reader(stream))
    return cast(BinaryIO, stream)


@contextmanager
def reading(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """The bytes of a file, decompressed."""
    name = os.fspath(path)
    try:
        with open(path, "rb") as stream:
            yield decompressed(stream)
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        raise cannot_read(name, error) from None
    except DAMAGE as error:
        raise InputError(
            f"{name}: the compressed data ends early or is damaged. Copy or download the file again."
        ) from error


class RationedStream:
    """A stream that ends in an error once it gave all that is ``left``: kilobytes can unpack to gigabytes."""

    def __init__(self, stream: Any, left: int, error: str) -> None:
        self._stream = stream
        self.left = left
        self._error = error

    def read(self, size: int) -> bytes:
        chunk: bytes = self._stream.read(size)
        self.left -= len(chunk)
        if self.left < 0:
            raise ValueError(self._error)
        return chunk


def reason_of(error: BaseException) -> str:
    """Why an archive cannot be read, on one line; what ends early often gives no reason."""
    return " ".join(str(error).split()) or "it ends early"


MAX_DEPTH = 100
MAX_ELEMENTS = 1_000_000

_ENTITY = re.compile(rb"&([A-Za-z][A-Za-z0-9]*);")
_OF_XML = frozenset((b"amp", b"lt", b"gt", b"quot", b"apos"))
# Those that expat itself decodes and that not any bytes are text of; others are left to its own message.
_STRICT_ENCODINGS = frozenset(("utf-8", "us-ascii", "utf-16"))


def read_xml(content: bytes, archive: Path, member: str) -> Element:
    """The root element of a file that was found in an archive.

    A DOCTYPE may name a DTD, which is never read; the names that HTML has for characters are known
    all the same. Declarations in the file itself are refused: they serve to blow up a text, or to read
    another file.

    >>> read_xml(b'<!DOCTYPE a SYSTEM "a.dtd"><a>caf&eacute;</a>', Path("it.zip"), "1.xml").text
    'café'
    """
    try:
        return _tree(content)
    except (expat.ExpatError, LookupError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise InputError(
            f"{archive}: {quoted(member)} cannot be read as XML ({reason}). "
            "Fetch the archive again, or repair or remove that file."
        ) from None


def plain_text(element: Element | None) -> str:
    """All text in an element, with single spaces.

    >>> from xml.etree.ElementTree import fromstring
    >>> plain_text(fromstring("<p>The <b>old</b>\\n cat</p>"))
    'The old cat'
    """
    return "" if element is None else " ".join("".join(element.itertext()).split())


def _tree(content: bytes) -> Element:
    builder = TreeBuilder()
    encoding = "utf-8"
    depth = elements = 0

    def declare(_version: str, declared: str | None, _standalone: int) -> None:
        nonlocal encoding
        encoding = (declared or encoding).lower()

    def refuse_declarations(_name: str, _system: str | None, _public: str | None, internal: int) -> None:
        if internal:
            raise ValueError("it declares entities or the like of its own")

    def refuse_entity(name: str, _is_parameter: bool) -> None:
        raise ValueError(f"unknown entity &{name};")

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth, elements
        depth += 1
        elements += 1
        if depth > MAX_DEPTH:
            raise ValueError(f"more than {MAX_DEPTH} elements in one another")
        if elements > MAX_ELEMENTS:
            raise ValueError(f"more than {MAX_ELEMENTS:,} elements")
        builder.start(tag, attributes)

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(tag)

    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.XmlDeclHandler = declare
    parser.StartDoctypeDeclHandler = refuse_declarations
    parser.SkippedEntityHandler = refuse_entity
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = builder.data
    try:
        parser.Parse(_ENTITY.sub(_character_references, content), True)
    except expat.ExpatError:
        if encoding in _STRICT_ENCODINGS:
            _check_encoding(content, encoding)
        raise
    return builder.close()


def _character_references(match: re.Match[bytes]) -> bytes:
    """An entity of HTML as numbers, which need no DTD; any other as it is."""
    name = match[1]
    characters = None if name in _OF_XML else html5.get(f"{name.decode('ascii')};")
    if characters is None:
        return match[0]
    return "".join(f"&#{ord(character)};" for character in characters).encode("ascii")


def _check_encoding(content: bytes, encoding: str) -> None:
    try:
        content.decode(encoding)
    except UnicodeDecodeError as error:
        raise ValueError(f"not {encoding.upper()} text at byte {error.start:,}") from None
