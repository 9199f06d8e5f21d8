"""A page to label on: its application and requests, served from one process until it is stopped."""

import os
import socket
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
from funnelling.labelling.labels import ColdStart
from funnelling.labelling.learning import BackgroundUpdater, UpdateSettings
from funnelling.labelling.queue import Queue
from funnelling.labelling.service import AnnotationService
from funnelling.labelling.tasks import TaskQueue, TooManyAnnotatorsError
from funnelling.methods.model import Model
from funnelling.runtime.messages import TOKEN, say
from funnelling.serving.application import add_heads, add_pages, guarded_app
from funnelling.serving.bodies import LimitedRequest, json_response, json_response_by_turns
from funnelling.serving.engine import Engine
from funnelling.serving.guard import Metrics, too_busy
from funnelling.serving.protocol import run_server
from funnelling.serving.schema import MAX_NOTE_CHARACTERS, Body, string
from funnelling.serving.settings import (
    LABELLING,
    LABELLING_PAGES,
    LOOPBACK,
    ServiceSettings,
    labelling_paths,
)
from funnelling.serving.supervisor import address_of, bind, start_logging

MAX_LABELS_PER_REQUEST = 1_000  # of a document
MAX_LABELS_NAMED = 10  # in a line
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
    """Who asks: a browser, by a name that only it knows, and its annotator."""

    session: Session
    annotator: Name = ""


class HeartbeatRequest(SessionRequest):
    """Who is still there, and which document they look at."""

    key: Name = ""


class AnnotateRequest(SessionRequest):
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


class ExplainRequest(Body):
    """Which labels to explain in which document."""

    key: Name
    labels: Labels


def create_labelling_app(
    annotation: AnnotationService, settings: ServiceSettings, metrics: Metrics
) -> FastAPI:
    """The application over a service for annotation."""

    app = guarded_app(labelling_paths(), settings, metrics, annotation.close, "The page is at /.")

    @app.exception_handler(TooManyAnnotatorsError)
    async def refuse(_: Request, __: TooManyAnnotatorsError) -> Response:
        return too_busy("Too many people are here. Try again later.").response()

    _add_interface(app, annotation)
    add_pages(app, LABELLING_PAGES)
    add_heads(app)
    return app


def _add_interface(app: FastAPI, annotation: AnnotationService) -> None:
    @app.get(LABELLING.facts)
    async def tell_facts() -> Response:
        return json_response(annotation.facts())

    @app.post(LABELLING.next)
    async def show_next(body: SessionRequest, request: LimitedRequest) -> Response:
        return await json_response_by_turns(await annotation.show(body.session, request.until))

    @app.post(LABELLING.annotate)
    async def annotate(body: AnnotateRequest, request: LimitedRequest) -> Response:
        annotation.submit(body.session, body.key, body.action, body.annotator, body.labels, body.note)
        return await json_response_by_turns(await annotation.show(body.session, request.until, decided=True))

    @app.post(LABELLING.undo)
    async def undo(body: SessionRequest, request: LimitedRequest) -> Response:
        return await json_response_by_turns(
            await annotation.undo(body.session, body.annotator, request.until)
        )

    @app.post(LABELLING.language)
    async def correct_language(body: LanguageRequest, request: LimitedRequest) -> Response:
        annotation.correct_language(body.session, body.key, body.language)
        return await json_response_by_turns(await annotation.show(body.session, request.until, body.labels))

    @app.post(LABELLING.heartbeat)
    async def heartbeat(body: HeartbeatRequest) -> Response:
        annotation.tasks.heartbeat(body.session, body.key)
        return json_response(annotation.state(body.session))

    @app.post(LABELLING.explain)
    async def explain(body: ExplainRequest, request: LimitedRequest) -> Response:
        return await json_response_by_turns(await annotation.explain(body.key, body.labels, request.until))


def label(
    queue: Queue,
    model: Model | None,
    cold: ColdStart | None,
    learned: int,
    learning: UpdateSettings,
    service: ServiceSettings,
    who: str,
    max_journal: int,
) -> dict[str, Any]:
    """Let people label documents until a signal comes, SIGTERM or SIGINT; gives what came of it.

    ``learned`` documents of the journal are what the model has learned from, ``max_journal`` is the most
    bytes of it, and ``who`` the name of everybody, if any. Without a model there is a ``cold`` start.
    """
    (sock,) = bind(service.host, service.port, 1)
    with sock, Journal(learning.journal, most=max_journal) as journal:
        tasks = TaskQueue(queue.documents, journal)
        threadpoolctl.threadpool_limits(1)
        languages = {document.language for document in queue.documents if document.language is not None}
        metrics = Metrics(labelling_paths(), sorted(languages) if model is None else model.languages)

        def engine_of(model: Model) -> Engine:
            return Engine(model, metrics, service.limits.words)

        engine = None if model is None else engine_of(model)
        annotation = AnnotationService(queue, tasks, engine, learning, learned, who, cold, engine_of)
        app = create_labelling_app(annotation, service, metrics)
        if engine is not None:
            engine.warm_up()
        start_logging(requests=False)
        run_server(app, service.limits, metrics, sock, partial(_announce, service, sock, journal.path))
        return _conclude(tasks, annotation.learner, service, learning)


def _announce(service: ServiceSettings, sock: socket.socket, journal: str) -> None:
    """Report where the page is."""
    address = address_of(service.host, sock.getsockname()[1])
    message = f"Open {address}. Every decision is saved at once in {journal}. Ctrl-C to stop."
    if service.token is None and service.host not in LOOPBACK:
        message += f" Everybody who reaches it can label: ask for a token with --token-file or {TOKEN}."
    say(message, address=address)


def _conclude(
    tasks: TaskQueue, learner: BackgroundUpdater, service: ServiceSettings, learning: UpdateSettings
) -> dict[str, Any]:
    """Report what was labelled and what to do next."""
    labelled, learned = tasks.labelled, learner.learned
    message = f"{counted(labelled, 'document')} labelled"
    new = learned > 0 and os.path.exists(learning.output)  # or the model knew them before
    unused = sorted(set(learning.label_set.ids if learning.label_set else ()) - tasks.labels())
    if new:
        message += f". Model: {learning.output}"
        if learned < labelled:
            message += f" (learned from {learned:,})"
    else:
        message += f" in {learning.journal}"
    if learning.model is not None:
        if learned < labelled:
            update = f"funnelling update {learning.model} {learning.journal} -o {learning.output}"
            message += f". To learn from all of them: {update}"
    elif new:
        message += f". Next: funnelling label {learning.output} {service.model}"
    elif labelled:
        message += f". No model yet. Next: the same command, or funnelling train {learning.journal} -o MODEL"
    say(message)
    if unused and labelled and learning.model is None:
        named = ", ".join(unused[:MAX_LABELS_NAMED]) + (", …" if len(unused) > MAX_LABELS_NAMED else "")
        say(f"Without documents so far: {named}.")
    return {
        "journal": learning.journal,
        "labelled": labelled,
        "model": learning.output if new else learning.model,
        "learned": learned,
        "labels_without_documents": unused,
    }
