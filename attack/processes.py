"""Commands of funnelling as processes that can be struck: new ones, or copies of this one."""

import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

from attack.campaign import command, environment
from attack.plants import plant
from funnelling.commands import main
from tests.commands.command import hear_interrupts

INPUT = "docs.jsonl"  # what comes in where a command reads standard input, slowly
ERRORS = "stderr.txt"


class Running:
    """A process that runs a command; its ``status`` once it has ended, negative for a signal."""

    def __init__(self, number: int, errors: Path) -> None:
        self._number = number
        self._errors = errors
        self.status: int | None = None

    def poll(self) -> int | None:
        if self.status is None:
            number, status = os.waitpid(self._number, os.WNOHANG)
            if number:
                self.status = os.waitstatus_to_exitcode(status)
        return self.status

    def wait(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while self.poll() is None and time.monotonic() < until:
            time.sleep(0.005)

    def send(self, blow: int) -> None:
        if self.poll() is None:
            os.kill(self._number, blow)

    def is_listening(self) -> bool:
        """Whether the command has begun, and with it the handling of signals."""
        try:
            status = Path(f"/proc/{self._number}/status").read_text(encoding="ascii")
        except OSError:
            return False
        caught = int(status.partition("SigCgt:")[2].split()[0], 16)
        return bool(caught >> (signal.SIGTERM - 1) & 1)

    def said(self) -> str:
        return self._errors.read_text("utf-8", "replace")


def start(arguments: Sequence[str], place: Path) -> Running:
    """A command in a process of its own."""
    errors = place.parent / ERRORS
    reader, writer = os.pipe()
    with errors.open("wb") as stream:
        process = subprocess.Popen(
            command(*arguments),
            cwd=place,
            env=environment(),
            stdin=reader,
            stdout=subprocess.DEVNULL,
            stderr=stream,
            preexec_fn=hear_interrupts,
        )
    os.close(reader)
    _feed(writer, place)
    running = Running(process.pid, errors)
    process.returncode = 0  # it is ours to wait for
    return running


def fork(arguments: Sequence[str], place: Path) -> Running:
    """A command in a copy of this process."""
    errors = place.parent / ERRORS
    reader, writer = os.pipe()
    number = os.fork()
    if number:
        os.close(reader)
        _feed(writer, place)
        return Running(number, errors)
    status = 70
    try:
        os.close(writer)
        hear_interrupts()
        os.chdir(place)
        streams = (
            reader,
            os.open(os.devnull, os.O_WRONLY),
            os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
        )
        for target, stream in enumerate(streams):
            os.dup2(stream, target)
        sys.stdin, sys.stdout, sys.stderr = (os.fdopen(target, "w" if target else "r") for target in range(3))
        plant()
        status = main(list(arguments))
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def run(arguments: Sequence[str], place: Path, seconds: float) -> Running:
    """A command that has ended, unless that takes too long: then its status is None."""
    running = fork(arguments, place)
    running.wait(seconds)
    if running.status is None:
        running.send(signal.SIGKILL)
        running.wait(seconds)
        running.status = None
    return running


def _feed(writer: int, place: Path) -> None:
    """Let documents come in on standard input bit by bit, so that there is time to strike."""

    def write() -> None:
        with open(writer, "wb", 0) as stream:
            lines = (place / INPUT).read_bytes().splitlines(keepends=True)
            for first in range(0, len(lines), 10):
                try:
                    stream.write(b"".join(lines[first : first + 10]))
                except OSError:
                    return
                time.sleep(0.02)

    threading.Thread(target=write, daemon=True).start()
