"""Record the calls that the tests make of the solver in C, and make them again without NumPy, for Valgrind.

    NATIVE=_native.abi3.so CALLS=calls python -m pytest tests/svm     (this file in place of _native)
    valgrind python scripts/native_calls.py _native.abi3.so calls

With NumPy, SciPy and scikit-learn in the process Valgrind takes minutes before the first test, and some of
its versions crash on their debug information. The solver knows nothing of them, only of buffers.
"""

import atexit
import hashlib
import os
import pickle
import sys
from array import array
from collections.abc import Callable
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from types import ModuleType
from typing import Any


def load(path: str) -> ModuleType:
    loader = ExtensionFileLoader("_native", path)
    module = loader.create_module(ModuleSpec("_native", loader, origin=path))
    loader.exec_module(module)
    return module


class Recorder:
    """Passes calls on to a module, and records every call that differs from all before."""

    def __init__(self, module: ModuleType, path: str) -> None:
        self.module, self.path = module, path
        self.calls: dict[bytes, None] = {}
        self.contents: dict[bytes, bytes] = {}
        atexit.register(self.save)

    def __call__(self, name: str) -> Any:
        attribute = getattr(self.module, name)
        return self._recorder(name, attribute) if callable(attribute) else attribute

    def _recorder(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            # Before the call, which writes into its buffers.
            self.calls[pickle.dumps((name, [self._portable(argument) for argument in arguments]))] = None
            return function(*arguments)

        return call

    def _portable(self, argument: Any) -> Any:
        """A buffer becomes a tuple, and its bytes are stored once for all calls; numbers stay."""
        try:
            view = memoryview(argument)
        except TypeError:
            return argument
        if view.ndim == 0:  # a NumPy scalar
            return view[()]
        content = view.tobytes()
        digest = hashlib.sha256(content).digest()
        self.contents[digest] = content
        return view.format, view.readonly, digest

    def save(self) -> None:
        with open(self.path, "wb") as file:
            pickle.dump((list(self.calls), self.contents), file)


def replay(module: ModuleType, path: str) -> None:
    """Make all calls again; those that were refused in the tests are refused again."""
    with open(path, "rb") as file:
        calls, contents = pickle.load(file)

    def thaw(argument: Any) -> Any:
        if not isinstance(argument, tuple):
            return argument
        form, readonly, digest = argument
        # A slice has no spare room behind its items, where a read out of bounds could hide.
        view = memoryview(array(form, contents[digest])[:])
        return view.toreadonly() if readonly else view

    refused = 0
    for call in calls:
        name, arguments = pickle.loads(call)
        try:
            getattr(module, name)(*map(thaw, arguments))
        except (BufferError, TypeError, ValueError):
            refused += 1
    print(f"{len(calls)} calls, {refused} of them refused")


if __name__ == "__main__":
    replay(load(sys.argv[1]), sys.argv[2])
else:
    __getattr__ = Recorder(load(os.environ["NATIVE"]), os.environ["CALLS"])
