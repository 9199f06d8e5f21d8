"""Work in pieces, done by the backend that joblib was told to use: processes, or the machines of a cluster.

Without one, work stays in threads of this process, where nothing has to travel.
"""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, TypeVar

import joblib
from joblib.parallel import get_active_backend

from funnelling.errors import InputError

Result = TypeVar("Result")

ATTEMPTS = 5  # at pieces whose data went down with the workers that held it
PATIENCE = 2.0  # seconds until the second attempt, and twice as many until each further one


def is_local() -> bool:
    """Whether work is to stay in this process, where memory is shared."""
    backend = get_active_backend(prefer="threads")[0]
    return bool(getattr(backend, "supports_sharedmem", False))


def workers() -> int:
    """How many pieces can be worked on at once."""
    return int(joblib.effective_n_jobs(None))


def in_pieces(
    work: Callable[..., Result], shared: Sequence[Any], pieces: Sequence[tuple[Any, ...]]
) -> Iterator[tuple[int, Result]]:
    """``work(*shared, *piece)`` for each piece, with its number, as they are done.

    What is ``shared`` travels once. On a cluster every worker gets a copy, so that it outlives any of them.
    """
    lacking = dict(enumerate(pieces))
    for attempt in range(ATTEMPTS):
        with suppress(*_losses()):
            sent = _sent(tuple(shared))
            # A tuple stays with its task, which a worker that dies leaves behind; an array is lost with it.
            calls = [joblib.delayed(_do)(work, k, piece, sent) for k, piece in lacking.items()]
            for done in joblib.Parallel(batch_size=1, return_as="generator_unordered")(calls):
                if isinstance(done, _Done):
                    del lacking[done.number]
                    yield done.number, done.value
        if not lacking:
            return
        time.sleep(PATIENCE * 2**attempt)  # until those who died are missed, and replaced
    raise InputError("The cluster lost its workers again and again. Give them more memory, or add some.")


def in_processes(
    work: Callable[..., Result], pieces: Sequence[tuple[Any, ...]], n_jobs: int | None
) -> Iterator[tuple[int, Result]]:
    """The same for work that Python itself does: on the cluster where there is one, else in processes."""
    if not is_local():
        yield from in_pieces(work, (), pieces)
    elif n_jobs == 1 or len(pieces) == 1:
        yield from ((number, work(*piece)) for number, piece in enumerate(pieces))
    else:
        with joblib.parallel_config(backend="loky", n_jobs=n_jobs):
            yield from in_pieces(work, (), pieces)


class _Done(NamedTuple):
    number: int
    value: Any


def _sent(shared: tuple[Any, ...]) -> Any:
    """In the form in which it travels."""
    client = getattr(get_active_backend()[0], "client", None)
    return shared if client is None else client.scatter([shared], broadcast=True, hash=False)[0]


def _do(work: Callable[..., Any], number: int, piece: tuple[Any, ...], shared: Any) -> _Done | None:
    """What comes of a piece; nothing where what it shares with others did not arrive."""
    if not isinstance(shared, tuple):
        return None
    with joblib.parallel_config(backend="threading", n_jobs=1):
        return _Done(number, work(*shared, *piece))


def _losses() -> tuple[type[BaseException], ...]:
    """The errors of a cluster whose workers went away with data or work."""
    if "distributed" not in sys.modules:
        return ()
    from concurrent.futures import CancelledError

    from distributed import KilledWorker
    from distributed.client import FutureCancelledError
    from distributed.comm.core import CommClosedError

    return CancelledError, CommClosedError, FutureCancelledError, KilledWorker


@contextmanager
def _nested(backend: Any) -> Iterator[None]:
    with joblib.parallel_config(backend=backend.get_nested_backend()[0]):
        yield


def for_threads(work: Callable[[int], Result]) -> Callable[[int], Result]:
    """The same work, for a thread of its own: it spreads what it does where its caller would."""
    if is_local():
        return work
    backend = get_active_backend()[0]

    def done(k: int) -> Result:
        with _nested(backend):
            return work(k)

    return done
