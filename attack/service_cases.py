"""What may happen to a service from outside: its model's files change, signals come, tokens are guessed."""

import os
import random
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

from attack.request_cases import Found
from funnelling import load_model
from funnelling.storage import save_model
from tests.serving.service import Service

TOKEN = "a-token-that-nobody-guesses"
GUESSING_SECONDS = 2.0
GUESSES_PER_SECOND = 50.0
RENEWED_SECONDS = 20.0


@dataclass(frozen=True)
class Target:
    """A service, the folder of its model, and an ordinary request."""

    service: Service
    model: Path
    ask: Callable[[], Any]
    draw: random.Random

    @property
    def arrays(self) -> Path:
        (path,) = self.model.glob("arrays-*")
        return path


Case = Callable[[Target], Found | None]


def _changed_in_place(target: Target) -> Found | None:
    """The bytes of the file that a model is served from are overwritten."""
    before, size = target.ask(), target.arrays.stat().st_size
    with target.arrays.open("r+b") as file:
        file.seek(size // 2)
        file.write(target.draw.randbytes(size - size // 2))
    if target.ask() == before:
        return None
    return Found("let in", "the service answers with a model that was changed")


def _cut_off_in_place(target: Target) -> Found | None:
    before = target.ask()
    os.truncate(target.arrays, 0)
    return None if target.ask() == before else Found("lost", "the service answers otherwise")


def _replaced_under_load(target: Target) -> Found | None:
    """A new model and SIGHUP: no request is lost, and then it is the new one that answers."""
    before, process = target.ask(), target.service.process
    failed: list[str] = []
    over = threading.Event()

    def load() -> None:
        while not over.is_set():
            try:
                status, _ = target.ask()
                if status != 200:
                    failed.append(f"status {status}")
            except (OSError, HTTPException, ValueError) as error:
                failed.append(repr(error))
                time.sleep(0.05)

    clients = [threading.Thread(target=load) for _ in range(4)]
    for client in clients:
        client.start()
    other = load_model(target.model)
    labels = other.model_.labels.under(other.classes_[::-1].copy())  # the same scores under other labels
    other.model_ = replace(other.model_, labels=labels)
    save_model(other, target.model, force=True)
    process.send_signal(signal.SIGHUP)
    until, renewed = time.monotonic() + RENEWED_SECONDS, False
    while not (renewed or failed) and process.poll() is None and time.monotonic() < until:
        time.sleep(0.2)
        with suppress(OSError, HTTPException, ValueError):  # which the clients tell
            renewed = target.ask() != before
    over.set()
    for client in clients:
        client.join()
    if process.poll() is not None:
        return Found("died", f"SIGHUP ends it with status {process.returncode}")
    if failed:
        return Found("lost", f"{len(failed)} requests, such as {failed[0]}")
    return None if renewed else Found("lost", f"the new model does not answer within {RENEWED_SECONDS} s")


def _guessed(target: Target) -> Found | None:
    """Wrong tokens in masses are slowed; whoever has the right one does not wait."""
    over = threading.Event()
    guesses: list[int] = []

    def guess() -> None:
        with suppress(OSError, HTTPException):  # once the service has ended
            while not over.is_set():
                guesses.append(_status(target.service, os.urandom(8).hex()))

    for _ in range(8):
        threading.Thread(target=guess, daemon=True).start()
    started, longest, given = time.monotonic(), 0.0, set()
    while time.monotonic() - started < GUESSING_SECONDS:
        asked = time.monotonic()
        given.add(_status(target.service, TOKEN))
        longest = max(longest, time.monotonic() - asked)
        time.sleep(0.05)
    over.set()
    if set(guesses) - {401, 429} or given != {200}:
        return Found("let in", f"guesses get {set(guesses)}, the token {given}")
    rate = len(guesses) / GUESSING_SECONDS
    if rate > GUESSES_PER_SECOND:
        return Found("let in", f"{rate:.0f} guesses per second")
    return Found("hung", f"the right token waits {longest:.1f} s") if longest > 1 else None


def _status(service: Service, token: str) -> int:
    connection = HTTPConnection("127.0.0.1", service.port, timeout=30)
    connection.request("GET", "/v1/model", headers={"Authorization": f"Bearer {token}"})
    status = connection.getresponse().status
    connection.close()
    return status


def _token_file(folder: Path) -> list[object]:
    path = folder / "token"
    path.write_text(TOKEN)
    return ["--token-file", path]


def _no_options(_: Path) -> list[object]:
    return []


# The options that a service is started with, and what happens to it then.
SERVICES: dict[str, tuple[Callable[[Path], list[object]], Case]] = {
    "a model that is changed in place": (_no_options, _changed_in_place),
    "a model that is cut off in place": (_no_options, _cut_off_in_place),
    "SIGHUP under load": (_no_options, _replaced_under_load),
    "guesses at the token": (_token_file, _guessed),
}
