"""A journal of what people decided about documents, read as documents: the last decision of each counts.

A journal is JSON Lines. Its first line says what it is; each other line is one decision, with the document it
is about, so that nothing else is needed to learn from it.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from funnelling.errors import InputError
from funnelling.formats.document import FIELDS, quoted

VERSION = 1
HEADER = {"journal": "funnelling", "version": VERSION}
LABEL, SKIP, UNDO, NOTE = ACTIONS = ("label", "skip", "undo", "note")

Numbered = tuple[int, dict[str, Any]]  # a line, by its number


def is_header(record: Mapping[str, object]) -> bool:
    """Whether a line is the first one of a journal.

    >>> is_header(HEADER), is_header({"text": "Hi"})
    (True, False)
    """
    return record.get("journal") == HEADER["journal"] and "text" not in record


def check_header(record: Mapping[str, object], name: str) -> None:
    """Refuse a journal that a later version wrote."""
    if record.get("version") != VERSION:
        raise InputError(
            f"{name}: a journal of version {record.get('version')}, and this program knows {VERSION}. "
            "Update funnelling."
        )


def check_decision(record: Mapping[str, object], name: str, line: int) -> None:
    """Refuse a line that is no decision about a document."""
    if record.get("action") not in ACTIONS or not isinstance(record.get("text"), str):
        found = quoted(str(record.get("action")))
        raise InputError(
            f'{name}:{line}: no decision: "action" is one of {", ".join(ACTIONS)}, found {found}, and '
            '"text" a string. Delete the line.'
        )
    if isinstance(record.get("id"), list | dict):
        raise InputError(f'{name}:{line}: "id" must be a string or a number. Delete the line.')


def decided(lines: Iterable[Numbered], name: str) -> Iterator[Numbered]:
    """The documents of a journal's lines, in the order in which they came, as the last decisions left them.

    Those that were skipped, or whose labels were taken back, have none.

    >>> lines = [
    ...     {"action": "label", "id": "7", "text": "Hi", "labels": ["a"]},
    ...     {"action": "label", "id": "8", "text": "Ho", "labels": ["b"]},
    ...     {"action": "undo", "id": "7", "text": "Hi"},
    ... ]
    >>> [row for _, row in decided(enumerate(lines, 2), "journal.jsonl")]
    [{'id': '7', 'text': 'Hi'}, {'id': '8', 'text': 'Ho', 'labels': ['b']}]
    """
    latest: dict[tuple[object, object], Numbered] = {}
    for number, record in lines:
        check_decision(record, name, number)
        key = record.get("id"), record["text"]
        if record["action"] == NOTE and key in latest:
            continue
        row = {field: record[field] for field in FIELDS if field in record}
        if record["action"] != LABEL:
            row.pop("labels", None)
        latest[key] = number, row
    yield from latest.values()
