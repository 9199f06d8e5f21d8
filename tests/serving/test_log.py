"""What a service says on standard error, where programs read it or nobody does."""

import json
import socket
import subprocess
import time
from pathlib import Path

from funnelling.formats.jsonl import JOURNAL_HEADER, cut_off

from .conftest import TEXTS
from .service import COMMAND, Service, start

BODY = {"documents": [{"text": TEXTS["it"], "language": "it"}]}


def test_json(model_path: Path, tmp_path: Path) -> None:
    service = start(model_path, tmp_path / "log", "--log-json")
    assert service.ask("POST", "/v1/predict", BODY)[0] == 200
    assert service.stop() == 0
    begun, answered = (json.loads(line) for line in service.log.read_text("utf-8").splitlines())
    assert begun["message"].startswith("Serving fun-")
    assert begun["address"] == service.url
    asked = {"level": "info", "method": "POST", "path": "/v1/predict", "status": 200}
    assert answered.items() >= asked.items()
    assert answered["milliseconds"] > 0


def test_what_is_cut_off_of_a_journal_is_told(model_path: Path, tmp_path: Path) -> None:
    """When the service begins, and when it writes after another process that was killed."""
    journal = tmp_path / "feedback.jsonl"
    journal.write_text(json.dumps(JOURNAL_HEADER) + '\n{"action": "lab')
    service = start(model_path, tmp_path / "log", "--feedback", journal)
    journal.write_text(journal.read_text() + "\0\0")
    corrected = {"documents": [{**BODY["documents"][0], "labels": []}]}
    assert service.ask("POST", "/v1/feedback", corrected)[0] == 200
    assert service.stop() == 0
    assert service.log.read_text("utf-8").count(cut_off(str(journal), 2)) == 2
    assert len(journal.read_text().splitlines()) == 2


def test_quiet(model_path: Path, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path / "log"
    with log.open("wb") as output:
        command = [*COMMAND, str(model_path), "--port", str(port), "--quiet"]
        service = Service(subprocess.Popen(command, stderr=output), port, log)
    until = time.monotonic() + 60
    while True:
        try:
            service.connect(1).close()
            break
        except OSError:
            assert time.monotonic() < until
            time.sleep(0.05)
    assert service.ask("POST", "/v1/predict", BODY)[0] == 200
    assert service.stop() == 0
    assert log.read_text("utf-8") == ""
