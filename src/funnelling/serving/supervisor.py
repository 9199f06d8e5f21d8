"""The processes of a service: one that serves, or several under one that watches them."""

import logging
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection, wait
from typing import Any

from funnelling.errors import InputError
from funnelling.serving.metrics import Memory, Metrics
from funnelling.serving.paths import served_paths
from funnelling.serving.settings import LOOPBACK, TOKEN_VARIABLE, ServiceSettings
from funnelling.wording import counted

STOP_SECONDS = 10.0  # beyond the deadline of a request, until a worker is killed
_RESTART_SECONDS = 1.0
_MOST_FAILURES = 3
BACKLOG = 1_024

logger = logging.getLogger(__name__)


def serve(settings: ServiceSettings, description: dict[str, Any]) -> None:
    """Serve until a signal comes: SIGTERM or SIGINT."""
    sockets = bind(settings.host, settings.port, settings.workers)
    metrics = Metrics(served_paths(), list(description["languages"]), workers=settings.workers)
    announce = partial(_announce, settings, sockets[0].getsockname()[1], description)
    _start_logging()
    if settings.workers == 1:
        from funnelling.serving.worker import run_worker

        run_worker(settings, description, sockets[0], metrics, announce)
    else:
        Supervisor(settings, description, sockets, metrics.memory).run(announce)


def bind(host: str, port: int, workers: int) -> list[socket.socket]:
    """A socket for each worker, all on one port, so that the system deals out the connections."""
    try:
        family, *_, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise InputError(f"{host}: {error.strerror or error}. Check --host.") from None
    try:
        with socket.socket(family) as probe:  # sockets that share a port do not notice another program on it
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(place)
        if sys.platform != "linux":  # elsewhere one of several sockets would get all connections
            first = _bound(family, place, shared=False)
            return [first] + [first.dup() for _ in range(workers - 1)]
        first = _bound(family, place, shared=workers > 1)
        place = (place[0], first.getsockname()[1], *place[2:])
        return [first] + [_bound(family, place, shared=True) for _ in range(workers - 1)]
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(
            f"{_address(host, port)}: {reason}. Choose another --port or --host, or stop what listens there."
        ) from None


def _bound(family: int, place: Any, shared: bool) -> socket.socket:
    sock = socket.socket(family)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if shared:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    sock.bind(place)
    sock.listen(BACKLOG)  # at once: a port is free until a socket listens on it
    return sock


def _address(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _announce(settings: ServiceSettings, port: int, description: dict[str, Any]) -> None:
    languages = counted(len(description["languages"]), "language")
    labels = counted(len(description["labels"]), "label")
    message = (
        f"Serving {description['method']} ({languages}, {labels}) on "
        f"{_address(settings.host, port)} with {counted(settings.workers, 'worker')}. Ctrl-C stops it."
    )
    if settings.token is None and settings.host not in LOOPBACK:
        message += f" Whoever reaches it can use it: ask for a token with --token-file or {TOKEN_VARIABLE}."
    print(message, file=sys.stderr, flush=True)


@dataclass(slots=True)
class _WorkerProcess:
    process: Any
    pipe: Connection
    ready: bool = False

    def listen(self) -> str:
        """Wait for its message: empty once it serves, else why it does not."""
        try:
            reason = str(self.pipe.recv())
        except (EOFError, OSError):
            reason = "a worker died while it started"
        self.ready = not reason
        return reason


class Supervisor:
    """Starts the workers, replaces one that dies, and passes on the signal to stop."""

    def __init__(
        self,
        settings: ServiceSettings,
        description: dict[str, Any],
        sockets: list[socket.socket],
        memory: Memory,
    ) -> None:
        self.settings = settings
        self.description = description
        self.sockets = sockets
        self.memory = memory
        self.workers: dict[int, _WorkerProcess] = {}
        self.failures = 0  # starts in a row
        # A signal handler may write to a pipe, whatever it interrupts; it must not wait for a lock.
        self._stopped, self._stop = multiprocessing.Pipe(duplex=False)

    def run(self, announce: Callable[[], None]) -> None:
        """Serve until a signal comes, or until workers fail to start."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self._stop.send_bytes(b""))
        try:
            for worker in range(self.settings.workers):
                self._start(worker)
            for worker in range(self.settings.workers):
                self._wait_until_ready(worker)
            if not self._stopping():
                announce()
            while not self._stopping():
                self._watch()
        finally:
            self._end()

    def _stopping(self, seconds: float = 0.0) -> bool:
        """Whether a signal to stop has come, or comes within so many seconds."""
        return self._stopped.poll(seconds)

    def _start(self, worker: int) -> None:
        if self._stopping():
            return
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(
            target=_work,
            args=(self.settings, self.description, self.sockets[worker], self.memory, worker, theirs),
            name=f"funnelling worker {worker + 1}",
        )
        process.start()
        theirs.close()
        self.workers[worker] = _WorkerProcess(process, ours)

    def _wait_until_ready(self, worker: int) -> None:
        if self._stopping():
            return
        started = self.workers[worker]
        wait([started.pipe, self._stopped])
        if not self._stopping() and (reason := started.listen()):
            raise InputError(reason)

    def _watch(self) -> None:
        """Wait for a worker that dies, and start another, unless such starts fail again and again."""
        wait([self._stopped, *(worker.process.sentinel for worker in self.workers.values())])
        for number, worker in list(self.workers.items()):
            if self._stopping() or worker.process.is_alive():
                continue
            reason = "" if worker.ready else worker.listen()
            self.failures = 0 if worker.ready else self.failures + 1
            if self.failures == _MOST_FAILURES:
                raise InputError(reason)
            status = f": {reason}" if reason else f" with status {worker.process.exitcode}"
            logger.error("worker %d ended%s; another starts", number + 1, status)
            worker.pipe.close()
            if not self._stopping(_RESTART_SECONDS):
                self._start(number)

    def _end(self) -> None:
        for sock in self.sockets:  # first: no client may connect after a worker has accepted the last
            sock.close()
        for worker in self.workers.values():
            worker.process.terminate()
        until = time.monotonic() + self.settings.limits.seconds + STOP_SECONDS
        for worker in self.workers.values():
            worker.process.join(max(0.0, until - time.monotonic()))
            if worker.process.is_alive():
                worker.process.kill()


def _work(
    settings: ServiceSettings,
    description: dict[str, Any],
    sock: socket.socket,
    memory: Memory,
    worker: int,
    pipe: Connection,
) -> None:
    """What a worker process runs; it ends when the pipe to its supervisor breaks."""
    from funnelling.serving.worker import run_worker

    _start_logging()
    threading.Thread(target=_follow, args=(pipe,), daemon=True).start()
    metrics = Metrics(served_paths(), list(description["languages"]), memory, worker, settings.workers)
    try:
        run_worker(settings, description, sock, metrics, lambda: pipe.send(""))
    except InputError as error:
        pipe.send(str(error))


def _follow(pipe: Connection) -> None:
    with suppress(EOFError, OSError):
        pipe.recv()
    os.kill(os.getpid(), signal.SIGTERM)


def _start_logging() -> None:
    """Log one line per request and per failure; of an exception only what quotes no document."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Plain("%(asctime)s %(message)s"))
    for name in ("funnelling.serving", "uvicorn", "asyncio"):
        named = logging.getLogger(name)
        named.handlers = [handler]
        named.propagate = False
        named.setLevel(logging.INFO if name == "funnelling.serving" else logging.ERROR)


class _Plain(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        if record.name == "asyncio":  # its messages quote what a callback was given
            record.msg, record.args = "the loop failed", ()
        return super().format(record)

    def formatException(self, ei: Any) -> str:  # noqa: N802
        from funnelling.serving.guard import place_of

        return place_of(ei[1])
