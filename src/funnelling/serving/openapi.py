"""The OpenAPI document of a service."""

from importlib.metadata import version
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from funnelling.method import Method
from funnelling.serving import problems
from funnelling.serving.schemas import reference, schemas
from funnelling.serving.settings import Settings

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
    422: "The body does not hold what is asked for.",
    500: "The service failed.",
    503: "The service is too busy, or the model took too long.",
}
OF_A_BODY = (400, 408, 413, 415, 422, 503)


def answers(schema: str, meaning: str, *statuses: int) -> dict[int | str, dict[str, Any]]:
    """The responses of a route: JSON of a schema, and the problems of these statuses."""
    content = {"application/json": {"schema": reference(schema)}}
    return {200: {"description": meaning, "content": content}, **refusals(*statuses)}


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The problems that a route may answer with."""
    content = {problems.MEDIA_TYPE: {"schema": reference("Problem")}}
    return {
        status: {"description": REASONS[status], "content": content}
        for status in sorted({*statuses, 405, 421, 500})
    }


def takes(schema: str, example: Any) -> dict[str, Any]:
    """The body that a route asks for."""
    content = {"application/json": {"schema": reference(schema), "example": example}}
    return {"requestBody": {"required": True, "content": content}}


def document(app: FastAPI, model: Method, settings: Settings) -> dict[str, Any]:
    """The whole document."""
    made = get_openapi(
        title="funnelling", version=version("funnelling"), description=DESCRIPTION, routes=app.routes
    )
    made["components"] = {"schemas": schemas(model, settings.limits)}
    operations = [(path, operation) for path, item in made["paths"].items() for operation in item.values()]
    if settings.token is not None:
        made["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        for path, operation in operations:
            operation["security"] = [{"token": []}] if path != "/healthz" else []
    never = {"401": settings.token is None, "421": settings.hosts is None}
    for _, operation in operations:
        for status in (status for status, unused in never.items() if unused):
            operation["responses"].pop(status, None)
    return made
