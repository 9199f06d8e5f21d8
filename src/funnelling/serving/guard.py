"""What surrounds every request: the token, the headers, the log, the count, and no way out for a failure."""

import hmac
import logging
import time
import traceback
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from typing import Any

from funnelling.serving.metrics import Metrics
from funnelling.serving.problems import Problem

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

logger = logging.getLogger(__name__)
_HEADERS = [(name.encode(), value.encode()) for name, value in SECURITY.items()]
_UNKNOWN = "-"  # a path that is not ours may hold anything, and the log is to hold nothing of the user's


class Guard:
    """An ASGI application around another one."""

    def __init__(self, app: App, paths: Collection[str], metrics: Metrics, token: str | None) -> None:
        self.app = app
        self.paths = frozenset(paths)
        self.metrics = metrics
        self.expected = None if token is None else f"bearer {token}".encode()

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
                keeping = b"no-cache" if scope["path"].startswith("/static/") else b"no-store"
                message["headers"] = [*message["headers"], *_HEADERS, (b"cache-control", keeping)]
            await send(message)

        self.metrics.begin()
        try:
            if protected and not self._allowed(scope):
                await _UNAUTHORISED.response()(scope, receive, guarded)
            else:
                await self.app(scope, receive, guarded)
        except Exception as error:
            logger.error("%s %s failed: %s", scope["method"], path, place_of(error))
            if not status:
                await _FAILED.response()(scope, receive, guarded)
        finally:
            seconds = time.perf_counter() - started
            self.metrics.end(path, status, seconds)
            logger.info("%s %s %d %.1f ms", scope["method"], path, status, 1_000 * seconds)

    def _allowed(self, scope: Scope) -> bool:
        if self.expected is None:
            return True
        given = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
        scheme, space, token = given.partition(b" ")
        return hmac.compare_digest(scheme.lower() + space + token.strip(), self.expected)


def place_of(error: BaseException) -> str:
    """The kind of an error and where it came up, without its message, which may quote the user's text."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {frames[-1].name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{where}"


_UNAUTHORISED = Problem(
    401,
    "This service asks for a token. Send it in a header: Authorization: Bearer TOKEN.",
    headers={"WWW-Authenticate": 'Bearer realm="funnelling"'},
)
_FAILED = Problem(500, "The service failed at this request. The log tells where.")
