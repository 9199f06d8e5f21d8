"""The process that watches the workers, with workers that do what a test wants."""

import logging
import multiprocessing
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from funnelling.errors import InputError
from funnelling.serving import supervisor as module
from funnelling.serving.settings import ServiceSettings
from funnelling.serving.supervisor import Supervisor
from funnelling.storage.places import ModelSnapshot

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks")


@pytest.fixture(autouse=True)
def _quick_and_alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    forking = multiprocessing.get_context("fork")
    monkeypatch.setattr(module.multiprocessing, "get_context", lambda _: forking)
    monkeypatch.setattr(module, "_RESTART_DELAY_S", 0.1)
    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    handlers = {number: signal.getsignal(number) for number in numbers}
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)


def held(*languages: str) -> ModelSnapshot:
    description = {"method": "naive", "languages": dict.fromkeys(languages, 1), "labels": ["a"]}
    return ModelSnapshot(Path("model"), {}, [], description)


@pytest.fixture
def supervisor(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Supervisor]:
    """A supervisor of two workers whose starts turn out as listed, the last of the list again and again."""

    def make(*turns: str) -> Supervisor:
        starts = multiprocessing.get_context("fork").Value("i", 0)

        def work(*arguments: Any) -> None:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            pipe: Connection = arguments[-1]
            with starts.get_lock():
                turn = turns[min(starts.value, len(turns) - 1)]
                starts.value += 1
            pipe.send("" if turn in ("serves", "serves and dies") else turn)
            if turn == "serves":
                time.sleep(60)
            time.sleep(0.1)

        monkeypatch.setattr(module, "_work", work)
        return Supervisor(ServiceSettings("model", workers=2), held("de"), module.bind("127.0.0.1", 0, 2))

    return make


def test_starts_that_fail_again_and_again_end_it(
    supervisor: Callable[..., Supervisor], caplog: pytest.LogCaptureFixture
) -> None:
    service = supervisor("serves", "serves and dies", "the model is gone")
    with caplog.at_level(logging.ERROR), pytest.raises(InputError, match="the model is gone"):
        service.run(lambda _: None)
    assert [record.getMessage().partition(" ended")[2] for record in caplog.records] == [
        " with status 0; another starts",
        *[": the model is gone; another starts"] * 2,
    ]


def test_one_that_fails_now_and_then_is_replaced(supervisor: Callable[..., Supervisor]) -> None:
    dies, fails = "serves and dies", "no memory"
    service = supervisor(dies, dies, fails, fails, dies, fails, fails, "serves")
    threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGTERM)).start()
    service.run(lambda _: None)
    assert service.failures < 3


def test_a_signal_while_one_is_replaced(
    supervisor: Callable[..., Supervisor], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_RESTART_DELAY_S", 30)
    service = supervisor("serves", "serves and dies")
    threading.Timer(0.6, os.kill, (os.getpid(), signal.SIGTERM)).start()
    started = time.monotonic()
    service.run(lambda _: None)
    assert time.monotonic() - started < 20
    assert not any(worker.process.is_alive() for worker in service.workers.values())


@pytest.mark.parametrize("failure", [None, OSError("no space"), MemoryError(), InputError("damaged")])
def test_a_model_is_loaded_anew_though_it_was_asked_for_early_or_stays(
    failure: Exception | None,
    supervisor: Callable[..., Supervisor],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def hold(_: str) -> ModelSnapshot:
        if failure is not None:
            raise failure
        return held("de", "it")

    monkeypatch.setattr(module, "take_snapshot", hold)
    service = supervisor("serves")
    threading.Timer(2, os.kill, (os.getpid(), signal.SIGTERM)).start()
    with caplog.at_level(logging.INFO):
        service.run(lambda _: os.kill(os.getpid(), signal.SIGHUP))  # before it waits for anything
    stays = "the model was not loaded anew, the old one stays"
    assert (stays in caplog.text) == (failure is not None)
    assert list(service.held.description["languages"]) == ["de"] + ["it"] * (failure is None)


def test_of_what_the_loop_says_only_the_place_is_logged() -> None:
    try:
        raise KeyError("secret")
    except KeyError:
        failure = sys.exc_info()
    record = logging.LogRecord("asyncio", logging.ERROR, "", 0, "in callback(%s)", ("secret",), failure)
    assert re.fullmatch(r"the loop failed\nKeyError at test_of_\w+:\d+", module._Discreet().format(record))
    assert "secret" not in module._DiscreetJson().format(record)
