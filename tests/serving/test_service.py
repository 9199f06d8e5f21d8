"""The service as a process: how it starts, what it survives, how it stops."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import pytest

from funnelling.serving.guard import SECURITY
from funnelling.serving.protocol import MAX_HEAD_BYTES
from funnelling.storage import save_model
from tests.funnels import any_funnel

from .conftest import LABELS, TEXTS, sentences
from .service import COMMAND, Service, read_all, request_bytes, start

Serve = Callable[..., Service]

BODY = {"documents": [{"text": TEXTS["it"], "language": "it"}]}
CHUNKED = (
    b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n"
)
LAST = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


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
            "import sys; from funnelling.commands import main; from funnelling.serving import command\n"
            "command.find_spec = lambda name: None\n"
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
            b"GET \xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n",
            b"POST /v1/predict HTTP/1.1\r\nContent-Length: x\r\n\r\n",
            b"POST /v1/predict HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"POST /v1/predict HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            b"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        ],
    )
    def test_no_http(self, service: Service, content: bytes) -> None:
        with service.connect() as connection:
            connection.sendall(content)
            assert connection.recv(100).startswith(b"HTTP/1.1 4")

    def test_a_head_without_end(self, service: Service) -> None:
        with service.connect() as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nX: ")
            time.sleep(0.2)
            connection.sendall(b"x" * (MAX_HEAD_BYTES + 1))
            answer = read_all(connection)
        assert answer.startswith(b"HTTP/1.1 431")
        headers = dict(line.split(b": ", 1) for line in answer.partition(b"\r\n\r\n")[0].splitlines()[1:])
        assert {name: headers[name.encode()].decode() for name in SECURITY} == SECURITY
        assert " - - 431 " in service.log.read_text("utf-8")
        assert b'path="other",status="431"' in _metrics(service)

    def test_a_large_head_in_one_packet(self, service: Service) -> None:
        for head in (b"X: " + b"x" * MAX_HEAD_BYTES, b"X: y\r\n" * (MAX_HEAD_BYTES // 6)):
            answer = service.exchange(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + head + b"\r\n\r\n")
            assert answer.startswith(b"HTTP/1.1 431")

    @pytest.mark.parametrize("trailer", [b"X: " + b"x" * 1_000 + b"\r\n", b"x" * 1_000])
    @pytest.mark.parametrize("path", [b"/v1/predict", b"/healthz", b"/none"])
    def test_trailers_without_end(self, service: Service, path: bytes, trailer: bytes) -> None:
        """Were they kept, a second of them would take hundreds of megabytes."""
        before = _peak(service)
        with service.connect(timeout=10) as connection, suppress(ConnectionError):
            connection.sendall(CHUNKED.replace(b"/v1/predict", path) + b"2\r\n{}\r\n0\r\n")
            for _ in range(1_000):
                connection.sendall(trailer * 100)
            pytest.fail("a hundred megabytes of trailers were taken")
        assert _peak(service) - before < 20

    @pytest.mark.parametrize("chunk", [b"1;" + b"x" * 3_000 + b"\r\n \r\n", b"0;x=" + b"y" * 3_000])
    @pytest.mark.parametrize("path", [b"/v1/predict", b"/healthz"])
    def test_extensions_without_end(self, service: Service, path: bytes, chunk: bytes) -> None:
        with service.connect(timeout=10) as connection, suppress(ConnectionError):
            connection.sendall(CHUNKED.replace(b"/v1/predict", path))
            for _ in range(1_000):
                connection.sendall(chunk * 10)
            pytest.fail("megabytes of extensions were taken")

    def test_a_body_without_end_that_nobody_reads(self, service: Service) -> None:
        with service.connect(timeout=10) as connection, suppress(ConnectionError):
            connection.sendall(CHUNKED.replace(b"POST /v1/predict", b"GET /healthz"))
            for _ in range(5_000):
                connection.sendall(b"2710\r\n" + b" " * 10_000 + b"\r\n")
            pytest.fail("megabytes were read after the answer")

    @pytest.mark.parametrize("path", [b"/healthz", b"/openapi.json"])
    def test_requests_whose_answers_are_not_read_wait_outside(self, service: Service, path: bytes) -> None:
        """Were they all begun, a second of them would take a hundred megabytes."""
        before = _peak(service)
        requests = b"GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n" % path * 4_000
        with service.connect(timeout=0.5) as connection:
            until = time.monotonic() + 2
            with suppress(TimeoutError, ConnectionError):
                while time.monotonic() < until:
                    connection.sendall(requests)
            assert _peak(service) - before < 30

    def test_a_batch_whose_rows_are_not_read_holds_up_nobody(self, service: Service) -> None:
        line = b'{"text": "cat", "language": "en"}\n'
        head = CHUNKED.replace(b"application/json", b"application/x-ndjson")
        body = b"%x\r\n%s\r\n0\r\n\r\n" % (2_900 * len(line), 2_900 * line)
        assert service.exchange(head + body + LAST).count(b'"abstained"') == 2_900
        before = _peak(service)
        with service.connect() as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            connection.sendall(head + body)
            for _ in range(10):
                started = time.monotonic()
                assert service.ask("POST", "/v1/predict", BODY)[0] == 200
                assert time.monotonic() - started < 1
            assert connection.recv(100).startswith(b"HTTP/1.1 200")
        assert _peak(service) - before < 10

    def test_trailers_are_dropped(self, service: Service) -> None:
        body = json.dumps(BODY).encode()
        chunks = b"%x;note=x\r\n%s\r\n0\r\nContent-Type: text/plain\r\nX: y\r\n\r\n" % (len(body), body)
        answer = service.exchange(CHUNKED + chunks + LAST)
        assert re.findall(rb"HTTP/1.1 (\d+)", answer) == [b"200", b"200"]

    @pytest.mark.parametrize(
        ("rest", "status"),
        [
            (b"zz\r\n", b"400"),
            (b"2\r\n{}zz", b"400"),
            (b"ffffffffffffffffffff\r\n", b"400"),
            (b"2;" + b"x" * MAX_HEAD_BYTES, b"431"),
        ],
    )
    def test_a_body_that_breaks_off_is_refused_at_once(
        self, service: Service, rest: bytes, status: bytes
    ) -> None:
        started = time.monotonic()
        answer = service.exchange(CHUNKED, rest)
        assert answer.startswith(b"HTTP/1.1 " + status)
        assert answer.count(b"HTTP/1.1") == 1
        assert time.monotonic() - started < 1.5  # the deadline is later

    def test_what_came_before_a_broken_body_is_answered(self, service: Service) -> None:
        answer = service.exchange(request_bytes(BODY) + CHUNKED + b"zz\r\n")
        assert re.findall(rb"HTTP/1.1 (\d+)", answer) == [b"200", b"400"]

    def test_heads_are_measured_alone(self, service: Service) -> None:
        large = request_bytes({"documents": [{"text": "x" * 90_000, "language": "en"}]})
        answer = service.exchange(large + LAST[:10], LAST[10:])
        assert re.findall(rb"HTTP/1.1 (\d+)", answer) == [b"200", b"200"]
        answer = service.exchange(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" * 2_000 + LAST)
        assert answer.count(b"HTTP/1.1 200") == 2_001

    @pytest.mark.parametrize(
        ("start", "answer"), [(b"", b""), (b"GET /healthz HTTP/1.1\r\nX: ", b"HTTP/1.1 408")]
    )
    def test_a_head_that_trickles(self, service: Service, start: bytes, answer: bytes) -> None:
        started = time.monotonic()
        assert service.exchange(start)[:12] == answer
        assert time.monotonic() - started < 20

    @pytest.mark.parametrize(
        ("request_head", "answer"),
        [
            (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", b"HTTP/1.1 200"),
            (b"POST /none HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n", b"HTTP/1.1 404"),
        ],
    )
    def test_what_trickles_after_an_answer(
        self, service: Service, request_head: bytes, answer: bytes
    ) -> None:
        started = time.monotonic()
        assert service.exchange(request_head, b"\r\n").startswith(answer)
        assert time.monotonic() - started < 20

    def test_a_client_that_does_not_read(self, service: Service) -> None:
        with service.connect(timeout=1) as connection:
            with suppress(TimeoutError):
                connection.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 5_000)
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
        head = b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        answer = service.exchange(head + b"Expect: 100-continue\r\nContent-Length: 900000\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 413")

    def test_a_body_that_is_kept_back_and_refused(self, service: Service) -> None:
        head = b"POST /none HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
        assert service.exchange(head + b"Content-Length: 9\r\n\r\n").startswith(b"HTTP/1.1 404")

    def test_a_client_that_leaves_before_the_answer(self, service: Service) -> None:
        for cut in (10, 100, -10, None):
            with service.connect() as connection:
                connection.sendall(request_bytes(BODY)[:cut])
        until = time.monotonic() + 30
        while " POST /v1/predict 499 " not in service.log.read_text("utf-8"):
            assert time.monotonic() < until
            time.sleep(0.05)

    def test_several_requests_at_once_are_answered_in_order(self, service: Service) -> None:
        one = request_bytes({"documents": [{"text": "cat", "language": "en", "id": "first"}]})
        two = request_bytes({"documents": [{"text": "pane", "language": "it", "id": "second"}]})
        bad = request_bytes({"documents": []})
        answer = service.exchange(one + bad + two + LAST)
        assert re.findall(rb"HTTP/1.1 (\d+)", answer) == [b"200", b"422", b"200", b"200"]
        assert answer.index(b'"first"') < answer.index(b'"second"') < answer.index(b'"ok"')

    def test_an_offer_of_another_protocol_changes_nothing(self, service: Service) -> None:
        get = (
            b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            b"Sec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        post = request_bytes(BODY, "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: x")
        for pieces in (
            [get + post + post + LAST],
            [get, post[:-30], post[-30:] + post[:40], post[40:], LAST],
        ):
            answer = service.exchange(*pieces)
            assert re.findall(rb"HTTP/1.1 (\d+)", answer) == [b"200"] * 4
            assert answer.count(b'"probabilities"') == 2

    def test_a_head_without_a_body(self, service: Service) -> None:
        answer = service.exchange(LAST.replace(b"GET", b"HEAD"))
        assert answer.startswith(b"HTTP/1.1 200")
        assert answer.endswith(b"\r\n\r\n")

    def test_its_log_holds_no_text(self, service: Service) -> None:
        service.ask("POST", "/v1/predict", {"documents": [{"text": "gatto secretissimo", "id": "geheimnis"}]})
        service.ask("GET", "/secretissimo?geheimnis")
        service.ask("POST", "/v1/predict?geheimnis", {"documents": [{"text": "x", "language": "geheimnis"}]})
        log = service.log.read_text("utf-8")
        assert "secretissimo" not in log
        assert "geheimnis" not in log
        assert re.search(r" POST /v1/predict 200 [\d.]+ ms\n", log)


class TestStop:
    @pytest.mark.parametrize(
        ("number", "workers"),
        [
            (signal.SIGTERM, 1),
            (signal.SIGINT, 2),
            pytest.param(signal.SIGTERM, 2, marks=pytest.mark.slow),
            pytest.param(signal.SIGINT, 1, marks=pytest.mark.slow),
        ],
    )
    def test_a_signal_is_enough(self, serve: Serve, number: int, workers: int) -> None:
        service = serve("--workers", workers)
        with service.connect():  # a quiet connection does not hold it up
            started = time.monotonic()
            assert service.stop(number) == 0
            assert time.monotonic() - started < 20

    def test_a_head_that_does_not_end_is_refused(self, serve: Serve) -> None:
        service = serve()
        with service.connect() as connection:
            connection.sendall(LAST[:20])
            time.sleep(0.2)
            assert service.stop() == 0
            assert connection.recv(100).startswith(b"HTTP/1.1 503")

    @pytest.mark.parametrize("workers", [1, 2])
    def test_no_request_is_lost_under_load(self, serve: Serve, workers: int) -> None:
        load = Load(serve("--workers", workers))
        time.sleep(1.5)
        before = len(load.answered)
        assert load.service.stop() == 0
        load.check()
        assert len(load.answered) > before > 8


@pytest.fixture(scope="module")
def other() -> Any:
    """Another model, with one language fewer."""
    texts, labels, languages = sentences(90, seed=1)
    rows = [row for row, language in enumerate(languages) if language != "de"]
    chosen = [[values[row] for row in rows] for values in (texts, labels, languages)]
    return any_funnel(views=None, meta_C=10).fit(chosen[0], chosen[1], languages=chosen[2])


class TestAnotherModel:
    """What is served is what was in the folder when it was asked for."""

    @pytest.fixture
    def folder(self, model_path: Path, tmp_path: Path) -> Path:
        return Path(shutil.copytree(model_path, tmp_path / "model"))

    @pytest.mark.skipif(sys.platform == "win32", reason="Windows leaves files alone that are in use")
    def test_a_folder_that_is_tampered_with_changes_nothing(self, serve: Serve, folder: Path) -> None:
        service = serve(model=folder)
        before = service.ask("POST", "/v1/predict", BODY)
        (arrays,) = folder.glob("*.safetensors")
        content = arrays.read_bytes()
        arrays.write_bytes(content[:-5_000] + bytes(5_000))
        assert service.ask("POST", "/v1/predict", BODY) == before
        arrays.write_bytes(b"")
        assert service.ask("POST", "/v1/predict", BODY) == before
        shutil.rmtree(folder)
        (worker,) = _workers(service)
        os.kill(worker, signal.SIGKILL)
        _wait_for(lambda: worker not in _workers(service) and len(_workers(service)) == 1)
        assert service.ask("POST", "/v1/predict", BODY) == before

    @pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="needs SIGHUP")
    @pytest.mark.parametrize("workers", [1, 2])
    def test_it_is_loaded_anew_and_no_request_is_lost(
        self, serve: Serve, folder: Path, other: Any, workers: int
    ) -> None:
        service = serve("--workers", workers, model=folder)
        before = service.ask("POST", "/v1/predict", BODY)
        load = Load(service)
        save_model(other, folder, force=True)
        assert service.ask("POST", "/v1/predict", BODY) == before
        service.process.send_signal(signal.SIGHUP)
        _wait_for(lambda: "the model was loaded anew: fun-tat (2 languages" in service.log.read_text("utf-8"))
        _wait_for(lambda: len(_workers(service)) == workers)  # the old ones are gone
        answered = len(load.answered)
        _wait_for(lambda: len(load.answered) > answered + 8)
        status, after = service.ask("POST", "/v1/predict", BODY)
        assert status == 200
        assert after["documents"][0]["probabilities"] == pytest.approx(
            dict(zip(LABELS, other.predict_proba([TEXTS["it"]], languages=["it"])[0], strict=True))
        )
        assert list(service.ask("GET", "/v1/model")[1]["languages"]) == ["en", "it"]
        assert service.stop() == 0
        load.check()

    @pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="needs SIGHUP")
    def test_one_that_is_damaged_is_not_taken(self, serve: Serve, folder: Path) -> None:
        service = serve(model=folder)
        before = service.ask("POST", "/v1/predict", BODY)
        (folder / "model.json").write_text("{}")
        service.process.send_signal(signal.SIGHUP)
        _wait_for(lambda: "not loaded anew, the old one stays: " in service.log.read_text("utf-8"))
        assert "the model is damaged" in service.log.read_text("utf-8")
        assert service.ask("POST", "/v1/predict", BODY) == before
        assert service.stop() == 0

    @pytest.mark.skipif(sys.platform == "win32", reason="needs pseudo-terminals")
    def test_a_terminal_that_is_closed_ends_it(self, model_path: Path) -> None:
        import pty

        child, terminal = pty.fork()
        if child == 0:
            os.execv(sys.executable, [*COMMAND, str(model_path), "--port", "0"])
        shown = b""
        while b"Ctrl-C stops it" not in shown:
            shown += os.read(terminal, 1_000)
        os.close(terminal)
        _wait_for(lambda: os.waitpid(child, os.WNOHANG)[0] == child)


class Load:
    """Eight clients that ask one request after another, until the service takes no more connections."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.lost: list[str] = []
        self.answered: list[int] = []
        self._clients = [threading.Thread(target=self._ask_and_ask) for _ in range(8)]
        for client in self._clients:
            client.start()

    def _ask_and_ask(self) -> None:
        connection = HTTPConnection("127.0.0.1", self.service.port, timeout=30)
        while True:
            try:
                connection.connect()
            except ConnectionError:
                return  # nothing was accepted
            open_still = True
            while open_still:
                try:
                    connection.request(
                        "POST", "/v1/predict", json.dumps(BODY), {"Content-Type": "application/json"}
                    )
                    answer = connection.getresponse()
                    answer.read()
                except (OSError, HTTPException) as error:
                    self.lost.append(repr(error))
                    return
                self.answered.append(answer.status)
                open_still = not answer.will_close

    def check(self) -> None:
        """All were answered, and nothing was lost."""
        for client in self._clients:
            client.join()
        assert self.lost == []
        assert set(self.answered) == {200}


def test_guesses_at_the_token_are_slow_and_hold_up_nobody_else(serve: Serve, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("a-token-of-the-tests")
    service = serve("--token-file", tmp_path / "token")
    wrong = request_bytes(BODY, "Authorization: Bearer a-token-of-the-guesser")
    right = request_bytes(BODY, "Authorization: Bearer a-token-of-the-tests", "Connection: close")
    guessers = [service.connect() for _ in range(30)]
    started = time.monotonic()
    for guesser in guessers:
        guesser.sendall(wrong)
    assert service.exchange(right).startswith(b"HTTP/1.1 200")
    assert time.monotonic() - started < 1.5
    for guesser in guessers:
        assert guesser.recv(100).startswith(b"HTTP/1.1 401")
        guesser.close()
    assert time.monotonic() - started > 2.5


def test_a_worker_that_dies_is_replaced_and_the_counters_go_on(serve: Serve) -> None:
    service = serve("--workers", 2)
    for _ in range(6):
        assert service.ask("POST", "/v1/predict", BODY)[0] == 200
    _wait_for_count(service, 6)
    workers = _workers(service)
    assert len(workers) == 2
    os.kill(workers[0], signal.SIGKILL)
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if len(set(_workers(service)) - set(workers)) == 1:
            break
        time.sleep(0.1)
    for _ in range(6):
        assert service.ask("POST", "/v1/predict", BODY)[0] == 200
    _wait_for_count(service, 12)
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


def _wait_for(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.05)


def _wait_for_count(service: Service, labelled: int) -> None:
    """A worker counts an answer just after it has sent it."""
    line = f'{{path="/v1/predict",status="200"}} {labelled}\n'.encode()
    _wait_for(lambda: line in _metrics(service))


def _in_flight(service: Service) -> int:
    line = re.search(rb"^funnelling_requests_in_flight (\d+)$", _metrics(service), re.MULTILINE)
    assert line
    return int(line[1])


def _peak(service: Service) -> int:
    """The most memory, in MB, that its worker has had."""
    if not Path("/proc/self/status").exists():
        return 0
    (worker,) = _workers(service)
    line = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{worker}/status").read_text())
    assert line
    return int(line[1]) // 1_000


def _workers(service: Service) -> list[int]:
    """The processes that serve."""
    children = Path(f"/proc/{service.process.pid}/task/{service.process.pid}/children")
    if not children.exists():
        pytest.skip("needs /proc")
    return [pid for pid in map(int, children.read_text().split()) if b"spawn_main" in _command(pid)]


def _metrics(service: Service) -> bytes:
    connection = HTTPConnection("127.0.0.1", service.port, timeout=60)
    connection.request("GET", "/metrics")
    return connection.getresponse().read()


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
