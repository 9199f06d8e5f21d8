"""The service as a process: how it starts, what it survives, how it stops."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import pytest

from .conftest import TEXTS
from .service import COMMAND, Service, read_all, request_bytes, start

Serve = Callable[..., Service]

BODY = {"documents": [{"text": TEXTS["it"], "language": "it"}]}


def refused(*options: object, env: dict[str, str] | None = None) -> str:
    """Run a command that is to be refused in one line."""
    done = subprocess.run(
        [*COMMAND, *map(str, options)],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **(env or {})},
    )
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    return line


class TestStart:
    def test_a_bad_model(self, tmp_path: Path) -> None:
        assert "no such model folder" in refused(tmp_path / "none", "--workers", 2)

    def test_a_port_in_use(self, serve: Serve, model_path: Path) -> None:
        port = serve("--workers", 2).port
        for workers in (1, 2):
            assert "already in use" in refused(model_path, "--port", port, "--workers", workers)

    def test_a_host_that_is_not_ours(self, model_path: Path) -> None:
        assert "--host" in refused(model_path, "--host", "203.0.113.1", "--port", 0)

    @pytest.mark.parametrize("token", ["", "short", "with space in it", "ümläüte-ümläüte"])
    def test_a_token_that_is_none(self, model_path: Path, tmp_path: Path, token: str) -> None:
        path = tmp_path / "token"
        path.write_text(token, encoding="utf-8")
        assert "a token is" in refused(model_path, "--token-file", path)
        assert "a token is" in refused(model_path, env={"FUNNELLING_TOKEN": token})

    def test_without_the_extra(self, model_path: Path) -> None:
        script = (
            "import sys; from funnelling.cli import main, serve\n"
            "serve.find_spec = lambda name: None\n"
            "sys.exit(main(['serve', sys.argv[1]]))"
        )
        command = [sys.executable, "-c", script, str(model_path)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert done.returncode == 2
        assert done.stderr == "funnelling: serve needs FastAPI and uvicorn: pip install 'funnelling[serve]'\n"


@pytest.fixture(scope="module")
def service(model_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    log = tmp_path_factory.mktemp("service") / "log.txt"
    started = start(model_path, log, "--deadline", 2, "--max-body", 100_000)
    yield started
    assert started.stop() == 0


class TestWhatItSurvives:
    """Whoever misbehaves is answered, and the next one is served."""

    @pytest.fixture(autouse=True)
    def _lives_on(self, service: Service) -> Iterator[None]:
        yield
        assert service.ask("POST", "/v1/predict", BODY)[0] == 200
        assert "failed:" not in service.log.read_text("utf-8")

    @pytest.mark.parametrize(
        "content",
        [
            b"nonsense\r\n\r\n",
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 9,
            b"GET / HTTP/9.9\r\n\r\n",
            b"GET \xff\xfe HTTP/1.1\r\nHost: x\r\n\r\n",
            b"POST /v1/predict HTTP/1.1\r\nContent-Length: x\r\n\r\n",
            b"POST /v1/predict HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"POST /v1/predict HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        ],
    )
    def test_no_http(self, service: Service, content: bytes) -> None:
        with service.connect() as connection:
            connection.sendall(content)
            assert connection.recv(100).startswith(b"HTTP/1.1 4")

    def test_a_head_without_end(self, service: Service) -> None:
        with service.connect() as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nX: " + b"x" * 100_000)
            assert connection.recv(100).startswith(b"HTTP/1.1 431")

    @pytest.mark.parametrize(
        ("begun", "told"), [(b"", b""), (b"GET /healthz HTTP/1.1\r\nX: ", b"HTTP/1.1 408")]
    )
    def test_a_head_that_trickles(self, service: Service, begun: bytes, told: bytes) -> None:
        started = time.monotonic()
        assert service.exchange(begun)[:12] == told
        assert time.monotonic() - started < 20

    def test_who_does_not_read(self, service: Service) -> None:
        with service.connect(timeout=1) as connection:
            with suppress(TimeoutError):
                connection.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n" * 5_000)
            until = time.monotonic() + 30
            while time.monotonic() < until and _in_flight(service) > 1:
                time.sleep(0.2)
            assert _in_flight(service) == 1  # the one that asks

    def test_a_body_that_trickles(self, service: Service) -> None:
        with service.connect() as connection:
            connection.sendall(request_bytes(BODY)[:-20])
            started = time.monotonic()
            answer = read_all(connection)
            assert answer.startswith(b"HTTP/1.1 408")
            assert b"application/problem+json" in answer
            assert time.monotonic() - started < 20

    def test_a_body_that_is_too_large(self, service: Service) -> None:
        status, problem = service.ask("POST", "/v1/predict", {"documents": [{"text": "x" * 3_000_000}]})
        assert status == problem["status"] == 413

    def test_a_body_that_is_announced_and_asked_for(self, service: Service) -> None:
        head = b"POST /v1/predict HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        answer = service.exchange(head + b"Expect: 100-continue\r\nContent-Length: 900000\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 413")

    def test_who_leaves_before_the_answer(self, service: Service) -> None:
        for cut in (10, 100, None):
            with service.connect() as connection:
                connection.sendall(request_bytes(BODY)[:cut])

    def test_several_requests_at_once_are_answered_in_order(self, service: Service) -> None:
        one = request_bytes({"documents": [{"text": "cat", "language": "en", "id": "first"}]})
        two = request_bytes({"documents": [{"text": "pane", "language": "it", "id": "second"}]})
        bad = request_bytes({"documents": []})
        last = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        answer = service.exchange(one + bad + two + last)
        assert re.findall(rb"HTTP/1.1 (\d+)", answer) == [b"200", b"422", b"200", b"200"]
        assert answer.index(b'"first"') < answer.index(b'"second"') < answer.index(b'"ok"')

    def test_an_upgrade(self, service: Service) -> None:
        head = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        with service.connect() as connection:
            connection.sendall(head + b"Sec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13\r\n\r\n")
            assert connection.recv(100).startswith(b"HTTP/1.1 200")

    def test_its_log_holds_no_text(self, service: Service) -> None:
        service.ask("POST", "/v1/predict", {"documents": [{"text": "gatto secretissimo", "id": "geheimnis"}]})
        service.ask("GET", "/secretissimo?geheimnis")
        service.ask("POST", "/v1/predict?geheimnis", {"documents": [{"text": "x", "language": "geheimnis"}]})
        log = service.log.read_text("utf-8")
        assert "secretissimo" not in log
        assert "geheimnis" not in log
        assert re.search(r" POST /v1/predict 200 [\d.]+ ms\n", log)


class TestStop:
    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
    @pytest.mark.parametrize("workers", [1, 2])
    def test_a_signal_is_enough(self, serve: Serve, number: int, workers: int) -> None:
        service = serve("--workers", workers)
        with service.connect():  # a quiet connection does not hold it up
            started = time.monotonic()
            assert service.stop(number) == 0
            assert time.monotonic() - started < 20

    @pytest.mark.parametrize("workers", [1, 2])
    def test_no_request_is_lost_under_load(self, serve: Serve, workers: int) -> None:
        service = serve("--workers", workers)
        lost: list[str] = []
        answered: list[int] = []

        def ask_and_ask() -> None:
            connection = HTTPConnection("127.0.0.1", service.port, timeout=30)
            while True:
                try:
                    connection.connect()
                except ConnectionError:
                    return  # it takes no new connections: nothing was accepted
                open_still = True
                while open_still:
                    try:
                        connection.request(
                            "POST", "/v1/predict", json.dumps(BODY), {"Content-Type": "application/json"}
                        )
                        answer = connection.getresponse()
                        answer.read()
                    except (OSError, HTTPException) as error:
                        lost.append(repr(error))
                        return
                    answered.append(answer.status)
                    open_still = not answer.will_close

        clients = [threading.Thread(target=ask_and_ask) for _ in range(8)]
        for client in clients:
            client.start()
        time.sleep(1.5)
        before = len(answered)
        assert service.stop() == 0
        for client in clients:
            client.join()
        assert lost == []
        assert set(answered) == {200}
        assert len(answered) > before > 8


def test_a_worker_that_dies_is_replaced_and_the_counters_go_on(serve: Serve) -> None:
    service = serve("--workers", 2)
    children = Path(f"/proc/{service.process.pid}/task/{service.process.pid}/children")
    if not children.exists():
        pytest.skip("needs /proc")
    for _ in range(6):
        assert service.ask("POST", "/v1/predict", BODY)[0] == 200
    workers = [pid for pid in map(int, children.read_text().split()) if b"spawn_main" in _command(pid)]
    assert len(workers) == 2
    os.kill(workers[0], signal.SIGKILL)
    until = time.monotonic() + 60
    while time.monotonic() < until:
        now = [pid for pid in map(int, children.read_text().split()) if b"spawn_main" in _command(pid)]
        if len(set(now) - set(workers)) == 1:
            break
        time.sleep(0.1)
    for _ in range(6):
        assert service.ask("POST", "/v1/predict", BODY)[0] == 200
    connection = HTTPConnection("127.0.0.1", service.port, timeout=60)
    connection.request("GET", "/metrics")
    assert b'requests_total{path="/v1/predict",status="200"} 12\n' in connection.getresponse().read()
    assert service.stop() == 0


def test_workers_end_with_their_supervisor(serve: Serve) -> None:
    service = serve("--workers", 2)
    service.process.kill()
    until = time.monotonic() + 30
    while time.monotonic() < until:
        try:
            service.ask("GET", "/healthz")
        except ConnectionError:
            return
        time.sleep(0.1)
    pytest.fail("the workers still serve")


def _in_flight(service: Service) -> int:
    connection = HTTPConnection("127.0.0.1", service.port, timeout=30)
    connection.request("GET", "/metrics")
    found = re.search(
        rb"^funnelling_requests_in_flight (\d+)$", connection.getresponse().read(), re.MULTILINE
    )
    assert found
    return int(found[1])


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
