"""Classifiers of labels: the problem that is solved, and what it is solved on."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import LinearSVC

from funnelling.funnel.many import one_against_rest
from funnelling.funnel.many.one_against_rest import N_NEAREST_LABELS, buffers, fit_labels, prototypes_of
from funnelling.svm.kernels import native
from tests.funnel.many.corpora import random_matrix

compiled = pytest.mark.skipif(native is None, reason="there is no compiled code")
C = 0.5


def _problem(seed: int = 0, labels: int = 4) -> dict[str, Any]:
    """All documents for each label, some of them its own, from prototypes of zeros."""
    X = random_matrix(60, 12, 0.4, seed)
    signs = np.where(np.random.default_rng(seed).random((labels, 60)) < 0.3, 1, -1).astype(np.int8)
    names = ("values", "columns", "starts")
    prototypes = buffers(sparse.csr_array((labels, 12), dtype=np.float32))
    return {
        "first": 0,
        "last": labels,
        "width": 12,
        **dict(zip(names, buffers(X), strict=True)),
        "norms": X.power(2).sum(axis=1).astype(np.float32),
        **{f"prototype_{name}": each for name, each in zip(names, prototypes, strict=True)},
        "biases": np.zeros(labels, dtype=np.float32),
        "documents": np.tile(np.arange(60, dtype=np.int32), labels),
        "signs": signs.ravel(),
        "problem_starts": np.arange(labels + 1) * 60,
        "C": C,
        "tolerance": 1e-4,
        "rounds": 2000,
        "least": 0.0,
        "seed": 7,
        "out_columns": np.empty(labels * 12, dtype=np.int32),
        "out_values": np.empty(labels * 12, dtype=np.float32),
        "ends": np.empty(labels, dtype=np.int64),
    }


def _solved(solve: Any, given: dict[str, Any]) -> np.ndarray:
    """Weights (labels, features), the bias behind them."""
    solve(*given.values())
    labels, used = len(given["ends"]), given["ends"][-1]
    starts = np.concatenate([[0], given["ends"]])
    weights = sparse.csr_array(
        (given["out_values"][:used], given["out_columns"][:used], starts), (labels, 12)
    )
    return np.column_stack([weights.toarray(), given["biases"]])


SOLVERS = [one_against_rest.solve_labels, *([] if native is None else [native.solve_labels])]


@pytest.mark.parametrize("solve", SOLVERS, ids=["plain", "compiled"][: len(SOLVERS)])
def test_it_is_the_problem_of_linear_svc(solve: Any) -> None:
    given = _problem()
    X = np.column_stack([_dense(given), np.ones(60)])  # the bias as a feature, as heavy as others
    found = _solved(solve, given)
    for label, signs in enumerate(given["signs"].reshape(-1, 60)):
        reference = LinearSVC(
            C=C, loss="squared_hinge", dual=True, fit_intercept=False, tol=1e-6, max_iter=10**5
        )
        np.testing.assert_allclose(found[label], reference.fit(X, signs).coef_[0], atol=2e-3)


@pytest.mark.parametrize("solve", SOLVERS, ids=["plain", "compiled"][: len(SOLVERS)])
def test_without_documents_the_prototype_is_not_moved(solve: Any) -> None:
    prototypes = random_matrix(4, 12, 0.5, 3)
    given = _problem() | dict(
        zip(("prototype_values", "prototype_columns", "prototype_starts"), buffers(prototypes), strict=True)
    )
    given["rounds"] = 1
    given["signs"] = np.ones(240, dtype=np.int8)
    given["biases"] = np.full(4, 100, dtype=np.float32)  # all documents are far on the right side
    found = _solved(solve, given)
    np.testing.assert_allclose(found[:, :12], prototypes.toarray(), atol=1e-6)
    np.testing.assert_array_equal(found[:, 12], 100)


def _dense(given: dict[str, Any]) -> np.ndarray:
    return sparse.csr_array((given["values"], given["columns"], given["starts"]), (60, 12)).toarray()


NUMBER = len(_problem()["values"])
HOSTILE: dict[str, dict[str, Any]] = {
    "more labels than there are": {"last": 5},
    "labels backwards": {"first": 3, "last": 2},
    "labels before the first": {"first": -1},
    "fewer features than columns": {"width": 5},
    "features below 0": {"width": -1},
    "columns beyond the features": {"columns": np.full(NUMBER, 12, dtype=np.int32)},
    "documents beyond all": {"documents": np.full(240, 60, dtype=np.int32)},
    "documents below 0": {"documents": np.full(240, -1, dtype=np.int32)},
    "fewer signs than documents": {"signs": np.ones(239, dtype=np.int8)},
    "problems that end behind the last": {"problem_starts": np.array([0, 60, 120, 180, 10**9])},
    "problems backwards": {"problem_starts": np.array([0, 120, 60, 180, 240])},
    "fewer problems than labels": {"problem_starts": np.array([0, 60, 120, 180])},
    "prototypes beyond the features": {
        "prototype_values": np.ones(1, dtype=np.float32),
        "prototype_columns": np.full(1, 12, dtype=np.int32),
        "prototype_starts": np.array([0, 1, 1, 1, 1]),
    },
    "fewer norms than documents": {"norms": np.zeros(59, dtype=np.float32)},
    "fewer biases than labels": {"biases": np.zeros(3, dtype=np.float32)},
    "too little room for ends": {"ends": np.empty(3, dtype=np.int64)},
    "less room for values than for columns": {"out_values": np.empty(3, dtype=np.float32)},
    "a C of 0": {"C": 0.0},
    "a tolerance of NaN": {"tolerance": np.nan},
    "signs of another kind": {"signs": np.ones(240, dtype=np.int32)},
}


@compiled
@pytest.mark.parametrize("changes", HOSTILE.values(), ids=HOSTILE)
def test_buffers_that_do_not_fit_are_refused(changes: dict[str, Any]) -> None:
    given = _problem() | changes
    with pytest.raises((ValueError, TypeError)):
        native.solve_labels(*given.values())


@compiled
def test_where_there_is_too_little_room_for_weights_nothing_is_written_beyond_it() -> None:
    given = _problem() | {"out_columns": np.full(10, -7, np.int32), "out_values": np.zeros(10, np.float32)}
    given["out_columns"], guard = given["out_columns"][:5], given["out_columns"]
    given["out_values"] = given["out_values"][:5].copy()
    native.solve_labels(*given.values())
    assert given["ends"].tolist() == [5] * 4
    assert (guard[5:] == -7).all()


def _labelled(documents: int = 200) -> tuple[Any, Any]:
    """Documents that have label i where they have much of feature i; label 7 has none."""
    random = np.random.default_rng(0)
    X = random.random((documents, 8)) * (random.random((documents, 8)) < 0.5)
    Y = X > 0.7
    Y[:, 7] = False
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-9)
    return sparse.csr_array(X.astype(np.float32)), sparse.csr_array(Y)


def test_classifiers_rank_the_labels_of_documents_first() -> None:
    X, Y = _labelled()
    fitted = fit_labels(X, Y, 0, "en")
    ranked = fitted.rank(X, 3)
    has = Y.sum(axis=1) > 0
    first = Y.toarray()[np.arange(200), ranked.labels[:, 0]]
    assert first[has].mean() > 0.9
    fitted.check(8, 8)


def test_a_label_without_documents_is_never_ranked() -> None:
    X, Y = _labelled()
    assert (fit_labels(X, Y, 0, "en").rank(X, 8).labels != 7).all()


def test_threads_change_no_bit_and_the_seed_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_against_rest, "MAX_WEIGHTS_PER_BLOCK", 20)  # many ranges of labels
    monkeypatch.setattr(one_against_rest, "N_RANDOM_DOCUMENTS", 5)
    monkeypatch.setattr(one_against_rest, "N_NEAREST_LABELS", 1)
    X, Y = _labelled()
    progress: list[float] = []
    one = fit_labels(X, Y, 0, "en", 1, progress.append)
    two, other = fit_labels(X, Y, 0, "en", 2), fit_labels(X, Y, 1, "en")
    np.testing.assert_array_equal(one.weights.toarray(), two.weights.toarray())
    np.testing.assert_array_equal(one.offsets, two.offsets)
    assert (one.weights.toarray() != other.weights.toarray()).any()
    assert sum(progress) == pytest.approx(2 * 200, abs=8)


def test_plain_python_learns_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    X, Y = _labelled(60)
    monkeypatch.setattr(one_against_rest, "TOLERANCE", 1e-3)
    monkeypatch.setattr(one_against_rest, "ROUNDS", 500)
    monkeypatch.setattr(one_against_rest, "MIN_WEIGHT", 0)
    before = fit_labels(X, Y, 0, "en").weights.toarray()
    monkeypatch.setattr(one_against_rest, "native", None)
    np.testing.assert_allclose(fit_labels(X, Y, 0, "en").weights.toarray(), before, atol=5e-3)


def test_a_prototype_is_the_direction_of_its_documents() -> None:
    X, Y = _labelled()
    lengths = np.linalg.norm(prototypes_of(X, Y).toarray(), axis=0)
    np.testing.assert_allclose(lengths, [*[1] * 7, 0], atol=1e-6)


def test_the_problems_of_labels_hold_their_own_documents_once() -> None:
    X, Y = _labelled()
    near = one_against_rest.top_k_labels(
        X, prototypes_of(X, Y), np.zeros(8, dtype=np.float32), N_NEAREST_LABELS
    )
    problems = one_against_rest._problems(near.labels, Y, np.random.default_rng(0))
    for label in range(8):
        span = slice(problems.starts[label], problems.starts[label + 1])
        rows, signs = problems.documents[span], problems.signs[span]
        assert len(set(rows.tolist())) == len(rows)
        np.testing.assert_array_equal(np.sort(rows[signs > 0]), np.flatnonzero(Y.toarray()[:, label]))
