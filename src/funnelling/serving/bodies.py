"""Bodies of requests read within limits, answers written as JSON piece by piece, and feedback kept."""

import asyncio
import codecs
import json
import logging
import re
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any, NoReturn

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

from funnelling.errors import InputError
from funnelling.formats.document import Document
from funnelling.formats.journal import Decision, Journal, JournalFullError, JournalLockedError
from funnelling.formats.jsonl import LABEL
from funnelling.serving.guard import HTTPProblem, place_of, too_busy
from funnelling.serving.requests import Requests
from funnelling.serving.responses import OF_A_BODY, FeedbackResponse, answers
from funnelling.serving.settings import FEEDBACK, JOURNAL_WAIT_S, Limits, ServiceSettings

CLOSE = {"Connection": "close"}
# Most clients read no answer before they have sent all of a body, so one that is too large is read on,
# up to so many bytes, and thrown away.
_MAX_DISCARDED_BYTES = 64 * 2**20
_MAX_HELD_BYTES = 256 * 2**20  # bytes of all bodies that a worker reads at a time
_MAX_VALUES = 20_000  # of a body: no request has so many, and nothing else is done while they are read
_MAX_FIELDS = 100  # of an object: no request has so many, and each that is unknown would cost an error
# To the end of the body where it is not closed, so that no other can begin within it.
_string = re.compile(rb'"[^"\\]*+(?:\\.?[^"\\]*+)*+(?:"|\Z)', re.DOTALL)


class LimitedRequest(Request):
    """A request whose body was read within the limits, and the moment by which it is to be answered."""

    until: float  # of the loop's clock
    value: Any

    async def body(self) -> bytes:
        """Anything but nothing, for which FastAPI would not ask what the body holds."""
        return b"{}"

    async def json(self) -> Any:
        """The value in the body."""
        return self.value


class LimitedRoute(APIRoute):
    """A route whose requests are read by the `Bodies` of its application."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_within_limits(request: Request) -> Response:
            bodies: Bodies = request.app.state.bodies
            limited = LimitedRequest(request.scope, request.receive)
            limited.until = asyncio.get_running_loop().time() + bodies.limits.seconds
            if self.body_field is not None:
                limited.value = await bodies.read_json(request, limited.until)
            return await handle(limited)

        return handle_within_limits


class Bodies:
    """Reads bodies within the limits of a service, and refuses further ones while too many are in memory."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._free = max(_MAX_HELD_BYTES, limits.body)

    async def read_json(self, request: Request, until: float) -> Any:
        """The value in a body that came before a moment of the loop's clock."""
        with ExitStack() as held:
            return json_value(await self.read(request, until, held))

    async def read(
        self, request: Request, until: float, held: ExitStack, kind: str = "application/json"
    ) -> bytes:
        """A body that came before a moment of the loop's clock, which counts as in memory while ``held``."""
        _check_headers(request, kind)
        try:
            async with asyncio.timeout_at(until):
                return await self._read(request, held)
        except TimeoutError:
            raise HTTPProblem(
                408, "The body took too long to arrive. Send it at once.", headers=CLOSE
            ) from None

    async def _read(self, request: Request, stack: ExitStack) -> bytes:
        announced = request.headers.get("content-length", "0")
        large = int(announced) > self.limits.body if announced.isascii() and announced.isdigit() else False
        waits = request.headers.get("expect", "").lower() == "100-continue"
        if large and (waits or int(announced) > _MAX_DISCARDED_BYTES):
            raise self._too_large()
        chunks: list[bytes] = []
        size = held = 0

        def release() -> None:
            self._free += held

        stack.callback(release)
        async for chunk in request.stream():
            size += len(chunk)
            if size > _MAX_DISCARDED_BYTES:
                raise self._too_large()
            if size > self.limits.body:
                chunks.clear()
                continue
            chunks.append(chunk)
            held += len(chunk)
            self._free -= len(chunk)
            if self._free < 0:
                raise too_busy("Too many bodies are on their way. Try again later.")
        if size > self.limits.body:
            raise self._too_large(closing=False)
        return b"".join(chunks)

    def _too_large(self, closing: bool = True) -> HTTPProblem:
        detail = f"The body is larger than {self.limits.body:,} bytes. Send fewer or shorter documents."
        return HTTPProblem(413, detail, headers=CLOSE if closing else None)


def json_value(body: bytes, whole: str = "The body") -> Any:
    """The value in a body or in a part of it, with ``whole`` for its name in a refusal."""
    if body.startswith(codecs.BOM_UTF8):
        raise HTTPProblem(400, f"{whole} begins with a byte order mark. Send it without.")
    _check_values(body, whole)
    try:
        return json.loads(body.decode("utf-8"), parse_constant=_refuse_constant, object_pairs_hook=_object)
    except UnicodeDecodeError:
        raise HTTPProblem(400, f"{whole} is not UTF-8.") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise HTTPProblem(400, f"{whole} is not JSON: {error.msg}, {where}.") from None
    except RecursionError:
        raise HTTPProblem(400, f"{whole} is nested too deeply.") from None
    except ValueError:  # a number of thousands of digits, or NaN
        raise HTTPProblem(400, f"{whole} holds a number that JSON or this service does not know.") from None


def media_type(header: str) -> tuple[str, str]:
    """The media type that a header names, and its parameters."""
    kind, _, parameters = header.partition(";")
    return kind.strip().lower(), parameters.strip().lower().replace('"', "")


def _check_headers(request: Request, expected: str) -> None:
    kind, charset = media_type(request.headers.get("content-type", ""))
    if kind != expected or charset not in ("", "charset=utf-8"):
        raise HTTPProblem(415, f"The body must be JSON in UTF-8. Send Content-Type: {expected}.")
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise HTTPProblem(415, "The body must not be compressed. Drop Content-Encoding.")


def _check_values(body: bytes, whole: str) -> None:
    """Refuse a body of very many values before they are made: each is a string, or has a comma or bracket."""
    values = end = 0
    if _marks(body) <= _MAX_VALUES:  # those within strings, too
        return
    for string in _string.finditer(body):
        values += 1 + _marks(body[end : string.start()])
        end = string.end()
        if values > _MAX_VALUES:
            break
    if values + _marks(body[end:]) > _MAX_VALUES:
        raise HTTPProblem(422, f"{whole} has more than {_MAX_VALUES:,} values. Send fewer documents.")


def _marks(content: bytes) -> int:
    return sum(map(content.count, (b",", b"]", b"}")))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(pairs) > _MAX_FIELDS:
        raise HTTPProblem(
            422,
            f"An object in the body has more than {_MAX_FIELDS} fields, which no request has. Drop some.",
        )
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise HTTPProblem(400, "An object in the body has a field twice. Drop one.")
    return fields


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


_ENTRIES_PER_PIECE = 1_000  # entries of a long list that are one piece
BYTES_PER_TURN = 2**16  # bytes after which others have their turn
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


def json_response(value: Any) -> Response:
    """An answer that is small."""
    return Response(_encoded(value), media_type="application/json")


async def json_response_by_turns(value: Any) -> Response:
    """An answer that may be large."""
    pieces: list[bytes] = []
    size = 0
    for piece in json_pieces(value):
        pieces.append(piece)
        size += len(piece)
        if size > BYTES_PER_TURN:
            size = 0
            await asyncio.sleep(0)
    return Response(b"".join(pieces), media_type="application/json")


def json_pieces(value: Any) -> Iterator[bytes]:
    """What together is the JSON of a value, in pieces that take a millisecond or so.

    >>> b"".join(json_pieces({"a": [{"b": "ü"}, {}], "c": [], "d": {"e": None}}))
    b'{"a": [{"b": "\\xc3\\xbc"}, {}], "c": [], "d": {"e": null}}'
    """
    match value:
        case dict() if any(isinstance(item, dict | list) for item in value.values()):
            yield b"{"
            for number, (key, item) in enumerate(value.items()):
                yield b", " * bool(number) + _encoded(key) + b": "
                yield from json_pieces(item)
            yield b"}"
        case [dict(), *_]:
            yield b"["
            for number, item in enumerate(value):
                yield b", " * bool(number)
                yield from json_pieces(item)
            yield b"]"
        case list() if len(value) > _ENTRIES_PER_PIECE:
            yield b"["
            for start in range(0, len(value), _ENTRIES_PER_PIECE):
                yield b", " * bool(start) + _encoded(value[start : start + _ENTRIES_PER_PIECE])[1:-1]
            yield b"]"
        case _:
            yield _encoded(value)


def _encoded(value: Any) -> bytes:
    try:
        return _ENCODER.encode(value).encode()
    except UnicodeEncodeError:  # a label may hold half of a surrogate pair, which only JSON can spell
        return json.dumps(value, allow_nan=False).encode()


EXAMPLE = {
    "documents": [
        {"text": "Un lettore di musica per il desktop", "language": "it", "labels": [], "note": "?"}
    ]
}

logger = logging.getLogger(__name__)


def takes(example: Any) -> dict[str, Any]:
    """What OpenAPI says of a body beside its type."""
    return {"requestBody": {"content": {"application/json": {"example": example}}}}


def add_feedback(app: FastAPI, requests: Requests, settings: ServiceSettings) -> None:
    """Take feedback, if the service is to; else say that it does not."""
    if settings.feedback is None:

        @app.post(FEEDBACK, include_in_schema=False)
        async def refuse() -> Response:
            raise HTTPProblem(404, "This service takes no feedback. Start it with --feedback FILE.")

        return

    @app.post(
        FEEDBACK,
        summary="Say what labels should have been",
        responses=answers(FeedbackResponse, "All of it is on disk.", 401, 507, *OF_A_BODY),
        openapi_extra=takes(EXAMPLE),
    )
    async def take(body: requests.feedback_type) -> Response:  # type: ignore[name-defined]
        """Documents with the labels that they should have had; `funnelling update` learns from them."""
        corrected = requests.read_feedback(body)
        await asyncio.get_running_loop().run_in_executor(None, partial(_write, settings, corrected))
        return json_response({"recorded": len(corrected)})


def _write(settings: ServiceSettings, corrected: list[tuple[Document, str]]) -> None:
    """Write feedback down; other workers may be at it, too."""
    assert settings.feedback is not None
    decisions = [Decision(LABEL, document, note=note) for document, note in corrected]
    try:
        with Journal(settings.feedback, JOURNAL_WAIT_S, settings.feedback_bytes) as journal:
            journal.append(*decisions)
    except JournalLockedError:
        raise too_busy("Others are writing feedback. Try again later.") from None
    except JournalFullError as error:
        logger.error("feedback was refused: %s", error)
        raise HTTPProblem(
            507, "There is no room for more feedback. Tell whoever runs this service."
        ) from None
    except (InputError, OSError) as error:
        logger.error("feedback was refused: %s", place_of(error))
        raise HTTPProblem(507, "Feedback cannot be written down. Tell whoever runs this service.") from None
