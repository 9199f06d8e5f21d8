"""Label sets from files: tables, JSON, and SKOS vocabularies, for which nothing is fetched."""

import difflib
import logging
import os
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from funnelling.corpus.label_set import UNTAGGED, Label, LabelSet
from funnelling.errors import InputError, prefix_errors
from funnelling.formats import read_rows
from funnelling.formats.document import encodable, quoted, split_labels
from funnelling.formats.encoded import TextFile
from funnelling.formats.files import STANDARD, shown_name
from funnelling.formats.layout import is_flag
from funnelling.text.languages import is_tag, normalise_tag

NAME = "name"
LANGUAGE_MARKS = ("_", "@", ":", " ")  # between it and a language, in the name of a column
FIELDS = ("id", NAME, "names", "description", "parent", "parents", "exclude")
# How like one of these a field is from which on it is meant, where it is passed over
FIELD_SIMILARITY_CUTOFF = 0.85
MAX_TEXT_CHARACTERS = 100_000  # characters of a name or a description
LABEL_FILE_HINT = (
    "Give each label an id, and as you like name_en (and other languages), description, parent, exclude"
)


def read_label_set(path: str | os.PathLike[str], labels: Sequence[str] = ()) -> LabelSet:
    """The labels of a file: what they are called, what they belong to, which are not to be assigned.

    A table (.csv, .tsv, .xlsx, .ods, .parquet) has the columns ``id``, ``name`` or ``name_en``, ``name_de``
    and so on, ``description``, ``parent`` (several are joined by ``|``) and ``exclude`` (yes or no), of
    which only the first is needed. Objects of JSON have the same, or ``names`` by language and a list of
    ``parents``. Vocabularies in SKOS (.ttl, .nt, .rdf) need rdflib.

    Parameters
    ----------
    path : the file; .csv, .tsv, .jsonl and vocabularies also with .gz
    labels : those of documents, or of a model. A concept of a vocabulary is called by its address, unless
        more of these are its notation, or the last part of its address

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "labels.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("id,name_en,name_it,parent\\nanimals,Animals,,\\ncats,Cats,Gatti,animals\\n")
    ...     labels = read_label_set(path)
    >>> labels["cats"]
    Label(id='cats', names={'en': 'Cats', 'it': 'Gatti'}, description='', parents=('animals',), exclude=False)
    """
    name = shown_name(path)
    ending = Path(path).name.lower().removesuffix(".gz").rpartition(".")[2]
    if os.fspath(path) == STANDARD:
        raise InputError("labels are not read from standard input. Name a file of them.")
    if ending in ("ttl", "nt", "rdf"):
        text = TextFile(path).text()
        with prefix_errors(name):
            return LabelSet.of(map(_short, read_skos(text, ending, labels)))
    entries = list(_entries(path, name))
    if not entries:
        raise InputError(f"{name}: no labels in it. {LABEL_FILE_HINT}.")
    with prefix_errors(name):
        return LabelSet.of(entries)


def _entries(path: str | os.PathLike[str], name: str) -> Iterator[Label]:
    table = read_rows(path)
    if table.columns is not None and "id" not in map(_plain, table.columns):
        raise InputError(f'{name}: no column "id". {LABEL_FILE_HINT}.')
    seen: set[str] = set()
    for number, row in table.rows():
        with prefix_errors(f"{name}:{number}"):
            _check_spelling(row.keys() - seen)
            seen |= row.keys()
            plain = {_plain(key): value for key, value in row.items()}
            if len(plain) < len(row):
                twice = next(key for key, times in Counter(map(_plain, row)).items() if times > 1)
                raise InputError(f"{quoted(twice)} is there twice. Keep one.")
            yield _label(plain, table.columns is not None)


def _check_spelling(columns: Iterable[str]) -> None:
    """Refuse columns that would be passed over though one that is read is meant."""
    for column in sorted(map(_plain, columns)):
        known = column in FIELDS or (column.startswith(NAME) and column[len(NAME)] in LANGUAGE_MARKS)
        field = re.split(f"[{''.join(LANGUAGE_MARKS)}]", column)[0]
        meant = difflib.get_close_matches(field, FIELDS, n=1, cutoff=FIELD_SIMILARITY_CUTOFF)
        if not known and meant and field != meant[0]:
            raise InputError(f"{quoted(column)}: is {quoted(meant[0])} meant? Rename it, or take it out.")


def _plain(column: str) -> str:
    return column.strip().casefold()


def _label(row: Mapping[str, Any], in_cells: bool) -> Label:
    label = _text(row.get("id"), "id")
    if not label:
        raise InputError(f'"id" is missing. {LABEL_FILE_HINT}.')
    try:
        exclude = bool(is_flag(row.get("exclude")))
    except ValueError:
        raise InputError('"exclude" must be yes or no, true or false, or empty. Correct it.') from None
    return Label(
        label, _names(row), _text(row.get("description"), "description"), _parents(row, in_cells), exclude
    )


def _names(row: Mapping[str, Any]) -> dict[str, str]:
    """The names of a label by language, in a field for each, or in one for all."""
    found: dict[str, str] = {}
    for key, value in row.items():
        if key == "names" or (key == NAME and isinstance(value, Mapping)):
            if not isinstance(value, Mapping | None):
                raise InputError('"names" must be an object of names by language. Use "name" for one name.')
            given = {str(tag): each for tag, each in (value or {}).items()}
        elif key == NAME:
            given = {UNTAGGED: value}
        elif key.startswith(NAME) and key[len(NAME) : len(NAME) + 1] in LANGUAGE_MARKS:
            given = {key[len(NAME) + 1 :]: value}
        else:
            continue
        for tag, each in given.items():
            language, text = normalise_tag(tag), _text(each, key)
            if text and found.setdefault(language, text) != text:
                raise InputError(f"two names in {quoted(language)}. Keep one.")
    return found


def _parents(row: Mapping[str, Any], in_cells: bool) -> tuple[str, ...]:
    found: list[str] = []
    for key in ("parent", "parents"):
        value = row.get(key)
        if isinstance(value, list | tuple):
            found += [_text(each, key) for each in value]
        else:
            text = _text(value, key)
            found += split_labels(text) if in_cells else [text]
    return tuple(dict.fromkeys(parent.strip() for parent in found if parent.strip()))


def _short(label: Label) -> Label:
    """A label of a vocabulary, of which no text is too long."""
    for text in (label.id, label.description, *label.names.values()):
        if len(text) > MAX_TEXT_CHARACTERS:
            raise InputError(
                f"label {quoted(label.id)}: a text of more than {MAX_TEXT_CHARACTERS:,} characters. "
                "Shorten it."
            )
    return label


def _text(value: Any, field: str) -> str:
    """A field as text, empty where it is missing."""
    if value is None or value != value:
        return ""
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise InputError(f'"{field}" must be a text. Quote it.')
    text = encodable(str(value).strip())
    if len(text) > MAX_TEXT_CHARACTERS:
        raise InputError(f'"{field}" has more than {MAX_TEXT_CHARACTERS:,} characters. Shorten it.')
    return text


RDF_FORMATS = {"ttl": "turtle", "nt": "nt", "rdf": "xml"}
BASE_URI = "urn:labels:"  # what addresses are relative to that are not whole
DESCRIPTIONS = ("definition", "scopeNote", "note")  # the first of these that there is

_LOCAL = re.compile(r"[^/#:]+(?=[/#:]*$)")  # the last part of an address
_DECLARED = re.compile(r"<\?xml[^>]*\?>")  # in which encoding the file was, of which nothing is left
_ENTITY = re.compile(r"<!ENTITY\s+([^>]{0,2000})")
# For the start of an address
_SHORTHAND = re.compile(r"""[\w.-]+\s+(?:"[^"&%<]{0,200}"|'[^'&%<]{0,200}')\s*""")
_TOKEN = re.compile(  # of Turtle, in which quotes may stand; the last one may lack its end
    r'''"""(?:[^"\\]+|\\.|"(?!""))*+(?:""")?'''
    r"""|'''(?:[^'\\]+|\\.|'(?!''))*+(?:''')?"""
    r"""|"(?:[^"\\\n]+|\\.)*+"?"""
    r"""|'(?:[^'\\\n]+|\\.)*+'?|<[^>\n]*>?|\#[^\n]*""",
    re.DOTALL,
)
MAX_ENTITIES = 100
MAX_VALUE_CHARACTERS = 400_000  # characters; rdflib takes up to five seconds for one of them


def read_skos(text: str, ending: str, labels: Sequence[str] = ()) -> list[Label]:
    """The concepts of a vocabulary with an address, by its text; see `read_label_set`."""
    try:
        from rdflib import Graph, URIRef
        from rdflib.namespace import OWL, RDF, SKOS
    except ImportError:
        raise InputError("SKOS needs rdflib: pip install 'funnelling[skos]'") from None
    if ending == "rdf":
        text = _without_traps(text)
    elif any(token.end() - token.start() > MAX_VALUE_CHARACTERS for token in _TOKEN.finditer(text)):
        raise _too_long()  # for the reason that `_check_values` has
    graph: Any = Graph()
    try:
        with _silent():
            graph.parse(data=text, format=RDF_FORMATS[ending], publicID=BASE_URI)
    except (Exception, RecursionError) as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise InputError(
            f"not {RDF_FORMATS[ending]} as rdflib reads it ({reason}). Correct the file."
        ) from None
    concepts = sorted(set(graph.subjects(RDF.type, SKOS.Concept)) | set(graph.subjects(SKOS.prefLabel, None)))
    concepts = [
        concept
        for concept in concepts
        if isinstance(concept, URIRef) and SKOS.ConceptScheme not in graph.objects(concept, RDF.type)
    ]
    if not concepts:
        raise InputError("no concept of SKOS in it. Choose a vocabulary.")
    notations = {each: min(map(str, graph.objects(each, SKOS.notation)), default="") for each in concepts}
    ids = _ids(concepts, notations, labels)
    above: dict[Any, list[str]] = {concept: [] for concept in concepts}
    pairs = [*graph.subject_objects(SKOS.broader)]
    pairs += [(narrower, concept) for concept, narrower in graph.subject_objects(SKOS.narrower)]
    for concept, parent in sorted(set(pairs)):
        if concept in ids and parent in ids and concept != parent:  # others are of another vocabulary
            above[concept].append(ids[parent])
    return [
        Label(
            ids[concept],
            _concept_names(graph.objects(concept, SKOS.prefLabel)),
            _description([graph.objects(concept, SKOS[name]) for name in DESCRIPTIONS]),
            tuple(above[concept]),
            any(str(value).lower() in ("true", "1") for value in graph.objects(concept, OWL.deprecated)),
        )
        for concept in concepts
    ]


def _without_traps(text: str) -> str:
    """XML without what leads to other files, or to far more text than there is."""
    entities = [match[1] for match in _ENTITY.finditer(text)]
    if text.count("<!ENTITY") > MAX_ENTITIES or not all(map(_SHORTHAND.fullmatch, entities)):
        raise InputError("it defines entities that are more than the start of an address. Take them out.")
    text = _DECLARED.sub("", text, count=1)
    _check_values(text)
    return text


def _too_long() -> InputError:
    return InputError(f"a value of more than {MAX_VALUE_CHARACTERS:,} characters. Shorten it.")


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
        if size > MAX_VALUE_CHARACTERS:
            raise _too_long()

    def begin(name: str, attributes: dict[str, str]) -> None:
        nonlocal size, within
        if max(map(len, attributes.values()), default=0) > MAX_VALUE_CHARACTERS:
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


def _concept_names(literals: Iterator[Any]) -> dict[str, str]:
    """Names by language; of several in one, the first of the alphabet."""
    found: dict[str, str] = {}
    for literal in sorted(literals, key=str):
        tag = getattr(literal, "language", None) or UNTAGGED
        if is_tag(tag):
            found.setdefault(normalise_tag(tag), encodable(str(literal).strip()))
    return found


def _description(kinds: Sequence[Iterator[Any]]) -> str:
    for literals in kinds:
        texts = _concept_names(literals)
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
        with warnings.catch_warnings(action="ignore"):
            yield
    finally:
        logger.setLevel(before)


def label_set_for(path: str | os.PathLike[str], labels: Sequence[str]) -> LabelSet:
    """The label set of a file, which must have something to say of the labels of documents, or of a model."""
    label_set = read_label_set(path, labels)
    if labels and not any(label in label_set for label in labels):
        raise InputError(
            f"{shown_name(path)}: its ids ({quoted(label_set.ids[0])}, …) have nothing in common with the "
            f"labels that they are for ({quoted(labels[0])}, …). Check the ids."
        )
    return label_set
