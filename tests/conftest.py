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

from funnelling.runtime.messages import CACHE

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


@pytest.fixture(scope="session")
def many_labels_model(shared: Shared) -> Path:
    """A model of more than a thousand labels. Do not change it: copy it."""
    from funnelling.funnel.estimator import ManyLabelsClassifier
    from funnelling.storage import save_model
    from funnelling.svm.kernels import native

    from .artificial import many_labels

    if native is None:
        pytest.skip("takes minutes without compiled code")

    def make(folder: Path) -> None:
        texts, labels, languages = many_labels()
        save_model(
            ManyLabelsClassifier(random_state=0, keep="nothing").fit(texts, labels, languages),
            folder / "model",
        )

    return shared("many-labels", make) / "model"
