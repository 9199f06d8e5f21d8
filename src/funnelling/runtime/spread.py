"""Work in pieces, done by the joblib backend in use: processes, or the machines of a cluster.

Without one, work stays in threads of this process, where no data has to travel; joblib is not loaded then.

`on_cluster` uses a Dask cluster: one that is running, or one started here for as long as it is needed.
"""

import logging
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from importlib.metadata import version
from queue import Empty, Queue
from typing import Any, TypeVar

from funnelling.errors import InputError

Result = TypeVar("Result")

MAX_ATTEMPTS = 5  # at pieces that were lost with the workers that held them
RETRY_BACKOFF_S = 2.0  # seconds before the second attempt, doubled before each further one
POLL_S = 5.0  # seconds without a result, after which to see whether there are workers
NO_WORKERS_TIMEOUT_S = 300.0  # seconds that a cluster has to replace the last one
LOST = "The cluster lost its workers again and again, or all of them. Give them more memory, or add some."


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


def map_chunks(
    work: Callable[..., Result], shared: Sequence[Any], pieces: Sequence[tuple[Any, ...]]
) -> Iterator[tuple[int, Result]]:
    """``work(*shared, *piece)`` for each piece, with the piece's number, in the order in which they end."""
    import joblib
    from joblib.parallel import get_active_backend

    client = getattr(get_active_backend()[0], "client", None)
    if client is not None:
        yield from _as_tasks(client, work, tuple(shared), dict(enumerate(pieces)))
    else:
        calls = [joblib.delayed(_do)(number, work, shared, piece) for number, piece in enumerate(pieces)]
        yield from joblib.Parallel(batch_size=1, return_as="generator_unordered")(calls)


def map_processes(
    work: Callable[..., Result], pieces: Sequence[tuple[Any, ...]], n_jobs: int | None
) -> Iterator[tuple[int, Result]]:
    """``work(*piece)`` for each piece, with its number, for work that holds the GIL.

    It runs on the cluster where there is one, else in processes.
    """
    if not is_local():
        yield from map_chunks(work, (), pieces)
    elif n_jobs == 1 or len(pieces) == 1:
        yield from ((number, work(*piece)) for number, piece in enumerate(pieces))
    else:
        import joblib

        with joblib.parallel_config(backend="loky", n_jobs=n_jobs):
            yield from map_chunks(work, (), pieces)


def _do(number: int, work: Callable[..., Result], shared: Any, piece: tuple[Any, ...]) -> tuple[int, Result]:
    import joblib

    with joblib.parallel_config(backend="threading", n_jobs=1):
        return number, work(*shared, *piece)


def _as_tasks(
    client: Any, work: Callable[..., Result], shared: tuple[Any, ...], pieces: dict[int, tuple[Any, ...]]
) -> Iterator[tuple[int, Result]]:
    """The pieces as tasks of a Dask cluster, whose workers come and go.

    The shared data is one too, and travels once to each worker: the scheduler repeats tasks whose worker
    dies. Data that is scattered, as joblib does it, dies with its worker, and to scatter while one dies can
    last for ever.
    """
    import dask
    from distributed import KilledWorker
    from distributed.comm.core import CommClosedError

    for attempt in range(MAX_ATTEMPTS):
        with suppress(CancelledError, CommClosedError, KilledWorker):
            with dask.config.set({"distributed.admin.large-graph-warning-threshold": sys.maxsize}):
                data = client.submit(tuple, shared, pure=False)
                submit = partial(client.submit, _do, pure=False)
                futures = [submit(number, work, data, piece) for number, piece in pieces.items()]
            for number, value in _results(client, futures):
                del pieces[number]
                yield number, value
        if not pieces:
            return
        time.sleep(RETRY_BACKOFF_S * 2**attempt)  # until dead workers are noticed and replaced
    raise InputError(LOST)


def _results(client: Any, futures: Sequence[Any]) -> Iterator[Any]:
    """What tasks of a Dask cluster give, in the order in which they end.

    Dask's `as_completed` waits for ever where no worker is left and none comes, and for a task whose result
    is lost with its worker and that fails when it is repeated.
    """
    import asyncio

    ended: Queue[Future[Any]] = Queue()
    loop = client.loop.asyncio_loop
    for future in futures:
        result = asyncio.run_coroutine_threadsafe(client.gather(future, asynchronous=True), loop)
        result.add_done_callback(ended.put)
    for _ in futures:
        yield _next_of(ended, client).result()


def _next_of(ended: "Queue[Future[Any]]", client: Any) -> "Future[Any]":
    """The next task that ended, unless the cluster is without workers for too long."""
    last_seen = time.monotonic()
    while True:
        try:
            return ended.get(timeout=POLL_S)
        except Empty:
            with suppress(OSError):  # it does not answer
                if client.nthreads():
                    last_seen = time.monotonic()
        if time.monotonic() - last_seen > NO_WORKERS_TIMEOUT_S:
            raise InputError(LOST)


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


LOCAL_ADDRESS = re.compile(r"local:([1-9]\d*)")
SCHEDULER_TIMEOUT_S = 15  # seconds to wait for the scheduler, and then for a worker


@contextmanager
def on_cluster(address: str) -> Iterator[None]:
    """Spread work over the workers at an address while the body runs."""
    import joblib

    distributed = _distributed()
    with ExitStack() as stack:
        here = LOCAL_ADDRESS.fullmatch(address)
        if here:
            workers = int(here[1])
            address = stack.enter_context(
                distributed.LocalCluster(
                    n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0", protocol="tcp"
                )
            ).scheduler_address
        elif "://" not in address:
            raise InputError(
                f"{address!r} is no address of a cluster. Write tcp://HOST:PORT, or local:N for N processes."
            )
        client = stack.enter_context(_client(distributed, address))
        stack.enter_context(joblib.parallel_config(backend="dask", client=client))
        yield


def _client(distributed: Any, address: str) -> Any:
    try:
        client = distributed.Client(address, timeout=SCHEDULER_TIMEOUT_S, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise InputError(
            f"{address}: no Dask scheduler answers there ({type(error).__name__}). Check the address; "
            "dask scheduler starts one."
        ) from None
    try:
        client.wait_for_workers(1, timeout=SCHEDULER_TIMEOUT_S)
        versions = set(client.run(_version).values())
    except TimeoutError:
        client.close()
        raise InputError(f"{address}: the cluster has no worker. Start some: dask worker {address}") from None
    except ImportError:  # without funnelling a worker cannot even load `_version`
        versions = {"none"}
    if versions != {_version()}:
        client.close()
        raise InputError(
            f"{address}: the workers have funnelling {', '.join(sorted(versions))}, here is {_version()}. "
            "Install the same version there."
        )
    return client


def _version() -> str:
    return version("funnelling")


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise InputError("A cluster needs Dask: pip install 'funnelling[cluster]'") from None
    for name in ("distributed", "distributed.nanny", "distributed.worker", "distributed.scheduler"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # workers that come and go are not worth a line
    return distributed
