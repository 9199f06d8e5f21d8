"""A document, and the one place where raw records become documents and documents records."""

import json
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from funnelling.errors import InputError

FIELDS = ("id", "language", "text", "labels", "split", "group")
SPLITS = ("train", "test", "parallel")

_SURROGATE = re.compile(r"[\ud800-\udfff]")
_LABEL_SEPARATOR = re.compile(r"\\([\\|])|(\|)")


@dataclass(frozen=True, slots=True)
class Document:
    """A text, its language and its labels: None where they are not known, () where there are none.

    ``line`` is where it was read, for messages; ``fields`` are all columns of its file as they stood there, for
    whoever asked `read_documents` to keep them.

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


def to_document(record: Mapping[str, object], name: str, line: int) -> Document:
    """The document in a raw record that stands at a line of the file called ``name``.

    >>> to_document({"text": "Hi", "labels": ["a", "b", "a"], "colour": "red"}, "docs.jsonl", 3)
    Document(id='3', text='Hi', language=None, labels=('a', 'b'), split=None, group=None)
    >>> to_document({"text": "Hi", "labels": 4}, "docs.jsonl", 17)
    Traceback (most recent call last):
    funnelling.errors.InputError: docs.jsonl:17: "labels" must be a list of strings, found a number. \
Quote it or drop the field.
    """
    try:
        language = _string(record, "language")
        return Document(
            id=_name(record, "id") or str(line),
            text=_text(record),
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
            record[name] = _encodable(value)
        elif value is not None:
            record[name] = [_encodable(label) for label in value]
    if "" in (document.labels or ()):
        raise InputError(f"document {quoted(document.id)} holds an empty label. Drop it.")
    return record


def join_labels(labels: Iterable[str]) -> str:
    r"""Labels in one cell, joined by |, with a backslash before each | and \ of their own.

    >>> print(join_labels(["news", "a|b"]))
    news|a\|b
    """
    return "|".join(label.replace("\\", "\\\\").replace("|", "\\|") for label in labels)


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


def check_columns(columns: list[str], name: str) -> None:
    """Refuse a table whose columns lack the text or name one of our fields twice."""
    if "text" not in columns:
        raise InputError(
            f'{name}: no "text" column, found {quoted(", ".join(columns))}. '
            'Call the column that holds the text "text".'
        )
    for column in FIELDS:
        if columns.count(column) > 1:
            raise InputError(f'{name}: two columns are called "{column}". Rename one of them.')


def quoted(value: str) -> str:
    """A value of the user's as it may stand in a one-line message: in quotes, escaped and short."""
    return json.dumps(value if len(value) <= 60 else value[:59] + "…", ensure_ascii=not value.isprintable())


def _text(record: Mapping[str, object]) -> str:
    if "text" not in record:
        raise InputError('"text" is missing. Add it, empty if need be.')
    text = record["text"]
    if not isinstance(text, str):
        raise InputError(f'"text" must be a string, found {_kind(text)}. Quote it or drop the document.')
    return _encodable(text)


def _string(record: Mapping[str, object], field: str) -> str | None:
    value = record.get(field)
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise InputError(f'"{field}" must be a string, found {_kind(value)}. Quote it or drop the field.')
    return _encodable(value)


def _name(record: Mapping[str, object], field: str) -> str | None:
    value = record.get(field)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return _string(record, field)


def _split(record: Mapping[str, object]) -> str | None:
    split = _string(record, "split")
    if split is None:
        return None
    if split not in SPLITS:
        raise InputError(
            f'"split" must be train, test or parallel, found {quoted(split)}. Rename or drop it.'
        )
    return sys.intern(split)


def _labels(record: Mapping[str, object]) -> tuple[str, ...] | None:
    labels = record.get("labels")
    if labels is None:
        return None
    if not isinstance(labels, list):
        cure = "Put it in brackets" if isinstance(labels, str) else "Quote it"
        raise InputError(
            f'"labels" must be a list of strings, found {_kind(labels)}. {cure} or drop the field.'
        )
    for label in labels:
        if not isinstance(label, str):
            raise InputError(
                f'"labels" must be a list of strings, found {_kind(label)} in it. Quote it or drop it.'
            )
        if not label:
            raise InputError('"labels" holds an empty label. Drop it; a document of no label has none.')
    return tuple(dict.fromkeys(sys.intern(_encodable(label)) for label in labels))


def _encodable(text: str) -> str:
    # JSON can spell half of a surrogate pair, which no encoding can write: it would fail much later.
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
