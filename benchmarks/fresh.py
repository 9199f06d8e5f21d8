"""The costs of work in a new process, where no earlier work has loaded or left anything."""

import gc
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

import corpora
from funnelling import FunnellingClassifier
from funnelling.errors import InputError
from measuring import timed
from recipe import Recipe
from vectors import Vectors

Result = TypeVar("Result")

STATUS = Path("/proc/self/status")


@dataclass
class Cost:
    """Seconds of a fit, the most memory the process held, and how much of that the fit added."""

    seconds: float
    peak_bytes: int
    added_bytes: int


def run_afresh(call: Callable[..., Result], *arguments: Any) -> Result:
    """What a call gives in a new process."""
    with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as executor:
        return executor.submit(call, *arguments).result()


def fit_afresh(model: FunnellingClassifier | Recipe, corpus: Vectors) -> Cost:
    """Fit a model in a new process."""
    if not STATUS.exists():
        raise InputError("memory is read from /proc, which this system lacks. Run it on Linux.")
    return run_afresh(_fit, model, corpus)


def begin_peak() -> int:
    """Count the most memory that the process holds from now on; what it holds now, in bytes."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")
    return _memory("VmRSS")


def peak() -> int:
    """The most memory that the process held since the count began, in bytes."""
    return _memory("VmHWM")


def _fit(model: FunnellingClassifier | Recipe, corpus: Vectors) -> Cost:
    corpora.warm_up(model)
    before = begin_peak()
    seconds, _ = timed(partial(model.fit, corpus.train, corpus.train_labels))
    held = peak()
    return Cost(seconds, held, held - before)


def _memory(field: str) -> int:
    """A field of the process's status, in bytes."""
    fields = dict(line.split(":", 1) for line in STATUS.read_text().splitlines())
    return 1_024 * int(fields[field].removesuffix("kB"))
