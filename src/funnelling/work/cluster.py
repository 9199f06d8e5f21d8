"""Work on a Dask cluster: one that is running, or one started here for as long as it is needed."""

import logging
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from typing import Any

import joblib

from funnelling.errors import InputError

HERE = re.compile(r"local:([1-9]\d*)")
PATIENCE = 15  # seconds to wait for the scheduler, and then for a worker


@contextmanager
def on_cluster(address: str) -> Iterator[None]:
    """Spread work over the workers at an address while the body runs."""
    distributed = _distributed()
    with ExitStack() as stack:
        here = HERE.fullmatch(address)
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
        client = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise InputError(
            f"{address}: no Dask scheduler answers there ({type(error).__name__}). Check the address; "
            "dask scheduler starts one."
        ) from None
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
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
