"""Requests that share a call of the model: each gets its own rows, in time or not at all."""

import asyncio
import threading
import time
from collections.abc import Sequence
from typing import Any

import pytest

from funnelling.formats import Document
from funnelling.runtime.threads import raise_if_cancelled
from funnelling.serving import engine as engines
from funnelling.serving.engine import Engine, RowOptions
from funnelling.serving.guard import HTTPProblem, Metrics

FAR = 1e12


class Labeller:
    def __init__(self, gate: threading.Event) -> None:
        self.gate = gate
        self.calls: list[int] = []
        self.explained: list[str] = []
        self.explained_before: list[int] = []  # how many, at each call

    def __call__(self, documents: Sequence[Document]) -> list[dict[str, Any]]:
        self.gate.wait(10)
        self.calls.append(len(documents))
        self.explained_before.append(len(self.explained))
        if any(document.text == "bad" for document in documents):
            raise ValueError("bad")
        return [{"language": "en", "text": document.text} for document in documents]

    def explain(self, documents: Sequence[Document], *_: Any) -> list[dict[str, Any]]:
        self.gate.wait(10)
        self.explained += [document.text for document in documents]
        return [{"text": document.text} for document in documents]


@pytest.fixture
def gate() -> threading.Event:
    return threading.Event()


@pytest.fixture
def engine(gate: threading.Event, model: Any) -> Engine:
    idle = Engine(model, Metrics([], ["en"]), most_words=100_000)
    put(idle, Labeller(gate))
    return idle


def put(engine: Engine, labeller: "Labeller") -> None:
    engine._predictor_for = lambda _: labeller  # type: ignore[assignment, return-value]


def labeller(engine: Engine) -> "Labeller":
    return engine._predictor_for(RowOptions())  # type: ignore[return-value]


def documents(*texts: str) -> list[Document]:
    return [Document("", text, "en") for text in texts]


async def settled(engine: Engine, gate: threading.Event, *requests: list[Document]) -> list[Any]:
    tasks = [asyncio.create_task(engine.predict(request, FAR)) for request in requests]
    await asyncio.sleep(0.05)
    gate.set()
    return await asyncio.gather(*tasks, return_exceptions=True)


def test_each_gets_its_own_rows(engine: Engine, gate: threading.Event) -> None:
    requests = [documents(*(f"{i}-{j}" for j in range(i + 1))) for i in range(20)]
    rows = asyncio.run(settled(engine, gate, *requests))
    assert [[row["text"] for row in answer] for answer in rows] == [
        [document.text for document in request] for request in requests
    ]
    assert labeller(engine).calls == [210]


def test_requests_with_other_options_have_calls_of_their_own(engine: Engine, gate: threading.Event) -> None:
    options = [RowOptions(top=3), RowOptions(top=3), RowOptions(), RowOptions(top=3)]

    async def play() -> list[Any]:
        tasks = [asyncio.create_task(engine.predict(documents("x"), FAR, each)) for each in options]
        await asyncio.sleep(0.05)
        gate.set()
        return await asyncio.gather(*tasks)

    assert len(asyncio.run(play())) == 4
    assert labeller(engine).calls == [2, 1, 1]


def test_one_that_fails_spoils_no_other(engine: Engine, gate: threading.Event) -> None:
    good, bad, other = asyncio.run(settled(engine, gate, documents("a"), documents("bad"), documents("b")))
    assert (good[0]["text"], other[0]["text"]) == ("a", "b")
    assert isinstance(bad, ValueError)


def test_calls_are_bounded(engine: Engine, gate: threading.Event, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "BATCH_DOCUMENTS", 3)
    asyncio.run(settled(engine, gate, *[documents("a", "b")] * 3, documents(*"abcdef"), documents("a")))
    assert labeller(engine).calls == [2, 2, 2, 6, 1]


def test_a_request_that_waits_too_long_is_refused_and_not_run(engine: Engine, gate: threading.Event) -> None:
    async def play() -> list[Any]:
        first = asyncio.create_task(engine.predict(documents("a"), FAR))
        await asyncio.sleep(0.05)
        with pytest.raises(HTTPProblem) as refusal:
            await engine.predict(documents("b"), asyncio.get_running_loop().time() + 0.05)
        assert refusal.value.status == 503
        gate.set()
        return [await first, await engine.predict(documents("c"), FAR)]

    assert [rows[0]["text"] for rows in asyncio.run(play())] == ["a", "c"]
    assert labeller(engine).calls == [1, 1]


class Plodder(Labeller):
    """Works for ten seconds at a document, unless nobody wants it."""

    def __call__(self, documents: Sequence[Document]) -> list[dict[str, Any]]:
        for document in documents:
            self.plod(document)
        return super().__call__(documents)

    def explain(self, documents: Sequence[Document], *_: Any) -> list[dict[str, Any]]:
        for document in documents:
            self.plod(document)
        return super().explain(documents)

    def plod(self, document: Document) -> None:
        until = time.monotonic() + (10 if document.text == "long" else 0)
        while time.monotonic() < until:
            raise_if_cancelled()
            time.sleep(0.01)


@pytest.mark.parametrize("explained", [False, True])
def test_work_ends_when_the_deadline_has_passed(
    engine: Engine, gate: threading.Event, explained: bool
) -> None:
    async def play() -> float:
        gate.set()
        loop = asyncio.get_running_loop()
        soon = loop.time() + 0.1
        long = documents("long")
        call = engine.explain(long, None, 3, soon) if explained else engine.predict(long, soon)
        with pytest.raises(HTTPProblem, match="took too long"):
            await call
        await engine.predict(documents("next"), FAR)
        return loop.time() - soon

    put(engine, Plodder(gate))
    assert asyncio.run(play()) < 5


def test_work_goes_on_while_another_request_waits_for_it(engine: Engine, gate: threading.Event) -> None:
    async def play() -> list[Any]:
        first = asyncio.create_task(engine.predict(documents("a"), FAR))
        hasty = asyncio.create_task(engine.predict(documents("b"), asyncio.get_running_loop().time() + 0.05))
        await asyncio.sleep(0.2)
        gate.set()
        return await asyncio.gather(first, hasty, return_exceptions=True)

    answer, refusal = asyncio.run(play())
    assert answer[0]["text"] == "a"
    assert isinstance(refusal, HTTPProblem)


def test_different_words_are_counted(engine: Engine, gate: threading.Event) -> None:
    engine.most_words = 100
    few, many = " ".join(["word"] * 1_000), ".".join(map(str, range(101)))
    good, bad = asyncio.run(settled(engine, gate, documents(few, few), documents(many[:200], many[200:])))
    assert good[0]["text"] == few
    assert (bad.status, bad.pointer) == (422, "/documents")
    assert "more than 100 different words" in bad.detail


def test_too_many_are_sent_away(
    engine: Engine, gate: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "MAX_WAITING_DOCUMENTS", 2)
    answers = asyncio.run(settled(engine, gate, *[documents("a")] * 4))
    refusals = [answer for answer in answers if isinstance(answer, HTTPProblem)]
    assert [(refusal.status, dict(refusal.headers or {})) for refusal in refusals] == [
        (503, {"Retry-After": "1"})
    ] * 2


def test_too_much_text_is_sent_away(
    engine: Engine, gate: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "MAX_WAITING_CHARACTERS", 5)
    long, short, late = asyncio.run(
        settled(engine, gate, documents("abcdefgh"), documents("a"), documents("b"))
    )
    assert long[0]["text"] == "abcdefgh"  # it is the only one
    assert isinstance(short, HTTPProblem)
    assert isinstance(late, HTTPProblem)


def test_rows_that_cannot_be_delivered_stop_nothing(engine: Engine, gate: threading.Event) -> None:
    class Broken:
        def count_documents(self, languages: list[str]) -> None:
            raise RuntimeError(languages)

    class Nameless(Labeller):
        def __call__(self, documents: Sequence[Document]) -> list[dict[str, Any]]:
            return [{} for _ in super().__call__(documents)]

    async def play(loose: list[Any]) -> list[Any]:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: loose.append(context))
        return await settled(engine, gate, documents("a"), documents("b"))

    put(engine, Nameless(gate))
    loose: list[Any] = []
    assert [type(answer) for answer in asyncio.run(play(loose))] == [KeyError, KeyError]
    put(engine, Labeller(gate))
    engine._metrics = Broken()  # type: ignore[assignment]
    assert all(asyncio.run(play(loose)))
    assert all(asyncio.run(play(loose)))
    assert len(loose) == 3  # what no request could be answered with goes to the log


class TestExplanations:
    def test_too_many_are_sent_away(self, engine: Engine, gate: threading.Event) -> None:
        async def play() -> list[Any]:
            calls = [engine.explain(documents(*"abcdefghij"), None, 3, FAR) for _ in range(8)]
            tasks = [asyncio.create_task(call) for call in calls]
            await asyncio.sleep(0.05)
            gate.set()
            return await asyncio.gather(*tasks, return_exceptions=True)

        answers = asyncio.run(play())
        assert [isinstance(answer, HTTPProblem) for answer in answers] == [False] * 6 + [True] * 2
        assert [row["text"] for row in answers[5]] == list("abcdefghij")

    def test_labels_come_in_between(self, engine: Engine, gate: threading.Event) -> None:
        async def play() -> None:
            explained = [asyncio.create_task(engine.explain(documents(*"abc"), None, 3, FAR)) for _ in "12"]
            await asyncio.sleep(0.05)
            labelled = asyncio.create_task(engine.predict(documents("d"), FAR))
            await asyncio.sleep(0.05)
            gate.set()
            await asyncio.gather(labelled, *explained)

        asyncio.run(play())
        assert labeller(engine).explained_before[0] <= 2

    def test_the_rest_is_not_worked_for_after_the_deadline(
        self, engine: Engine, gate: threading.Event
    ) -> None:
        async def play() -> None:
            with pytest.raises(HTTPProblem):
                await engine.explain(documents("a", "b"), None, 3, asyncio.get_running_loop().time() + 0.05)
            gate.set()
            await engine.explain(documents("c"), None, 3, FAR)

        asyncio.run(play())
        assert labeller(engine).explained == ["a", "c"]
