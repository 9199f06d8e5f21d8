"""The application: a page and a small HTTP interface over one model."""

from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from funnelling.corpus.label_set import LabelSet
from funnelling.methods.model import Model
from funnelling.methods.rows import thresholds_of
from funnelling.serving import responses, schema
from funnelling.serving.batches import LINES, add_batches
from funnelling.serving.bodies import (
    Bodies,
    LimitedRequest,
    LimitedRoute,
    add_feedback,
    json_response,
    json_response_by_turns,
    takes,
)
from funnelling.serving.engine import Engine
from funnelling.serving.guard import HTTPProblem, Metrics, SecurityMiddleware
from funnelling.serving.requests import Requests, body_problem
from funnelling.serving.responses import OF_A_BODY, answer_types, answers, problems
from funnelling.serving.settings import PAGES, Limits, ServiceSettings, page_files, served_paths

MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


def add_pages(app: FastAPI, pages: Mapping[str, str] = PAGES) -> None:
    """Serve pages, each a file behind a path, and the scripts and styles of all."""
    folder = files("funnelling.serving").joinpath("page")
    for path, name in page_files(pages).items():
        headers = {"Content-Type": MEDIA_TYPES[name[name.rindex(".") :]]}
        _add(app, path, Response(folder.joinpath(name).read_bytes(), headers=headers))


def _add(app: FastAPI, path: str, answer: Response) -> None:
    """Give one answer, always the same, at a path that OpenAPI does not describe."""
    app.router.routes.append(Route(path, answer, methods=["GET"], include_in_schema=False))


Row = dict[str, Any]


def label_rows(model: Model) -> list[Row]:
    """For each label its id, its name in English or another language, all names, and what else is known."""
    return _rows(_label_set(model), map(str, model.labels.classes.tolist()))


class KnownLabels:
    """Labels, and what is known of them and of others, looked up once: they may be many.

    ``ids`` are the ``labels`` themselves, such as those of a model; a label set may have others.
    """

    def __init__(self, label_set: LabelSet | None, labels: Iterable[Any]) -> None:
        self._label_set = LabelSet.of([]) if label_set is None else label_set
        self._own = _rows(self._label_set, map(str, labels))
        self.ids = frozenset(row["id"] for row in self._own)
        self._others = _rows(self._label_set, (each for each in self._label_set.ids if each not in self.ids))

    def __contains__(self, label: str) -> bool:
        return label in self.ids or label in self._label_set

    def rows(self, given: set[str]) -> list[Row]:
        """All that may be given or were ``given`` by people: the ``ids``, then others by their ids."""
        further = (label for label in given if label not in self.ids and label not in self._label_set)
        others = [*self._others, *_rows(self._label_set, further)]
        rows = [*self._own, *sorted(others, key=lambda row: str(row["id"]))]
        return [row for row in rows if not row["excluded"] or row["id"] in given]


def _label_set(model: Model) -> LabelSet:
    label_set: LabelSet | None = model.label_set
    return LabelSet.of([]) if label_set is None else label_set


def _rows(label_set: LabelSet, labels: Iterable[str]) -> list[Row]:
    return [
        {
            "id": known.id,
            "name": known.name,
            "names": dict(known.names),
            "description": known.description,
            "parents": list(known.parents),
            "excluded": known.exclude,
        }
        for known in map(label_set.__getitem__, labels)
    ]


def example_texts(model: Model) -> list[dict[str, str]]:
    """How training documents begin, as far as the model keeps that: of each language one or more, to try."""
    blocks = {} if model.archive is None else model.archive.blocks
    kept = {tag: block.beginnings or [] for tag, block in blocks.items()}
    texts = {tag: beginnings for tag, beginnings in kept.items() if any(beginnings)}
    most = sorted(texts, key=lambda tag: (-len(texts[tag]), tag))[:MAX_EXAMPLES]
    chosen = []
    for tag in most:
        long = [text for text in texts[tag] if len(text) >= MIN_EXAMPLE_CHARACTERS] or [
            max(texts[tag], key=len)
        ]
        each = MAX_EXAMPLES // len(most)
        chosen += [{"language": tag, "text": text} for text in long[:: -(-len(long) // each)]]
    return chosen


EXAMPLE = {"documents": [{"text": "Un lettore di musica per il desktop", "language": "it", "id": "7"}]}
DESCRIPTION = (
    "Labels for documents in many languages. A request that cannot be answered gets a problem document "
    "(RFC 9457) that says why."
)
SMALL_BATCH_DOCUMENTS = 16  # documents whose labels are a small answer
MAX_EXAMPLES = 6
MIN_EXAMPLE_CHARACTERS = 40
FACTS = ("method", "languages", "labels", "scores", "funnelling")  # of a model's description


def create_app(
    model: Model, description: dict[str, Any], settings: ServiceSettings, metrics: Metrics
) -> FastAPI:
    """The application over a model and its description, which is that of `describe_model`."""
    engine = Engine(model, metrics, settings.limits.words)
    requests = Requests(model, settings.limits)
    app = guarded_app(served_paths(), settings, metrics, engine.close, "GET /docs lists what there is.")
    app.state.engine = engine
    _add_interface(app, engine, requests, settings.limits)
    add_feedback(app, requests, settings)
    _add_facts(app, model, description, settings, metrics)
    _add_openapi(app, settings)
    add_pages(app)
    add_heads(app)
    return app


def guarded_app(
    paths: Collection[str],
    settings: ServiceSettings,
    metrics: Metrics,
    close: Callable[[], None],
    where: str,
) -> FastAPI:
    """An application without routes, which limits and guards those that it gets.

    ``close`` is called in the end; ``where`` says what to do about a path that is none.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        close()

    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False, lifespan=lifespan)
    app.router.route_class = LimitedRoute
    app.state.bodies = Bodies(settings.limits)
    app.add_middleware(
        SecurityMiddleware, paths=paths, metrics=metrics, token=settings.token, hosts=settings.hosts
    )
    _add_refusals(app, where)
    return app


def _add_interface(app: FastAPI, engine: Engine, requests: Requests, limits: Limits) -> None:
    predictions, explanations = answer_types(engine.model.labels, limits, requests.label_type)
    rows = answers(predictions, "One row per document.", 401, *OF_A_BODY)
    rows[200]["content"] = _lines_of("PredictRow")
    body = takes(EXAMPLE)
    body["requestBody"]["content"] |= _lines_of("Document")
    add_batches(app, "/v1/predict", engine, requests)

    @app.post("/v1/predict", summary="Label documents", responses=rows, openapi_extra=body)
    async def predict(body: requests.predict_type, request: LimitedRequest) -> Response:  # type: ignore[name-defined]
        """The labels and the probabilities of labels, bit for bit as the command line gives them.

        A body of type `application/x-ndjson` has one document per line, as many as it may hold, and gets one
        row per line; what is said of all documents stands in the query then: `?top=3&language=en`.
        """
        documents, options = requests.read_predict(body)
        answer = {"documents": await engine.predict(documents, request.until, options)}
        return (
            json_response(answer)
            if len(documents) <= SMALL_BATCH_DOCUMENTS
            else await json_response_by_turns(answer)
        )

    @app.post(
        "/v1/explain",
        summary="Explain labels",
        responses=answers(explanations, "One row per document.", 401, *OF_A_BODY),
        openapi_extra=takes(EXAMPLE),
    )
    async def explain(body: requests.explain_type, request: LimitedRequest) -> Response:  # type: ignore[name-defined]
        """What spoke for a label: words in tier 1, other labels in tier 2, and similar training documents."""
        documents, labels, top, options = requests.read_explain(body)
        return await json_response_by_turns(
            {"documents": await engine.explain(documents, labels, top, request.until, options)}
        )


def _lines_of(name: str) -> dict[str, Any]:
    """What OpenAPI says of lines, each an object of this name."""
    return {LINES: {"schema": {"$ref": f"#/components/schemas/{name}"}}}


def _add_facts(
    app: FastAPI, model: Model, description: dict[str, Any], settings: ServiceSettings, metrics: Metrics
) -> None:
    thresholds, examples = thresholds_of(model), example_texts(model)

    @app.get(
        "/v1/model",
        summary="What the model is",
        responses=answers(responses.ModelResponse, "Its description.", 401),
    )
    async def tell_model() -> Response:
        """Method, languages, labels, scores and how they were measured, and how much a request may ask."""
        facts = {key: description[key] for key in FACTS}
        return json_response(
            {
                **facts,
                "single_label": model.labels.single_label,
                "thresholds": thresholds,
                "examples": examples,
                "limits": asdict(settings.limits),
                "feedback": settings.feedback is not None,
            }
        )

    labels = json_response({"labels": label_rows(model)})

    @app.get(
        "/v1/labels",
        summary="What labels are called",
        responses=answers(responses.LabelsResponse, "One entry per label of the model.", 401),
    )
    async def tell_labels() -> Response:
        """The names of labels in all languages, what they mean, their parents, and which are not assigned."""
        return labels

    @app.get(
        "/healthz",
        summary="Whether it is there",
        responses=answers(responses.HealthResponse, "It is there."),
    )
    async def health() -> Response:
        """Answers as soon as the model is loaded."""
        return json_response({"status": "ok"})

    @app.get(
        "/metrics",
        summary="Counters for Prometheus",
        response_class=PlainTextResponse,
        responses={200: {"description": "Prometheus text."}, **problems(401)},
    )
    async def count() -> Response:
        """Requests, durations and documents, summed over the workers."""
        counters = metrics.text(description["method"], version("funnelling"))
        return Response(counters, headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"})


def _add_openapi(app: FastAPI, settings: ServiceSettings) -> None:
    document = get_openapi(
        title="funnelling", version=version("funnelling"), description=DESCRIPTION, routes=app.routes
    )
    document["components"]["schemas"]["Problem"] = schema.Problem.model_json_schema()
    never = {"401"} if settings.token is None else set()
    never |= {"421"} if settings.hosts is None else set()
    for path, item in document["paths"].items():
        for operation in item.values():
            operation["responses"] = {
                status: answer for status, answer in operation["responses"].items() if status not in never
            }
            if settings.token is not None:
                operation["security"] = [{"token": []}] if path != "/healthz" else []
    if settings.token is not None:
        document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    _add(app, "/openapi.json", json_response(document))


def add_heads(app: FastAPI) -> None:
    """HEAD wherever there is GET; the OpenAPI document, made before, need not say so."""
    for route in app.routes:
        if isinstance(route, APIRoute) and route.methods and "GET" in route.methods:
            route.methods.add("HEAD")


def _add_refusals(app: FastAPI, where: str) -> None:
    """Answer what is refused with problem documents (RFC 9457)."""

    @app.exception_handler(HTTPProblem)
    async def refuse(_: Request, refusal: HTTPProblem) -> Response:
        return refusal.response()

    @app.exception_handler(RequestValidationError)
    async def refuse_body(request: Request, error: RequestValidationError) -> Response:
        kind = request.scope["endpoint"].__annotations__["body"]
        errors = [{**each, "loc": each["loc"][1:]} for each in error.errors()]  # all begin with "body"
        return body_problem(kind, errors).response()

    @app.exception_handler(HTTPException)
    async def refuse_route(request: Request, error: HTTPException) -> Response:
        details = {
            404: f"There is nothing at this path. {where}",
            405: f"This path takes no {request.method}.",
        }
        detail = details.get(error.status_code, str(error.detail))
        return HTTPProblem(error.status_code, detail, headers=error.headers).response()
