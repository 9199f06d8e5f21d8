"""A page to label on: its application and requests, served from one process until it is stopped."""

from functools import partial
from typing import Annotated, Any, Literal

import threadpoolctl
from fastapi import FastAPI
from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError
from starlette.requests import Request
from starlette.responses import Response

from funnelling.corpus.label_files import MAX_TEXT_CHARACTERS
from funnelling.errors import counted
from funnelling.formats.journal import Journal
from funnelling.labelling.bench import AnnotationService
from funnelling.labelling.desk import TaskQueue, TooManyAnnotatorsError
from funnelling.labelling.queue import Queue, UpdateSettings
from funnelling.methods.model import Model
from funnelling.runtime.messages import say
from funnelling.serving.application import add_heads, add_pages, guarded_app
from funnelling.serving.bodies import LimitedRequest, json_response, json_response_by_turns
from funnelling.serving.engine import Engine
from funnelling.serving.guard import Metrics, too_busy
from funnelling.serving.protocol import run_server
from funnelling.serving.schema import MAX_NOTE_CHARACTERS, Body, string
from funnelling.serving.settings import LABELLING, LABELLING_PAGES, ServiceSettings, labelling_paths
from funnelling.serving.supervisor import announce, bind, start_logging

MAX_LABELS_PER_REQUEST = 1_000  # of a document
_MAX_NAME_CHARACTERS = 100  # of a person, a session or a key


def _not_empty(label: str) -> str:
    if not label.strip():
        raise PydanticCustomError("label", "a label must not be empty")
    return label


Label: Any = Annotated[string(MAX_TEXT_CHARACTERS), AfterValidator(_not_empty)]
Labels: Any = Annotated[list[Label], Field(max_length=MAX_LABELS_PER_REQUEST)]
Name: Any = string(_MAX_NAME_CHARACTERS)
Session: Any = Annotated[str, Field(min_length=8, max_length=_MAX_NAME_CHARACTERS)]


class SessionRequest(Body):
    """Who asks: a browser, by a name that only it knows, and the person in front of it."""

    session: Session
    who: Name = ""


class StayRequest(SessionRequest):
    """Who is still there, and which document they look at."""

    key: Name = ""


class DecisionRequest(SessionRequest):
    """What a person decided about a document."""

    key: Name
    action: Literal["label", "skip", "note"]
    labels: Labels | None = None
    note: string(MAX_NOTE_CHARACTERS) = ""  # type: ignore[valid-type]


class LanguageRequest(SessionRequest):
    """Which language a document is in, and the labels that a person has chosen already, if any."""

    key: Name
    language: Name
    labels: Labels | None = None


class PassagesRequest(Body):
    """Which labels to explain in which document."""

    key: Name
    labels: Labels


def create_labelling_app(bench: AnnotationService, settings: ServiceSettings, metrics: Metrics) -> FastAPI:
    """The application over a bench."""

    app = guarded_app(labelling_paths(), settings, metrics, bench.close, "The page is at /.")

    @app.exception_handler(TooManyAnnotatorsError)
    async def refuse(_: Request, __: TooManyAnnotatorsError) -> Response:
        return too_busy("Too many people are here. Try again later.").response()

    _add_interface(app, bench)
    add_pages(app, LABELLING_PAGES)
    add_heads(app)
    return app


def _add_interface(app: FastAPI, bench: AnnotationService) -> None:
    @app.get(LABELLING.facts)
    async def tell_facts() -> Response:
        return json_response(bench.facts())

    @app.post(LABELLING.next)
    async def show_next(body: SessionRequest, request: LimitedRequest) -> Response:
        return await json_response_by_turns(await bench.show(body.session, request.until))

    @app.post(LABELLING.decide)
    async def decide(body: DecisionRequest, request: LimitedRequest) -> Response:
        bench.submit(body.session, body.key, body.action, body.who, body.labels, body.note)
        return await json_response_by_turns(await bench.show(body.session, request.until, decided=True))

    @app.post(LABELLING.undo)
    async def undo(body: SessionRequest, request: LimitedRequest) -> Response:
        return await json_response_by_turns(await bench.undo(body.session, body.who, request.until))

    @app.post(LABELLING.language)
    async def correct_language(body: LanguageRequest, request: LimitedRequest) -> Response:
        bench.correct_language(body.session, body.key, body.language)
        return await json_response_by_turns(await bench.show(body.session, request.until, body.labels))

    @app.post(LABELLING.stay)
    async def stay(body: StayRequest) -> Response:
        bench.desk.heartbeat(body.session, body.key)
        return json_response(bench.state(body.session))

    @app.post(LABELLING.passages)
    async def mark(body: PassagesRequest, request: LimitedRequest) -> Response:
        return await json_response_by_turns(await bench.passages(body.key, body.labels, request.until))


def label(
    queue: Queue,
    model: Model,
    learned: int,
    learning: UpdateSettings,
    service: ServiceSettings,
    who: str,
    max_journal: int,
) -> None:
    """Let people label documents until a signal comes: SIGTERM or SIGINT.

    ``learned`` documents of the journal are what the model has learned from, ``max_journal`` is the most
    bytes of it, and ``who`` the name of everybody, if any.
    """
    (sock,) = bind(service.host, service.port, 1)
    with sock, Journal(learning.journal, most=max_journal) as journal:
        desk = TaskQueue(queue.documents, journal)
        threadpoolctl.threadpool_limits(1)
        metrics = Metrics(labelling_paths(), model.languages)
        engine = Engine(model, metrics, service.limits.words)
        bench = AnnotationService(queue, desk, engine, learning, learned, who)
        app = create_labelling_app(bench, service, metrics)
        engine.warm_up()
        start_logging()
        progress = desk.progress()
        what = f"Labelling {counted(progress['left'], 'document')} of {progress['documents']:,}"
        ready = partial(announce, service, sock, what, f"into {journal.path}", "label")
        run_server(app, service.limits, metrics, sock, ready)
        message = f"{counted(desk.labelled, 'document')} labelled in {journal.path}."
        if bench.learner.learned < desk.labelled:
            command = f"funnelling update {learning.model} {learning.journal} -o {learning.output}"
            message += f" To learn from all of them: {command}"
        say(message)
