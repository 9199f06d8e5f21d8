"""A document, and the one place where raw records become documents and documents records."""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from funnelling.errors import InputError

FIELDS = ("id", "language", "text", "labels", "split", "group")
SPLITS = ("train", "test", "parallel")
NO_LABEL = "[]"  # in a cell: a document of no label, where an empty cell is an unlabelled one
# What spreadsheets and libraries write for a cell that is empty. In other cases they are words: Na is sodium.
MISSING = frozenset({"\\N", "nan", "NaN", "NA", "<NA>", "#N/A", "N/A", "n/a", "null", "NULL"})

_SURROGATE = re.compile(r"[\ud800-\udfff]")
_LABEL_SEPARATOR = re.compile(r"\\([\\|])|(\|)")
_PLAIN_LABEL = re.compile(r"[^|;,\\\n\r\[\](){}]*[^\W\d_][^|;,\\\n\r\[\](){}]*|[+-]?\d+")
_SPLIT_NAMES = {"training": "train", "testing": "test"}


class LineNumber(str):
    """The id of a document that was given none: the number of its line. It is known by its text instead."""

    __slots__ = ()


def given_id(name: str) -> str | None:
    """The id of a document as it stands in a file: None where it was given none."""
    return None if isinstance(name, LineNumber) else name


class _NoText(str):
    """The text of a document that has none, not even an empty one."""

    __slots__ = ()


NO_TEXT = _NoText()  # of a row that only says which labels the document with its id has


_UNDETERMINED = frozenset({"", "und", "mul", "unk", "unknown", "?", "-", "n/a", "nan", "none", "null"})


@dataclass(frozen=True, slots=True)
class Document:
    """A text, its language and its labels: None where they are not known, () where there are none.

    Parameters
    ----------
    id : what it is called
    text : what it says
    language : its code, such as "it" or "pt_BR"
    labels : its labels
    split : "train", "test" or "parallel"
    group : what it shares with other versions of the same contents
    line : where it was read, for messages
    fields : all columns of its file as they stood there, for whoever asked `read_documents` to keep them

    Examples
    --------
    >>> Document("7", "Il gatto dorme", language="it", labels=("animals",))
    Document(id='7', text='Il gatto dorme', language='it', labels=('animals',), split=None, group=None)
    """

    id: str
    text: str
    language: str | None = None
    labels: tuple[str, ...] | None = None
    split: str | None = None
    group: str | None = None
    line: int | None = field(default=None, compare=False, repr=False)
    fields: Mapping[str, object] | None = field(default=None, compare=False, repr=False)


def to_document(record: Mapping[str, object], name: str, line: int, texts: bool = True) -> Document:
    """The document in a raw record that stands at a line of the file called ``name``.

    Unless ``texts`` are needed, that of a record with an id and without a text is `NO_TEXT`.

    >>> to_document({"text": "Hi", "labels": ["a", "b", "a"], "colour": "red"}, "docs.jsonl", 3)
    Document(id='3', text='Hi', language=None, labels=('a', 'b'), split=None, group=None)
    >>> to_document({"text": "Hi", "labels": 4}, "docs.jsonl", 17)
    Traceback (most recent call last):
    funnelling.errors.InputError: docs.jsonl:17: "labels" must be a list of strings, found a number. \
Put it in brackets or drop the field.
    """
    try:
        given, language = _name(record, "id"), _string(record, "language")
        return Document(
            id=given or LineNumber(line),
            text=_text(record, optional=not texts and given is not None),
            # Few distinct values for many documents: all of these share one object per value.
            language=None if language is None else sys.intern(language),
            labels=_labels(record),
            split=_split(record),
            group=_name(record, "group"),
            line=line,
        )
    except InputError as error:
        raise InputError(f"{name}:{line}: {error}") from None


def to_record(document: Document) -> dict[str, object]:
    """The fields of a document that have a value, in the order of `FIELDS`, fit to be encoded.

    >>> to_record(Document("7", "Hi", labels=()))
    {'id': '7', 'text': 'Hi', 'labels': []}
    """
    record: dict[str, object] = {}
    for name in FIELDS:
        value = getattr(document, name)
        if isinstance(value, str):
            record[name] = encodable(value)
        elif value is not None:
            record[name] = [encodable(label) for label in value]
    if not all(label.strip() for label in document.labels or ()):
        raise InputError(f"document {quoted(document.id)} holds an empty label. Drop it.")
    return record


def join_labels(labels: Sequence[str]) -> str:
    r"""Labels in one cell: joined by |, or as a JSON list where one could be taken for something else.

    >>> join_labels(["news", "sport"]), join_labels(["Food, Drink"]), join_labels([])
    ('news|sport', '["Food, Drink"]', '[]')
    """
    if labels and all(_PLAIN_LABEL.fullmatch(label) and label not in MISSING for label in labels):
        return "|".join(labels)
    return json.dumps(list(labels), ensure_ascii=False)


def split_labels(cell: str) -> list[str]:
    r"""The labels that were joined in a cell; a backslash before any other character is itself.

    >>> split_labels(r"news|a\|b|C:\x")
    ['news', 'a|b', 'C:\\x']
    >>> split_labels("")
    []
    """
    if not cell:
        return []
    labels = [""]
    start = 0
    for match in _LABEL_SEPARATOR.finditer(cell):
        escaped, separator = match.groups()
        labels[-1] += cell[start : match.start()] + (escaped or "")
        if separator:
            labels.append("")
        start = match.end()
    labels[-1] += cell[start:]
    return labels


def is_undetermined(tag: str) -> bool:
    """Whether what stands in place of a tag says that the language is not known, or not one alone.

    >>> is_undetermined("und"), is_undetermined(" NaN"), is_undetermined("xx")
    (True, True, False)
    """
    return tag.strip().lower() in _UNDETERMINED


def quoted(value: str) -> str:
    """A value of the user's as it may stand in a one-line message: in quotes, escaped and short."""
    return json.dumps(value if len(value) <= 60 else value[:59] + "…", ensure_ascii=not value.isprintable())


def _text(record: Mapping[str, object], optional: bool = False) -> str:
    if optional and record.get("text") is None:
        return NO_TEXT
    if "text" not in record:
        raise InputError('"text" is missing. Add it, empty if need be.')
    text = record["text"]
    if not isinstance(text, str):
        raise InputError(f'"text" must be a string, found {_kind(text)}. Quote it or drop the document.')
    return encodable(text)


def _string(record: Mapping[str, object], field: str) -> str | None:
    value = record.get(field)
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise InputError(f'"{field}" must be a string, found {_kind(value)}. Quote it or drop the field.')
    return encodable(value)


def _name(record: Mapping[str, object], field: str) -> str | None:
    value = record.get(field)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return _string(record, field)


def _split(record: Mapping[str, object]) -> str | None:
    given = _string(record, "split")
    if given is None:
        return None
    split = given.strip().lower()
    split = _SPLIT_NAMES.get(split, split)
    if split not in SPLITS:
        raise InputError(
            f'"split" must be train, test or parallel, found {quoted(given)}. Rename it, leave these rows '
            "out, or add --split-column none."
        )
    return sys.intern(split)


def _labels(record: Mapping[str, object]) -> tuple[str, ...] | None:
    labels = record.get("labels")
    if labels is None:
        return None
    if not isinstance(labels, list):
        raise InputError(
            f'"labels" must be a list of strings, found {_kind(labels)}. '
            "Put it in brackets or drop the field."
        )
    return tuple(dict.fromkeys([_word(each) if type(each) is str else _label(each) for each in labels]))


@lru_cache(2**16)
def _word(value: str) -> str:
    return _label(value)


def _label(value: object) -> str:
    """A label, stripped; a number is the label that its digits spell."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, str | int | float) or isinstance(value, bool) or value != value:
        raise InputError(
            f'"labels" must be a list of strings, found {_kind(value)} in it. Quote it or drop it.'
        )
    label = encodable(str(value)).strip()
    if not label:
        raise InputError('"labels" holds an empty label. Drop it; a document of no label has none.')
    return sys.intern(label)


def encodable(text: str) -> str:
    """Text without halves of surrogate pairs, which JSON can spell and no encoding can write."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text)
    return text


def _kind(value: object) -> str:
    return _KINDS.get(type(value), type(value).__name__)


_KINDS: dict[type, str] = {
    type(None): "null",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "a string",
    list: "a list",
    dict: "an object",
}
