"""What people decide about documents, written down: each decision is on the disk before the next is made."""

import json
import logging
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from funnelling.errors import InputError
from funnelling.formats.document import Document, LineNumber, to_document, to_record
from funnelling.formats.files import MAX_LINE_BYTES, cannot_write, raw_lines, reading, reason_of, too_long
from funnelling.formats.jsonl import (
    JOURNAL_HEADER,
    check_decision,
    check_header,
    cut_off,
    damaged,
    is_header,
    parse_object,
)
from funnelling.runtime.alone import defer_signals, try_lock
from funnelling.runtime.files import sync

_BLOCK_BYTES = 2**16  # bytes that are looked at together for the end of a line
_LOCK_RETRY_S = 0.02  # seconds between attempts to lock

logger = logging.getLogger(__name__)


class JournalLockedError(InputError):
    """A journal that another process writes to."""


class JournalFullError(InputError):
    """A journal that has no room for a decision, on its disk or within its limit."""


@dataclass(frozen=True)
class Decision:
    """One decision about a document, which has the labels that were given.

    ``action`` is one of `formats.journal.ACTIONS`; ``suggested`` are the labels that the model would have
    assigned; ``annotator`` is the name of a person, as far as it is known.
    """

    action: str
    document: Document
    annotator: str = ""
    suggested: tuple[str, ...] | None = None
    note: str = ""
    timestamp: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="milliseconds"))

    def record(self) -> dict[str, Any]:
        """The decision as a line of a journal has it.

        >>> Decision("label", Document("7", "Hi", labels=("a",)), timestamp="2026-01-01").record()
        {'timestamp': '2026-01-01', 'action': 'label', 'id': '7', 'text': 'Hi', 'labels': ['a']}
        """
        of_document = to_record(self.document)
        if isinstance(self.document.id, LineNumber):  # known by its text: in another file it has another line
            del of_document["id"]
        return {
            "timestamp": self.timestamp,
            **({"annotator": self.annotator} if self.annotator else {}),
            "action": self.action,
            **of_document,
            **({} if self.suggested is None else {"suggested": list(self.suggested)}),
            **({"note": self.note} if self.note else {}),
        }


def decision_in(record: dict[str, Any], name: str, line: int) -> Decision:
    """The decision in a line of a journal; one that was written before 0.1.0 has ``who`` and ``time``."""
    check_decision(record, name, line)
    suggested = record.get("suggested")
    annotator, note, moment = (
        str(record.get(name) or record.get(before) or "")
        for name, before in (("annotator", "who"), ("note", "note"), ("timestamp", "time"))
    )
    return Decision(
        record["action"],
        to_document(record, name, line),
        annotator,
        tuple(map(str, suggested)) if isinstance(suggested, list) else None,
        note,
        moment,
    )


class Journal:
    """A journal that is open to be written; nobody else can write to it until it is closed.

    Parameters
    ----------
    path : the file, which is made where there is none; what a killed process left of a last line is cut off,
        which is said
    seconds : how long to wait for another process that writes to it
    most : bytes beyond which it must not grow

    Examples
    --------
    >>> import tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "journal.jsonl")
    >>> with Journal(path) as journal:
    ...     cat = Document("7", "Il gatto dorme", "it", ("animals",))
    ...     journal.append(Decision("label", cat, annotator="Ada"))
    ...     [(decision.annotator, decision.document.labels) for decision in journal.decisions()]
    [('Ada', ('animals',))]
    """

    def __init__(self, path: str | os.PathLike[str], seconds: float = 0.0, most: int | None = None) -> None:
        self.path = os.fspath(path)
        self._name = os.path.basename(self.path)  # for people who need not know the folder
        self._most = most
        if os.path.exists(self.path) and not os.path.isfile(self.path):
            raise InputError(f"{self.path}: is no file. Name a file for the journal.")
        try:
            self._file = open(self.path, "a+b", buffering=0)  # noqa: SIM115 (closed by close)
        except OSError as error:
            raise cannot_write(self.path, error) from error
        try:
            self._lock(seconds)
            self._begin()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let others write."""
        self._file.close()

    def decisions(self) -> Iterator[Decision]:
        """All decisions, in the order in which they were made."""
        with reading(self.path) as stream:
            for number, line in raw_lines(stream, self.path):
                if number > 1 and not line.isspace():
                    yield decision_in(_parsed(line, self.path, number), self.path, number)

    def append(self, *decisions: Decision) -> None:
        """Write decisions down; when this returns, they are on the disk, and else none of them is there."""
        lines = [json.dumps(decision.record(), ensure_ascii=False) + "\n" for decision in decisions]
        self._write("".join(lines).encode(errors="replace"))

    def _write(self, content: bytes) -> None:
        size = self._size()
        if self._most is not None and size + len(content) > self._most:
            raise JournalFullError(
                f"{self._name}: the journal is full, it may have {self._most:,} bytes. What was written down "
                "stays. Allow more with --max-journal (label) or --max-feedback (serve)."
            )
        with defer_signals():
            try:
                written = 0
                while written < len(content):
                    written += self._file.write(content[written:]) or 0
                os.fsync(self._file)
            except OSError as error:
                self._file.truncate(size)
                raise JournalFullError(
                    f"{self._name}: cannot be written ({reason_of(error)}). Make room on the disk."
                ) from None

    def _lock(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while try_lock(self._file.fileno()) is False:
            if time.monotonic() > until:
                raise JournalLockedError(
                    f"{self.path}: another process writes to this journal. Stop it, or name another journal."
                )
            time.sleep(_LOCK_RETRY_S)

    def _begin(self) -> None:
        """See that it is a journal, or begin one, and that its last line is whole."""
        header = json.dumps(JOURNAL_HEADER).encode() + b"\n"
        begun = self._read(0, _BLOCK_BYTES)
        first, end, _ = begun.partition(b"\n")
        if not end and header.startswith(begun):
            self._file.truncate(0)
            self._write(header)
            sync(os.path.dirname(os.path.abspath(self.path)))
            return
        try:
            record = _parsed(first, self.path, 1)
        except InputError:
            record = {}
        if not end or not is_header(record):
            raise InputError(f"{self.path}: holds something else than a journal. Name another file for it.")
        check_header(record, self.path)
        self._end_last_line()

    def _end_last_line(self) -> None:
        """Give a last decision that lacks only the end of its line that end; cut off what is less."""
        end = self._whole_lines()
        if self._size() - end > MAX_LINE_BYTES:  # which no decision is
            raise too_long(self.path, "a line")
        self._file.seek(end)
        tail = self._file.readall()
        if not tail:
            return
        try:
            decision_in(_parsed(tail, self.path, 0), self.path, 0)
        except InputError:
            logger.info("%s", cut_off(self.path, self._lines(end) + 1))
            self._file.truncate(end)
        else:
            self._write(b"\n")

    def _lines(self, end: int) -> int:
        """How many lines there are in so many bytes."""
        pieces = (self._read(start, min(_BLOCK_BYTES, end - start)) for start in range(0, end, _BLOCK_BYTES))
        return sum(piece.count(b"\n") for piece in pieces)

    def _whole_lines(self) -> int:
        """How many bytes there are up to the end of the last line that has one."""
        end = self._size()
        while end:
            start = max(0, end - _BLOCK_BYTES)
            place = self._read(start, end - start).rfind(b"\n")
            if place >= 0:
                return start + place + 1
            end = start
        return 0

    def _size(self) -> int:
        return os.fstat(self._file.fileno()).st_size

    def _read(self, start: int, size: int) -> bytes:
        self._file.seek(start)
        return self._file.read(size) or b""


def _parsed(line: bytes, name: str, number: int) -> dict[str, Any]:
    try:
        return parse_object(line.decode().rstrip(), name)
    except (UnicodeDecodeError, InputError):
        raise damaged(name, number) from None
