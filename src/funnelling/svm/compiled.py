"""The C code, where the package was built with it."""

from typing import Any

native: Any
try:
    from funnelling.svm import _native  # type: ignore[attr-defined]

    native = _native
except ImportError:  # installed where there was no compiler
    native = None
