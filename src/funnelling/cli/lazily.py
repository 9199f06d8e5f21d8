"""Modules that our libraries import and that no command uses, loaded only if something of them is used."""

import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from typing import Any

# scipy imports all of numpy, Fortran tools and test tools included: a tenth of what a prediction takes.
UNUSED = ("numpy.f2py", "numpy.testing")


class _Finder(MetaPathFinder):
    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target) if name in UNUSED else None
        if spec is not None and spec.loader is not None:
            spec.loader = LazyLoader(spec.loader)
        return spec


def load_lazily() -> None:
    """From now on, load what is unused when it is used."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
