"""Requests that are refused or fail, answered with a problem document (RFC 9457)."""

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from starlette.responses import Response

MEDIA_TYPE = "application/problem+json"
RETRY_SECONDS = "1"


class Refusal(Exception):  # noqa: N818 (of a request, not a fault of the service)
    """A request that is not served: the status, one sentence, and where in the body it went wrong."""

    def __init__(
        self,
        status: int,
        detail: str,
        pointer: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.pointer = pointer
        self.headers = headers

    def response(self) -> Response:
        """The refusal as an answer."""
        return Response(
            problem_document(self.status, self.detail, self.pointer),
            self.status,
            headers=dict(self.headers or {}),
            media_type=MEDIA_TYPE,
        )


def problem_document(status: int, detail: str, pointer: str | None = None) -> bytes:
    """The body of a refusal.

    >>> problem_document(404, "There is nothing here.")
    b'{"type": "about:blank", "title": "Not Found", "status": 404, "detail": "There is nothing here."}'
    """
    document: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
    }
    if pointer is not None:
        document["pointer"] = pointer
    return json.dumps(document).encode()


def too_busy(detail: str) -> Refusal:
    """A refusal that asks to try again later."""
    return Refusal(503, detail, headers={"Retry-After": RETRY_SECONDS})
