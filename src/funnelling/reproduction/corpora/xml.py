"""XML that others wrote: nothing is fetched for it, nothing in it expands, no tree grows endless."""

import re
from html.entities import html5
from pathlib import Path
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from funnelling.errors import InputError
from funnelling.formats.document import quoted

DEEPEST = 100
MOST_ELEMENTS = 1_000_000

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
        if depth > DEEPEST:
            raise ValueError(f"more than {DEEPEST} elements in one another")
        if elements > MOST_ELEMENTS:
            raise ValueError(f"more than {MOST_ELEMENTS:,} elements")
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
