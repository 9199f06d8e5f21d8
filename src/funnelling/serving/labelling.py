"""The application of a page to label on."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from funnelling.review.desk import CrowdedError
from funnelling.serving.answers import json_response, json_response_by_turns
from funnelling.serving.application import add_heads, add_refusals
from funnelling.serving.bench import Bench
from funnelling.serving.bodies import Bodies
from funnelling.serving.guard import Guard
from funnelling.serving.label_requests import (
    DecisionRequest,
    LanguageRequest,
    PassagesRequest,
    SessionRequest,
    StayRequest,
)
from funnelling.serving.metrics import Metrics
from funnelling.serving.pages import add_pages
from funnelling.serving.paths import LABELLING, LABELLING_PAGES, labelling_paths
from funnelling.serving.refusals import too_busy
from funnelling.serving.requests import checked
from funnelling.serving.settings import ServiceSettings


def create_labelling_app(bench: Bench, settings: ServiceSettings, metrics: Metrics) -> FastAPI:
    """The application over a bench."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        bench.close()

    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False, lifespan=lifespan)
    app.add_middleware(
        Guard, paths=labelling_paths(), metrics=metrics, token=settings.token, hosts=settings.hosts
    )
    add_refusals(app, "The page is at /.")

    @app.exception_handler(CrowdedError)
    async def refuse(_: Request, __: CrowdedError) -> Response:
        return too_busy("Too many people are here. Try again later.").response()

    _add_interface(app, bench, settings)
    add_pages(app, LABELLING_PAGES)
    add_heads(app)
    return app


def _add_interface(app: FastAPI, bench: Bench, settings: ServiceSettings) -> None:
    bodies = Bodies(settings.limits.body)

    def until() -> float:
        return asyncio.get_running_loop().time() + settings.limits.seconds

    async def read(request: Request, kind: Any) -> Any:
        return checked(kind, await bodies.read_json(request, until()))

    @app.get(LABELLING.facts)
    async def tell_facts() -> Response:
        return json_response(bench.facts())

    @app.post(LABELLING.next)
    async def show_next(request: Request) -> Response:
        body = await read(request, SessionRequest)
        return await json_response_by_turns(await bench.show(body.session, until()))

    @app.post(LABELLING.decide)
    async def decide(request: Request) -> Response:
        body = await read(request, DecisionRequest)
        bench.decide(body.session, body.key, body.action, body.who, body.labels, body.note)
        return await json_response_by_turns(await bench.show(body.session, until(), decided=True))

    @app.post(LABELLING.undo)
    async def undo(request: Request) -> Response:
        body = await read(request, SessionRequest)
        return await json_response_by_turns(await bench.undo(body.session, body.who, until()))

    @app.post(LABELLING.language)
    async def correct_language(request: Request) -> Response:
        body = await read(request, LanguageRequest)
        bench.correct_language(body.session, body.key, body.language)
        return await json_response_by_turns(await bench.show(body.session, until(), body.labels))

    @app.post(LABELLING.stay)
    async def stay(request: Request) -> Response:
        body = await read(request, StayRequest)
        bench.desk.stay(body.session, body.key)
        return json_response(bench.state(body.session))

    @app.post(LABELLING.passages)
    async def mark(request: Request) -> Response:
        body = await read(request, PassagesRequest)
        return await json_response_by_turns(await bench.passages(body.key, body.labels, until()))
