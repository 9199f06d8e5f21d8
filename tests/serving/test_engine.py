"""Requests that share a call of the model: each gets its own rows, in time or not at all."""

import asyncio
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from funnelling.formats import Document
from funnelling.serving import engine as engines
from funnelling.serving.engine import Engine
from funnelling.serving.metrics import Metrics
from funnelling.serving.problems import Problem

FAR = 1e12


class Labeller:
    def __init__(self, gate: threading.Event) -> None:
        self.gate = gate
        self.calls: list[int] = []

    def __call__(self, documents: Sequence[Document]) -> list[dict[str, Any]]:
        self.gate.wait(10)
        self.calls.append(len(documents))
        if any(document.text == "bad" for document in documents):
            raise ValueError("bad")
        return [{"language": "en", "text": document.text} for document in documents]


@pytest.fixture
def gate() -> threading.Event:
    return threading.Event()


@pytest.fixture
def engine(gate: threading.Event, model: Any) -> Engine:
    made = Engine(model, Metrics([], ["en"]))
    made._predictor = Labeller(gate)  # type: ignore[assignment]
    return made


def documents(*texts: str) -> list[Document]:
    return [Document("", text, "en") for text in texts]


async def settled(engine: Engine, gate: threading.Event, *requests: list[Document]) -> list[Any]:
    asked = [asyncio.create_task(engine.predict(request, FAR)) for request in requests]
    await asyncio.sleep(0.05)
    gate.set()
    return await asyncio.gather(*asked, return_exceptions=True)


def test_each_gets_its_own_rows(engine: Engine, gate: threading.Event) -> None:
    requests = [documents(*(f"{i}-{j}" for j in range(i + 1))) for i in range(20)]
    rows = asyncio.run(settled(engine, gate, *requests))
    assert [[row["text"] for row in answer] for answer in rows] == [
        [document.text for document in request] for request in requests
    ]
    assert engine._predictor.calls == [210]  # type: ignore[attr-defined]


def test_one_that_fails_spoils_no_other(engine: Engine, gate: threading.Event) -> None:
    good, bad, other = asyncio.run(settled(engine, gate, documents("a"), documents("bad"), documents("b")))
    assert (good[0]["text"], other[0]["text"]) == ("a", "b")
    assert isinstance(bad, ValueError)


def test_calls_are_bounded(engine: Engine, gate: threading.Event, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "BATCH_DOCUMENTS", 3)
    asyncio.run(settled(engine, gate, *[documents("a", "b")] * 3, documents(*"abcdef"), documents("a")))
    assert engine._predictor.calls == [2, 2, 2, 6, 1]  # type: ignore[attr-defined]


def test_who_waits_too_long_is_told_and_not_worked_for(engine: Engine, gate: threading.Event) -> None:
    async def play() -> list[Any]:
        first = asyncio.create_task(engine.predict(documents("a"), FAR))
        await asyncio.sleep(0.05)
        with pytest.raises(Problem) as refused:
            await engine.predict(documents("b"), asyncio.get_running_loop().time() + 0.05)
        assert refused.value.status == 503
        gate.set()
        return [await first, await engine.predict(documents("c"), FAR)]

    assert [rows[0]["text"] for rows in asyncio.run(play())] == ["a", "c"]
    assert engine._predictor.calls == [1, 1]  # type: ignore[attr-defined]


def test_too_many_are_sent_away(
    engine: Engine, gate: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "MOST_WAITING", 2)
    answers = asyncio.run(settled(engine, gate, *[documents("a")] * 4))
    refused = [answer for answer in answers if isinstance(answer, Problem)]
    assert [(problem.status, dict(problem.headers or {})) for problem in refused] == [
        (503, {"Retry-After": "1"})
    ] * 2
