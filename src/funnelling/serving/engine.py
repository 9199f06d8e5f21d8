"""The model at work in one thread, which answers all requests that wait for it in one call.

A document's scores never depend on its neighbours, so requests may share a call; what a call costs
beyond its documents is then paid once for all that came in while the last one ran. Work that nobody waits
for any more, since its deadline has passed or its client is gone, ends soon after.
"""

import asyncio
import re
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from threading import Event
from typing import Any, NamedTuple

from funnelling.errors import InputError
from funnelling.formats import Document
from funnelling.methods.model import Model
from funnelling.methods.rows import Predictor
from funnelling.runtime.threads import CancelToken, cancel_scope, raise_if_cancelled
from funnelling.serving.guard import HTTPProblem, Metrics, too_busy
from funnelling.text.languages import served_by

Answer = dict[str, Any]  # to one document

# A request that comes when so much waits is asked to come back.
MAX_WAITING_DOCUMENTS = 8_192  # documents
MAX_WAITING_CHARACTERS = 64_000_000  # of theirs
MAX_EXPLAINED_DOCUMENTS = 64  # documents
MAX_KEPT_PREDICTORS = 32  # each for other options
BATCH_DOCUMENTS = 256
BATCH_CHARACTERS = 1_000_000

_word = re.compile(r"\w+")


class RowOptions(NamedTuple):
    """What the rows of a request are to be like.

    ``exclude`` are labels not to assign, and ``languages`` those that detection chooses among, if not all.
    ``top`` is how many labels a row shows, ``names`` the language in which it says what labels are called,
    ``threshold`` the probability above which a label is assigned in place of the model's own, and
    ``thresholds`` shows these.
    """

    exclude: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    top: int | None = None
    names: str | None = None
    threshold: float | None = None
    thresholds: bool = False


DEFAULT_OPTIONS = RowOptions()


@dataclass(slots=True, eq=False)
class _Job:
    documents: Sequence[Document] = field(repr=False)
    answer: asyncio.Future[list[Answer]] = field(repr=False)
    options: RowOptions = DEFAULT_OPTIONS
    characters: int = field(init=False)

    def __post_init__(self) -> None:
        self.characters = sum(len(document.text) for document in self.documents)


class _Cancellation:
    """Whether nobody waits for some jobs any more."""

    def __init__(self, jobs: Sequence[_Job]) -> None:
        self._jobs = jobs

    def is_set(self) -> bool:
        return all(job.answer.done() for job in self._jobs)


class Engine:
    """A model that labels and explains the documents of many requests, each of at most so many words."""

    def __init__(self, model: Model, metrics: Metrics, most_words: int) -> None:
        self.most_words = most_words
        self.replace(model)
        self._metrics = metrics
        self._thread = ThreadPoolExecutor(1, "model")
        self._waiting: deque[_Job] = deque()
        self._documents_waiting = 0
        self._characters_waiting = 0
        self._explained_waiting = 0
        self._explaining = asyncio.Lock()
        self._busy = False

    def replace(self, model: Model) -> None:
        """Let another model answer from now on."""
        self.model = model
        self._predictor_for = lru_cache(MAX_KEPT_PREDICTORS)(partial(_predictor, model))

    def warm_up(self) -> None:
        """Load what the first document of each language would have to wait for."""
        for language in (*self.model.languages, None):
            with suppress(InputError):  # where no language can be detected
                list(self._predictor_for(DEFAULT_OPTIONS)([Document("", "warm up", language=language)]))

    async def predict(
        self,
        documents: Sequence[Document],
        until: float,
        options: RowOptions = DEFAULT_OPTIONS,
    ) -> list[Answer]:
        """The rows that ``funnelling predict`` gives, before a moment of the loop's clock.

        Requests with the same options may share a call.
        """
        loop = asyncio.get_running_loop()
        job = _Job(documents, loop.create_future(), options)
        if self._waiting and (
            self._documents_waiting + len(documents) > MAX_WAITING_DOCUMENTS
            or self._characters_waiting + job.characters > MAX_WAITING_CHARACTERS
        ):
            raise too_busy("Too many documents are waiting for the model. Try again later.")
        self._waiting.append(job)
        self._documents_waiting += len(documents)
        self._characters_waiting += job.characters
        if not self._busy:
            self._busy = True
            loop.call_soon(self._start)  # requests that came in with this one may join
        async with _before(until):
            return await job.answer

    async def explain(
        self,
        documents: Sequence[Document],
        labels: Sequence[str] | None,
        top: int,
        until: float,
        options: RowOptions = DEFAULT_OPTIONS,
    ) -> list[Answer]:
        """Why documents get their labels, before a moment of the loop's clock."""
        if self._explained_waiting + len(documents) > MAX_EXPLAINED_DOCUMENTS:
            raise too_busy("Too many documents are waiting to be explained. Try again later.")
        self._explained_waiting += len(documents)
        try:
            async with _before(until):
                return [await self._explanation(document, labels, top, options) for document in documents]
        finally:
            self._explained_waiting -= len(documents)

    async def _explanation(
        self, document: Document, labels: Sequence[str] | None, top: int, options: RowOptions
    ) -> Answer:
        async with self._explaining:  # one at a time, so that documents to label come in between
            given_up = Event()
            try:
                rows: list[Answer] = await self._run(
                    lambda: list(self._predictor_for(options).explain([document], labels, top)), given_up
                )
            finally:
                given_up.set()
        return rows[0]

    def close(self) -> None:
        """End the thread once it is done."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _run(self, call: Callable[[], Any], given_up: CancelToken) -> asyncio.Future[Any]:
        def call_while_wanted() -> Any:
            with cancel_scope(given_up):
                return call()

        return asyncio.get_running_loop().run_in_executor(self._thread, call_while_wanted)

    def _start(self) -> None:
        jobs = self._next_jobs()
        self._busy = bool(jobs)
        if jobs:
            answers = self._run(
                partial(self._answers, jobs[0].options, [job.documents for job in jobs]), _Cancellation(jobs)
            )
            answers.add_done_callback(partial(self._deliver, jobs))

    def _next_jobs(self) -> list[_Job]:
        """Jobs for one call: at least one, and no more than is good for those that come after."""
        jobs: list[_Job] = []
        documents = characters = 0
        while self._waiting:
            job = self._waiting[0]
            documents += len(job.documents)
            characters += job.characters
            if jobs and (documents > BATCH_DOCUMENTS or characters > BATCH_CHARACTERS):
                break
            if jobs and job.options != jobs[0].options:
                break
            self._waiting.popleft()
            self._documents_waiting -= len(job.documents)
            self._characters_waiting -= job.characters
            if job.answer.done():  # nobody waits for it any more
                documents -= len(job.documents)
                characters -= job.characters
            else:
                jobs.append(job)
        return jobs

    def _answers(
        self, options: RowOptions, requests: list[Sequence[Document]]
    ) -> list[list[Answer] | Exception]:
        """The rows of each request; where one request spoils the call, each has a call of its own."""
        try:
            for request in requests:
                self._check_words(request)
            predictor = self._predictor_for(options._replace(exclude=()))
            if options.exclude:
                predictor = predictor.with_excluded(options.exclude)
            rows = iter(list(predictor([document for request in requests for document in request])))
        except CancelledError as error:
            return [error for _ in requests]
        except Exception as error:
            if len(requests) == 1:
                return [error]
            return [self._answers(options, [request])[0] for request in requests]
        return [[next(rows) for _ in request] for request in requests]

    def _check_words(self, documents: Sequence[Document]) -> None:
        """Refuse documents of very many different words, each of which costs as much as many characters."""
        if sum(len(document.text) for document in documents) < 2 * self.most_words:
            return
        words: set[str] = set()
        for document in documents:
            raise_if_cancelled()
            words.update(_word.findall(document.text))
            if len(words) > self.most_words:
                raise InputError(
                    f"The documents have more than {self.most_words:,} different words. Send fewer at a time."
                )

    def _deliver(self, jobs: list[_Job], answers: asyncio.Future[list[list[Answer] | Exception]]) -> None:
        if answers.cancelled():
            return
        languages: list[str] = []
        try:
            for job, answer in zip(jobs, answers.result(), strict=True):
                if isinstance(answer, list):
                    languages += [served_by(row["language"], self.model.languages) for row in answer]
                if job.answer.done():
                    continue
                if isinstance(answer, list):
                    job.answer.set_result(answer)
                else:
                    job.answer.set_exception(answer)
            self._metrics.count_documents(languages)
        except Exception as error:
            for job in jobs:
                if not job.answer.done():
                    job.answer.set_exception(error)
            raise
        finally:
            self._start()


def _predictor(model: Model, options: RowOptions) -> Predictor:
    """A predictor that shows every label unless ``top`` says how many."""
    return Predictor(
        model,
        options.top,
        options.threshold,
        strict=False,
        tell_thresholds=options.thresholds,
        names=options.names,
        every=options.top is None,
        languages=options.languages,
    )


@asynccontextmanager
async def _before(until: float) -> AsyncIterator[None]:
    """Wait for the model, unless that takes too long."""
    try:
        async with asyncio.timeout_at(until):
            yield
    except TimeoutError:
        raise too_busy("The model took too long. Send fewer documents, or try again later.") from None
    except InputError as error:
        raise HTTPProblem(422, str(error), pointer="/documents") from None
