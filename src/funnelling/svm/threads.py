"""Work in threads: for code that releases the GIL."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import joblib
import numpy as np
import numpy.typing as npt

Result = TypeVar("Result")


def in_threads(
    work: Callable[[int], Result],
    count: int,
    n_jobs: int | None,
    stop: npt.NDArray[np.uint8] | None = None,
) -> Iterator[Result]:
    """Do ``work(0)`` … ``work(count - 1)`` in threads, in order of results; Ctrl-C raises ``stop``.

    >>> list(in_threads(lambda k: k * k, 4, n_jobs=2))
    [0, 1, 4, 9]
    """
    with ThreadPoolExecutor(joblib.effective_n_jobs(n_jobs)) as executor:
        try:
            yield from executor.map(work, range(count))
        except BaseException:
            if stop is not None:
                stop[0] = 1
            executor.shutdown(wait=True, cancel_futures=True)
            raise
