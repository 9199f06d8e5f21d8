"""Where PyTorch works: which device a method gets, and how its bits are the same in every run.

PyTorch is an extra, so it is imported only when it is needed.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from funnelling.errors import InputError

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
    setting = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(setting)
