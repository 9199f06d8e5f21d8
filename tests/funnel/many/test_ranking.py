"""The best labels of documents, in compiled code as in plain Python."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from funnelling.funnel.many import one_against_rest
from funnelling.funnel.many.one_against_rest import NO_COLUMN, ROWS_PER_BLOCK, buffers, top_k_labels
from funnelling.svm.kernels import native
from tests.funnel.many.corpora import random_matrix

compiled = pytest.mark.skipif(native is None, reason="there is no compiled code")


@compiled
@settings(deadline=None, max_examples=40)
@given(st.integers(0, 12), st.integers(1, 8), st.integers(1, 15), st.integers(1, 20), st.integers(0, 10**6))
def test_compiled_code_ranks_as_plain_python_does(
    rows: int, features: int, labels: int, k: int, seed: int
) -> None:
    X, weights = random_matrix(rows, features, 0.5, seed), random_matrix(features, labels, 0.5, seed + 1)
    offsets = random_matrix(1, labels, 0.5, seed + 2).toarray()[0]
    k = min(k, labels)
    expected = np.empty((rows, k), dtype=np.int32), np.empty((rows, k), dtype=np.float32)
    one_against_rest.rank_labels(0, rows, *buffers(X), *buffers(weights), offsets, k, *expected)
    ranked = top_k_labels(X, weights, offsets, k)
    np.testing.assert_array_equal(ranked.labels, expected[0])
    np.testing.assert_array_equal(ranked.scores, expected[1])


def test_the_highest_scores_come_first_and_of_equal_ones_the_lower_label() -> None:
    X = random_matrix(40, 6, 0.6, 0)
    weights, offsets = random_matrix(6, 30, 0.6, 1), np.zeros(30, dtype=np.float32)
    ranked = top_k_labels(X, weights, offsets, 30)
    scores = (X @ weights).toarray()
    for row in range(40):
        order = np.lexsort((np.arange(30), -scores[row]))
        order = order[scores[row][order] != 0]
        np.testing.assert_array_equal(ranked.labels[row, : len(order)], order)
        np.testing.assert_array_equal(ranked.labels[row, len(order) :], NO_COLUMN)
        np.testing.assert_array_equal(ranked.scores[row, : len(order)], scores[row][order])


def test_neighbours_and_threads_change_no_bit() -> None:
    X = sparse.random_array(
        (ROWS_PER_BLOCK + 300, 50), density=0.2, rng=np.random.default_rng(0), format="csr"
    )
    weights = sparse.random_array((50, 200), density=0.3, rng=np.random.default_rng(1), format="csr")
    offsets, counted = np.linspace(-1, 1, 200), list[int]()
    one = top_k_labels(X, weights, offsets, 20, 1, counted.append)
    two, some = top_k_labels(X, weights, offsets, 20, 2), top_k_labels(X[7:9], weights, offsets, 20)
    np.testing.assert_array_equal(one.labels, two.labels)
    np.testing.assert_array_equal(one.scores, two.scores)
    np.testing.assert_array_equal(one.scores[7:9], some.scores)
    assert sum(counted) == len(one) == ROWS_PER_BLOCK + 300


def test_without_compiled_code_ranks_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    given = random_matrix(9, 5, 0.7, 3), random_matrix(5, 8, 0.7, 4), np.zeros(8, dtype=np.float32), 4
    before = top_k_labels(*given)
    monkeypatch.setattr(one_against_rest, "native", None)
    np.testing.assert_array_equal(top_k_labels(*given).labels, before.labels)


def _arguments() -> dict[str, Any]:
    """What compiled code takes, all of it fitting: 3 rows, 4 features, 5 labels, 2 of them wanted."""
    names = ("values", "columns", "starts")
    rows = dict(zip(names, buffers(np.ones((3, 4))), strict=True))
    weights = buffers(np.ones((4, 5)))
    return {
        "first": 0,
        "last": 3,
        **rows,
        **{f"weight_{name}": each for name, each in zip(names, weights, strict=True)},
        "offsets": np.zeros(5, dtype=np.float32),
        "k": 2,
        "labels": np.empty((3, 2), dtype=np.int32),
        "scores": np.empty((3, 2), dtype=np.float32),
    }


HOSTILE: dict[str, dict[str, Any]] = {
    "more rows than there are": {"last": 4},
    "rows before the first": {"first": -1},
    "rows backwards": {"first": 2, "last": 1},
    "no label wanted": {"k": 0},
    "more labels wanted than there is room for": {"k": 3},
    "too little room for scores": {"scores": np.empty((3, 1), dtype=np.float32)},
    "columns beyond the features": {"columns": np.full(12, 4, dtype=np.int32)},
    "columns below 0": {"columns": np.full(12, -1, dtype=np.int32)},
    "fewer columns than values": {"columns": np.zeros(11, dtype=np.int32)},
    "rows that begin before the values": {"starts": np.array([-1, 4, 8, 12])},
    "rows that end behind the values": {"starts": np.array([0, 4, 8, 13])},
    "rows that end before they begin": {"starts": np.array([0, 8, 4, 12])},
    "labels beyond all": {"weight_columns": np.full(20, 5, dtype=np.int32)},
    "labels below 0": {"weight_columns": np.full(20, -1, dtype=np.int32)},
    "weights that begin before the first": {"weight_starts": np.array([-5, 5, 10, 15, 20])},
    "weights that end behind the last": {"weight_starts": np.array([0, 5, 10, 15, 10**9])},
    "no labels": {"offsets": np.zeros(0, dtype=np.float32)},
    "numbers of another kind": {"offsets": np.zeros(5)},
    "nothing at all": {"starts": np.zeros(0, dtype=np.int64)},
}


@compiled
@pytest.mark.parametrize("changes", HOSTILE.values(), ids=HOSTILE)
def test_buffers_that_do_not_fit_are_refused(changes: dict[str, Any]) -> None:
    native.rank_labels(*_arguments().values())
    with pytest.raises((ValueError, TypeError)):
        native.rank_labels(*(_arguments() | changes).values())
