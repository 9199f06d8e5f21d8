"""Asks a service whether it is there, all the time, and watches its memory.

python -m attack.prober PORT PROCESS    each line that comes in is answered with what was seen since the last

A process of its own, since attacks keep ours busy. What the system made either side wait for a core is no
fault of the service, and is taken off.
"""

import contextlib
import json
import os
import select
import socket
import subprocess
import sys
import time
from pathlib import Path

from attack.campaign import environment

PAUSE = 0.01
TIMEOUT = 20.0
REQUEST = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


class Prober:
    """A prober that runs."""

    def __init__(self, port: int, process: int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "attack.prober", str(port), str(process)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment(),
            text=True,
        )
        self.seen()

    def seen(self) -> tuple[float, int]:
        """The longest time that an answer took, in seconds, and the most memory, in bytes."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        seconds, memory = json.loads(self._process.stdout.readline())
        return float(seconds), int(memory)

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


def _probe(port: int, process: int) -> None:
    longest, most = 0.0, 0
    connection: socket.socket | None = None
    while True:
        family = _family(process)
        waited, started = _waited(family), time.monotonic()
        try:
            if connection is None:
                connection = socket.create_connection(("127.0.0.1", port), TIMEOUT)
            connection.sendall(REQUEST)
            if not connection.recv(65_536):
                raise ConnectionError
            longest = max(longest, time.monotonic() - started - (_waited(family) - waited))
        except TimeoutError:
            longest = max(longest, TIMEOUT)
            connection = None
        except OSError:  # it may close connections, as when it stops; whether it lives others see
            connection = None
        most = max(most, sum(map(_memory, family)))
        if select.select([sys.stdin], [], [], PAUSE)[0]:
            if not sys.stdin.readline():
                return
            print(json.dumps([longest, most]), flush=True)
            longest, most = 0.0, 0


def _family(process: int) -> list[int]:
    """A process and those that it has started."""
    with contextlib.suppress(OSError):
        children = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii")
        return [process, *(each for child in children.split() for each in _family(int(child)))]
    return []


def _waited(family: list[int]) -> float:
    """Seconds that processes, and this one, have waited for a core while they could have run."""
    total = 0.0
    for process in (*family, os.getpid()):
        with contextlib.suppress(OSError, IndexError):
            total += int(Path(f"/proc/{process}/schedstat").read_text(encoding="ascii").split()[1]) / 1e9
    return total


def _memory(process: int) -> int:
    with contextlib.suppress(OSError, IndexError):
        pages = Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()
        return (int(pages[1]) - int(pages[2])) * os.sysconf("SC_PAGE_SIZE")  # without what files share
    return 0


if __name__ == "__main__":
    _probe(int(sys.argv[1]), int(sys.argv[2]))
