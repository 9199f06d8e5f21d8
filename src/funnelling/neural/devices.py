"""Where PyTorch runs, and how its results are kept the same from run to run."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from funnelling.errors import InputError

DEVICES = ("auto", "cpu", "cuda")


def load_torch() -> Any:
    """PyTorch, or what to do to have it."""
    try:
        import torch
    except ImportError:
        raise InputError("mle-lstm needs PyTorch: pip install 'funnelling[neural]'") from None
    return torch


def choose_device(name: str) -> str:
    """Where to run: "auto" is a GPU where there is one.

    >>> choose_device("abacus")
    Traceback (most recent call last):
    funnelling.errors.InputError: device must be one of auto, cpu, cuda, not 'abacus'.
    """
    if name not in DEVICES:
        raise InputError(f"device must be one of {', '.join(DEVICES)}, not {name!r}.")
    torch = load_torch()
    if name == "cuda" and not torch.cuda.is_available():
        raise InputError("device is 'cuda', and PyTorch finds no GPU here. Set device to auto or cpu.")
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    return name


@contextmanager
def repeatable(device: str) -> Iterator[None]:
    """Let PyTorch give the same bits in every run on this device while the body runs.

    A sum that threads share out depends on their number, so on a CPU each operation has one thread; what
    runs side by side are whole operations. A GPU is held to those of its algorithms that are repeatable.
    """
    torch = load_torch()
    if device == "cuda":
        with _repeatable_algorithms(torch):
            yield
        return
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@contextmanager
def _repeatable_algorithms(torch: Any) -> Iterator[None]:
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # without it PyTorch refuses
    held = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(held)
