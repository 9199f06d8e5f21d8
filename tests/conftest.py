"""What all tests share."""

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pytest

# The workers of a run share the cores already. NumPy reads this when it is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from funnelling.work.names import CACHE

# What is cached is made once for all tests, and not in the cache of whoever runs them.
os.environ.setdefault(CACHE, str(Path(__file__).parents[1] / "build" / "cache"))


class Shared(Protocol):
    """Makes a folder once for all workers of a run. Do not change it: copy it."""

    def __call__(self, name: str, make: Callable[[Path], object]) -> Path: ...


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Shared:
    base = tmp_path_factory.getbasetemp()
    home = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "shared"
    home.mkdir(exist_ok=True)

    def folder(name: str, make: Callable[[Path], object]) -> Path:
        ready, at_work = home / name, home / f"{name}.at-work"
        while not ready.exists():
            try:
                at_work.mkdir()
            except FileExistsError:  # another worker is at it
                time.sleep(0.1)
                continue
            try:
                if not ready.exists():  # it was not made just now
                    make(at_work)
                    at_work.rename(ready)
            finally:
                shutil.rmtree(at_work, ignore_errors=True)
        return ready

    return folder
