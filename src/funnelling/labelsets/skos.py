"""Vocabularies in SKOS, by rdflib: nothing is fetched, and no file but this one is read."""

import logging
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from funnelling.errors import InputError
from funnelling.formats.parquet import encodable
from funnelling.labelsets.label_set import UNTAGGED, Label
from funnelling.text.languages import is_tag, normalise_tag

FORMATS = {"ttl": "turtle", "nt": "nt", "rdf": "xml"}
BASE = "urn:labels:"  # what addresses are relative to that are not whole
DESCRIPTIONS = ("definition", "scopeNote", "note")  # the first of these that there is

_LOCAL = re.compile(r"[^/#:]+(?=[/#:]*$)")  # the last part of an address
_DECLARED = re.compile(r"<\?xml[^>]*\?>")  # in which encoding the file was, of which nothing is left
_ENTITY = re.compile(r"<!ENTITY\s+([^>]{0,2000})")
_SHORTHAND = re.compile(
    r"""[\w.-]+\s+(?:"[^"&%<]{0,200}"|'[^'&%<]{0,200}')\s*"""
)  # for the start of an address
_TOKEN = re.compile(  # of Turtle, in which quotes may stand; the last one may lack its end
    r'''"""(?:[^"\\]+|\\.|"(?!""))*+(?:""")?'''
    r"""|'''(?:[^'\\]+|\\.|'(?!''))*+(?:''')?"""
    r"""|"(?:[^"\\\n]+|\\.)*+"?"""
    r"""|'(?:[^'\\\n]+|\\.)*+'?|<[^>\n]*>?|\#[^\n]*""",
    re.DOTALL,
)
MOST_ENTITIES = 100
LONGEST_VALUE = 400_000  # characters; rdflib takes up to five seconds for one of them


def read_skos(text: str, ending: str, labels: Sequence[str] = ()) -> list[Label]:
    """The concepts of a vocabulary with an address, by its text; see `read_label_set`."""
    try:
        from rdflib import Graph, URIRef
        from rdflib.namespace import OWL, RDF, SKOS
    except ImportError:
        raise InputError("SKOS needs rdflib: pip install 'funnelling[skos]'") from None
    if ending == "rdf":
        text = _without_traps(text)
    else:
        _check_literals(text)
    graph: Any = Graph()
    try:
        with _silent():
            graph.parse(data=text, format=FORMATS[ending], publicID=BASE)
    except (Exception, RecursionError) as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise InputError(f"not {FORMATS[ending]} as rdflib reads it ({reason}). Correct the file.") from None
    concepts = sorted(set(graph.subjects(RDF.type, SKOS.Concept)) | set(graph.subjects(SKOS.prefLabel, None)))
    concepts = [
        concept
        for concept in concepts
        if isinstance(concept, URIRef) and SKOS.ConceptScheme not in graph.objects(concept, RDF.type)
    ]
    if not concepts:
        raise InputError("no concept of SKOS in it. Choose a vocabulary.")
    ids = _ids(concepts, {each: _first(graph.objects(each, SKOS.notation)) for each in concepts}, labels)
    above: dict[Any, list[str]] = {concept: [] for concept in concepts}
    pairs = [*graph.subject_objects(SKOS.broader)]
    pairs += [(narrower, concept) for concept, narrower in graph.subject_objects(SKOS.narrower)]
    for concept, parent in sorted(set(pairs)):
        if concept in ids and parent in ids and concept != parent:  # others are of another vocabulary
            above[concept].append(ids[parent])
    return [
        Label(
            ids[concept],
            _names(graph.objects(concept, SKOS.prefLabel)),
            _description([graph.objects(concept, SKOS[name]) for name in DESCRIPTIONS]),
            tuple(above[concept]),
            any(str(value).lower() in ("true", "1") for value in graph.objects(concept, OWL.deprecated)),
        )
        for concept in concepts
    ]


def _without_traps(text: str) -> str:
    """XML without what leads to other files, or to far more text than there is."""
    entities = [match[1] for match in _ENTITY.finditer(text)]
    if text.count("<!ENTITY") > MOST_ENTITIES or not all(map(_SHORTHAND.fullmatch, entities)):
        raise InputError("it defines entities that are more than the start of an address. Take them out.")
    text = _DECLARED.sub("", text, count=1)
    _check_values(text)
    return text


def _check_literals(text: str) -> None:
    """Refuse a huge literal of Turtle, for the reason that `_check_values` has."""
    if any(token.end() - token.start() > LONGEST_VALUE for token in _TOKEN.finditer(text)):
        raise _too_long()


def _too_long() -> InputError:
    return InputError(f"a value of more than {LONGEST_VALUE:,} characters. Shorten it.")


def _check_values(text: str) -> None:
    """Refuse a huge value of XML: rdflib puts them together bit by bit, in time with their square.

    A value ends with its element, and one that may hold elements (``parseType="Literal"``) with the last.
    """
    from xml.parsers.expat import ExpatError, ParserCreate

    parser = ParserCreate("utf-8")
    parser.buffer_text = True
    size = within = 0

    def add(more: str) -> None:
        nonlocal size
        size += len(more) + 1
        if size > LONGEST_VALUE:
            raise _too_long()

    def begin(name: str, attributes: dict[str, str]) -> None:
        nonlocal size, within
        if max(map(len, attributes.values()), default=0) > LONGEST_VALUE:
            raise _too_long()
        if within:
            add(name)
        else:
            size = 0
        within += bool(within) or any(value == "Literal" for value in attributes.values())

    def end(_name: str) -> None:
        nonlocal size, within
        within -= bool(within)
        size = size if within else 0

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = begin, end, add
    with suppress(ExpatError):  # which rdflib says
        parser.Parse(text.encode(), True)


def _ids(concepts: Sequence[Any], notations: dict[Any, str], labels: Sequence[str]) -> dict[Any, str]:
    """What to call concepts: as most of the labels do, if that tells them apart."""
    local = {concept: match[0] if (match := _LOCAL.search(str(concept))) else "" for concept in concepts}
    ways = [{concept: str(concept) for concept in concepts}, notations, local]
    told = [way for way in ways if all(way.values()) and len(set(way.values())) == len(way)]
    known = set(labels)
    return max(told, key=lambda way: len(known & set(way.values())))


def _first(values: Iterator[Any]) -> str:
    return min(map(str, values), default="")


def _names(literals: Iterator[Any]) -> dict[str, str]:
    """Names by language; of several in one, the first of the alphabet."""
    found: dict[str, str] = {}
    for literal in sorted(literals, key=str):
        tag = getattr(literal, "language", None) or UNTAGGED
        if is_tag(tag):
            found.setdefault(normalise_tag(tag), encodable(str(literal).strip()))
    return found


def _description(kinds: Sequence[Iterator[Any]]) -> str:
    for literals in kinds:
        texts = _names(literals)
        if texts:
            return texts.get("en") or texts.get(UNTAGGED) or texts[min(texts)]
    return ""


@contextmanager
def _silent() -> Iterator[None]:
    """Leave unsaid what rdflib thinks of literals, of which only the text matters here."""
    logger = logging.getLogger("rdflib")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(before)
