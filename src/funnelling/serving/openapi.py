"""The OpenAPI document of a service: routes from FastAPI, bodies from the types of requests and responses."""

from importlib.metadata import version
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import TypeAdapter

from funnelling.methods.model import Method
from funnelling.serving.refusals import MEDIA_TYPE
from funnelling.serving.requests import Requests
from funnelling.serving.responses import response_types
from funnelling.serving.settings import ServiceSettings

DESCRIPTION = (
    "Labels for documents in many languages. A request that cannot be answered gets a problem document "
    "(RFC 9457) that says why."
)
REASONS = {
    400: "The body is not JSON in UTF-8.",
    401: "The token is missing or wrong.",
    405: "The path has no such method.",
    408: "The body took too long to arrive.",
    413: "The body is too large.",
    415: "The body is not announced as JSON.",
    421: "The service does not answer to the name in Host.",
    422: "The body is not what this path expects.",
    500: "The service failed.",
    503: "The service is too busy, or the model took too long.",
    507: "The journal that takes feedback is full.",
}
OF_A_BODY = (400, 408, 413, 415, 422, 503)

_COMPONENT = "#/components/schemas/{model}"


def answers(component: str, meaning: str, *statuses: int) -> dict[int | str, dict[str, Any]]:
    """The responses of a route: JSON of a component, and the problems of these statuses."""
    return {
        200: {"description": meaning, "content": _content(component, "application/json")},
        **problems(*statuses),
    }


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The problems that a route may answer with."""
    return {
        status: {"description": REASONS[status], "content": _content("Problem", MEDIA_TYPE)}
        for status in sorted({*statuses, 405, 421, 500})
    }


def takes(component: str, example: Any) -> dict[str, Any]:
    """The body that a route asks for."""
    content = _content(component, "application/json", example=example)
    return {"requestBody": {"required": True, "content": content}}


def document(app: FastAPI, requests: Requests, model: Method, settings: ServiceSettings) -> dict[str, Any]:
    """The whole document."""
    result = get_openapi(
        title="funnelling", version=version("funnelling"), description=DESCRIPTION, routes=app.routes
    )
    result["components"] = {"schemas": _components(requests, model, settings)}
    operations = [(path, operation) for path, item in result["paths"].items() for operation in item.values()]
    if settings.token is not None:
        result["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        for path, operation in operations:
            operation["security"] = [{"token": []}] if path != "/healthz" else []
    never = {"401": settings.token is None, "421": settings.hosts is None}
    for _, operation in operations:
        for status in (status for status, unused in never.items() if unused):
            operation["responses"].pop(status, None)
    return result


def _components(requests: Requests, model: Method, settings: ServiceSettings) -> dict[str, Any]:
    """The schemas of all bodies, by name."""
    of_answers = response_types(model.classes_.tolist(), settings.limits, bool(model.exclusive_))
    inputs: list[Any] = [
        (kind.__name__, mode, TypeAdapter(kind))
        for mode, kinds in (
            ("validation", [requests.predict_type, requests.explain_type, requests.feedback_type]),
            ("serialization", of_answers),
        )
        for kind in kinds
    ]
    _, schema = TypeAdapter.json_schemas(inputs, ref_template=_COMPONENT)
    components: dict[str, Any] = schema["$defs"]
    return components


def _content(component: str, media_type: str, **more: Any) -> dict[str, Any]:
    return {media_type: {"schema": {"$ref": _COMPONENT.format(model=component)}, **more}}
