"""The application: a page and a small HTTP interface over one model."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from funnelling.method import Method
from funnelling.serving import openapi
from funnelling.serving.bodies import Bodies
from funnelling.serving.engine import Engine
from funnelling.serving.guard import Guard
from funnelling.serving.metrics import Metrics
from funnelling.serving.pages import add_pages
from funnelling.serving.paths import served_paths
from funnelling.serving.problems import Problem
from funnelling.serving.requests import documents_in, labels_in, words_in
from funnelling.serving.settings import Settings

EXAMPLE = {"documents": [{"text": "Un lettore di musica per il desktop", "language": "it", "id": "7"}]}
TOLD = ("method", "languages", "labels", "scores", "funnelling")


def create_app(model: Method, description: dict[str, Any], settings: Settings, metrics: Metrics) -> FastAPI:
    """The application over a model and what `describe_model` tells of it."""
    engine = Engine(model, metrics)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        engine.close()

    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False, lifespan=lifespan)
    app.state.engine = engine
    app.add_middleware(Guard, served_paths(), metrics, settings.token, settings.hosts)
    _add_problems(app)
    _add_interface(app, engine, settings)
    _add_facts(app, model, description, settings, metrics)
    add_pages(app)
    _add_heads(app)
    return app


def _add_interface(app: FastAPI, engine: Engine, settings: Settings) -> None:
    limits = settings.limits
    bodies = Bodies(limits.body)

    @app.post(
        "/v1/predict",
        summary="Label documents",
        responses=openapi.answers("PredictResponse", "A row a document.", 401, *openapi.OF_A_BODY),
        openapi_extra=openapi.takes("PredictRequest", EXAMPLE),
    )
    async def predict(request: Request) -> Response:
        """The labels and the probability of every label, the same bits that the command line gives."""
        until = asyncio.get_running_loop().time() + limits.seconds
        body = await bodies.read_json(request, until)
        documents = documents_in(body, engine.model, limits.documents, limits.characters)
        return _json({"documents": await engine.predict(documents, until)})

    @app.post(
        "/v1/explain",
        summary="Explain labels",
        responses=openapi.answers("ExplainResponse", "A row a document.", 401, *openapi.OF_A_BODY),
        openapi_extra=openapi.takes("ExplainRequest", EXAMPLE),
    )
    async def explain(request: Request) -> Response:
        """What spoke for a label: words in tier 1, other labels in tier 2, and similar training documents."""
        until = asyncio.get_running_loop().time() + limits.seconds
        body = await bodies.read_json(request, until)
        documents = documents_in(body, engine.model, limits.explained, limits.characters, "labels", "top")
        labels = labels_in(body, engine.model.classes_.tolist())
        return _json({"documents": await engine.explain(documents, labels, words_in(body), until)})


def _add_facts(
    app: FastAPI, model: Method, description: dict[str, Any], settings: Settings, metrics: Metrics
) -> None:
    @app.get(
        "/v1/model", summary="What the model is", responses=openapi.answers("Model", "Its description.", 401)
    )
    async def tell_model() -> Response:
        """Method, languages, labels, the scores on its own test set, and how much a request may ask."""
        told = {key: description[key] for key in TOLD}
        return _json({**told, "exclusive": bool(model.exclusive_), "limits": asdict(settings.limits)})

    @app.get("/healthz", summary="Whether it is there", responses=openapi.answers("Health", "It is there."))
    async def health() -> Response:
        """Answers as soon as the model is loaded."""
        return _json({"status": "ok"})

    text = {"text/plain": {"schema": {"type": "string"}}}

    @app.get(
        "/metrics",
        summary="Counters for Prometheus",
        response_class=PlainTextResponse,
        responses={
            200: {"description": "Prometheus text.", "content": text},
            **openapi.refusals(401),
        },
    )
    async def count() -> Response:
        """Requests, durations and documents, summed over the workers."""
        counted = metrics.text(description["method"], version("funnelling"))
        return Response(counted, headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"})

    @app.get("/openapi.json", include_in_schema=False)
    async def describe() -> Response:
        return described

    described = _json(openapi.document(app, model, settings))


def _add_heads(app: FastAPI) -> None:
    """HEAD wherever there is GET; the OpenAPI document, made before, need not tell."""
    for route in app.routes:
        if isinstance(route, APIRoute) and route.methods and "GET" in route.methods:
            route.methods.add("HEAD")


def _json(value: Any) -> Response:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    try:
        content = text.encode()
    except UnicodeEncodeError:  # a label may hold half of a surrogate pair, which only JSON can spell
        content = json.dumps(value, allow_nan=False).encode()
    return Response(content, media_type="application/json")


def _add_problems(app: FastAPI) -> None:
    @app.exception_handler(Problem)
    async def refuse(_: Request, problem: Problem) -> Response:
        return problem.response()

    @app.exception_handler(HTTPException)
    async def refuse_route(request: Request, error: HTTPException) -> Response:
        details = {
            404: "There is nothing at this path. GET /docs tells what there is.",
            405: f"This path takes no {request.method}.",
        }
        detail = details.get(error.status_code, str(error.detail))
        return Problem(error.status_code, detail, headers=error.headers).response()
