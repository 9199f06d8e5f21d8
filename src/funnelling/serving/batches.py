"""Batches: one document per line in, one row per line out, as many as a body may hold.

The whole body is read and checked before the first row goes out, so a bad line is refused as any other
request is. Rows are sent as the model makes them: neither they nor the documents are ever all in memory.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Match

from funnelling.formats.document import Document
from funnelling.serving.bodies import (
    BYTES_PER_TURN,
    LimitedRequest,
    LimitedRoute,
    json_pieces,
    json_value,
    media_type,
)
from funnelling.serving.engine import Engine
from funnelling.serving.guard import HTTPProblem, Receive, Scope, Send, too_busy
from funnelling.serving.requests import BatchOptions, Requests

LINES = "application/x-ndjson"
CHARACTERS_PER_CALL = 200_000  # of the model, unless one document has more
_DOCUMENTS_PER_TURN = 50  # read before others have their turn
_RETRY_S = 0.1
_blanks = re.compile(rb"[ \t\r\n]*+")

_Numbered = tuple[int, Document]  # with the line that it stands in


def _skip_blanks(body: bytes, start: int) -> int:
    """Where something stands that is no blank; megabytes of blanks take no time worth mentioning."""
    found = _blanks.match(body, start)
    return found.end() if found else start


class BatchRoute(LimitedRoute):
    """A route for bodies of lines alone."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, child = super().matches(scope)
        kind, _ = (
            media_type(Request(scope).headers.get("content-type", "")) if match == Match.FULL else ("", "")
        )
        return (match, child) if kind == LINES else (Match.NONE, {})

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        with ExitStack() as scope["held"]:  # until the last row is sent
            await super().handle(scope, receive, send)


def add_batches(app: FastAPI, path: str, engine: Engine, requests: Requests) -> None:
    """Take batches at a path; the OpenAPI document describes them with the route of other bodies."""

    async def predict_lines(request: LimitedRequest) -> Response:
        query = {name: request.query_params.getlist(name) for name in request.query_params}
        options = requests.read_query(query)
        body = await app.state.bodies.read(request, request.until, request.scope["held"], LINES)
        batch = _Batch(engine, requests, body, options, request.until)
        await batch.check()
        rows = batch.rows()
        first = await anext(rows)  # what fails now fails the request

        async def all_rows() -> AsyncIterator[bytes]:
            yield first
            async for piece in rows:
                yield piece

        return StreamingResponse(all_rows(), media_type=LINES)

    app.router.add_api_route(
        path, predict_lines, methods=["POST"], include_in_schema=False, route_class_override=BatchRoute
    )


@dataclass(frozen=True)
class _Batch:
    engine: Engine
    requests: Requests
    body: bytes
    options: BatchOptions
    until: float

    def _documents(self) -> Iterator[_Numbered]:
        """The documents of the lines that are not blank; a bad line is refused."""
        line, number, start = 1, 0, 0
        while (begin := _skip_blanks(self.body, start)) < len(self.body):
            line += self.body.count(b"\n", start, begin)
            end = self.body.find(b"\n", begin) % (len(self.body) + 1)  # not found: the end of the body
            number += 1
            try:
                value = json_value(self.body[begin:end], "It")
                document = self.requests.read_document(value, number, self.options)
            except HTTPProblem as problem:
                raise problem.at_line(line) from None
            yield line, document
            line, start = line + 1, end + 1

    async def check(self) -> None:
        """Refuse a batch with a bad line, and one without a document."""
        count = 0
        for count, _ in enumerate(self._documents(), 1):
            if count % _DOCUMENTS_PER_TURN == 0:
                await asyncio.sleep(0)
                if asyncio.get_running_loop().time() > self.until:
                    raise too_busy("The documents took too long to read. Send fewer at a time.")
        if not count:
            raise HTTPProblem(422, 'The body has no document. Send a line such as {"text": "…"} for each.')

    def _calls(self) -> Iterator[list[_Numbered]]:
        """The documents of each call of the model."""
        call: list[_Numbered] = []
        characters = 0
        for line, document in self._documents():
            characters += len(document.text)
            if call and (characters > CHARACTERS_PER_CALL or len(call) == self.requests.limits.documents):
                yield call
                call, characters = [], len(document.text)
            call.append((line, document))
        yield call

    async def rows(self) -> AsyncIterator[bytes]:
        """The rows, a line each; where the model gives up on the way, the last line is the problem."""
        sent = False
        for call in self._calls():
            try:
                answers = await self._answers([document for _, document in call])
            except HTTPProblem as problem:
                if not sent:
                    raise
                yield b"".join(json_pieces(problem.at_line(call[0][0]).document())) + b"\n"
                return
            pieces: list[bytes] = []
            size = 0
            for row in answers:
                for piece in (*json_pieces(row), b"\n"):
                    pieces.append(piece)
                    size += len(piece)
                if size > BYTES_PER_TURN:
                    yield b"".join(pieces)
                    await asyncio.sleep(0)
                    pieces, size = [], 0
            if pieces:
                yield b"".join(pieces)
            sent = True

    async def _answers(self, documents: list[Document]) -> list[dict[str, Any]]:
        """The rows of some documents, after a while if too many others wait."""
        while True:
            try:
                return await self.engine.predict(documents, self.until, self.options.rows)
            except HTTPProblem as problem:
                if problem.status != 503 or asyncio.get_running_loop().time() + _RETRY_S > self.until:
                    raise
            await asyncio.sleep(_RETRY_S)
