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
from functools import partial
from multiprocessing.connection import Connection, wait
from typing import Any

from funnelling.errors import InputError
from funnelling.serving.metrics import Memory, Metrics
from funnelling.serving.paths import served_paths
from funnelling.serving.settings import LOOPBACK, TOKEN_VARIABLE, Settings
from funnelling.wording import counted

STOP_SECONDS = 10.0  # beyond the deadline of a request, until a worker is killed
_RESTART_SECONDS = 1.0
BACKLOG = 1_024

logger = logging.getLogger(__name__)


def serve(settings: Settings, description: dict[str, Any]) -> None:
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
        with socket.socket(family) as probe:  # sockets that share a port would not see a stranger on it
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(place)
        if sys.platform != "linux":  # elsewhere one of several sockets would get all
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
    made = socket.socket(family)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if shared:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    made.bind(place)
    made.listen(BACKLOG)  # at once: a port is taken when somebody listens on it
    return made


def _address(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _announce(settings: Settings, port: int, description: dict[str, Any]) -> None:
    languages = counted(len(description["languages"]), "language")
    labels = counted(len(description["labels"]), "label")
    told = (
        f"Serving {description['method']} ({languages}, {labels}) on "
        f"{_address(settings.host, port)} with {counted(settings.workers, 'worker')}. Ctrl-C stops it."
    )
    if settings.token is None and settings.host not in LOOPBACK:
        told += f" Whoever reaches it can use it: ask for a token with --token-file or {TOKEN_VARIABLE}."
    print(told, file=sys.stderr, flush=True)


class Supervisor:
    """Starts the workers, starts another where one dies, and passes the signal to stop on."""

    def __init__(
        self, settings: Settings, description: dict[str, Any], sockets: list[socket.socket], memory: Memory
    ) -> None:
        self.settings = settings
        self.description = description
        self.sockets = sockets
        self.memory = memory
        self.workers: dict[int, tuple[Any, Connection]] = {}
        self.stopping = False

    def run(self, announce: Callable[[], None]) -> None:
        """Serve until a signal comes."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        try:
            for worker in range(self.settings.workers):
                self._start(worker)
            for worker in range(self.settings.workers):
                self._wait_until_ready(worker)
            if not self.stopping:
                announce()
            while not self.stopping:
                self._watch()
        finally:
            self._end()

    def _start(self, worker: int) -> None:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(
            target=_work,
            args=(self.settings, self.description, self.sockets[worker], self.memory, worker, theirs),
            name=f"funnelling worker {worker + 1}",
        )
        process.start()
        theirs.close()
        self.workers[worker] = (process, ours)

    def _wait_until_ready(self, worker: int) -> None:
        _, pipe = self.workers[worker]
        while not self.stopping and not pipe.poll(0.1):
            pass
        if self.stopping:
            return
        try:
            problem = pipe.recv()
        except EOFError:
            problem = "a worker died while it started"
        if problem:
            raise InputError(problem)

    def _watch(self) -> None:
        """Wait for a worker that dies, and start another."""
        wait([process.sentinel for process, _ in self.workers.values()], timeout=0.5)
        for worker, (process, pipe) in list(self.workers.items()):
            if self.stopping or process.is_alive():
                continue
            logger.error("worker %d ended with status %s; another starts", worker + 1, process.exitcode)
            pipe.close()
            time.sleep(_RESTART_SECONDS)
            self._start(worker)

    def _stop(self, *_: Any) -> None:
        self.stopping = True
        for sock in self.sockets:
            sock.close()
        for process, _pipe in self.workers.values():
            process.terminate()

    def _end(self) -> None:
        self._stop()
        until = time.monotonic() + self.settings.limits.seconds + STOP_SECONDS
        for process, _ in self.workers.values():
            process.join(max(0.0, until - time.monotonic()))
            if process.is_alive():
                process.kill()


def _work(
    settings: Settings,
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
    """A line for each request and each failure; of an exception only what holds no text of the user's."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Plain("%(asctime)s %(message)s"))
    for name in ("funnelling.serving", "uvicorn", "asyncio"):
        found = logging.getLogger(name)
        found.handlers = [handler]
        found.propagate = False
        found.setLevel(logging.INFO if name == "funnelling.serving" else logging.ERROR)


class _Plain(logging.Formatter):
    def formatException(self, ei: Any) -> str:  # noqa: N802
        from funnelling.serving.guard import place_of

        return place_of(ei[1])
