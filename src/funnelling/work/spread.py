"""Work in pieces, done by the joblib backend in use: processes, or the machines of a cluster.

Without one, work stays in threads of this process, where no data has to travel; joblib is not loaded then.
"""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, TypeVar

from funnelling.errors import InputError

Result = TypeVar("Result")

ATTEMPTS = 5  # at pieces whose data was lost with the workers that held it
PATIENCE = 2.0  # seconds before the second attempt, doubled before each further one


def is_local() -> bool:
    """Whether work is to stay in this process, where memory is shared."""
    if "joblib" not in sys.modules:  # so nobody has chosen a backend
        return True
    from joblib.parallel import get_active_backend

    backend = get_active_backend(prefer="threads")[0]
    return bool(getattr(backend, "supports_sharedmem", False))


def workers() -> int:
    """How many pieces can be worked on at once."""
    import joblib

    return int(joblib.effective_n_jobs(None))


def in_pieces(
    work: Callable[..., Result], shared: Sequence[Any], pieces: Sequence[tuple[Any, ...]]
) -> Iterator[tuple[int, Result]]:
    """``work(*shared, *piece)`` for each piece, with the piece's number, in the order in which they end.

    ``shared`` travels once. On a cluster every worker gets a copy, so that it outlives any of them.
    """
    import joblib

    remaining = dict(enumerate(pieces))
    for attempt in range(ATTEMPTS):
        with suppress(*_losses()):
            data = _send(tuple(shared))
            # A tuple stays with its task, which a worker that dies leaves behind; an array is lost with it.
            calls = [joblib.delayed(_do)(work, k, piece, data) for k, piece in remaining.items()]
            for result in joblib.Parallel(batch_size=1, return_as="generator_unordered")(calls):
                if isinstance(result, _PieceResult):
                    del remaining[result.number]
                    yield result.number, result.value
        if not remaining:
            return
        time.sleep(PATIENCE * 2**attempt)  # until dead workers are noticed and replaced
    raise InputError("The cluster lost its workers again and again. Give them more memory, or add some.")


def in_processes(
    work: Callable[..., Result], pieces: Sequence[tuple[Any, ...]], n_jobs: int | None
) -> Iterator[tuple[int, Result]]:
    """``work(*piece)`` for each piece, with its number, for work that holds the GIL.

    It runs on the cluster where there is one, else in processes.
    """
    if not is_local():
        yield from in_pieces(work, (), pieces)
    elif n_jobs == 1 or len(pieces) == 1:
        yield from ((number, work(*piece)) for number, piece in enumerate(pieces))
    else:
        import joblib

        with joblib.parallel_config(backend="loky", n_jobs=n_jobs):
            yield from in_pieces(work, (), pieces)


class _PieceResult(NamedTuple):
    number: int
    value: Any


def _send(shared: tuple[Any, ...]) -> Any:
    """The shared data, or on a cluster a reference to the copies that were sent to all workers."""
    from joblib.parallel import get_active_backend

    client = getattr(get_active_backend()[0], "client", None)
    if client is None:
        return shared
    try:
        return client.scatter([shared], broadcast=True, hash=False)[0]
    except KeyError as error:  # of the scheduler, about a worker that dies while it is sent to
        from distributed.comm.core import CommClosedError

        raise CommClosedError("A worker went away.") from error


def _do(work: Callable[..., Any], number: int, piece: tuple[Any, ...], shared: Any) -> _PieceResult | None:
    """The result of a piece, or None where the shared data did not arrive."""
    if not isinstance(shared, tuple):
        return None
    import joblib

    with joblib.parallel_config(backend="threading", n_jobs=1):
        return _PieceResult(number, work(*shared, *piece))


def _losses() -> tuple[type[BaseException], ...]:
    """The errors of a cluster that lost workers, and data or work with them."""
    if "distributed" not in sys.modules:
        return ()
    from concurrent.futures import CancelledError

    from distributed import KilledWorker
    from distributed.client import FutureCancelledError
    from distributed.comm.core import CommClosedError

    return CancelledError, CommClosedError, FutureCancelledError, KilledWorker


@contextmanager
def _nested(backend: Any) -> Iterator[None]:
    import joblib

    with joblib.parallel_config(backend=backend.get_nested_backend()[0]):
        yield


def for_threads(work: Callable[[int], Result]) -> Callable[[int], Result]:
    """``work`` made fit for another thread, where it spreads over the workers of the calling thread."""
    if is_local():
        return work
    from joblib.parallel import get_active_backend

    backend = get_active_backend()[0]

    def work_in_thread(k: int) -> Result:
        with _nested(backend):
            return work(k)

    return work_in_thread
