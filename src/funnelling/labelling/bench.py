"""The service behind the page to label on: the queue of tasks, the model, updates in the background."""

import asyncio
import logging
import multiprocessing
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from typing import Any

from funnelling.errors import InputError
from funnelling.formats.document import Document, given_id, quoted
from funnelling.formats.journal import Decision, JournalFullError
from funnelling.formats.jsonl import LABEL, SKIP
from funnelling.formats.label_cells import OWN_SEPARATOR as BAR
from funnelling.labelling.desk import TaskLockedError, TaskQueue
from funnelling.labelling.queue import BackgroundUpdate, Queue, UpdateSettings, update_from_journal
from funnelling.methods.model import Model
from funnelling.runtime.messages import Style, speak
from funnelling.serving.application import KnownLabels
from funnelling.serving.engine import Engine
from funnelling.serving.guard import HTTPProblem
from funnelling.storage import load
from funnelling.text.languages import is_language, normalise_tag

logger = logging.getLogger(__name__)
_NICE = 10


@dataclass
class BackgroundUpdater:
    """Starts to learn when there is enough to learn from, one lesson at a time.

    ``learned`` documents are what the model that is used now has learned of the journal; ``use`` gets the
    model that has learned, and what came of it.
    """

    how: UpdateSettings
    use: Callable[[Model, BackgroundUpdate], None]
    learned: int = 0
    _process: Any = None
    _task: asyncio.Task[None] | None = None
    _tried: int = 0  # documents that the last lesson, whatever came of it, had
    _lesson: BackgroundUpdate | None = None
    _problem: str = ""
    _ended: bool = False

    def __post_init__(self) -> None:
        self._tried = self.learned

    def consider(self, labelled: int, waiting: Callable[[], Sequence[Document]]) -> None:
        """Start a lesson where so many labelled documents are enough for one."""
        enough = self.how.after and labelled - self._tried >= self.how.after
        if enough and self._task is None and not self._ended:
            self._tried = labelled
            self._task = asyncio.create_task(self._learn(waiting()))

    def state(self, labelled: int) -> dict[str, Any]:
        """What a page shows: what is learned, what came of it, and how many labels the next lesson lacks."""
        return {
            "after": self.how.after,
            "running": self._task is not None,
            "learned": self.learned,
            "until_next": max(0, self.how.after - max(0, labelled - self._tried)),
            "scores": [] if self._lesson is None else self._lesson.scores,
            "measured_on": [] if self._lesson is None else self._lesson.measured_on,
            "problem": self._problem,
            "model": os.path.basename(os.path.abspath(self.how.output)),
        }

    def end(self) -> None:
        """Give up what is being learned: the next run begins it again."""
        self._ended = True
        if self._process is not None and self._process.pid is not None:
            self._process.terminate()

    async def _learn(self, waiting: Sequence[Document]) -> None:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe(duplex=False)
        self._process = context.Process(target=_work, args=(self.how, waiting, theirs), daemon=True)
        try:
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(None, self._process.start)  # it writes out all that waits
            theirs.close()
            if self._ended:
                self._process.terminate()
            lesson = await loop.run_in_executor(None, _received, ours)
            if isinstance(lesson, str):
                raise InputError(lesson)
            model = await loop.run_in_executor(None, load, self.how.output)
            self.use(model.following(self.how.label_set), lesson)
            self._lesson, self._problem, self.learned = lesson, "", lesson.documents
            self._tried = max(self._tried, self.learned)  # some were labelled while it began
            logger.info("learned from %d documents", lesson.documents)
        except (InputError, OSError, MemoryError) as error:
            if not self._ended:
                problem = str(error) or "Out of memory."
                logger.error("nothing was learned: %s", problem)
                for path in (self.how.output, self.how.model, self.how.journal):  # people see no folders
                    problem = problem.replace(path, os.path.basename(os.path.abspath(path)))
                self._problem = problem
        finally:
            ours.close()
            self._process = self._task = None


def _received(pipe: Connection) -> BackgroundUpdate | str:
    """What came of a lesson, or why nothing did."""
    try:
        received: BackgroundUpdate | str = pipe.recv()
    except EOFError:
        return "The process that learned has ended too soon."
    return received


def _work(how: UpdateSettings, waiting: Sequence[Document], pipe: Connection) -> None:
    """What the process runs."""
    speak(Style(quiet=True))
    with suppress(AttributeError, OSError):  # Windows has no such thing
        os.nice(_NICE)
    answer: BackgroundUpdate | str
    try:
        answer = update_from_journal(how, waiting)
    except InputError as error:
        answer = str(error)
    except MemoryError:
        answer = "Out of memory."
    pipe.send(answer)


N_WORDS_LISTED = 1  # that an explanation lists: a page shows them in the text


class AnnotationService:
    """Documents, people and a model at work together; all of it in one thread, that of the loop.

    ``who`` is the name of everybody, where nobody is to be asked for one.
    """

    def __init__(
        self,
        queue: Queue,
        desk: TaskQueue,
        engine: Engine,
        learning: UpdateSettings,
        learned: int,
        who: str = "",
    ) -> None:
        self.desk = desk
        self.engine = engine
        self.who = who
        self.learner = BackgroundUpdater(learning, self._use, learned)
        self._labels = KnownLabels(engine.model)
        self._reasons = queue.reasons
        self._named = {document.language for document in queue.documents}
        self._in_order = not queue.by_model  # of a file, which stays
        self._suggested: dict[str, tuple[str, ...]] = {}  # of documents that people have
        self._languages: dict[str, str] = {}  # of those, where a file does not say it

    def facts(self) -> dict[str, Any]:
        """What a page has to know: the labels and their names, and what to call whom."""
        model = self.engine.model
        return {
            "labels": self._labels.rows(self.desk.labels()),
            "languages": list(map(str, model.languages)),
            "exclusive": model.labels.single_label,
            "who": self.who,
            "journal": self.desk.name,
            **self.state(None),
        }

    def state(self, session: str | None) -> dict[str, Any]:
        """How far the work is, what the last labels changed, and what the model learned."""
        self.learner.consider(self.desk.labelled, self._to_be_ordered)
        return {
            "progress": self.desk.progress(session),
            "changes": self.desk.recent_changes(),
            "learning": self.learner.state(self.desk.labelled),
        }

    async def show(
        self, session: str, until: float, labels: Sequence[str] | None = None, decided: bool = False
    ) -> dict[str, Any]:
        """The document that a session has next, with what the model suggests, and the state of all.

        After something was ``decided``, which is on the disk, a model that cannot answer suggests nothing:
        who got an error would decide once more.
        """
        key = self.desk.assign(session)
        if key is None:
            return {"document": None, **self.state(session)}
        document = self.desk.document(key)
        try:
            row = await self._suggestion(document, until)
        except HTTPProblem:
            if not decided:
                raise
            row = _nothing_for(document)
            self._suggested.pop(key, None)
        else:
            self._suggested[key] = tuple(map(str, row["labels"]))
            self._languages[key] = row["language"]
        suggested = self._suggested.get(key, ())
        chosen = labels if labels is not None else document.labels
        return {
            "document": {
                "key": key,
                "id": given_id(document.id) or "",
                "language": row["language"],
                "text": document.text,
                "reason": self._reasons.get(key, ""),
                "note": self.desk.note_of(key),
                "labels": list(suggested if chosen is None else chosen),
                "suggested": list(suggested),
                "scores": {str(label): score for label, score in row["probabilities"].items()},
            },
            **self.state(session),
        }

    def submit(
        self, session: str, key: str, action: str, who: str, labels: Sequence[str] | None, note: str
    ) -> None:
        """Write down what a person decided about a document."""
        document = self._document(key)
        if action == LABEL and labels is None:
            raise HTTPProblem(422, '"labels" is missing. Add it.', pointer="/labels")
        given = self._given(labels or (), document) if action == LABEL else None
        if action == LABEL and self.engine.model.labels.single_label and len(given or ()) != 1:
            raise HTTPProblem(
                422, "A document has exactly one label here. Choose a label, or skip.", pointer="/labels"
            )
        language = document.language or self._languages.get(key)
        decision = Decision(
            action,
            replace(document, language=language, labels=given),
            who or self.who,
            self._suggested.get(key) if action == LABEL else None,
            note,
        )
        try:
            self.desk.submit(session, key, decision)
        except TaskLockedError:
            raise _taken() from None
        except JournalFullError as error:
            raise HTTPProblem(507, str(error)) from None
        if action in (LABEL, SKIP):
            self._suggested.pop(key, None)

    async def undo(self, session: str, who: str, until: float) -> dict[str, Any]:
        """Take back the last decision of a session, and show its document again."""
        try:
            before = self.desk.undo(session, who or self.who)
        except TaskLockedError:
            raise HTTPProblem(409, "Somebody else has that document by now.") from None
        except JournalFullError as error:
            raise HTTPProblem(507, str(error)) from None
        if before is None:
            raise HTTPProblem(409, "There is nothing to take back.")
        return await self.show(session, until, before.document.labels, decided=True)

    async def passages(self, key: str, labels: Sequence[str], until: float) -> dict[str, Any]:
        """Where in a document the words stand that speak for labels, as far as the model knows them."""
        document = self._document(key)
        wanted = [label for label in labels if label in self._labels.ids]
        language = self._languages.get(key, document.language)
        if not wanted or not self._serves(language):
            return {"labels": {}}
        asked = replace(document, language=language)
        (row,) = await self.engine.explain([asked], wanted, N_WORDS_LISTED, until)
        return {"labels": {label: why.get("passages", []) for label, why in row["labels"].items()}}

    def correct_language(self, session: str, key: str, language: str) -> None:
        """Let a document be in another language, which is written down with what is decided about it."""
        self._document(key)
        try:
            tag = normalise_tag(language)
        except InputError as error:
            raise HTTPProblem(422, str(error), pointer="/language") from None
        if not (is_language(tag) or tag in self._named or self.engine.model.serves(tag)):
            raise HTTPProblem(
                422,
                f"{quoted(language)} is no language of ISO 639, of the model or of the documents. Write a "
                "code such as en or pt_BR.",
                pointer="/language",
            )
        try:
            self.desk.correct_language(session, key, tag)
        except TaskLockedError:
            raise _taken() from None

    def close(self) -> None:
        """End what is under way."""
        self.learner.end()
        self.engine.close()

    def _document(self, key: str) -> Document:
        try:
            return self.desk.document(key)
        except KeyError:
            raise HTTPProblem(
                404, "There is no such document here. Load the page anew.", pointer="/key"
            ) from None

    def _given(self, labels: Sequence[str], document: Document) -> tuple[str, ...]:
        """Each label once, new ones without blanks around them; what looks like several in one is refused."""
        new = [label for label in labels if label not in self._labels]
        odd = {label for label in new if BAR in label or label != label.strip()}
        if odd:
            odd -= {*self.desk.labels(), *(document.labels or ())}
        if barred := [label for label in odd if BAR in label]:
            raise HTTPProblem(
                422,
                f'A new label has no "{BAR}", which joins labels: add the parts of {quoted(min(barred))} one '
                "by one.",
                pointer="/labels",
            )
        return tuple(dict.fromkeys(label.strip() if label in odd else label for label in labels))

    async def _suggestion(self, document: Document, until: float) -> dict[str, Any]:
        if not self._serves(document.language):
            return _nothing_for(document)
        try:
            (row,) = await self.engine.predict([document], until)
        except HTTPProblem as refusal:
            if refusal.status != 422:  # it is too long for the model, and not for people
                raise
            return _nothing_for(document)
        return row

    def _serves(self, tag: str | None) -> bool:
        """Whether the model labels documents in a language; a missing one it detects."""
        try:
            return tag is None or self.engine.model.serves(normalise_tag(tag))
        except InputError:
            return False

    def _to_be_ordered(self) -> list[Document]:
        return [] if self._in_order else self.desk.waiting()

    def _use(self, model: Model, lesson: BackgroundUpdate) -> None:
        """Go on with a model that has learned."""
        self.engine.replace(model)
        self._labels = KnownLabels(model)
        if not self._in_order:
            self._reasons = lesson.reasons
            self.desk.reorder(lesson.keys)


def _nothing_for(document: Document) -> dict[str, Any]:
    """What a model that does not answer suggests."""
    return {"language": document.language or "und", "labels": [], "probabilities": {}}


def _taken() -> HTTPProblem:
    return HTTPProblem(409, "This document is decided about, or somebody else has it. Here is the next one.")
