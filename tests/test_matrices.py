"""Matrices: what is taken as it is, and BLAS on one thread."""

from threading import Barrier, Thread

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_info

from funnelling.matrices import check_vectors, one_blas_thread


def threads() -> list[int]:
    return [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]


def test_the_limit_of_blas_lasts_until_the_last_body_ends() -> None:
    before = threads()
    entered, left = Barrier(2), Barrier(2)
    seen: list[list[int]] = []

    def first() -> None:
        with one_blas_thread():
            entered.wait()
        left.wait()

    def second() -> None:
        with one_blas_thread():
            entered.wait()
            left.wait()  # the first one has ended
            seen.append(threads())

    workers = [Thread(target=each) for each in (first, second)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert seen == [[1] * len(before)]
    assert threads() == before


def test_our_own_vectors_are_taken_as_they_are() -> None:
    X = sparse.random_array((5, 7), density=0.4, format="csr", dtype=np.float32)
    assert check_vectors(X) is X


@pytest.mark.parametrize(
    "X",
    [
        sparse.csr_array(np.arange(1.0, 6)),
        sparse.csr_array((0, 3)),
        sparse.csr_array([[np.nan, 1.0]]),
        sparse.csr_array([[np.inf, 1.0]]),
    ],
    ids=["one dimension", "no documents", "NaN", "infinite"],
)
def test_what_cannot_be_learned_from_is_refused(X: sparse.csr_array) -> None:
    with pytest.raises(ValueError, match=r"2D|minimum|NaN|infinity"):
        check_vectors(X)


def test_whole_numbers_become_floats() -> None:
    assert check_vectors(sparse.csr_array(np.eye(3, dtype=np.int8))).dtype == np.float64
