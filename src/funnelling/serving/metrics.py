"""Counters of a service in the text format of Prometheus.

Each worker counts in a row of its own of memory that all workers share, so no lock is needed, and any of
them can give the sum. A row outlives its worker: counters never fall. There are twice as many rows as
workers, since others may start before the old ones have ended.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from multiprocessing import get_context
from typing import Any

OTHER = "other"
STATUSES = (200, 400, 401, 404, 405, 408, 413, 415, 421, 422, 431, 499, 500, 503, 507)
# Seconds; the last bucket of each histogram is infinity.
BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

Memory = Any  # multiprocessing keeps the type of its arrays to itself


class Metrics:
    """What a worker counts, and what all workers counted."""

    def __init__(
        self,
        paths: Sequence[str],
        languages: Sequence[str],
        memory: Memory | None = None,
        worker: int = 0,
        workers: int = 1,
    ) -> None:
        self.workers = workers
        self._paths = {path: i for i, path in enumerate([*paths, OTHER])}
        self._languages = {language: i for i, language in enumerate([*languages, OTHER])}
        self._statuses = {str(status): i for i, status in enumerate([*STATUSES, OTHER])}
        self._durations = len(self._paths) * len(self._statuses)
        self._documents = self._durations + len(self._paths) * (len(BOUNDS) + 2)
        self._batches = self._documents + len(self._languages)
        self._in_flight = self._batches + 1
        self._width = self._in_flight + 1
        self.memory = _shared(self._width * 2 * workers) if memory is None else memory
        self._row = worker * self._width
        self.memory[self._row + self._in_flight] = 0.0  # of a worker that died

    def begin(self) -> None:
        self._add(self._in_flight, 1)

    def end(self, path: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        place = self._paths.get(path, len(self._paths) - 1)
        column = self._statuses.get(str(status), len(self._statuses) - 1)
        self._add(self._in_flight, -1)
        self._add(place * len(self._statuses) + column, 1)
        histogram = self._durations + place * (len(BOUNDS) + 2)
        self._add(histogram + bisect_left(BOUNDS, seconds), 1)
        self._add(histogram + len(BOUNDS) + 1, seconds)

    def count_documents(self, languages: Sequence[str]) -> None:
        """Count the documents of one call of the model."""
        self._add(self._batches, 1)
        for language in languages:
            self._add(self._documents + self._languages.get(language, len(self._languages) - 1), 1)

    def text(self, method: str, version: str) -> str:
        """All of it, summed over the workers."""
        return "\n".join([*self._lines(method, version), ""])

    def _lines(self, method: str, version: str) -> Iterator[str]:
        yield from _heading("funnelling_info", "gauge", "The program and the method of its model.")
        yield f'funnelling_info{{version="{_escaped(version)}",method="{_escaped(method)}"}} 1'
        yield from _heading("funnelling_workers", "gauge", "Worker processes.")
        yield f"funnelling_workers {self.workers}"
        yield from _heading("funnelling_requests_in_flight", "gauge", "Requests being answered.")
        yield f"funnelling_requests_in_flight {_number(self._sum(self._in_flight))}"
        yield from _heading("funnelling_requests_total", "counter", "Requests answered, by path and status.")
        for path, place in self._paths.items():
            for status, column in self._statuses.items():
                if count := self._sum(place * len(self._statuses) + column):
                    labels = f'path="{_escaped(path)}",status="{status}"'
                    yield f"funnelling_requests_total{{{labels}}} {_number(count)}"
        yield from _heading("funnelling_request_seconds", "histogram", "From a request's head to its answer.")
        for path, place in self._paths.items():
            yield from self._histogram(path, self._durations + place * (len(BOUNDS) + 2))
        yield from _heading("funnelling_documents_total", "counter", "Documents labelled, by language.")
        for language, place in self._languages.items():
            count = self._sum(self._documents + place)
            yield f'funnelling_documents_total{{language="{_escaped(language)}"}} {_number(count)}'
        yield from _heading("funnelling_batches_total", "counter", "Calls of the model that labelled them.")
        yield f"funnelling_batches_total {_number(self._sum(self._batches))}"

    def _histogram(self, path: str, start: int) -> Iterator[str]:
        counts = [self._sum(start + i) for i in range(len(BOUNDS) + 1)]
        if not any(counts):
            return
        label = f'path="{_escaped(path)}"'
        total = 0.0
        for bound, count in zip((*map(str, BOUNDS), "+Inf"), counts, strict=True):
            total += count
            yield f'funnelling_request_seconds_bucket{{{label},le="{bound}"}} {_number(total)}'
        yield f"funnelling_request_seconds_sum{{{label}}} {self._sum(start + len(BOUNDS) + 1)!r}"
        yield f"funnelling_request_seconds_count{{{label}}} {_number(total)}"

    def _add(self, place: int, amount: float) -> None:
        self.memory[self._row + place] += amount

    def _sum(self, place: int) -> float:
        return float(sum(self.memory[place + worker * self._width] for worker in range(2 * self.workers)))


def _shared(size: int) -> Memory:
    """Numbers that processes share, all 0."""
    return get_context("spawn").RawArray("d", size)


def _heading(name: str, kind: str, meaning: str) -> list[str]:
    return [f"# HELP {name} {meaning}", f"# TYPE {name} {kind}"]


def _number(value: float) -> str:
    return str(int(value))


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
