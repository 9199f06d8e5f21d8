"""Decisions that results keep, and the tests between methods that read them."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import ttest_rel

from funnelling import Corpus, Document
from funnelling.evaluation.comparison import _decided, summarise_methods
from funnelling.evaluation.measuring import (
    evaluate_dummies,
    keep_decisions,
    measure_decisions_in_full,
)
from funnelling.evaluation.registry import measures_to_test_by
from funnelling.evaluation.significance import N_DRAWS, _differences

LABELS = ["a", "b", "c", "new"]


def made_test(trial: int, one_label: bool = False) -> Corpus:
    """Test documents of which half belong to groups; one label is unknown to training."""
    rng = np.random.default_rng(trial)
    documents = []
    for number in range(30):
        labels = rng.choice(LABELS, 1 if one_label else rng.integers(0, 4), replace=False)
        documents.append(
            Document(
                f"{number}",
                "text",
                language=("en", "it")[number % 2],
                labels=tuple(map(str, labels)),
                group=f"group {number // 4}" if number < 16 else None,
            )
        )
    return Corpus.from_documents(documents, one_label)


def result_of(test: Corpus, classes: list[str], noise: float, seed: int) -> dict[str, Any]:
    """The result of a method that knows some labels, and is right but for some noise."""
    rng = np.random.default_rng(seed)
    truth = test.label_matrix(classes)
    if test.one_label:
        random = np.eye(len(classes), dtype=bool)[rng.integers(0, len(classes), len(test))]
        keeps = truth.any(axis=1) & (rng.random(len(test)) > noise)
        decisions = np.where(keeps[:, None], truth, random)
    else:
        decisions = truth ^ (rng.random(truth.shape) < noise)
    full = measure_decisions_in_full(test, decisions, decisions.astype(float), classes, test.one_label)
    return {**full, "examples": [1] * len(classes), "decisions": keep_decisions(decisions, classes)}


def compared(one_label: bool = False) -> tuple[dict[str, Any], list[dict[str, Any]], list[Corpus]]:
    """Three rivals, one of which knows fewer labels than the others, and a method that is none."""
    tests = [made_test(trial, one_label) for trial in range(2)]
    known = LABELS[:3]
    methods = {
        "naive": [result_of(test, known, 0.3, 1) for test in tests],
        "upper-bound": [result_of(test.select([0, 2]), known, 0.0, 2) for test in tests],
        "fun-tat": [result_of(test, known, 0.1, 3) for test in tests],
        "mle": [result_of(test, known[:2], 0.2, 4) for test in tests],
    }
    train = Corpus.from_documents(
        [Document(label, "text", language="en", labels=(label,)) for label in known], one_label
    )
    return methods, [evaluate_dummies(train, test) for test in tests], tests


@pytest.mark.parametrize("one_label", [False, True])
def test_every_pair_of_rivals_has_both_tests(one_label: bool) -> None:
    methods, floor, tests = compared(one_label)
    result = summarise_methods(methods, floor, tests)
    assert list(result["pairs"]) == list(result["best"]) == measures_to_test_by(floor[0]["average"])
    for measure, pairs in result["pairs"].items():
        names = [(pair["a"], pair["b"]) for pair in pairs]
        assert names == [("naive", "fun-tat"), ("naive", "mle"), ("fun-tat", "mle")]
        for pair in pairs:
            scores = [
                [values[measure] for trial in methods[pair[side]] for values in trial["languages"].values()]
                for side in "ab"
            ]
            assert pair["p"] == pytest.approx(ttest_rel(*scores).pvalue)
            assert pair["difference"] == pytest.approx(np.mean(scores[0]) - np.mean(scores[1]))
            assert 1 / N_DRAWS <= pair["p_groups"] <= 1
    if not one_label:
        assert result["pairs"]["micro_f1"][0]["p_groups"] < 0.05


@pytest.mark.parametrize("one_label", [False, True])
def test_the_draw_that_swaps_nothing_is_what_tables_show(one_label: bool) -> None:
    methods, floor, tests = compared(one_label)
    result = summarise_methods(methods, floor, tests)
    rivals = ["naive", "fun-tat", "mle"]
    seen = {(m, pair["a"], pair["b"]): 0.0 for m, pairs in result["pairs"].items() for pair in pairs}
    for number, test in enumerate(tests):
        trial = _decided(test, {name: methods[name][number] for name in rivals}, one_label)
        for (a, b), draws, values in _differences(trial, list(result["pairs"]), 0):
            if draws.start == 0:
                for measure, difference in values.items():
                    seen[measure, a, b] += difference[0] / len(tests)
    shown = {
        (m, pair["a"], pair["b"]): pair["difference"]
        for m, pairs in result["pairs"].items()
        for pair in pairs
    }
    assert seen == pytest.approx(shown)


def test_documents_are_swapped_by_group_or_by_their_id() -> None:
    test = made_test(0)
    units = _decided(
        test, {"a": {"decisions": keep_decisions(test.label_matrix(["a"]), ["a"])}}, one_label=False
    ).units
    assert units[:5] == [("group", "group 0")] * 4 + [("group", "group 1")]
    assert units[-1] == ("document", "29")


def test_without_decisions_there_is_the_t_test_alone() -> None:
    methods, floor, tests = compared()
    del methods["naive"][1]["decisions"]  # kept by an older version
    result = summarise_methods(methods, floor, tests)
    assert [pair["p_groups"] is None for pair in result["pairs"]["macro_f1_paper"]] == [True, True, False]
    assert all(pair["p"] is not None for pair in result["pairs"]["macro_f1_paper"])
    for pairs in summarise_methods(methods, floor)["pairs"].values():
        assert all(pair["p_groups"] is None for pair in pairs)


def test_the_seed_draws() -> None:
    methods, floor, tests = compared()
    first, again, other = (summarise_methods(methods, floor, tests, seed)["pairs"] for seed in (0, 0, 1))
    assert first == again != other
