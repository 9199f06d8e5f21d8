"""The processes of a service: one or several that serve, under one that watches them.

The one that watches holds the model. What happens to the model's folder meanwhile changes nothing: those that
serve, and those that replace them, have the same model until SIGHUP asks for the one that is in the folder.
"""

import logging
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from typing import Any

from funnelling.corpus.label_files import label_set_for
from funnelling.errors import InputError, counted
from funnelling.formats.files import reason_of
from funnelling.formats.journal import Journal
from funnelling.runtime.messages import TOKEN, JsonLine, Messages, at_terminal, say, speak
from funnelling.serving.guard import Memory, Metrics
from funnelling.serving.settings import JOURNAL_WAIT_S, LOOPBACK, ServiceSettings, served_paths
from funnelling.storage.places import ModelSnapshot, take_snapshot

STOP_TIMEOUT_S = 10.0  # beyond the deadline of a request, until a worker is killed
_RESTART_DELAY_S = 1.0
_POLL_S = 0.5  # between looks at workers that are to end
_MAX_FAILURES = 3
BACKLOG = 1_024
_RENEW = getattr(signal, "SIGHUP", None)  # Windows has none

logger = logging.getLogger(__name__)


def serve(settings: ServiceSettings) -> None:
    """Serve until a signal comes: SIGTERM or SIGINT. At SIGHUP load the model anew."""
    held = take_snapshot(settings.model)
    if isinstance(settings.label_set, str):
        labels = [str(label) for label in held.description["labels"]]
        settings = replace(settings, label_set=label_set_for(settings.label_set, labels))
    sockets = bind(settings.host, settings.port, settings.workers)
    if settings.feedback is not None:
        Journal(settings.feedback, JOURNAL_WAIT_S).close()  # else the first to send some would be told
    start_logging()
    workers = f"with {counted(settings.workers, 'worker')}; /docs describes its interface"
    Supervisor(settings, held, sockets).run(
        lambda model: announce(settings, sockets[0], f"Serving {model}", workers, "use it")
    )


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
        raise InputError(
            f"{address_of(host, port)}: {reason_of(error)}. Choose another --port or --host, or stop what "
            "listens there."
        ) from None


def _bound(family: int, place: Any, shared: bool) -> socket.socket:
    sock = socket.socket(family)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if shared:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    sock.bind(place)
    sock.listen(BACKLOG)  # at once: a port is free until a socket listens on it
    return sock


def address_of(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def announce(settings: ServiceSettings, sock: socket.socket, what: str, how: str, use: str) -> None:
    """Say what goes on where, and who can ``use`` it."""
    address = address_of(settings.host, sock.getsockname()[1])
    message = f"{what} on {address} {how}. Ctrl-C stops it."
    if settings.token is None and settings.host not in LOOPBACK:
        message += f" Whoever reaches it can {use}: ask for a token with --token-file or {TOKEN}."
    say(message, address=address)


def _summary_of(description: dict[str, Any]) -> str:
    languages = counted(len(description["languages"]), "language")
    return f"{description['method']} ({languages}, {counted(len(description['labels']), 'label')})"


@dataclass(slots=True)
class _WorkerProcess:
    process: Any
    pipe: Connection
    ready: bool = False
    killed_at: float = float("inf")  # a moment of the monotonic clock, for one that was told to end

    def listen(self) -> str:
        """Wait for its message: empty once it serves, else why it does not."""
        try:
            reason = str(self.pipe.recv())
        except (EOFError, OSError):
            reason = "a worker died while it started"
        self.ready = not reason
        return reason

    def end(self, seconds: float) -> None:
        """Tell it to answer what it has and to end, within so many seconds."""
        self.killed_at = time.monotonic() + seconds
        self.process.terminate()

    def has_ended(self) -> bool:
        """Whether it has, or is too late and is killed."""
        if time.monotonic() > self.killed_at:
            self.process.kill()
        return not self.process.is_alive()


class Supervisor:
    """Starts the workers, replaces one that dies, and all of them by others when the model is loaded anew."""

    def __init__(self, settings: ServiceSettings, held: ModelSnapshot, sockets: list[socket.socket]) -> None:
        self.settings = settings
        self.held = held
        self.sockets = sockets
        self.memory = self._new_memory(held)
        self.workers: dict[int, _WorkerProcess] = {}
        self.leaving: list[_WorkerProcess] = []
        self.failures = 0  # starts in a row
        self._turn = 0  # which half of the counters the workers have
        self._stop_seconds = settings.limits.seconds + STOP_TIMEOUT_S
        # A signal handler may write to a pipe, whatever it interrupts; it must not wait for a lock.
        self._heard, self._signals = multiprocessing.Pipe(duplex=False)
        self._stop = self._renew = False
        self._at_terminal = at_terminal()

    def run(self, announce: Callable[[str], None]) -> None:
        """Serve until a signal comes, or until workers fail to start."""
        for number in (signal.SIGTERM, signal.SIGINT, _RENEW):
            if number is not None:
                signal.signal(number, lambda number, _: self._signals.send_bytes(bytes([number])))
        try:
            for worker in range(self.settings.workers):
                if not self._stopping():
                    self.workers[worker] = self._start(worker, self.held, self.memory, self._turn)
            for started in self.workers.values():
                if reason := self._wait_until_ready(started):
                    raise InputError(reason)
            if not self._stopping():
                announce(_summary_of(self.held.description))
            while not self._stopping():
                self._watch()
        finally:
            self._end()

    def _stopping(self, seconds: float = 0.0) -> bool:
        """Whether a signal to stop has come, or comes within so many seconds; others are kept for later."""
        until = time.monotonic() + seconds
        while not self._stop and self._heard.poll(max(0.0, until - time.monotonic())):
            self._renew = self._heard.recv_bytes()[0] == _RENEW
            # A terminal that is closed sends the same signal, and means another thing.
            self._stop = not self._renew or (self._at_terminal and not at_terminal())
        return self._stop

    def _new_memory(self, held: ModelSnapshot) -> Memory:
        return Metrics(
            served_paths(), list(held.description["languages"]), workers=self.settings.workers
        ).memory

    def _start(self, worker: int, held: ModelSnapshot, memory: Memory, turn: int) -> _WorkerProcess:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        row = worker + turn * self.settings.workers
        process = context.Process(
            target=_work,
            args=(self.settings, held, self.sockets[worker], memory, row, theirs),
            name=f"funnelling worker {worker + 1}",
        )
        process.start()
        theirs.close()
        return _WorkerProcess(process, ours)

    def _wait_until_ready(self, started: _WorkerProcess) -> str:
        """Why it cannot serve; nothing once it does, or when all are to stop."""
        while not self._stopping():
            if started.pipe in wait([started.pipe, self._heard]):
                return started.listen()
        return ""

    def _watch(self) -> None:
        """Wait for what there is to do, and do it."""
        processes = [worker.process.sentinel for worker in (*self.workers.values(), *self.leaving)]
        if not self._renew or self.leaving:
            wait([self._heard, *processes], timeout=_POLL_S if self.leaving else None)
        if self._stopping():
            return
        self.leaving = [worker for worker in self.leaving if not worker.has_ended()]
        if self._renew and not self.leaving:
            self._renew = False
            self._load_anew()
        for number, worker in list(self.workers.items()):
            if not self._stopping() and not worker.process.is_alive():
                self._replace(number, worker)

    def _replace(self, number: int, worker: _WorkerProcess) -> None:
        """Start another worker for one that died, unless such starts fail again and again."""
        reason = "" if worker.ready else worker.listen()
        self.failures = 0 if worker.ready else self.failures + 1
        if self.failures == _MAX_FAILURES:
            raise InputError(reason)
        status = f": {reason}" if reason else f" with status {worker.process.exitcode}"
        logger.error("worker %d ended%s; another starts", number + 1, status)
        worker.pipe.close()
        if not self._stopping(_RESTART_DELAY_S):
            self.workers[number] = self._start(number, self.held, self.memory, self._turn)

    def _load_anew(self) -> None:
        """Let other workers take over with the model that is in the folder now, if they can serve it."""
        logger.info("loading the model anew")
        started: dict[int, _WorkerProcess] = {}
        try:
            held = take_snapshot(self.settings.model)
            same = list(held.description["languages"]) == list(self.held.description["languages"])
            memory = self.memory if same else self._new_memory(held)
            for number in self.workers:
                started[number] = self._start(number, held, memory, 1 - self._turn)
            for worker in started.values():
                if reason := self._wait_until_ready(worker):
                    raise InputError(reason)
        except (InputError, OSError, MemoryError) as error:
            logger.error("the model was not loaded anew, the old one stays: %s", error or "out of memory")
            self._let_go(started)
            return
        if self._stopping():
            self._let_go(started)
            return
        self._let_go(self.workers)
        self.workers, self.held, self.memory, self._turn = started, held, memory, 1 - self._turn
        logger.info("the model was loaded anew: %s", _summary_of(held.description))

    def _let_go(self, workers: Mapping[int, _WorkerProcess]) -> None:
        for worker in workers.values():
            worker.end(self._stop_seconds)
            self.leaving.append(worker)

    def _end(self) -> None:
        for sock in self.sockets:  # first: no client may connect after a worker has accepted the last
            sock.close()
        self._let_go(self.workers)
        while self.leaving:
            wait([worker.process.sentinel for worker in self.leaving], timeout=_POLL_S)
            self.leaving = [worker for worker in self.leaving if not worker.has_ended()]


def _work(
    settings: ServiceSettings,
    held: ModelSnapshot,
    sock: socket.socket,
    memory: Memory,
    row: int,
    pipe: Connection,
) -> None:
    """What a worker process runs; it ends when the pipe to its supervisor breaks."""
    from funnelling.serving.protocol import run_worker

    if _RENEW is not None:  # a terminal sends it to all
        signal.signal(_RENEW, signal.SIG_IGN)
    speak(settings.style)
    start_logging()
    threading.Thread(target=_follow, args=(pipe,), daemon=True).start()
    languages = list(held.description["languages"])
    metrics = Metrics(served_paths(), languages, memory, row, settings.workers)
    try:
        run_worker(settings, held, sock, metrics, lambda: pipe.send(""))
    except InputError as error:
        pipe.send(str(error))


def _follow(pipe: Connection) -> None:
    with suppress(EOFError, OSError):
        pipe.recv()
    os.kill(os.getpid(), signal.SIGTERM)


def start_logging(requests: bool = True) -> None:
    """Log a line per failure, and one per request if wanted; of an exception only what quotes no document."""
    handler = Messages(_Discreet("%(asctime)s %(message)s"), _DiscreetJson())
    ours = ("funnelling.serving", "funnelling.labelling", "funnelling.formats.journal")
    for name in (*ours, "uvicorn", "asyncio"):
        named = logging.getLogger(name)
        named.handlers = [handler]
        named.propagate = False
        named.setLevel(logging.INFO if name in ours else logging.ERROR)
    if not requests:
        logging.getLogger(ours[0]).setLevel(logging.WARNING)


class _Discreet(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        if record.name == "asyncio":  # its messages quote what a callback was given
            record.msg, record.args = "the loop failed", ()
        return super().format(record)

    def formatException(self, ei: Any) -> str:  # noqa: N802
        from funnelling.serving.guard import place_of

        return place_of(ei[1])


class _DiscreetJson(_Discreet, JsonLine):
    """The same, in JSON."""
