"""What surrounds every request: checks of host and token, headers, log and counters, and failures caught."""

import asyncio
import hmac
import logging
import re
import time
import traceback
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from http import HTTPStatus
from typing import Any

from funnelling.serving.metrics import Metrics
from funnelling.serving.refusals import Refusal

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

GONE = 499  # in the log, of a client that left before its answer

logger = logging.getLogger(__name__)
_HEADERS = [(name.encode(), value.encode()) for name, value in SECURITY.items()]
_GUESS_SECONDS = 0.1  # between answers to wrong tokens
_MOST_SECONDS = 10.0  # that such an answer waits
_UNKNOWN = "-"  # a path that is not ours may hold anything, and the log holds nothing that a user wrote


class Guard:
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
            status = status or GONE
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
        self._next_guess = min(max(self._next_guess, now) + _GUESS_SECONDS, now + _MOST_SECONDS)
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


_UNAUTHORISED = Refusal(
    401,
    "This service asks for a token. Send it in a header: Authorization: Bearer TOKEN.",
    headers={"WWW-Authenticate": 'Bearer realm="funnelling"'},
)
_MISDIRECTED = Refusal(
    421, "This service answers only to localhost. Allow the name in Host with --allow-host NAME."
)
_FAILED = Refusal(500, "The service failed at this request. The log says where.")
