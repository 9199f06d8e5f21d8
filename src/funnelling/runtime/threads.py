"""Threads of this process, for code that releases the GIL, and the device that PyTorch works on.

PyTorch is an extra, so it is imported only when it is needed.
"""

import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import partial
from threading import Event, current_thread, main_thread
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from funnelling.errors import InputError
from funnelling.matrices import RefcountedContext, Undo
from funnelling.runtime.spread import is_local

# Seconds that a thread may keep the GIL while another one waits; Python has five times as many
SWITCH_INTERVAL_S = 0.001

Result = TypeVar("Result")


class CancelToken(Protocol):
    """What tells that some work is not wanted any more: an event, or whatever can be asked alike."""

    def is_set(self) -> bool: ...


# Set when what a thread does is not wanted any more; one for each `cancel_scope` that it is within.
_given_up: ContextVar[tuple[CancelToken, ...]] = ContextVar("given_up", default=())


def map_threads(
    work: Callable[[int], Result],
    count: int,
    n_jobs: int | None,
    stop: npt.NDArray[np.uint8] | None = None,
) -> Iterator[Result]:
    """The results of ``work(0)`` … ``work(count - 1)``, done in threads, in order; Ctrl-C raises ``stop``.

    >>> list(map_threads(lambda k: k * k, 4, n_jobs=2))
    [0, 1, 4, 9]
    """
    threads = min(threads_of(n_jobs), count)
    # Ctrl-C interrupts only the main thread. While that waits for a worker, it can set ``stop``.
    if threads <= 1 and (stop is None or current_thread() is not main_thread()):
        yield from map(work, range(count))
        return
    given_up = Event()
    with cancel_scope(given_up):
        context = copy_context()
    with _taking_turns(), ThreadPoolExecutor(max(threads, 1)) as executor:
        try:
            yield from executor.map(lambda number: context.copy().run(work, number), range(count))
        except BaseException:
            given_up.set()
            if stop is not None:
                stop[0] = 1
            executor.shutdown(wait=True, cancel_futures=True)
            raise


@contextmanager
def cancel_scope(given_up: CancelToken) -> Iterator[None]:
    """Let `raise_if_cancelled` end what is done within, and in threads started there, once that is set."""
    before = _given_up.set((*_given_up.get(), given_up))
    try:
        yield
    finally:
        _given_up.reset(before)


def raise_if_cancelled() -> None:
    """End what is done in plain Python within `map_threads` or `cancel_scope`, if nobody wants it now."""
    for event in _given_up.get():
        if event.is_set():
            raise CancelledError


def _hand_over_soon() -> Undo:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(min(SWITCH_INTERVAL_S, interval))
    return partial(sys.setswitchinterval, interval)


# A thread that comes back from compiled code waits less for one that runs Python.
_taking_turns = RefcountedContext(_hand_over_soon)


def share_threads(n_jobs: int | None, tasks: int) -> tuple[int, int]:
    """How many tasks to do at once, and how many threads each gets.

    >>> share_threads(8, 3), share_threads(2, 11), share_threads(1, 5)
    ((3, 2), (2, 1), (1, 1))
    """
    threads = threads_of(n_jobs)
    at_once = max(1, min(threads, tasks))
    return at_once, threads // at_once


def threads_of(n_jobs: int | None) -> int:
    """How many threads of this process ``n_jobs`` means; the workers of a cluster do not count."""
    if n_jobs == 1 or (n_jobs is None and "joblib" not in sys.modules):
        return 1
    import joblib

    if is_local():
        return int(joblib.effective_n_jobs(n_jobs))
    with joblib.parallel_config(backend="threading"):
        return int(joblib.effective_n_jobs(n_jobs))


DEVICES = ("auto", "cpu", "cuda")  # auto is a GPU where there is one, else the CPU
INSTALL = "pip install 'funnelling[neural]'"


def require_device(name: str, what: str) -> str:
    """The device for the work of a method, ``what``; refused without PyTorch, or without the GPU named.

    >>> require_device("abacus", "mle-lstm")
    Traceback (most recent call last):
    funnelling.errors.InputError: device must be one of auto, cpu, cuda, not 'abacus'.
    """
    if name not in DEVICES:
        raise InputError(f"device must be one of {', '.join(DEVICES)}, not {name!r}.")
    try:
        import torch
    except ImportError:
        raise InputError(f"{what} needs PyTorch: {INSTALL}") from None
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cuda" and not torch.cuda.is_available():
        raise InputError("device is 'cuda', and PyTorch finds no GPU here. Set device to auto or cpu.")
    return name


@contextmanager
def repeatable(device: str) -> Iterator[None]:
    """Let PyTorch give the same bits in every run on this device while the body runs.

    A sum that threads share depends on their number, so on a CPU each operation has one thread; what runs
    side by side are whole operations. A GPU is held to those of its algorithms that are repeatable.
    """
    import torch

    if device == "cuda":
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # without it PyTorch refuses
        undo = partial(torch.use_deterministic_algorithms, torch.are_deterministic_algorithms_enabled())
        torch.use_deterministic_algorithms(True)
    else:
        undo = partial(torch.set_num_threads, torch.get_num_threads())
        torch.set_num_threads(1)
    try:
        yield
    finally:
        undo()
