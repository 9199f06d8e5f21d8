"""A service in a process of its own, and plain connections to it."""

import json
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

START_SECONDS = 180
COMMAND = [sys.executable, "-m", "funnelling", "serve"]


@dataclass
class Service:
    """A running service."""

    process: subprocess.Popen[bytes]
    port: int
    log: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def connect(self, timeout: float = 30) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout)

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Send a request on a connection of its own; the status and the JSON of the answer."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        content = None if body is None else json.dumps(body).encode()
        connection.request(method, path, content, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, json.loads(text)

    def exchange(self, *pieces: bytes) -> bytes:
        """Send bytes, piece by piece with pauses, and read until the service closes."""
        with self.connect() as connection:
            for i, piece in enumerate(pieces):
                time.sleep(0.2 if i else 0)
                connection.sendall(piece)
            return read_all(connection)

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Stop it; its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise


def start(
    model: Path, log: Path, *options: object, command: Sequence[str] = COMMAND, env: Any = None
) -> Service:
    """A service on a free port, once it answers."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, str(model), "--port", "0", *map(str, options)], stderr=output, env=env
        )
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        if line := re.search(r"(?: on|Open) http://[^ ]+:(\d+)[. ]", log.read_text("utf-8")):
            return Service(process, int(line[1]), log)
        time.sleep(0.05)
    process.kill()
    raise RuntimeError(f"the service did not start: {log.read_text('utf-8')}")


def read_all(connection: socket.socket) -> bytes:
    chunks = []
    while chunk := connection.recv(65_536):
        chunks.append(chunk)
    return b"".join(chunks)


def request_bytes(body: Any, *headers: str) -> bytes:
    """A request to /v1/predict as it goes over the wire."""
    content = json.dumps(body).encode()
    lines = ["POST /v1/predict HTTP/1.1", "Host: localhost", "Content-Type: application/json", *headers]
    return "\r\n".join([*lines, f"Content-Length: {len(content)}", "", ""]).encode() + content
