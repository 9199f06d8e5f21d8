"""The body of a request: read within its limits, and made of JSON."""

import asyncio
import json
from typing import Any, NoReturn

from starlette.requests import ClientDisconnect, Request

from funnelling.serving.problems import Problem

CLOSE = {"Connection": "close"}
# A client that has begun to send reads no answer before it has sent all: so much is let pass unread.
_DISCARDED = 64 * 2**20


async def read_json(request: Request, most: int, until: float) -> Any:
    """The value in a body of at most so many bytes that came before a moment of the loop's clock."""
    _check_headers(request)
    try:
        async with asyncio.timeout_at(until):
            body = await _read(request, most)
    except TimeoutError:
        raise Problem(408, "The body took too long to arrive. Send it at once.", headers=CLOSE) from None
    except ClientDisconnect:
        raise Problem(400, "The body ended early.", headers=CLOSE) from None
    try:
        return json.loads(body.decode("utf-8"), parse_constant=_refuse_constant)
    except UnicodeDecodeError:
        raise Problem(400, "The body is not UTF-8.") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise Problem(400, f"The body is not JSON: {error.msg}, {where}.") from None
    except RecursionError:
        raise Problem(400, "The body is nested too deeply.") from None
    except ValueError:  # a number of thousands of digits, or NaN
        raise Problem(400, "The body holds a number that JSON or this service does not know.") from None


def _check_headers(request: Request) -> None:
    kind, _, parameters = request.headers.get("content-type", "").partition(";")
    charset = parameters.strip().lower().replace('"', "")
    if kind.strip().lower() != "application/json" or charset not in ("", "charset=utf-8"):
        raise Problem(415, "The body must be JSON in UTF-8. Send Content-Type: application/json.")
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise Problem(415, "The body must not be compressed. Drop Content-Encoding.")


async def _read(request: Request, most: int) -> bytes:
    announced = request.headers.get("content-length", "0")
    large = int(announced) > most if announced.isascii() and announced.isdigit() else False
    waits = request.headers.get("expect", "").lower() == "100-continue"
    if large and (waits or int(announced) > _DISCARDED):
        raise _too_large(most)
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > _DISCARDED:
            raise _too_large(most)
        if size > most:
            parts.clear()
        else:
            parts.append(part)
    if size > most:
        raise _too_large(most, closing=False)
    return b"".join(parts)


def _too_large(most: int, closing: bool = True) -> Problem:
    detail = f"The body is larger than {most:,} bytes. Send fewer or shorter documents."
    return Problem(413, detail, headers=CLOSE if closing else None)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)
