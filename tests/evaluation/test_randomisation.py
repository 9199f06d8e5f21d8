"""The randomisation test over groups: against all swaps one by one, and what it must not be fooled by."""

import sys
from collections.abc import Hashable, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import ttest_rel

from funnelling.evaluation import measure_languages
from funnelling.evaluation.registry import PAPER_MEASURES, SINGLE_LABEL_MEASURES
from funnelling.evaluation.significance import N_DRAWS, ComparedDecisions, _swaps, randomisation

MAIN = (*SINGLE_LABEL_MEASURES, *PAPER_MEASURES)


def decided(
    truth: Any, languages: Sequence[str], units: Sequence[Hashable], known: Any = None, **given: Any
) -> ComparedDecisions:
    return ComparedDecisions(
        np.asarray(truth, dtype=bool),
        {name: sparse.csr_array(np.asarray(matrix, dtype=bool)) for name, matrix in given.items()},
        {name: (known or {}).get(name, slice(None)) for name in given},
        languages,
        units,
    )


def some_trials(seed: int, trials: int = 2, one_label: bool = False) -> list[ComparedDecisions]:
    """Two methods, one better than the other, on groups that occur in several languages and trials."""
    rng = np.random.default_rng(seed)
    made = []
    for trial in range(trials):
        units = [f"group {(trial + number) % 7}" for number in range(12)]
        if one_label:
            truth, other, third = (np.eye(4, dtype=bool)[rng.integers(0, 4, 12)] for _ in range(3))
            right, wrong = rng.random((2, 12, 1)) < [[[0.7]], [[0.4]]]
            a, b = np.where(right, truth, other), np.where(wrong, truth, third)
        else:
            truth = rng.random((12, 4)) < 0.4
            a, b = truth ^ (rng.random((12, 4)) < 0.1), truth ^ (rng.random((12, 4)) < 0.3)
        made.append(decided(truth, ["en", "it", "it"] * 4, units, a=a, b=b))
    return made


def differences(trials: Sequence[ComparedDecisions], swapped: set[str]) -> dict[str, float]:
    """How far a is above b, averaged as everywhere, once the decisions on some units are swapped."""
    by_trial = []
    for trial in trials:
        swap = np.array([unit in swapped for unit in trial.units])[:, None]
        a, b = (trial.given[name].toarray() for name in "ab")
        first, second = (
            measure_languages(trial.truth, decisions, trial.languages, one_label=True)["average"]
            for decisions in (np.where(swap, b, a), np.where(swap, a, b))
        )
        by_trial.append([first[measure] - second[measure] for measure in MAIN])
    return dict(zip(MAIN, np.mean(by_trial, axis=0), strict=True))


def units_of(trials: Sequence[ComparedDecisions]) -> list[str]:
    return sorted({str(unit) for trial in trials for unit in trial.units})


@pytest.mark.parametrize("one_label", [False, True])
def test_it_counts_the_draws_that_differ_as_much(one_label: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[randomisation.__module__], "N_DRAWS", 100)
    trials = some_trials(3, one_label=one_label)
    units = units_of(trials)
    draws = [set(np.array(units)[column]) for column in _swaps(units, 5).T]
    assert len(draws) == 100
    assert draws[0] == set(), "what was observed is one of the draws"
    values = [differences(trials, draw) for draw in draws]
    for measure, by_pair in randomisation(trials, MAIN, seed=5).items():
        sizes = np.abs([value[measure] for value in values])
        assert by_pair == {("a", "b"): np.mean(sizes >= sizes[0] - 1e-12)}


def test_it_comes_close_to_all_swaps_one_by_one() -> None:
    trials = some_trials(1)
    units = np.array(units_of(trials))
    swaps = product([False, True], repeat=len(units))
    sizes = np.abs([differences(trials, set(units[list(swap)]))["macro_f1_paper"] for swap in swaps])
    exact = np.mean(sizes >= sizes[0] - 1e-12)
    assert 0 < exact < 0.5
    assert randomisation(trials, ["macro_f1_paper"])["macro_f1_paper"]["a", "b"] == pytest.approx(
        exact, abs=0.05
    )


def test_by_hand() -> None:
    # Only swapping none or all three of the groups leaves the methods as far apart: 2 of 8 swaps.
    ones, zeros = np.ones((6, 1)), np.zeros((6, 1))
    trial = decided(ones, ["en", "it"] * 3, [1, 1, 2, 2, 3, 3], a=ones, b=zeros)
    assert randomisation([trial], ["micro_k"])["micro_k"]["a", "b"] == pytest.approx(2 / 8, abs=0.04)


def test_methods_that_decide_alike_do_not_differ() -> None:
    (trial,) = some_trials(0, trials=1)
    alike = decided(trial.truth, trial.languages, trial.units, a=trial.truth, b=trial.truth)
    result = randomisation([alike], MAIN)
    assert all(p == 1 for by_pair in result.values() for p in by_pair.values())


def test_a_method_that_is_clearly_better() -> None:
    truth = np.ones((40, 1))
    trial = decided(truth, ["en"] * 40, range(40), a=truth, b=0 * truth)
    assert randomisation([trial], ["micro_f1"])["micro_f1"] == {("a", "b"): 1 / N_DRAWS}


def test_repeating_a_trial_proves_nothing_more() -> None:
    (once,) = some_trials(1, trials=1)
    languages = [
        measure_languages(once.truth, once.given[name].toarray(), once.languages)["languages"]
        for name in "ab"
    ]
    scores = [[values["macro_f1_paper"] for values in by_language.values()] for by_language in languages]
    single, often = (ttest_rel(*(own * times for own in scores)).pvalue for times in (1, 10))
    assert often < 0.05 < single, "the t-test takes the repetitions for evidence"
    one, ten = (randomisation([once] * times, PAPER_MEASURES) for times in (1, 10))
    assert one == ten
    assert one["macro_f1_paper"]["a", "b"] > 0.05


def test_the_languages_of_a_group_are_swapped_together() -> None:
    truth = np.ones((20, 1))
    languages = [f"l{number}" for number in range(10)] * 2
    groups = ["first"] * 10 + ["second"] * 10
    apart, together = (
        decided(truth, languages, units, a=truth, b=0 * truth) for units in (range(20), groups)
    )
    assert randomisation([apart], ["micro_f1"])["micro_f1"]["a", "b"] < 0.01
    assert randomisation([together], ["micro_f1"])["micro_f1"]["a", "b"] == pytest.approx(0.5, abs=0.05)


def test_neither_the_order_of_methods_nor_other_methods_matter() -> None:
    trials = some_trials(2)
    result = randomisation(trials, PAPER_MEASURES)
    turned = [
        decided(
            trial.truth,
            trial.languages,
            trial.units,
            c=~trial.truth,
            b=trial.given["b"].toarray(),
            a=trial.given["a"].toarray(),
        )
        for trial in trials
    ]
    for measure, by_pair in randomisation(turned, PAPER_MEASURES).items():
        assert by_pair["b", "a"] == result[measure]["a", "b"]
        assert list(by_pair) == [("c", "b"), ("c", "a"), ("b", "a")]


def test_the_order_of_documents_does_not_matter() -> None:
    (trial,) = some_trials(2, trials=1)
    turned = decided(
        trial.truth[::-1],
        trial.languages[::-1],
        trial.units[::-1],
        **{name: given.toarray()[::-1] for name, given in trial.given.items()},
    )
    assert randomisation([turned], PAPER_MEASURES) == randomisation([trial], PAPER_MEASURES)


def test_the_same_seed_gives_the_same_numbers() -> None:
    trials = some_trials(4)
    assert randomisation(trials, MAIN, seed=1) == randomisation(trials, MAIN, seed=1)
    assert randomisation(trials, MAIN, seed=1) != randomisation(trials, MAIN, seed=2)


def test_labels_a_method_cannot_know_are_not_held_against_it() -> None:
    truth = [[1, 1]] * 10
    known = {"b": [0]}
    trial = decided(truth, ["en"] * 10, range(10), known, a=truth, b=[[1, 0]] * 10)
    result = randomisation([trial], ["macro_f1_paper", "accuracy", "macro_f1"])
    assert result["macro_f1_paper"]["a", "b"] == 1
    assert result["macro_f1"]["a", "b"] < 0.05, "of one label each, whoever does not know it is wrong"


def test_few_counts_at_a_time_or_many(monkeypatch: pytest.MonkeyPatch) -> None:
    trials = some_trials(6)
    whole = randomisation(trials, MAIN)
    monkeypatch.setattr(sys.modules[randomisation.__module__], "VALUES_PER_BLOCK", 30)
    assert randomisation(trials, MAIN) == whole
