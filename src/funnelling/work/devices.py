"""Where PyTorch works: which devices there are, and what happens where a GPU is asked for and missing.

PyTorch is an extra, so it is imported only when it is needed.
"""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from funnelling.errors import InputError

DEVICES = ("cpu", "cuda")
AUTO = "auto"  # a GPU where there is one, else the CPU
INSTALL = "pip install 'funnelling[neural]'"

logger = logging.getLogger(__name__)


@cache
def pick_device(name: str) -> str:
    """The device for work that the CPU does as well: where a GPU is missing, the CPU does it.

    A warning says so once. The CPU needs no PyTorch.

    >>> pick_device("abacus")
    Traceback (most recent call last):
    funnelling.errors.InputError: device must be one of cpu, cuda, not 'abacus'.
    """
    _check_name(name, DEVICES)
    if name == "cpu":
        return name
    torch = _torch()
    if torch is None:
        logger.warning("PyTorch is missing, so the CPU is used: %s", INSTALL)
        return "cpu"
    if not torch.cuda.is_available():
        logger.warning("PyTorch finds no GPU here, so the CPU is used.")
        return "cpu"
    return name


def require_device(name: str, what: str) -> str:
    """The device for work that only PyTorch does: without PyTorch, or without the GPU named, it is refused.

    ``what`` is the method whose work it is.

    >>> require_device("abacus", "mle-lstm")
    Traceback (most recent call last):
    funnelling.errors.InputError: device must be one of auto, cpu, cuda, not 'abacus'.
    """
    _check_name(name, (AUTO, *DEVICES))
    torch = _torch()
    if torch is None:
        raise InputError(f"{what} needs PyTorch: {INSTALL}")
    if name == AUTO:
        return "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cuda" and not torch.cuda.is_available():
        raise InputError("device is 'cuda', and PyTorch finds no GPU here. Set device to auto or cpu.")
    return name


def _check_name(name: str, names: tuple[str, ...]) -> None:
    if name not in names:
        raise InputError(f"device must be one of {', '.join(names)}, not {name!r}.")


def _torch() -> Any:
    """PyTorch, or None where it is not installed."""
    try:
        import torch
    except ImportError:
        return None
    return torch


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
