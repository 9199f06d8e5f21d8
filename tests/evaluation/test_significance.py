"""The paired t-test against the best method, and the daggers."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_rel

from funnelling.errors import InputError
from funnelling.evaluation import dagger, significance
from funnelling.evaluation.significance import paired_p, rivals_of


def test_p_by_hand() -> None:
    # Differences .1, .2, .3: mean .2, standard error .1/√3, t = 3.4641 with 2 degrees of freedom.
    result = significance({"naive": [0.5, 0.6, 0.5], "fun-tat": [0.6, 0.8, 0.8]})
    assert result["best"] == "fun-tat"
    # For 2 degrees of freedom the two-tailed p is 1 - t / √(t² + 2).
    assert result["p"] == {"naive": pytest.approx(1 - math.sqrt(12 / 14))}


def test_pairs_are_paired_over_trials_and_languages() -> None:
    flat = significance({"a": [0.1, 0.2, 0.3, 0.5], "b": [0.2, 0.2, 0.4, 0.9]})
    square = significance({"a": [[0.1, 0.2], [0.3, 0.5]], "b": np.array([[0.2, 0.2], [0.4, 0.9]])})
    assert flat == square


def test_the_upper_bound_is_left_out() -> None:
    result = significance({"upper-bound": [0.9, 0.8], "a": [0.5, 0.6], "b": [0.5, 0.7]})
    assert result["best"] == "b"
    assert list(result["p"]) == ["a"]
    assert significance({"upper-bound": [0.9]}) == {"best": None, "p": {}}
    assert significance({"a": [0.9, 0.5], "b": [0.1, 0.4]}, exclude=["a"])["best"] == "b"


def test_equal_methods_and_a_constant_difference() -> None:
    base = np.array([0.1, 0.7, 0.3])
    result = significance({"best": base + 0.1, "same": base + 0.1, "below": base})
    assert result == {"best": "best", "p": {"same": 1.0, "below": 0.0}}


def test_one_pair_says_nothing() -> None:
    assert significance({"a": [0.5], "b": [0.6]}) == {"best": "b", "p": {"a": None}}


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ({"a": [0.5, 0.6], "b": [0.5]}, "a has 2 scores and b 1: they must be paired"),
        ({"a": [0.5, math.nan], "b": [0.5, 0.6]}, "a needs at least one score, and every score a finite"),
        ({"a": []}, "a needs at least one score"),
    ],
)
def test_scores_that_cannot_be_paired(scores: dict[str, list[float]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        significance(scores)


score_lists = st.integers(2, 8).flatmap(
    lambda n: st.lists(st.lists(st.floats(-1, 1), min_size=n, max_size=n), min_size=1, max_size=4)
)


@pytest.mark.filterwarnings("error")
@given(score_lists)
def test_p_is_always_a_probability(lists: list[list[float]]) -> None:
    result = significance({str(i): scores for i, scores in enumerate(lists)})
    assert len(result["p"]) == len(lists) - 1
    assert all(p is not None and 0 <= p <= 1 for p in result["p"].values())


@pytest.mark.parametrize(
    ("p", "mark"),
    [(1.0, "†"), (0.05, "†"), (0.0499, "††"), (0.001, "††"), (0.00099, ""), (0.0, ""), (None, "")],
)
def test_daggers(p: float | None, mark: str) -> None:
    assert dagger(p) == mark


def test_the_p_of_a_pair_is_the_same_in_either_order() -> None:
    a, b = [0.5, 0.6, 0.5, 0.9], [0.6, 0.8, 0.8, 0.7]
    assert paired_p(a, b) == pytest.approx(ttest_rel(a, b).pvalue)
    assert paired_p(a, b) == pytest.approx(paired_p(b, a))
    assert paired_p([0.5], [0.6]) is None


def test_rivals() -> None:
    assert rivals_of(["naive", "upper-bound", "fun-tat"]) == ["naive", "fun-tat"]
