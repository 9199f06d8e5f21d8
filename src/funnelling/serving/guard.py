"""What surrounds every request: checks of host and token, headers, log and counters, and refusals.

Each worker counts in a row of its own of memory that all workers share, so no lock is needed, and any of
them can give the sum. A row outlives its worker: counters never fall. There are twice as many rows as
workers, since others may start before the old ones have ended.
"""

import asyncio
import hmac
import json
import logging
import re
import time
import traceback
from bisect import bisect_left
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, MutableMapping, Sequence
from http import HTTPStatus
from itertools import product
from multiprocessing import get_context
from typing import Any

from starlette.responses import Response

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_S = "1"


class HTTPProblem(Exception):  # noqa: N818 (of a request, not a fault of the service)
    """A request that is not served: the status, one sentence, and where in the body it went wrong."""

    def __init__(
        self,
        status: int,
        detail: str,
        pointer: str | None = None,
        headers: Mapping[str, str] | None = None,
        line: int | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.pointer = pointer
        self.headers = headers
        self.line = line

    def at_line(self, line: int) -> "HTTPProblem":
        """The same of a line of the body."""
        return HTTPProblem(self.status, f"Line {line:,}: {self.detail}", self.pointer, self.headers, line)

    def document(self) -> dict[str, Any]:
        """The problem as JSON has it."""
        places = {"pointer": self.pointer, "line": self.line}
        return {
            "type": "about:blank",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
            **{name: place for name, place in places.items() if place is not None},
        }

    def response(self) -> Response:
        """The refusal as an answer.

        >>> HTTPProblem(404, "There is nothing here.").response().body
        b'{"type": "about:blank", "title": "Not Found", "status": 404, "detail": "There is nothing here."}'
        """
        content = json.dumps(self.document()).encode()
        return Response(content, self.status, dict(self.headers or {}), media_type=MEDIA_TYPE)


def too_busy(detail: str) -> HTTPProblem:
    """A refusal that asks to try again later."""
    return HTTPProblem(503, detail, headers={"Retry-After": RETRY_AFTER_S})


OTHER = "other"
STATUSES = (200, 400, 401, 404, 405, 408, 413, 415, 421, 422, 431, 499, 500, 503, 507)
# Seconds; the last bucket of each histogram is infinity.
BUCKET_BOUNDS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

_STATUSES = (*map(str, STATUSES), OTHER)
_BUCKETS = (*map(str, BUCKET_BOUNDS_S), "+Inf")

_Key = str | tuple[str, ...]  # what is counted
Memory = Any  # multiprocessing keeps the type of its arrays to itself


class Metrics:
    """What a worker counts, and what all workers counted."""

    def __init__(
        self,
        paths: Sequence[str],
        languages: Sequence[str],
        memory: Memory | None = None,
        worker: int = 0,
        workers: int = 1,
    ) -> None:
        self.workers = workers
        self._paths, self._languages = (*paths, OTHER), (*languages, OTHER)
        keys = [
            *("in flight", "batches"),
            *product(["documents"], self._languages),
            *product(["requests"], self._paths, _STATUSES),
            *product(["seconds"], self._paths, [*_BUCKETS, "sum"]),
        ]
        self._places = {key: place for place, key in enumerate(keys)}
        if memory is None:  # zeros that processes share
            memory = get_context("spawn").RawArray("d", len(keys) * 2 * workers)
        self.memory = memory
        self._row = worker * len(keys)
        self.memory[self._row + self._places["in flight"]] = 0.0  # of a worker that died

    def begin(self) -> None:
        self._add("in flight")

    def end(self, path: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        path = path if path in self._paths else OTHER
        self._add("in flight", -1)
        self._add(("requests", path, str(status) if status in STATUSES else OTHER))
        self._add(("seconds", path, _BUCKETS[bisect_left(BUCKET_BOUNDS_S, seconds)]))
        self._add(("seconds", path, "sum"), seconds)

    def count_documents(self, languages: Sequence[str]) -> None:
        """Count the documents of one call of the model."""
        self._add("batches")
        for language in languages:
            self._add(("documents", language if language in self._languages else OTHER))

    def text(self, method: str, version: str) -> str:
        """All of it, summed over the workers."""
        return "\n".join([*self._lines(method, version), ""])

    def _lines(self, method: str, version: str) -> Iterator[str]:
        yield from _heading("funnelling_info", "gauge", "The program and the method of its model.")
        yield f'funnelling_info{{version="{_escaped(version)}",method="{_escaped(method)}"}} 1'
        yield from _heading("funnelling_workers", "gauge", "Worker processes.")
        yield f"funnelling_workers {self.workers}"
        yield from _heading("funnelling_requests_in_flight", "gauge", "Requests being answered.")
        yield f"funnelling_requests_in_flight {self._sum('in flight'):.0f}"
        yield from _heading("funnelling_requests_total", "counter", "Requests answered, by path and status.")
        for path, status in product(self._paths, _STATUSES):
            if count := self._sum(("requests", path, status)):
                labels = f'path="{_escaped(path)}",status="{status}"'
                yield f"funnelling_requests_total{{{labels}}} {count:.0f}"
        yield from _heading("funnelling_request_seconds", "histogram", "From a request's head to its answer.")
        for path in self._paths:
            yield from self._histogram(path)
        yield from _heading("funnelling_documents_total", "counter", "Documents labelled, by language.")
        for language in self._languages:
            count = self._sum(("documents", language))
            yield f'funnelling_documents_total{{language="{_escaped(language)}"}} {count:.0f}'
        yield from _heading("funnelling_batches_total", "counter", "Calls of the model that labelled them.")
        yield f"funnelling_batches_total {self._sum('batches'):.0f}"

    def _histogram(self, path: str) -> Iterator[str]:
        counts = [self._sum(("seconds", path, bucket)) for bucket in _BUCKETS]
        if not any(counts):
            return
        label = f'path="{_escaped(path)}"'
        total = 0.0
        for bound, count in zip(_BUCKETS, counts, strict=True):
            total += count
            yield f'funnelling_request_seconds_bucket{{{label},le="{bound}"}} {total:.0f}'
        yield f"funnelling_request_seconds_sum{{{label}}} {self._sum(('seconds', path, 'sum'))!r}"
        yield f"funnelling_request_seconds_count{{{label}}} {total:.0f}"

    def _add(self, key: _Key, amount: float = 1) -> None:
        self.memory[self._row + self._places[key]] += amount

    def _sum(self, key: _Key) -> float:
        return float(sum(self.memory[self._places[key] :: len(self._places)]))  # a row per worker


def _heading(name: str, kind: str, meaning: str) -> list[str]:
    return [f"# HELP {name} {meaning}", f"# TYPE {name} {kind}"]


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
SECURITY = {
    "content-security-policy": POLICY,
    "cross-origin-embedder-policy": "require-corp",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}

CLIENT_CLOSED_REQUEST = 499  # in the log, of a client that left before its answer

logger = logging.getLogger(__name__)
_HEADERS = [(name.encode(), value.encode()) for name, value in SECURITY.items()]
_GUESS_INTERVAL_S = 0.1  # between answers to wrong tokens
_MAX_WAIT_S = 10.0  # that such an answer waits
_UNKNOWN = "-"  # a path that is not ours may hold anything, and the log holds nothing that a user wrote


class SecurityMiddleware:
    """An ASGI application around another one."""

    def __init__(
        self,
        app: App,
        paths: Collection[str],
        metrics: Metrics,
        token: str | None,
        hosts: frozenset[str] | None,
    ) -> None:
        self.app = app
        self.paths = frozenset(paths)
        self.metrics = metrics
        self.expected = None if token is None else f"bearer {token}".encode()
        self.hosts = hosts
        self._next_guess = 0.0  # when a wrong token may be answered

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path = scope["path"] if scope["path"] in self.paths else _UNKNOWN
        protected = scope["path"].startswith("/v1/") or scope["path"] == "/metrics"
        status = 0
        started = time.perf_counter()

        async def guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                cached = scope["path"].startswith("/static/")
                message["headers"] = [*message["headers"], *safe_headers(cached)]
                if status >= HTTPStatus.BAD_REQUEST and (b"expect", b"100-continue") in scope["headers"]:
                    message["headers"].append((b"connection", b"close"))  # the body may never come
            await send(message)

        self.metrics.begin()
        try:
            if not self._is_for_us(scope):
                await _MISDIRECTED.response()(scope, receive, guarded)
            elif protected and not self._has_token(scope):
                await self._slow_down()
                await _UNAUTHORISED.response()(scope, receive, guarded)
            else:
                await self.app(scope, receive, guarded)
        except asyncio.CancelledError:
            status = status or CLIENT_CLOSED_REQUEST
        except Exception as error:
            logger.error("%s %s failed: %s", scope["method"], path, place_of(error))
            if not status:
                await _FAILED.response()(scope, receive, guarded)
        finally:
            log_and_count(self.metrics, scope["method"], path, status, time.perf_counter() - started)

    def _is_for_us(self, scope: Scope) -> bool:
        """Whether it names a host of ours: a page elsewhere can have its own name lead here."""
        names = [value.decode("latin-1").lower() for name, value in scope["headers"] if name == b"host"]
        return self.hosts is None or all(re.sub(r":\d*$", "", name) in self.hosts for name in names)

    def _has_token(self, scope: Scope) -> bool:
        if self.expected is None:
            return True
        header = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
        scheme, space, token = header.partition(b" ")
        return hmac.compare_digest(scheme.lower() + space + token.strip(), self.expected)

    async def _slow_down(self) -> None:
        """Let answers to wrong tokens wait for each other; whoever has the token waits for none of them."""
        now = asyncio.get_running_loop().time()
        self._next_guess = min(max(self._next_guess, now) + _GUESS_INTERVAL_S, now + _MAX_WAIT_S)
        await asyncio.sleep(self._next_guess - now)


def safe_headers(cached: bool = False) -> list[tuple[bytes, bytes]]:
    """The headers of every answer; a browser that caches one asks each time whether it still holds."""
    return [*_HEADERS, (b"cache-control", b"no-cache" if cached else b"no-store")]


def log_and_count(metrics: Metrics, method: str, path: str, status: int, seconds: float) -> None:
    """Log an answer and count it."""
    metrics.end(path, status, seconds)
    milliseconds = round(1_000 * seconds, 1)
    fields = {"method": method, "path": path, "status": status, "milliseconds": milliseconds}
    logger.info("%s %s %d %.1f ms", *fields.values(), extra=fields)


def place_of(error: BaseException) -> str:
    """The kind of an error and where it came up, without its message, which may quote a document."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {frames[-1].name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{where}"


_UNAUTHORISED = HTTPProblem(
    401,
    "This service asks for a token. Send it in a header: Authorization: Bearer TOKEN.",
    headers={"WWW-Authenticate": 'Bearer realm="funnelling"'},
)
_MISDIRECTED = HTTPProblem(
    421, "This service answers only to localhost. Allow the name in Host with --allow-host NAME."
)
_FAILED = HTTPProblem(500, "The service failed at this request. The log says where.")
