"""The queue of tasks: who has which document, what was decided, and which comes next.

Everything that is decided goes through a `Journal` first. Times are of a clock that never goes back.
"""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import islice
from typing import Any

from funnelling.formats.document import Document, given_id
from funnelling.formats.journal import Decision, Journal
from funnelling.formats.jsonl import LABEL, NOTE, SKIP, UNDO

TASK_LEASE_S = 600.0  # seconds without a sign of life after which a document goes to somebody else
MAX_ANNOTATORS = 1_000
N_RECENT_DOCUMENTS = 50  # labelled documents whose suggestions are compared with what became of them


class TooManyAnnotatorsError(Exception):
    """More people than anybody expects."""


class TaskLockedError(Exception):
    """A document that somebody else has now, or that is decided already."""


def key_of(document: Document) -> str:
    """A short name of a document that holds in every run: made of its id, if it was given one, and its text.

    >>> key_of(Document("7", "Hi")) == key_of(Document("7", "Hi", "en", ("a",)))
    True
    """
    name = given_id(document.id) or ""
    return blake2b(f"{name}\0{document.text}".encode(), digest_size=12).hexdigest()


@dataclass
class _AnnotatorSession:
    """A browser that somebody works in."""

    has: str | None = None  # the key of a document
    seen: float = 0.0
    labelled: int = 0


class TaskQueue:
    """Hands out documents, never one to two people at a time, and takes decisions about them.

    Documents are handed out in their order, those that were skipped last, and to others than who skipped
    them. A person is a session: a name of a browser that only it knows.
    """

    def __init__(
        self,
        documents: Iterable[Document],
        journal: Journal,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._documents = {key_of(document): document for document in documents}
        self._journal = journal
        self._clock = clock
        self._waiting: dict[str, None] = dict.fromkeys(self._documents)  # in the order of the queue
        self._labelled: dict[str, Decision] = {}  # the last ones last
        self._skipped: dict[str, set[str]] = {}  # the sessions that skipped a document
        self._notes: dict[str, str] = {}
        self._people: dict[str, _AnnotatorSession] = {}
        self._holder: dict[str, str] = {}  # the session that has a document
        self._done: dict[str, list[Decision]] = {}  # what each session decided, the last ones last
        for decision in journal.decisions():
            self._settle(decision, "")

    @property
    def name(self) -> str:
        """What the file of the journal is called."""
        return os.path.basename(self._journal.path)

    def labels(self) -> set[str]:
        """All labels that people gave."""
        return {label for decision in self._labelled.values() for label in decision.document.labels or ()}

    def document(self, key: str) -> Document:
        """The document with a key; `KeyError` where there is none."""
        return self._documents[key]

    def assign(self, session: str) -> str | None:
        """The key of the document that a session has, or gets now; None where nothing is left for it."""
        person = self._seen(session)
        self._let_go_of_the_absent()
        if person.has is None:
            free = (key for key in self._waiting if key not in self._holder)
            key = next((key for key in free if session not in self._skipped.get(key, ())), None)
            if key is not None:
                self._give(session, key)
        return person.has

    def heartbeat(self, session: str, key: str = "") -> None:
        """Take a sign of life, from somebody who looks at the document with a key.

        One whose time ran out is the session's again, unless somebody else has it or has decided about it.
        """
        with suppress(TaskLockedError):
            self._take_up(session, key)

    def submit(self, session: str, key: str, decision: Decision) -> None:
        """Write a decision down; `TaskLockedError` where the document is no longer the session's.

        One whose time ran out is still its own as long as nobody else has taken it.
        """
        person = self._take_up(session, key)
        self._journal.append(decision)
        self._settle(decision, session)
        if decision.action != NOTE:
            self._done.setdefault(session, []).append(decision)
            if person.has is not None:
                self._holder.pop(person.has, None)
            person.has = None
        person.labelled += decision.action == LABEL

    def correct_language(self, session: str, key: str, language: str) -> None:
        """Let a document be in another language, for whoever decides on it; `TaskLockedError` as `submit`."""
        self._take_up(session, key)
        self._documents[key] = replace(self._documents[key], language=language)

    def undo(self, session: str, annotator: str) -> Decision | None:
        """Take back the last decision of a session, which has the document again; None where there is none.

        Gives the decision that was taken back. `TaskLockedError` where somebody else has a document by now
        that was skipped, or has labelled it.
        """
        person = self._seen(session)
        done = self._done.get(session, [])
        if not done:
            return None
        before = done[-1]
        key = key_of(before.document)
        skipped = before.action == SKIP and key in self._waiting and key not in self._holder
        if not skipped and self._labelled.get(key) is not before:
            done.pop()
            raise TaskLockedError
        taken_back = Decision(UNDO, replace(before.document, labels=None), annotator)
        self._journal.append(taken_back)
        self._settle(taken_back, session)
        done.pop()
        person.labelled -= before.action == LABEL
        if person.has is not None:
            self._holder.pop(person.has, None)
        self._give(session, key)
        return before

    def note_of(self, key: str) -> str:
        """What somebody noted about a document."""
        return self._notes.get(key, "")

    def reorder(self, keys: Sequence[str]) -> None:
        """Let documents that wait come in another order, those that were skipped still last."""
        known = [key for key in keys if key in self._waiting]
        named = set(known)
        known += [key for key in self._waiting if key not in named]
        fresh = [key for key in known if key not in self._skipped]
        self._waiting = dict.fromkeys([*fresh, *(key for key in known if key in self._skipped)])

    def waiting(self) -> list[Document]:
        """The documents that nobody has decided about, in the order of the queue."""
        return [self._documents[key] for key in self._waiting]

    @property
    def labelled(self) -> int:
        """How many documents have labels in the journal, those of other files included."""
        return len(self._labelled)

    def progress(self, session: str | None = None) -> dict[str, int]:
        """How far the work is: documents in all, labelled, skipped, left, and labelled by a session."""
        person = self._people.get(session or "")
        return {
            "documents": len(self._documents),
            "labelled": sum(key in self._documents for key in self._labelled),
            "skipped": sum(key in self._waiting for key in self._skipped),
            "left": len(self._waiting),
            "yours": 0 if person is None else max(0, person.labelled),
        }

    def recent_changes(self) -> dict[str, Any]:
        """What people made of the suggestions for the last documents: how many they changed, and how."""
        last = list(islice(reversed(self._labelled.values()), N_RECENT_DOCUMENTS))
        pairs = [
            (set(decision.suggested), set(decision.document.labels or ()))
            for decision in last
            if decision.suggested is not None
        ]
        added = Counter(label for suggested, given in pairs for label in given - suggested)
        removed = Counter(label for suggested, given in pairs for label in suggested - given)
        labels = sorted({*added, *removed}, key=lambda label: (-added[label] - removed[label], label))
        return {
            "documents": len(pairs),
            "changed": sum(suggested != given for suggested, given in pairs),
            "labels": [
                {"label": label, "added": added[label], "removed": removed[label]} for label in labels
            ],
        }

    def _settle(self, decision: Decision, session: str) -> None:
        """Let a decision that is written down count."""
        key = key_of(decision.document)
        if decision.note or decision.action in (LABEL, NOTE):  # which may empty it
            self._notes[key] = decision.note
        if decision.action == NOTE:
            return
        self._labelled.pop(key, None)
        self._waiting.pop(key, None)
        skipped = self._skipped.pop(key, set())
        if decision.action == LABEL:
            self._labelled[key] = decision
            if skipped:  # what counts again if this is taken back
                self._skipped[key] = skipped
        elif key in self._documents:
            self._waiting[key] = None
            language = decision.document.language or self._documents[key].language
            self._documents[key] = replace(self._documents[key], language=language)
            if decision.action == SKIP:
                self._skipped[key] = {*skipped, session}
            elif others := skipped - {session}:
                self._skipped[key] = others

    def _seen(self, session: str) -> _AnnotatorSession:
        if session not in self._people:
            self._let_go_of_the_absent()
            if len(self._people) >= MAX_ANNOTATORS:
                raise TooManyAnnotatorsError
        person = self._people.setdefault(session, _AnnotatorSession())
        person.seen = self._clock()
        return person

    def _take_up(self, session: str, key: str) -> _AnnotatorSession:
        """The person of a session, who has a document or gets it; `TaskLockedError` where others have it."""
        person = self._seen(session)
        if key not in self._waiting or self._holder.get(key, session) != session:
            raise TaskLockedError
        if person.has is None and session not in self._skipped.get(key, ()):
            self._give(session, key)
        return person

    def _give(self, session: str, key: str) -> None:
        self._people[session].has = key
        self._holder[key] = session

    def _let_go_of_the_absent(self) -> None:
        """Take documents from those who gave no sign of life for long, and forget them."""
        now = self._clock()
        absent = [name for name, person in self._people.items() if now - person.seen > TASK_LEASE_S]
        for session in absent:
            person = self._people.pop(session)
            self._done.pop(session, None)
            if person.has is not None:
                del self._holder[person.has]
