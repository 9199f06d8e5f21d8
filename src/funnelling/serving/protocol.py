"""A process that serves: connections that cannot be held open for nothing, and a stop that loses no request.

uvicorn waits for a request's head, and for a client to read its answer, as long as it takes, and keeps all
that a client calls headers; here each has a limit. A stop takes no new connections, answers what has come
in on the old ones, and only then closes them: a request that was on its way when the signal came is answered
too.

uvicorn has no public hook for this, so methods of its own are overridden. tests/serving/test_protocol.py
lists all that is relied on, and fails where another version of uvicorn differs.
"""

import asyncio
import contextlib
import gc
import signal
import socket
from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import Any

import httptools
import threadpoolctl
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from funnelling.commands.sources import check_reads_texts
from funnelling.serving.application import create_app
from funnelling.serving.bodies import CLOSE
from funnelling.serving.guard import HTTPProblem, Metrics, log_and_count, safe_headers
from funnelling.serving.settings import Limits, ServiceSettings
from funnelling.storage.places import ModelSnapshot

MAX_HEAD_BYTES = 64 * 2**10  # bytes
MAX_CHUNK_OVERHEAD = 8  # bytes between chunks for each byte of a body, beyond as many as a head may have
PART_BYTES = 16 * 2**10  # bytes that are parsed at a time: requests that wait for others are parsed later
DRAIN_S = 1.0


class _HeadTooLargeError(Exception):
    """Raised out of the parser by a head that is too large."""


class SharedState(ServerState):
    """What the connections of a server have in common."""

    draining = False

    def __init__(self, limits: Limits, metrics: Metrics) -> None:
        super().__init__()
        self.limits = limits
        self.metrics = metrics


class HttpConnection(HttpToolsProtocol):
    """uvicorn's connection with limits on what is no body and on a client that does not read."""

    server_state: SharedState
    _head_timer: asyncio.TimerHandle | None = None
    _reader_timer: asyncio.TimerHandle | None = None
    _in_head = False
    _in_body = False
    _unparsed = b""  # what came while earlier requests wait for their answers
    _others = 0  # bytes since the request began, or since its head ended, that are no body
    _body = 0  # bytes of its body
    _head_size = 0  # bytes of the lines of its head that have come to their end, or of its trailers
    _answering: tuple[RequestResponseCycle, asyncio.Task[None]] | None = None
    _broken: tuple[RequestResponseCycle, HTTPProblem] | None = None  # a request that ends in its body

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting_for_head()
        self._stop_waiting_for_reader()
        super().connection_lost(exc)
        if self._answering is not None and not self._answering[0].response_complete:
            cycle, task = self._answering
            cycle.disconnected = True
            task.cancel()  # the client that waited for the answer is gone

    def data_received(self, data: bytes) -> None:
        if self.parser is None:  # closed by us, and the client still sends
            return
        self._unset_keepalive_if_required()
        self._unparsed += data
        self._parse_on()

    def _parse_on(self) -> None:
        """Parse what has come, unless requests wait for the answers to others: no more than a few ever do."""
        while self._unparsed and self.parser is not None and not self.pipeline:
            part, self._unparsed = self._unparsed[:PART_BYTES], self._unparsed[PART_BYTES:]
            self._others += len(part)
            try:
                self._parse(memoryview(part))
            except httptools.HttpParserError as error:
                if isinstance(error.__context__, _HeadTooLargeError):
                    self._refuse_large_head()
                else:
                    self._refuse(400, "The request is not HTTP.")
                return
            if self._others > MAX_HEAD_BYTES + MAX_CHUNK_OVERHEAD * self._body:
                self._refuse_large_head()
                return
        if self._unparsed:
            self.flow.pause_reading()
        elif self._head_timer is None and (self.cycle is None or self.cycle.response_complete):
            self._wait_for_head()  # what came begins no request: an empty line, or the rest of a refused body

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.pipeline or self._unparsed:
            self.flow.pause_reading()
        if self._unparsed and not self.pipeline:
            self.loop.call_soon(self._parse_further)

    def _parse_further(self) -> None:
        if self.transport.is_closing():
            return
        self._unset_keepalive_if_required()
        self._parse_on()
        if not self._unparsed and not self.pipeline:
            self.flow.resume_reading()

    def _parse(self, data: memoryview) -> None:
        """Parse requests; one that offers another protocol is parsed again without the offer."""
        while data:
            try:
                self.parser.feed_data(data)
                return
            except httptools.HttpParserUpgrade as offer:
                data = data[offer.args[0] :]
            method = self.parser.get_method()
            if method == b"CONNECT":
                self._refuse(400, "This service is no proxy.")
                return
            lines = [b"%s %s HTTP/%s" % (method, self.url, self.parser.get_http_version().encode())]
            lines += [b"%s: %s" % header for header in self.headers if header[0] != b"upgrade"]
            self.parser.feed_data(b"\r\n".join([*lines, b"", b""]))

    def _should_upgrade(self) -> bool:
        return True  # so that nothing is begun for a request that is parsed again

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head, self._in_body = True, False
        self._others = self._body = self._head_size = 0
        self._wait_for_head()

    def on_url(self, url: bytes) -> None:
        self._head_size += len(url)
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head_size += len(name) + len(value) + 4
        if self._head_size > MAX_HEAD_BYTES:
            raise _HeadTooLargeError
        if self._in_head:  # else it is a trailer, which nothing asks for
            super().on_header(name, value)

    def on_body(self, body: bytes) -> None:
        self._others -= len(body)
        self._body += len(body)
        if self._body > self.server_state.limits.body and self.cycle.response_complete:
            self.transport.close()  # it has its answer, and goes on for nothing
            return
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._in_body = False
        self._others = self._body = 0
        super().on_message_complete()

    def on_headers_complete(self) -> None:
        self._in_head, self._in_body = False, True
        self._others = self._head_size = 0
        self._stop_waiting_for_head()
        before = self.cycle
        super().on_headers_complete()
        if self.server_state.draining and self.cycle is not before and not self._unparsed:
            if before is not None and not before.response_started:
                before.keep_alive = True  # the last of several pipelined requests closes
            self.cycle.keep_alive = False

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        async def unless_broken(scope: Any, receive: Any, send: Any) -> None:
            async def receive_more() -> Any:
                message = await receive()
                if self._broken is not None and self._broken[0] is cycle:
                    raise self._broken[1]
                return message

            await app(scope, receive_more, send)

        task = self.loop.create_task(cycle.run_asgi(unless_broken))
        task.add_done_callback(self.tasks.discard)
        self.tasks.add(task)
        self._answering = (cycle, task)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stop_waiting_for_reader()
        self._reader_timer = self.loop.call_later(self.server_state.limits.seconds, self.transport.abort)

    def resume_writing(self) -> None:
        self._stop_waiting_for_reader()
        super().resume_writing()

    def drain(self) -> None:
        """Close after the answer that is under way; a quiet connection may still bring a request."""
        if self.cycle is not None and not self.cycle.response_complete and not self._unparsed:
            self.cycle.keep_alive = False

    def shutdown(self) -> None:
        if self._in_head:
            self._refuse(503, "The service stops. Try again later.")
        else:
            super().shutdown()

    def _wait_for_head(self) -> None:
        self._stop_waiting_for_head()
        self._head_timer = self.loop.call_later(self.server_state.limits.head_seconds, self._refuse_head)

    def _refuse_head(self) -> None:
        if self._in_head:
            self._refuse(408, "The request took too long to arrive.")
        else:  # nothing came, as from a browser that connects in advance
            self.transport.close()

    def _stop_waiting_for_head(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _stop_waiting_for_reader(self) -> None:
        if self._reader_timer is not None:
            self._reader_timer.cancel()
            self._reader_timer = None

    def _refuse_large_head(self) -> None:
        self._refuse(431, "The head of the request, or what stands between its chunks, is too large.")

    def _refuse(self, status: int, detail: str) -> None:
        """Answer what never became a request, unless another answer is under way, and close.

        A request that breaks off within its body is refused by whoever reads that, unless it has its answer.
        """
        self._stop_waiting_for_head()
        if self.transport.is_closing():
            return
        self.parser = None  # type: ignore[assignment]  # nothing more is read
        refusal = HTTPProblem(status, detail, headers=CLOSE)
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.keep_alive = False
            if self._in_body:
                self._broken = self.cycle, refusal
                self.cycle.message_event.set()
            return
        if self._in_body:
            self.transport.close()
            return
        answer = refusal.response()
        headers = [*self.server_state.default_headers, *answer.raw_headers, *safe_headers()]
        lines = b"".join(b"%s: %s\r\n" % header for header in headers)
        start = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n".encode()
        self.transport.write(start + lines + b"\r\n" + bytes(answer.body))
        self.transport.close()
        self.server_state.metrics.begin()
        log_and_count(self.server_state.metrics, "-", "-", status, 0.0)


class Server(uvicorn.Server):
    """uvicorn's server with a stop that drains; its caller handles the signals."""

    def __init__(self, config: uvicorn.Config, state: SharedState) -> None:
        super().__init__(config)
        self.server_state: SharedState = state

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        listeners = [sock.dup() for sock in sockets or []]
        for server in self.servers:
            server.close()
        await asyncio.sleep(0.01)  # the loop closes its side of a listener in a later turn
        for sock in sockets or []:
            sock.close()
        for listener in listeners:
            await self._accept_waiting(listener)
            listener.close()
        self.server_state.draining = True
        connections: set[Any] = self.server_state.connections
        for connection in list(connections):
            connection.drain()
        until = asyncio.get_running_loop().time() + DRAIN_S
        while connections and not self.force_exit and asyncio.get_running_loop().time() < until:
            await asyncio.sleep(0.02)
        self.servers = []
        await super().shutdown([])

    async def _accept_waiting(self, listener: socket.socket) -> None:
        """Accept the connections that the system has made for us: their clients count on an answer."""
        loop = asyncio.get_running_loop()
        listener.setblocking(False)
        with contextlib.suppress(OSError):
            while True:
                accepted, _ = listener.accept()
                accepted.setblocking(False)
                await loop.connect_accepted_socket(
                    lambda: HttpConnection(self.config, self.server_state, self.lifespan.state, _loop=loop),
                    accepted,
                )


def run_worker(
    settings: ServiceSettings,
    held: ModelSnapshot,
    sock: socket.socket,
    metrics: Metrics,
    ready: Callable[[], None],
) -> None:
    """Serve on a socket until SIGTERM or SIGINT; call ``ready`` once all is loaded."""
    threadpoolctl.threadpool_limits(1)  # the workers share the cores already
    model = held.load()
    check_reads_texts(model, str(held.place))
    model = model.following(settings.label_set, settings.exclude)
    app = create_app(model, held.description, settings, metrics)
    app.state.engine.warm_up()
    gc.collect()
    gc.freeze()  # the garbage of a large answer is looked for without looking at the model, too
    run_server(app, settings.limits, metrics, sock, ready)


def run_server(
    app: FastAPI, limits: Limits, metrics: Metrics, sock: socket.socket, ready: Callable[[], None]
) -> None:
    """Serve an application on a socket until SIGTERM or SIGINT; call ``ready`` before."""
    config = uvicorn.Config(
        app,
        http=HttpConnection,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=round(limits.seconds) + 5,
    )
    server = Server(config, SharedState(limits, metrics))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, server.handle_exit)
    ready()
    server.run([sock])
