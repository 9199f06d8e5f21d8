"""The costs of a fit in a new process, where no earlier fit has loaded or left anything."""

import gc
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import corpora
from funnelling import FunnellingClassifier
from funnelling.errors import InputError
from measuring import timed
from recipe import Recipe
from vectors import Vectors

STATUS = Path("/proc/self/status")


@dataclass
class Cost:
    """Seconds of a fit, the most memory the process held, and how much of that the fit added."""

    seconds: float
    peak_bytes: int
    added_bytes: int


def fit_afresh(model: FunnellingClassifier | Recipe, corpus: Vectors) -> Cost:
    """Fit a model in a new process."""
    if not STATUS.exists():
        raise InputError("memory is read from /proc, which this system lacks. Run it on Linux.")
    with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as executor:
        return executor.submit(_fit, model, corpus).result()


def _fit(model: FunnellingClassifier | Recipe, corpus: Vectors) -> Cost:
    corpora.warm_up(model)
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # begins the count of the peak anew
    before = _memory("VmRSS")
    seconds, _ = timed(partial(model.fit, corpus.train, corpus.train_labels))
    peak = _memory("VmHWM")
    return Cost(seconds, peak, peak - before)


def _memory(field: str) -> int:
    """A field of the process's status, in bytes."""
    fields = dict(line.split(":", 1) for line in STATUS.read_text().splitlines())
    return 1_024 * int(fields[field].removesuffix("kB"))
