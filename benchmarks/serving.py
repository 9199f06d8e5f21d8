"""How many requests per second a service answers, how fast, and whether its memory stays flat.

    python benchmarks/serving.py model
    python benchmarks/serving.py model --workers 1 --connections 1 --seconds 30

Starts `funnelling serve` on a free port. Each connection sends a request with one document of 100 words and
its language, waits for the answer, and sends the next. The clients run on the same machine and take their
share of it. Words are drawn from the embedded corpus.
"""

import argparse
import asyncio
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from funnelling.commands import options, values
from funnelling.corpus.reference import read_sample
from funnelling.errors import InputError
from funnelling.report.tables import Table
from funnelling.storage import describe_model
from measuring import add_options, machine, run, short, show

WARM_UP = 2.0  # seconds
START_SECONDS = 120
SAMPLES = 2_000


def main() -> None:
    parser = argparse.ArgumentParser(description="Load a service and take its times.")
    parser.add_argument("model", metavar="MODEL", help="folder of the model")
    parser.add_argument("--workers", type=values.count, default=2, metavar="N", help="processes (2)")
    parser.add_argument("--connections", type=values.count, default=16, metavar="N", help="at once (16)")
    parser.add_argument("--words", type=values.count, default=100, metavar="N", help="of a document (100)")
    parser.add_argument("--seconds", type=values.count, default=20, metavar="N", help="to measure (20)")
    add_options(parser, options.AsJson)
    arguments = parser.parse_args()

    requests = make_requests(list(describe_model(arguments.model)["languages"]), arguments.words)
    with service(arguments.model, arguments.workers) as (process, port):
        asyncio.run(load(port, requests, arguments.connections, WARM_UP))
        before = resident(process.pid)
        seconds, errors = asyncio.run(load(port, requests, arguments.connections, arguments.seconds))
        after = resident(process.pid)
    result = {
        "workers": arguments.workers,
        "connections": arguments.connections,
        "requests_a_second": len(seconds) / arguments.seconds,
        "errors": errors,
        "latency_ms": {f"p{p}": 1_000 * float(np.percentile(seconds, p)) for p in (50, 90, 99)},
        "memory_mb": {"before": before, "after": after},
        "machine": machine(),
    }
    show(result, _tables(result), arguments.json)


def make_requests(languages: list[str], words: int) -> list[bytes]:
    """Requests with one document each, as they go over the wire."""
    corpus = read_sample()
    vocabularies = {
        language: " ".join(corpus.texts[row] for row in rows).split()
        for language, rows in corpus.by_language().items()
        if language in languages
    }
    if not vocabularies:
        raise InputError(f"the embedded corpus has no text in any of {', '.join(languages)}.")
    draw = random.Random(0)
    messages = []
    for i in range(SAMPLES):
        language = list(vocabularies)[i % len(vocabularies)]
        start = draw.randrange(max(1, len(vocabularies[language]) - words))
        text = " ".join(vocabularies[language][start : start + words])
        body = json.dumps({"documents": [{"text": text, "language": language}]}).encode()
        head = "POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        messages.append(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    return messages


@contextmanager
def service(model: str, workers: int) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A service on a free port."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.txt"
        command = [
            sys.executable,
            "-m",
            "funnelling",
            "serve",
            model,
            "--port",
            "0",
            "--workers",
            str(workers),
        ]
        with log.open("wb") as output:
            process = subprocess.Popen(command, stderr=output)
        try:
            until = time.monotonic() + START_SECONDS
            while not (line := re.search(r" on http://[^ ]+:(\d+) ", log.read_text("utf-8"))):
                if process.poll() is not None or time.monotonic() > until:
                    raise InputError(log.read_text("utf-8").strip().removeprefix("funnelling: "))
                time.sleep(0.05)
            yield process, int(line[1])
        finally:
            process.terminate()
            process.wait()


async def load(port: int, requests: list[bytes], connections: int, seconds: float) -> tuple[list[float], int]:
    """The seconds of each answered request, and how many were not answered with 200."""
    until = time.perf_counter() + seconds
    clients = await asyncio.gather(
        *(_client(port, requests[i::connections], until) for i in range(connections))
    )
    return [took for times, _ in clients for took in times], sum(errors for _, errors in clients)


async def _client(port: int, requests: list[bytes], until: float) -> tuple[list[float], int]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    times: list[float] = []
    errors = 0
    while (started := time.perf_counter()) < until:
        writer.write(requests[len(times) % len(requests)])
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head)
        await reader.readexactly(int(length[1]) if length else 0)
        times.append(time.perf_counter() - started)
        errors += not head.startswith(b"HTTP/1.1 200")
    writer.close()
    return times, errors


def resident(pid: int) -> float | None:
    """The megabytes of a process and its children, where the system knows them."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        pages = sum(int(Path(f"/proc/{p}/statm").read_text().split()[1]) for p in (pid, *children))
    except OSError:
        return None
    return pages * 4096 / 1e6


def _tables(result: dict[str, Any]) -> list[tuple[str, Table]]:
    memory = result["memory_mb"]
    rows = [
        ["requests per second", short(result["requests_a_second"])],
        *([f"{name}, milliseconds", short(value)] for name, value in result["latency_ms"].items()),
        ["errors", str(result["errors"])],
        *([f"memory {when}, MB", short(value)] for when, value in memory.items() if value is not None),
    ]
    caption = f"{result['workers']} workers, {result['connections']} connections"
    return [(caption, Table(["", ""], rows))]


if __name__ == "__main__":
    run(main)
