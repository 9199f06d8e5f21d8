"""Attacks in a child process with bounds on time and memory, which another child follows when it dies.

python -m attack.bounded PATH SEED HOME MEMORY    attempt the rounds whose numbers and folders come in
"""

import contextlib
import json
import os
import resource
import select
import signal
import subprocess
import sys
import time
from dataclasses import astuple
from pathlib import Path

from attack.campaign import ANNOUNCED, Outcome, Round, create, environment
from attack.plants import plant

_START_SECONDS = 120.0


class Bounded:
    """A campaign in a child of its own; ``path`` names its class, as in "attack.models:Models"."""

    def __init__(self, path: str, seed: int, home: Path, seconds: float, memory: int) -> None:
        self._command = [sys.executable, "-m", "attack.bounded", path, str(seed), str(home), str(memory)]
        self._seconds = seconds
        self._errors = home / f"{path.partition(':')[0]}.stderr"
        self._child: subprocess.Popen[bytes] | None = None

    def attempt(self, turn: Round) -> Outcome:
        child = self._child or self._start()
        assert child.stdin is not None
        child.stdin.write(f"{json.dumps([turn.number, str(turn.folder)])}\n".encode())
        child.stdin.flush()
        line = self._line(child, self._seconds)
        if line:
            return Outcome(*json.loads(line))
        hung = child.poll() is None
        self.close()
        announced = turn.folder / ANNOUNCED
        what = announced.read_text("utf-8") if announced.exists() else f"round {turn.number}"
        said = self._errors.read_text("utf-8", "replace")[-2_000:]
        if hung:
            return Outcome("hung", what, f"no answer within {self._seconds} s\n{said}")
        kind = "over memory" if "MemoryError" in said or "bad_alloc" in said else "died"
        return Outcome(kind, what, f"{_reason(child.returncode)}\n{said}")

    def close(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child.communicate()
            self._child = None

    def _start(self) -> "subprocess.Popen[bytes]":
        with self._errors.open("wb") as errors:
            child = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                bufsize=0,
                env=environment(),
            )
        if not self._line(child, _START_SECONDS):
            child.kill()
            raise RuntimeError(f"the child did not start: {self._errors.read_text('utf-8', 'replace')}")
        self._child = child
        return child

    def _line(self, child: "subprocess.Popen[bytes]", seconds: float) -> bytes:
        """What the child says within a time; nothing where it does not, or dies."""
        assert child.stdout is not None
        said, until = b"", time.monotonic() + seconds
        while not said.endswith(b"\n"):
            if not select.select([child.stdout], [], [], max(0.0, until - time.monotonic()))[0]:
                return b""
            chunk = os.read(child.stdout.fileno(), 65_536)
            if not chunk:
                child.wait()
                return b""
            said += chunk
        return said


def _reason(status: int) -> str:
    return signal.Signals(-status).name if status < 0 else f"status {status}"


def _serve(path: str, seed: int, home: Path, memory: int) -> None:
    answers = os.fdopen(os.dup(1), "wb", 0)
    os.dup2(2, 1)  # what the attacked code prints is no answer
    campaign = create(path, home)
    with open("/proc/self/statm", encoding="ascii") as pages:
        there = int(pages.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (there + memory, there + memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answers.write(b"ready\n")
    for line in sys.stdin:
        number, folder = json.loads(line)
        outcome = campaign.attempt(Round(number, seed, Path(folder)))
        answers.write(json.dumps(astuple(outcome)).encode() + b"\n")
    campaign.close()


if __name__ == "__main__":
    plant()
    with contextlib.suppress(BrokenPipeError):
        _serve(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))
