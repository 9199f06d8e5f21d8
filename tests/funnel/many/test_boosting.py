"""Boosted trees, as scikit-learn learns and this package keeps them."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from funnelling.funnel.many import boosting
from funnelling.funnel.many.boosting import BoostedTrees, fit_cross_calibrated
from funnelling.state import StateError, check_fields
from funnelling.svm.calibration import sigmoid
from funnelling.svm.kernels import native


def _rows(number: int = 600) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    X = random.normal(size=(number, 4)).astype(np.float32)
    return X, X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * random.normal(size=number) > 0.5


@pytest.fixture(scope="module")
def trees() -> BoostedTrees:
    return BoostedTrees.fitted(*_rows(), seed=0)


def test_probabilities_are_scikit_learns() -> None:
    X, y = _rows()
    learner = HistGradientBoostingClassifier(max_iter=20, early_stopping=False, random_state=0).fit(X, y)
    ours = BoostedTrees._of(learner, 4)
    further = np.random.default_rng(1).normal(size=(300, 4)).astype(np.float32)
    for rows in (X, further):
        np.testing.assert_allclose(ours.probabilities(rows), learner.predict_proba(rows)[:, 1], atol=1e-9)


def test_plain_python_gives_the_same_bits(trees: BoostedTrees, monkeypatch: pytest.MonkeyPatch) -> None:
    X, _ = _rows()
    before = trees.probabilities(X)
    monkeypatch.setattr(boosting, "native", None)
    np.testing.assert_array_equal(trees.probabilities(X), before)


def test_a_row_does_not_depend_on_others(trees: BoostedTrees) -> None:
    X, _ = _rows()
    np.testing.assert_array_equal(trees.probabilities(X)[5:7], trees.probabilities(X[5:7]))
    assert trees.probabilities(X[:0]).shape == (0,)


def test_few_rows_are_enough() -> None:
    X, y = _rows(12)
    assert np.isfinite(BoostedTrees.fitted(X, y, seed=0).probabilities(X)).all()


def test_what_is_said_of_rows_is_as_true_of_others() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(800, 6)).astype(np.float32)
    y = random.random(800) < sigmoid(1.5 * X[:, 0].astype(np.float64))  # noise enough to learn by heart
    halves = np.arange(800) % 2
    trees, probabilities = fit_cross_calibrated(X[:400], y[:400], halves[:400], 0, 2)
    raw, given = BoostedTrees.fitted(X[:400], y[:400], seed=0), y[400:].astype(float)

    def loss(chances: np.ndarray) -> float:
        return float(-np.mean(given * np.log(chances) + (1 - given) * np.log(1 - chances)))

    assert loss(trees.probabilities(X[400:])) < loss(raw.probabilities(X[400:])) - 0.02
    assert abs(probabilities.mean() - y[:400].mean()) < 0.02
    order = raw.log_odds(X[400:]).argsort()
    assert (np.diff(trees.log_odds(X[400:])[order]) >= -1e-12).all()  # in the same order
    one, _ = fit_cross_calibrated(X[:400], y[:400], halves[:400], 0, 1)
    np.testing.assert_array_equal(one.values, trees.values)


def test_a_half_without_right_rows_leaves_trees_as_they_are() -> None:
    X, y = _rows(60)
    trees, _ = fit_cross_calibrated(X, y, np.where(y, 0, 1), 0, None)
    np.testing.assert_array_equal(trees.values, BoostedTrees.fitted(X, y, seed=0).values)


def _with(array: np.ndarray, place: int, value: Any) -> np.ndarray:
    changed = array.copy()
    changed[place] = value
    return changed


FORGED: dict[str, Any] = {
    "a feature that there is not": lambda t: {"features": _with(t.features, 0, 4)},
    "a branch that leads back": lambda t: {"left": _with(t.left, 5, 0)},
    "a branch that leads nowhere": lambda t: {"right": _with(t.right, 0, len(t.right))},
    "a node that is its own right child": lambda t: {"right": _with(t.right, 0, 0)},
    "a root that is none": lambda t: {"roots": _with(t.roots, 0, -1)},
    "fewer values": lambda t: {"values": t.values[:-1]},
    "a threshold of NaN": lambda t: {"thresholds": _with(t.thresholds, 0, np.nan)},
    "wider numbers": lambda t: {"left": t.left.astype(np.int64)},
    "narrower numbers": lambda t: {"values": t.values.astype(np.float32)},
    "another width": lambda _: {"width": 5},
    "no baseline": lambda _: {"baseline": None},
    "no arrays": lambda _: {"features": [0]},
}


def _check(trees: BoostedTrees) -> None:
    check_fields(trees)
    trees.check(4)


@pytest.mark.parametrize("change", FORGED.values(), ids=FORGED)
def test_trees_that_no_fit_leaves_are_refused(change: Any, trees: BoostedTrees) -> None:
    _check(trees)
    with pytest.raises(StateError):
        _check(replace(trees, **change(trees)))


HOSTILE: dict[str, Any] = {
    "rows of another width": lambda _, X: {"X": X[:, :3].copy()},
    "no width": lambda _, __: {"width": 0},
    "fewer sums than rows": lambda _, X: {"sums": np.zeros(len(X) - 1)},
    "a feature that there is not": lambda t, _: {"features": _with(t.features, 0, 4)},
    "a branch that leads back": lambda t, _: {"left": _with(t.left, 5, 0)},
    "a branch that leads nowhere": lambda t, _: {"right": _with(t.right, 0, len(t.right))},
    "a node that is never left": lambda t, _: {"right": _with(t.right, 0, 0)},
    "a root that is none": lambda t, _: {"roots": _with(t.roots, 0, len(t.left))},
    "fewer thresholds": lambda t, _: {"thresholds": t.thresholds[:-1]},
    "numbers of another kind": lambda t, _: {"left": t.left.astype(np.int64)},
}


@pytest.mark.skipif(native is None, reason="there is no compiled code")
@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE)
def test_compiled_code_refuses_what_does_not_fit(change: Any, trees: BoostedTrees) -> None:
    X, _ = _rows()
    names = ("features", "thresholds", "left", "right", "values", "roots")
    given = {"X": X, "width": 4, **{name: getattr(trees, name) for name in names}, "sums": np.zeros(len(X))}
    native.add_trees(*given.values())
    with pytest.raises((ValueError, TypeError)):
        native.add_trees(*(given | change(trees, X)).values())
