"""A journal of what people decided about documents, read as documents: the last decision of each counts.

A journal is JSON Lines. Its first line says what it is; each other line is one decision, with the document it
is about, so that nothing else is needed to learn from it.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from hashlib import blake2b
from typing import Any

from funnelling.errors import InputError
from funnelling.formats.document import FIELDS, quoted
from funnelling.formats.files import LONGEST, STANDARD, reading

VERSION = 1
HEADER = {"journal": "funnelling", "version": VERSION}
LABEL, SKIP, UNDO, NOTE = ACTIONS = ("label", "skip", "undo", "note")

_LONGEST_HEADER = 1_000  # bytes; the first line of another file may be all of it

Numbered = tuple[int, dict[str, Any]]  # a line, by its number


def is_header(record: Mapping[str, object]) -> bool:
    """Whether a line is the first one of a journal.

    >>> is_header(HEADER), is_header({"text": "Hi"})
    (True, False)
    """
    return record.get("journal") == HEADER["journal"] and "text" not in record


def journal_mark(path: str | os.PathLike[str]) -> str | None:
    """What tells a journal from others of its name, however it grows: made of when it was begun.

    None for any other file, and for a journal without decisions.
    """
    if os.fspath(path) == STANDARD:  # which cannot be read again
        return None
    with suppress(InputError, ValueError, RecursionError), reading(path) as stream:
        header = json.loads(stream.readline(_LONGEST_HEADER))
        if isinstance(header, dict) and is_header(header):
            first = json.loads(stream.readline(LONGEST))
            if isinstance(first, dict) and first.get("time"):
                return blake2b(str(first["time"]).encode(errors="replace"), digest_size=8).hexdigest()
    return None


def check_header(record: Mapping[str, object], name: str) -> None:
    """Refuse a journal that a later version wrote."""
    version = record.get("version")
    if version != VERSION:
        shown = version if isinstance(version, int) else quoted(str(version))
        raise InputError(
            f"{name}: a journal of version {shown}, and this program knows {VERSION}. Update funnelling."
        )


def cut_off(name: str, line: int) -> str:
    """What is said of a last line that is not whole.

    >>> cut_off("journal.jsonl", 7)
    'journal.jsonl:7: cut off, and left out: it was being written when a program stopped, or is now.'
    """
    return f"{name}:{line}: cut off, and left out: it was being written when a program stopped, or is now."


def damaged(name: str, line: int) -> InputError:
    """The refusal of a line within a journal that holds no object."""
    return InputError(f"{name}:{line}: damaged, it is no JSON object in UTF-8. Delete the line.")


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
