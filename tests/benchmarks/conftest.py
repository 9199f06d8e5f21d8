"""The scripts of benchmarks, imported as they import each other."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """A script by its name."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    return import_module
