"""When the service itself fails: an answer, a line in the log, and nothing in it that the client wrote."""

import asyncio
import json
import logging
from typing import Any

import pytest

from funnelling.serving.guard import Metrics, SecurityMiddleware

PATH = "/v1/predict"
SECRET = "the patient's name"


def ask(app: Any, metrics: Metrics) -> list[dict[str, Any]]:
    """What a client is sent by an application behind the guard."""
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    async def receive() -> dict[str, Any]:
        return {"type": "http.request"}

    scope = {"type": "http", "method": "POST", "path": PATH, "headers": []}
    asyncio.run(SecurityMiddleware(app, [PATH], metrics, token=None, hosts=None)(scope, receive, send))
    return sent


async def fail(*_: Any) -> None:
    raise ValueError(f"cannot read {SECRET}")


async def fail_within_its_answer(_scope: Any, _receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await fail()


def test_a_failure_is_answered_and_logged_without_a_word_of_the_client(
    caplog: pytest.LogCaptureFixture,
) -> None:
    metrics = Metrics([PATH], ["en"])
    with caplog.at_level(logging.INFO):
        start, body = ask(fail, metrics)
    assert start["status"] == 500
    assert json.loads(body["body"])["detail"] == "The service failed at this request. The log says where."
    assert "POST /v1/predict failed: ValueError at fail:" in caplog.text
    assert SECRET not in caplog.text
    assert f'path="{PATH}",status="500"}} 1' in metrics.text("naive", "1")


def test_an_answer_that_has_begun_gets_no_second_one(caplog: pytest.LogCaptureFixture) -> None:
    sent = ask(fail_within_its_answer, Metrics([PATH], ["en"]))
    assert [message["type"] for message in sent] == ["http.response.start"]
    assert "failed: ValueError" in caplog.text
