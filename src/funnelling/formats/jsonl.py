"""JSON Lines: one object per line, the canonical form of documents; or one array of objects; or a journal.

A journal is JSON Lines. Its first line says what it is; each other line is one decision, with the document it
is about, so that nothing else is needed to learn from it.
"""

import json
import logging
import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from hashlib import blake2b
from itertools import chain
from typing import Any, NoReturn

from funnelling.errors import InputError
from funnelling.formats.document import FIELDS, quoted
from funnelling.formats.encoded import TextFile
from funnelling.formats.files import MAX_LINE_BYTES, STANDARD, joined, reading, writing
from funnelling.formats.layout import Layout

JOURNAL_VERSION = 1
JOURNAL_HEADER = {"journal": "funnelling", "version": JOURNAL_VERSION}
LABEL, SKIP, UNDO, NOTE = ACTIONS = ("label", "skip", "undo", "note")

_MAX_HEADER_BYTES = 1_000  # bytes; the first line of another file may be all of it

Numbered = tuple[int, dict[str, Any]]  # a line, by its number


def is_header(record: Mapping[str, object]) -> bool:
    """Whether a line is the first one of a journal.

    >>> is_header(JOURNAL_HEADER), is_header({"text": "Hi"})
    (True, False)
    """
    return record.get("journal") == JOURNAL_HEADER["journal"] and "text" not in record


def journal_mark(path: str | os.PathLike[str]) -> str | None:
    """What tells a journal from others of its name, however it grows: made of when it was begun.

    None for any other file, and for a journal without decisions.
    """
    if os.fspath(path) == STANDARD:  # which cannot be read again
        return None
    with suppress(InputError, ValueError, RecursionError), reading(path) as stream:
        header = json.loads(stream.readline(_MAX_HEADER_BYTES))
        if isinstance(header, dict) and is_header(header):
            first = json.loads(stream.readline(MAX_LINE_BYTES))
            moment = (first.get("timestamp") or first.get("time")) if isinstance(first, dict) else None
            if moment:
                return blake2b(str(moment).encode(errors="replace"), digest_size=8).hexdigest()
    return None


def check_header(record: Mapping[str, object], name: str) -> None:
    """Refuse a journal that a later version wrote."""
    version = record.get("version")
    if version != JOURNAL_VERSION:
        shown = version if isinstance(version, int) else quoted(str(version))
        raise InputError(
            f"{name}: a journal of version {shown}, and this program knows {JOURNAL_VERSION}. "
            "Update funnelling."
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


logger = logging.getLogger(__name__)


class JsonRows:
    """The objects of a file, each with the number of its line; blank lines are passed over."""

    options = ("encoding",)
    columns = None  # every object may have keys of its own

    def __init__(self, path: str | os.PathLike[str], name: str, layout: Layout) -> None:
        self.name = name
        self.found: list[str] = []
        self._file = TextFile(path, name, layout.encoding)
        self._cut = 0  # the line that was told to be cut off

    def rows(self, wanted: Collection[str] | None = None) -> Iterator[tuple[int, dict[str, object]]]:
        """All objects, and all they hold."""
        lines = ((number, line) for number, line in self._file.lines() if line and not line.isspace())
        begun = False
        for number, line in lines:
            if not begun and line.lstrip().startswith("["):
                text = joined(chain([line], (more for _, more in lines)), self.name, "an array")
                yield from self._entries(text, number)
                continue
            record = parse_object(line.rstrip(), f"{self.name}:{number}")
            if not begun and is_header(record):
                check_header(record, self.name)
                yield from decided(self._decisions(lines), self.name)
                return
            begun = True
            yield number, record

    def _decisions(self, lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, dict[str, object]]]:
        """The lines of a journal; half of a last one may be on its way to the disk, and is left out."""
        for number, line in lines:
            try:
                record = parse_object(line.rstrip(), f"{self.name}:{number}")
            except InputError:
                if line.endswith("\n"):
                    raise damaged(self.name, number) from None
                if self._cut != number:
                    logger.info("%s", cut_off(self.name, number))
                self._cut = number
            else:
                yield number, record

    def _entries(self, text: str, number: int) -> Iterator[tuple[int, dict[str, object]]]:
        """The objects of an array, by their place in it."""
        entries = _decode(text, f"{self.name}:{number}")
        assert isinstance(entries, list)
        for place, entry in enumerate(entries, start=1):
            yield place, _checked(entry, f"{self.name}: entry {place}")


def write(path: str | os.PathLike[str], records: Iterable[Mapping[str, object]], force: bool) -> None:
    """One object per line, characters of every script as themselves."""
    with writing(path, force) as stream:
        for record in records:
            stream.write(json.dumps(record, ensure_ascii=False) + "\n")


def parse_object(line: str, place: str) -> dict[str, object]:
    """The object in a line, or a refusal that begins with the place."""
    return _checked(_decode(line, place), place)


def _decode(text: str, place: str) -> object:
    try:
        return _DECODER.decode(text)
    except InputError as error:
        raise InputError(f"{place}: {error}") from None
    except json.JSONDecodeError as error:
        raise InputError(
            f"{place}: not JSON ({error.msg}, column {error.colno}). "
            "Write one object per line, as jq -c does; --format lines takes each line for a text."
        ) from None
    except RecursionError:
        raise InputError(f"{place}: JSON nested too deeply. Write one flat object per line.") from None
    except ValueError as error:
        # A constant that JSON lacks, or a number of more digits than Python takes, which gives other advice.
        reason = "a number of thousands of digits" if "digits" in str(error) else error
        raise InputError(f"{place}: not JSON ({reason}). Write null, or quote the number.") from None


def _checked(value: object, place: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise InputError(f'{place}: not a JSON object. Write {{"text": …}}, one object per line.')
    return value


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"it has no {constant}")


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        ((twice, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise InputError(f"an object has the field {quoted(twice)} twice. Drop one.")
    return fields


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_object)
