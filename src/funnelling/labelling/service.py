"""The service behind the page to label on: the queue of tasks, the model, updates in the background."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from funnelling.corpus.label_set import LabelSet
from funnelling.errors import InputError
from funnelling.formats.document import Document, given_id, quoted
from funnelling.formats.journal import Decision, JournalFullError
from funnelling.formats.jsonl import LABEL, SKIP
from funnelling.formats.label_cells import OWN_SEPARATOR as BAR
from funnelling.labelling.labels import ColdStart
from funnelling.labelling.learning import BackgroundUpdate, BackgroundUpdater, UpdateSettings
from funnelling.labelling.queue import Queue
from funnelling.labelling.tasks import TaskLockedError, TaskQueue
from funnelling.methods.model import Model
from funnelling.serving.application import KnownLabels
from funnelling.serving.engine import Engine
from funnelling.serving.guard import HTTPProblem
from funnelling.text.languages import is_language, normalise_tag

N_WORDS_LISTED = 1  # that an explanation lists: a page shows them in the text


class AnnotationService:
    """Documents, people and a model at work together; all of it in one thread, that of the loop.

    ``annotator`` is the name of everybody, where nobody is to be asked for one. Without a model there is no
    engine, but a ``cold`` start, until a first model has learned, of which ``engine_of`` makes one.
    """

    def __init__(
        self,
        queue: Queue,
        tasks: TaskQueue,
        engine: Engine | None,
        learning: UpdateSettings,
        learned: int,
        annotator: str = "",
        cold: ColdStart | None = None,
        engine_of: Callable[[Model], Engine] | None = None,
    ) -> None:
        self.tasks = tasks
        self.engine = engine
        self.annotator = annotator
        self.learner = BackgroundUpdater(learning, self._use, learned)
        self._cold = cold
        self._engine_of = engine_of
        self._labels = self._known_labels()
        self._reasons = queue.reasons
        self._named = {document.language for document in queue.documents}
        self._in_order = not queue.by_model  # of a file, which stays
        self._suggested: dict[str, tuple[str, ...]] = {}  # of documents that people have
        self._languages: dict[str, str] = {}  # of those, where a file does not say it

    def facts(self) -> dict[str, Any]:
        """What a page has to know: the labels and their names, and what to call whom."""
        rows = self._labels.rows(self.tasks.labels())
        if self._cold is not None:  # labels keep their places, and their keys, when a first model comes
            places = {label: place for place, label in enumerate(self._cold.label_set.ids)}
            rows.sort(key=lambda row: places.get(row["id"], len(places)))
        known = self._named - {None} if self.engine is None else self.engine.model.languages
        return {
            "labels": rows,
            "languages": sorted(map(str, known)),
            "single_label": self._single_label,
            "annotator": self.annotator,
            "journal": self.tasks.name,
            **self.state(None),
        }

    def state(self, session: str | None) -> dict[str, Any]:
        """How far the work is, what the last labels changed, and what the model learned."""
        self.learner.consider(self.tasks.labelled, self._to_be_ordered)
        return {
            "progress": self.tasks.progress(session),
            "changes": self.tasks.recent_changes(),
            "learning": self.learner.state(self.tasks.labelled),
        }

    async def show(
        self, session: str, until: float, labels: Sequence[str] | None = None, decided: bool = False
    ) -> dict[str, Any]:
        """The document that a session has next, with what the model suggests, and the state of all.

        After something was ``decided``, which is on the disk, a model that cannot answer suggests nothing:
        who got an error would decide once more.
        """
        key = self.tasks.assign(session)
        if key is None:
            return {"document": None, **self.state(session)}
        document = self.tasks.document(key)
        try:
            row = await self._suggestion(document, until)
        except HTTPProblem:
            if not decided:
                raise
            row = self._without_model(document)
            self._suggested.pop(key, None)
        else:
            if self.engine is not None or row["labels"]:  # else nothing made a suggestion
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
                "note": self.tasks.note_of(key),
                "labels": list(suggested if chosen is None else chosen),
                "suggested": list(suggested),
                "probabilities": {str(label): each for label, each in row["probabilities"].items()},
            },
            **self.state(session),
        }

    def submit(
        self, session: str, key: str, action: str, annotator: str, labels: Sequence[str] | None, note: str
    ) -> None:
        """Write down what a person decided about a document."""
        document = self._document(key)
        if action == LABEL and labels is None:
            raise HTTPProblem(422, '"labels" is missing. Add it.', pointer="/labels")
        given = self._given(labels or (), document) if action == LABEL else None
        if action == LABEL and self._single_label and len(given or ()) != 1:
            raise HTTPProblem(
                422, "A document has exactly one label here. Choose a label, or skip.", pointer="/labels"
            )
        language = document.language or self._languages.get(key)
        decision = Decision(
            action,
            replace(document, language=language, labels=given),
            annotator or self.annotator,
            self._suggested.get(key) if action == LABEL else None,
            note,
        )
        try:
            self.tasks.submit(session, key, decision)
        except TaskLockedError:
            raise _taken() from None
        except JournalFullError as error:
            raise HTTPProblem(507, str(error)) from None
        if action in (LABEL, SKIP):
            self._suggested.pop(key, None)

    async def undo(self, session: str, annotator: str, until: float) -> dict[str, Any]:
        """Take back the last decision of a session, and show its document again."""
        try:
            before = self.tasks.undo(session, annotator or self.annotator)
        except TaskLockedError:
            raise HTTPProblem(409, "Somebody else has that document by now.") from None
        except JournalFullError as error:
            raise HTTPProblem(507, str(error)) from None
        if before is None:
            raise HTTPProblem(409, "There is nothing to take back.")
        return await self.show(session, until, before.document.labels, decided=True)

    async def explain(self, key: str, labels: Sequence[str], until: float) -> dict[str, Any]:
        """The spans of a document that contribute to labels, as far as the model has them."""
        document = self._document(key)
        wanted = [label for label in labels if label in self._labels.ids]
        language = self._languages.get(key, document.language)
        if self.engine is None and self._cold is not None:
            spans = {label: self._cold.spans(document.text, label) for label in wanted}
            return {"labels": {label: [(*span, 1.0) for span in each] for label, each in spans.items()}}
        if not wanted or self.engine is None or not self._serves(language):
            return {"labels": {}}
        asked = replace(document, language=language)
        (row,) = await self.engine.explain([asked], wanted, N_WORDS_LISTED, until)
        return {"labels": {label: why.get("spans", []) for label, why in row["labels"].items()}}

    def correct_language(self, session: str, key: str, language: str) -> None:
        """Let a document be in another language, which is written down with what is decided about it."""
        self._document(key)
        try:
            tag = normalise_tag(language)
        except InputError as error:
            raise HTTPProblem(422, str(error), pointer="/language") from None
        if not (is_language(tag) or tag in self._named or self._serves(tag)):
            raise HTTPProblem(
                422,
                f"{quoted(language)} is no language of ISO 639, of the model or of the documents. Write a "
                "code such as en or pt_BR.",
                pointer="/language",
            )
        try:
            self.tasks.correct_language(session, key, tag)
        except TaskLockedError:
            raise _taken() from None

    def close(self) -> None:
        """End what is under way."""
        self.learner.end()
        if self.engine is not None:
            self.engine.close()

    def _document(self, key: str) -> Document:
        try:
            return self.tasks.document(key)
        except KeyError:
            raise HTTPProblem(
                404, "There is no such document here. Load the page anew.", pointer="/key"
            ) from None

    def _given(self, labels: Sequence[str], document: Document) -> tuple[str, ...]:
        """Each label once, new ones without blanks around them; what looks like several in one is refused."""
        new = [label for label in labels if label not in self._labels]
        odd = {label for label in new if BAR in label or label != label.strip()}
        if odd:
            odd -= {*self.tasks.labels(), *(document.labels or ())}
        if barred := [label for label in odd if BAR in label]:
            raise HTTPProblem(
                422,
                f'A new label has no "{BAR}", which joins labels: add the parts of {quoted(min(barred))} one '
                "by one.",
                pointer="/labels",
            )
        return tuple(dict.fromkeys(label.strip() if label in odd else label for label in labels))

    async def _suggestion(self, document: Document, until: float) -> dict[str, Any]:
        if self.engine is None or not self._serves(document.language):
            return self._without_model(document)
        try:
            (row,) = await self.engine.predict([document], until)
        except HTTPProblem as refusal:
            if refusal.status != 422:  # it is too long for the model, and not for people
                raise
            return self._without_model(document)
        return row

    def _without_model(self, document: Document) -> dict[str, Any]:
        """What is suggested where no model answers: before the first one, labels that the text names."""
        suggested = [] if self._cold is None or self.engine is not None else self._cold.suggest(document.text)
        return {"language": document.language or "und", "labels": suggested, "probabilities": {}}

    @property
    def _single_label(self) -> bool:
        """Whether a document has exactly one label."""
        if self.engine is not None:
            return self.engine.model.labels.single_label
        return self._cold is not None and self._cold.single_label

    def _known_labels(self) -> KnownLabels:
        if self.engine is not None:
            model = self.engine.model
            return KnownLabels(model.label_set, model.labels.classes.tolist())
        label_set = LabelSet.of([]) if self._cold is None else self._cold.label_set
        return KnownLabels(label_set, label_set.ids)

    def _serves(self, tag: str | None) -> bool:
        """Whether the model labels documents in a language; a missing one it detects."""
        if self.engine is None:
            return False
        try:
            return tag is None or self.engine.model.serves(normalise_tag(tag))
        except InputError:
            return False

    def _to_be_ordered(self) -> list[Document]:
        return [] if self._in_order else self.tasks.waiting()

    def _use(self, model: Model, update: BackgroundUpdate) -> None:
        """Go on with a model that has learned."""
        if self.engine is not None:
            self.engine.replace(model)
        elif self._engine_of is not None:
            self.engine = self._engine_of(model)
        self._labels = self._known_labels()
        if not self._in_order:
            self._reasons = update.reasons
            self.tasks.reorder(update.keys)


def _taken() -> HTTPProblem:
    return HTTPProblem(409, "This document is decided about, or somebody else has it. Here is the next one.")
