"""Answers as JSON, made piece by piece: what explains a long text is megabytes, and others are waiting."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

from starlette.responses import Response

_SLICE = 1_000  # entries of a long list that are one piece
_TURN = 2**16  # bytes after which others have their turn
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


def json_response(value: Any) -> Response:
    """An answer that is small."""
    return _response(_encoded(value))


async def json_response_by_turns(value: Any) -> Response:
    """An answer that may be large."""
    pieces: list[bytes] = []
    size = 0
    for piece in json_pieces(value):
        pieces.append(piece)
        size += len(piece)
        if size > _TURN:
            size = 0
            await asyncio.sleep(0)
    return _response(b"".join(pieces))


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
        case list() if len(value) > _SLICE:
            yield b"["
            for start in range(0, len(value), _SLICE):
                yield b", " * bool(start) + _encoded(value[start : start + _SLICE])[1:-1]
            yield b"]"
        case _:
            yield _encoded(value)


def _encoded(value: Any) -> bytes:
    try:
        return _ENCODER.encode(value).encode()
    except UnicodeEncodeError:  # a label may hold half of a surrogate pair, which only JSON can spell
        return json.dumps(value, allow_nan=False).encode()


def _response(content: bytes) -> Response:
    return Response(content, media_type="application/json")
