"""What a model learns from labels meanwhile: a process of its own fits it, while people go on."""

import asyncio
import logging
import multiprocessing
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from funnelling.commands.options import NO_RESOURCES, FilePath, Resources
from funnelling.commands.sources import read_sides
from funnelling.commands.update import Update
from funnelling.corpus.label_set import LabelSet
from funnelling.errors import InputError, counted
from funnelling.evaluation.measurement import measure_by_folds
from funnelling.evaluation.registry import MEASURE_TITLES, shown_measures, weighted_mean
from funnelling.evaluation.splits import check_labels_differ, settle
from funnelling.formats import Document
from funnelling.formats.jsonl import journal_mark
from funnelling.labelling.queue import ordered
from funnelling.labelling.tasks import key_of
from funnelling.methods.merging import remember_step
from funnelling.methods.model import Model
from funnelling.methods.registry import make_method
from funnelling.runtime.messages import Style, say, speak
from funnelling.storage import describe_model, load, save
from funnelling.storage.folders import check_writable, folder_here

if TYPE_CHECKING:
    from funnelling.commands.arrivals import UpdateResult

FIRST_METHOD = "fun-views"  # fitted in seconds, and of such methods the best with 20 to 200 documents
FIRST_DOCUMENTS = 20  # labelled documents after which the first model is trained
_NICE = 10

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class UpdateSettings:
    """How a model learns: from which journal, into which folder, and after how many labels each time.

    Where there is no ``model`` yet, one is trained each time, for documents with a ``single_label`` or any
    number. ``label_set`` is what people see in place of what the model keeps.
    """

    model: str | None
    journal: str
    output: str
    after: int = 50
    resources: Resources = NO_RESOURCES
    jobs: int | None = None
    label_set: LabelSet | None = None
    single_label: bool = False


@dataclass(frozen=True)
class BackgroundUpdate:
    """What a model learned from how many documents of a journal, and what people should see next.

    ``scores`` are those before and after an update. Of a model that is trained there is ``accuracy`` on
    held-out documents, or macro-F1, and ``majority``, that of the most frequent label, if both are known.
    Next come the documents with ``keys``, in this order, for ``reasons`` as those of a `Queue`: whoever asked
    for the update has the documents.
    """

    documents: int
    keys: list[str]
    reasons: dict[str, str]
    scores: list[dict[str, Any]] = field(default_factory=list)
    evaluated_on: list[str] = field(default_factory=list)
    measure: str = ""
    held_out: float | None = None
    majority: float | None = None


def learned_before(output: FilePath, journal: FilePath) -> int | None:
    """How many documents of a journal the model in a folder has learned from; None where there is no folder.

    Any other folder is refused.
    """
    folder = folder_here(output)
    check_writable(folder, force=True)
    if not folder.exists():
        return None
    history = describe_model(folder).get("history") or []
    if (learned := learned_of(history, journal)) is not None:
        return learned
    if history and history[-1].get("file") == Path(journal).name:
        raise InputError(
            f"{folder} exists and learned from another journal that is called {Path(journal).name}. Choose "
            "another folder for the model with --save."
        )
    raise InputError(
        f"{folder} exists and is no model that learned from {Path(journal).name}. Choose another folder for "
        "the model with --save."
    )


def learned_of(history: Sequence[Mapping[str, Any]], journal: FilePath) -> int | None:
    """How many documents of a journal a model with a history learned last; None if it learned from others."""
    last = history[-1] if history else {}
    of_journal = last.get("step") in ("train", "update") and last.get("file") == Path(journal).name
    return _learned_in(last) if of_journal and last.get("journal") in (None, journal_mark(journal)) else None


def update_from_journal(how: UpdateSettings, waiting: Sequence[Document]) -> BackgroundUpdate:
    """Let a model learn what a journal says, as `update` does, into a folder of its own.

    One that has become worse by more than noise is not saved: `NegativeResultError`. The label set takes
    part in the order of the documents that are ``waiting``, and is not kept. Without a model,
    `train_on_journal`.
    """
    if how.model is None:
        return train_on_journal(how, waiting)
    files = {"model": how.model, "data": how.journal, "output": how.output, **vars(how.resources)}
    growth = Update(jobs=how.jobs, overwrite=True, **files).run()
    documents, evaluated_on = _learned_in(growth.model.history[-1]), sorted({*growth.change.on.values()})
    return BackgroundUpdate(
        documents, *_next(how, growth.model, waiting), scores=_scores(growth), evaluated_on=evaluated_on
    )


def train_on_journal(how: UpdateSettings, waiting: Sequence[Document]) -> BackgroundUpdate:
    """Train a model on what a journal says, and save it; it keeps the label set."""
    trial, _ = read_sides(how.journal)
    check_labels_differ(trial.train)
    (trial,), _ = settle([trial], how.single_label)
    train, method = trial.train, make_method(FIRST_METHOD, jobs=how.jobs)
    model = method.fit(train, how.label_set)
    measurement = measure_by_folds(method, model, train, seed=0)
    mark = journal_mark(how.journal)
    model = remember_step(model, "train", file=how.journal, documents=model.documents, journal=mark)
    save(model, how.output, scores=measurement.record(), details=measurement.details(), force=True)
    measure, held_out = _held_out(measurement.scores, how.single_label)
    common = Counter(label for labels in train.label_lists() for label in labels).most_common(1)
    majority = common[0][1] / len(train) if how.single_label else None
    return BackgroundUpdate(
        len(train), *_next(how, model, waiting), measure=measure, held_out=held_out, majority=majority
    )


def _held_out(scores: Mapping[str, Any] | None, single_label: bool) -> tuple[str, float | None]:
    """The measure of documents that were held out, and its value over all of them, if there are scores."""
    measure = "accuracy" if single_label else "macro_f1"
    title = MEASURE_TITLES[measure]
    return title, weighted_mean(scores["languages"])[measure] if scores else None


def _next(how: UpdateSettings, model: Model, waiting: Sequence[Document]) -> tuple[list[str], dict[str, str]]:
    """The keys of documents in the order in which people should see them, and the reasons."""
    queue = ordered(model.following(how.label_set), waiting)
    return [key_of(document) for document in queue.documents], queue.reasons


def _learned_in(step: Mapping[str, Any]) -> int:
    """How many documents a step of a model's history was about."""
    return int(sum(step.get("documents", {}).values()))


def _scores(growth: "UpdateResult") -> list[dict[str, Any]]:
    """A row per measure: its average over the languages before and after."""
    before, after = growth.change.average_before, growth.change.average_after
    return [
        {"measure": MEASURE_TITLES[name], "before": before[name], "after": after[name]}
        for name in shown_measures(before)
    ]


@dataclass
class BackgroundUpdater:
    """Starts to learn when there is enough to learn from, one update at a time.

    ``learned`` documents are what the model that is used now has learned of the journal; ``use`` gets the
    model that has learned, and what came of it.
    """

    how: UpdateSettings
    use: Callable[[Model, BackgroundUpdate], None]
    learned: int = 0
    _process: Any = None
    _task: asyncio.Task[None] | None = None
    _tried: int = 0  # documents that the last update, whatever came of it, had
    _last: BackgroundUpdate | None = None
    _curve: list[dict[str, Any]] = field(default_factory=list)  # the measure of each training, held out
    _problem: str = ""
    _ended: bool = False

    def __post_init__(self) -> None:
        self._tried = self.learned
        if self.how.model is None and self.learned:  # trained in an earlier run
            scores = describe_model(self.how.output).get("scores")
            measure, held_out = _held_out(scores, self.how.single_label)
            self._last = BackgroundUpdate(self.learned, [], {}, measure=measure, held_out=held_out)
            self._add_point(self._last)

    def consider(self, labelled: int, waiting: Callable[[], Sequence[Document]]) -> None:
        """Start an update where so many labelled documents are enough for one."""
        if self.how.after and not self._until_next(labelled) and self._task is None and not self._ended:
            self._tried = labelled
            self._task = asyncio.create_task(self._learn(waiting()))

    def state(self, labelled: int) -> dict[str, Any]:
        """What a page shows: what is learned, what came of it, and how many labels the next one lacks."""
        update = self._last or BackgroundUpdate(0, [], {})
        return {
            "after": self.how.after,
            "running": self._task is not None,
            "learned": self.learned,
            "until_next": self._until_next(labelled),
            "scores": update.scores,
            "evaluated_on": update.evaluated_on,
            "measure": update.measure,
            "majority": update.majority,
            "curve": self._curve,
            "problem": self._problem,
            "model": os.path.basename(os.path.abspath(self.how.output)),
        }

    def end(self) -> None:
        """Give up what is being learned: the next run begins it again."""
        self._ended = True
        if self._process is not None and self._process.pid is not None:
            self._process.terminate()

    def _until_next(self, labelled: int) -> int:
        first = self.how.model is None and not self.learned
        after = min(self.how.after, FIRST_DOCUMENTS) if first else self.how.after
        return max(0, after - max(0, labelled - self._tried))

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
            update = await loop.run_in_executor(None, _received, ours)
            if isinstance(update, str):
                raise InputError(update)
            model = await loop.run_in_executor(None, load, self.how.output)
            self.use(model.following(self.how.label_set), update)
            self._report(update)
            self._last, self._problem, self.learned = update, "", update.documents
            self._tried = max(self._tried, self.learned)  # some were labelled while it began
        except (InputError, OSError, MemoryError) as error:
            if not self._ended:  # people see no folders
                problem = str(error) or "Out of memory."
                logger.error("nothing was learned: %s", problem)
                for path in filter(None, (self.how.output, self.how.model, self.how.journal)):
                    problem = problem.replace(path, os.path.basename(os.path.abspath(path)))
                self._problem = problem
        finally:
            ours.close()
            self._process = self._task = None

    def _report(self, update: BackgroundUpdate) -> None:
        """Report what was learned, on standard error and as a point of the curve."""
        if self.how.model is not None:
            say(f"The model has learned from {counted(update.documents, 'labelled document')}.")
            return
        known = f"held-out {update.measure} {_short(update.held_out)}" if update.held_out is not None else ""
        if known and update.majority is not None:
            known += f", majority baseline {_short(update.majority)}"
        trained = "model trained again" if self.learned else "first model trained"
        say(
            f"{counted(update.documents, 'document')} labelled: {trained} "
            f"({known or 'too few documents to evaluate it'})."
            + ("" if self.learned else " Documents are now ordered by uncertainty.")
        )
        self._add_point(update)

    def _add_point(self, update: BackgroundUpdate) -> None:
        if update.held_out is not None:
            self._curve.append({"documents": update.documents, "score": update.held_out})


def _short(value: float | None) -> str:
    """A share with two digits.

    >>> _short(0.413)
    '.41'
    """
    return f"{value or 0.0:.2f}".removeprefix("0")


def _received(pipe: Connection) -> BackgroundUpdate | str:
    """What came of an update, or why nothing did."""
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
