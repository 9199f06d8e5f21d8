"""A model that learns in the background what people label: in a process of its own, at low priority."""

import asyncio
import logging
import multiprocessing
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from funnelling.corpus.label_set import LabelSet
from funnelling.errors import InputError
from funnelling.formats.document import Document
from funnelling.methods.model import Method, follow_label_set
from funnelling.runtime.messages import Style, speak
from funnelling.storage import load_model
from funnelling.tasks.labelling import Lesson, learn_from
from funnelling.tasks.resources import NO_RESOURCES, ResourcePaths

logger = logging.getLogger(__name__)
_NICE = 10


@dataclass(frozen=True)
class Learning:
    """How a model learns: from which journal, into which folder, and after how many labels each time.

    ``label_set`` is what people see in place of what the model keeps.
    """

    model: str
    journal: str
    output: str
    after: int = 50
    resources: ResourcePaths = NO_RESOURCES
    jobs: int | None = None
    label_set: LabelSet | None = None


@dataclass
class Learner:
    """Starts to learn when there is enough to learn from, one lesson at a time.

    ``learned`` documents are what the model that is used now has learned of the journal; ``use`` gets the
    model that has learned, and what came of it.
    """

    how: Learning
    use: Callable[[Method, Lesson], None]
    learned: int = 0
    _process: Any = None
    _task: asyncio.Task[None] | None = None
    _tried: int = 0  # documents that the last lesson, whatever came of it, had
    _lesson: Lesson | None = None
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
            model = await loop.run_in_executor(None, load_model, self.how.output)
            self.use(follow_label_set(model, self.how.label_set), lesson)
            self._lesson, self._problem, self.learned = lesson, "", lesson.documents
            self._tried = max(self._tried, self.learned)  # some were labelled while it began
            logger.info("learned from %d documents", lesson.documents)
        except (InputError, OSError, MemoryError) as error:
            if not self._ended:
                problem = str(error) or "Out of memory."
                logger.error("nothing was learned: %s", problem)
                self._problem = self._without_folders(problem)
        finally:
            ours.close()
            self._process = self._task = None

    def _without_folders(self, problem: str) -> str:
        """What people who label need to know."""
        for path in (self.how.output, self.how.model, self.how.journal):
            problem = problem.replace(path, os.path.basename(os.path.abspath(path)))
        return problem


def _received(pipe: Connection) -> Lesson | str:
    """What came of a lesson, or why nothing did."""
    try:
        received: Lesson | str = pipe.recv()
    except EOFError:
        return "The process that learned has ended too soon."
    return received


def _work(how: Learning, waiting: Sequence[Document], pipe: Connection) -> None:
    """What the process runs."""
    speak(Style(quiet=True))
    with suppress(AttributeError, OSError):  # Windows has no such thing
        os.nice(_NICE)
    answer: Lesson | str
    try:
        answer = learn_from(
            how.journal,
            how.model,
            how.output,
            waiting,
            label_set=how.label_set,
            resources=how.resources,
            jobs=how.jobs,
        )
    except InputError as error:
        answer = str(error)
    except MemoryError:
        answer = "Out of memory."
    pipe.send(answer)
