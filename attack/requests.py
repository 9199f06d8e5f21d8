"""Requests as no client should send them, to a real service that others ask meanwhile."""

import json
import random
import shutil
import sys
from collections.abc import Iterator
from http.client import HTTPException
from pathlib import Path
from typing import Any

from attack.campaign import Outcome, Round, environment
from attack.material import saved
from attack.prober import Prober
from attack.request_cases import CASES, Case, Found, text_of
from attack.service_cases import SERVICES, Target
from attack.texts import shape_of
from tests.serving.service import Service, start
from tests.storage.saved_models import LANGUAGES, TEXTS

COMMAND = (sys.executable, "-m", "attack.planted", "serve")
DEADLINE = 3.0  # seconds that a request may take
HEALTHY = 0.2  # seconds in which /healthz answers, whatever else comes in
MEMORY = 300 * 2**20  # bytes that attacks may add; bodies that are read may take 256 MiB
ORDINARY = {
    "documents": [{"text": text, "language": tag} for text, tag in zip(TEXTS[:5], LANGUAGES, strict=False)]
}


class Requests:
    """Sends requests; after each the service is as it was before."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._model = saved(home, "fun-tat")
        self._service: Service | None = None
        self._prober: Prober | None = None

    def attempt(self, turn: Round) -> Outcome:
        draw = turn.draw("requests")
        name, case = _case(turn.number)
        if case is None:
            found = next(self._of_its_own(name, turn.folder, draw), None)
        else:
            service, prober = self._running()
            found = case(service, draw) or next(self._check(service, prober), None)
        if found is None:
            return Outcome("answered", name)
        self.close()  # another service goes on
        return Outcome(found.kind, name, found.said)

    def close(self) -> None:
        if self._service is not None and self._prober is not None:
            self._prober.close()
            self._service.process.kill()
            self._service.process.wait()
        self._service = self._prober = None

    def _running(self) -> tuple[Service, Prober]:
        if self._service is None or self._prober is None:
            self._service = self._start(self._model, self._home / "service.log")
            self._prober = Prober(self._service.port, self._service.process.pid)
            self._expected = self._service.ask("POST", "/v1/predict", ORDINARY)
            self._memory = self._prober.seen()[1]
            self._logged = 0
        return self._service, self._prober

    def _start(self, model: Path, log: Path, *options: object) -> Service:
        return start(model, log, "--deadline", DEADLINE, *options, command=COMMAND, env=environment())

    def _check(self, service: Service, prober: Prober) -> Iterator[Found]:
        """What is not as it was before an attack."""
        if service.process.poll() is not None:
            yield Found("died", f"status {service.process.returncode}")
            return
        try:
            said = service.ask("POST", "/v1/predict", ORDINARY)
        except (OSError, HTTPException, ValueError) as error:
            yield Found("lost", f"an ordinary request gets no answer: {error!r}")
            return
        seconds, memory = prober.seen()
        if said != self._expected:
            yield Found("lost", f"an ordinary request is answered otherwise: {json.dumps(said)[:500]}")
        if seconds > HEALTHY:
            yield Found("hung", f"/healthz took {seconds:.2f} s")
        if memory - self._memory > MEMORY:
            yield Found("over memory", f"{(memory - self._memory) / 2**20:.0f} MiB more")
        log = service.log.read_text("utf-8", "replace")
        wrong = [
            line for line in log[self._logged :].splitlines() if "failed:" in line or "Traceback" in line
        ]
        self._logged = len(log)
        if wrong:
            yield Found("traceback", wrong[0])

    def _of_its_own(self, name: str, folder: Path, draw: random.Random) -> Iterator[Found]:
        """What goes wrong with a service that is changed from outside, which has a model of its own."""
        options, case = SERVICES[name]
        model = folder / "model"
        shutil.copytree(self._model, model)
        service = self._start(model, folder / "service.log", *options(folder))

        def ask() -> Any:
            return service.ask("POST", "/v1/predict", ORDINARY)

        try:
            if found := case(Target(service, model, ask, draw)):
                yield found
        except (OSError, HTTPException, ValueError) as error:
            died = service.process.poll() is not None
            yield Found("died" if died else "lost", f"{error!r}, status {service.process.poll()}")
        finally:
            service.process.kill()
            service.process.wait()


def _case(number: int) -> tuple[str, Case | None]:
    """What a round sends, every third time a text of some shape; None where it has a service of its own."""
    third, rest = divmod(number, 3)
    if rest == 2:
        return f"a text of {shape_of(third)}", text_of(shape_of(third))
    names = [*CASES, *SERVICES]
    name = names[(number - third) % len(names)]
    return name, CASES.get(name)
