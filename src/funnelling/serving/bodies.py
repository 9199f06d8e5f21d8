"""The body of a request: read within its limits, and made of JSON."""

import asyncio
import codecs
import json
import re
from typing import Any, NoReturn

from starlette.requests import Request

from funnelling.serving.refusals import Refusal, too_busy

CLOSE = {"Connection": "close"}
# Most clients read no answer before they have sent all of a body, so one that is too large is read on,
# up to so many bytes, and thrown away.
_DISCARDED = 64 * 2**20
_HELD = 256 * 2**20  # bytes of all bodies that a worker reads at a time
_MOST_VALUES = 20_000  # of a body: no request has so many, and nothing else is done while they are read
_MOST_FIELDS = 100  # of an object: no request has so many, and each that is unknown would cost an error
# To the end of the body where it is not closed, so that no other can begin within it.
_string = re.compile(rb'"[^"\\]*+(?:\\.?[^"\\]*+)*+(?:"|\Z)', re.DOTALL)


class Bodies:
    """Reads bodies of at most ``most`` bytes each, and refuses further ones while too many are in memory."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._free = max(_HELD, most)

    async def read_json(self, request: Request, until: float) -> Any:
        """The value in a body that came before a moment of the loop's clock."""
        _check_headers(request)
        try:
            async with asyncio.timeout_at(until):
                return _value(await self._read(request))
        except TimeoutError:
            raise Refusal(408, "The body took too long to arrive. Send it at once.", headers=CLOSE) from None

    async def _read(self, request: Request) -> bytes:
        announced = request.headers.get("content-length", "0")
        large = int(announced) > self.most if announced.isascii() and announced.isdigit() else False
        waits = request.headers.get("expect", "").lower() == "100-continue"
        if large and (waits or int(announced) > _DISCARDED):
            raise self._too_large()
        chunks: list[bytes] = []
        size = held = 0
        try:
            async for chunk in request.stream():
                size += len(chunk)
                if size > _DISCARDED:
                    raise self._too_large()
                if size > self.most:
                    chunks.clear()
                    continue
                chunks.append(chunk)
                held += len(chunk)
                self._free -= len(chunk)
                if self._free < 0:
                    raise too_busy("Too many bodies are on their way. Try again later.")
        finally:
            self._free += held
        if size > self.most:
            raise self._too_large(closing=False)
        return b"".join(chunks)

    def _too_large(self, closing: bool = True) -> Refusal:
        detail = f"The body is larger than {self.most:,} bytes. Send fewer or shorter documents."
        return Refusal(413, detail, headers=CLOSE if closing else None)


def _value(body: bytes) -> Any:
    if body.startswith(codecs.BOM_UTF8):
        raise Refusal(400, "The body begins with a byte order mark. Send it without.")
    _check_values(body)
    try:
        return json.loads(body.decode("utf-8"), parse_constant=_refuse_constant, object_pairs_hook=_object)
    except UnicodeDecodeError:
        raise Refusal(400, "The body is not UTF-8.") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise Refusal(400, f"The body is not JSON: {error.msg}, {where}.") from None
    except RecursionError:
        raise Refusal(400, "The body is nested too deeply.") from None
    except ValueError:  # a number of thousands of digits, or NaN
        raise Refusal(400, "The body holds a number that JSON or this service does not know.") from None


def _check_headers(request: Request) -> None:
    kind, _, parameters = request.headers.get("content-type", "").partition(";")
    charset = parameters.strip().lower().replace('"', "")
    if kind.strip().lower() != "application/json" or charset not in ("", "charset=utf-8"):
        raise Refusal(415, "The body must be JSON in UTF-8. Send Content-Type: application/json.")
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise Refusal(415, "The body must not be compressed. Drop Content-Encoding.")


def _check_values(body: bytes) -> None:
    """Refuse a body of very many values before they are made: each is a string, or has a comma or bracket."""
    values = end = 0
    if _marks(body) <= _MOST_VALUES:  # those within strings, too
        return
    for string in _string.finditer(body):
        values += 1 + _marks(body[end : string.start()])
        end = string.end()
        if values > _MOST_VALUES:
            break
    if values + _marks(body[end:]) > _MOST_VALUES:
        raise Refusal(422, f"The body has more than {_MOST_VALUES:,} values. Send fewer documents.")


def _marks(content: bytes) -> int:
    return sum(map(content.count, (b",", b"]", b"}")))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(pairs) > _MOST_FIELDS:
        raise Refusal(
            422,
            f"An object in the body has more than {_MOST_FIELDS} fields, which no request has. Drop some.",
        )
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise Refusal(400, "An object in the body has a field twice. Drop one.")
    return fields


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)
