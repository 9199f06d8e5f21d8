"""The measures on counts worked out by hand, and the laws they obey."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from funnelling.evaluation import Counts, f1, k, measure_indicators
from funnelling.evaluation.measures import f1_of_labels, k_of_labels
from funnelling.evaluation.registry import MEASURES
from tests.evaluation.decisions import PREDICTED, TRUTH, pairs


def test_f1_of_each_label() -> None:
    assert f1_of_labels(Counts.of(TRUTH, PREDICTED)) == pytest.approx([2 / 4, 1, 0, 6 / 7, 0])


def test_k_of_each_label() -> None:
    # 1/2 + 1/2 - 1; absent: 2 * 4/4 - 1 and 2 * 3/4 - 1; everywhere: 2 * 3/4 - 1; missed: 0/1 + 3/3 - 1
    assert k_of_labels(Counts.of(TRUTH, PREDICTED)) == pytest.approx([0, 1, 0.5, 0.5, 0])


def test_micro_and_macro() -> None:
    expected = {
        "micro_f1": 8 / 13,
        "macro_f1_paper": (1 / 2 + 1 + 6 / 7) / 5,
        "micro_k": 4 / 7 + 11 / 13 - 1,
        "macro_k_paper": 2 / 5,
        "macro_f1": (1 / 2 + 6 / 7) / 3,
        "macro_k": 0.5 / 3,
        "precision": 4 / 6,
        "recall": 4 / 7,
    }
    measures = measure_indicators(TRUTH, PREDICTED)
    assert {name: measures[name] for name in expected} == pytest.approx(expected)


def test_precision_and_recall_are_those_of_scikit_learn_where_these_exist() -> None:
    from sklearn.metrics import precision_score, recall_score

    measures = measure_indicators(TRUTH, PREDICTED)
    assert measures["precision"] == pytest.approx(precision_score(TRUTH, PREDICTED, average="micro"))
    assert measures["recall"] == pytest.approx(recall_score(TRUTH, PREDICTED, average="micro"))


def test_precision_and_recall_are_0_where_f1_is_for_want_of_answers_or_labels() -> None:
    nothing, everything = np.zeros((2, 2)), np.ones((2, 2))
    for truth, predicted, expected in (
        (everything, nothing, 0),
        (nothing, everything, 0),
        (nothing, nothing, 1),
    ):
        measures = measure_indicators(truth, predicted)
        assert measures["precision"] == measures["recall"] == measures["micro_f1"] == expected


def test_the_cases_of_f1() -> None:
    assert f1([0, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 0]).tolist() == [1, 0, 0, 1]


@pytest.mark.parametrize(
    ("tp", "fp", "fn", "tn", "value"),
    [
        (8, 0, 2, 10, 0.8),
        (0, 10, 5, 0, -1),
        (0, 0, 5, 10, 0),
        (0, 0, 0, 10, 1),
        (0, 10, 0, 0, -1),
        (0, 1, 0, 3, 0.5),
        (10, 0, 0, 0, 1),
        (0, 0, 10, 0, -1),
        (0, 0, 0, 0, 1),
    ],
)
def test_the_cases_of_k(tp: int, fp: int, fn: int, tn: int, value: float) -> None:
    assert k(tp, fp, fn, tn) == pytest.approx(value)


def test_saying_no_to_everything_where_there_is_nothing_is_right() -> None:
    nothing = np.zeros((3, 2))
    assert set(measure_indicators(nothing, nothing).values()) == {1.0}


@given(pairs, st.integers(0, 2**32 - 1))
def test_the_order_of_documents_and_labels_does_not_matter(
    pair: tuple[np.ndarray, np.ndarray], seed: int
) -> None:
    truth, predicted = pair
    random = np.random.default_rng(seed)
    order = np.ix_(random.permutation(truth.shape[0]), random.permutation(truth.shape[1]))
    assert measure_indicators(truth[order], predicted[order]) == pytest.approx(
        measure_indicators(truth, predicted)
    )


@given(pairs)
def test_f1_is_the_same_when_truth_and_prediction_change_places(pair: tuple[np.ndarray, np.ndarray]) -> None:
    truth, predicted = pair
    there, back = measure_indicators(truth, predicted), measure_indicators(predicted, truth)
    assert [there["micro_f1"], there["macro_f1_paper"]] == pytest.approx(
        [back["micro_f1"], back["macro_f1_paper"]]
    )


@given(pairs)
def test_the_measures_keep_their_range_and_truth_is_perfect(pair: tuple[np.ndarray, np.ndarray]) -> None:
    truth, predicted = pair
    for name, value in measure_indicators(truth, predicted).items():
        assert (0 if "f1" in name else -1) <= value <= 1
    assert set(measure_indicators(truth, truth).values()) == {1.0}


@given(pairs)
def test_k_changes_sign_when_every_decision_does(pair: tuple[np.ndarray, np.ndarray]) -> None:
    truth, predicted = pair
    there, back = measure_indicators(truth, predicted), measure_indicators(truth, ~predicted)
    assert there["micro_k"] == pytest.approx(-back["micro_k"])
    assert there["macro_k_paper"] == pytest.approx(-back["macro_k_paper"])


@given(pairs)
def test_an_absent_label_changes_no_micro_f1_and_no_present_macro(
    pair: tuple[np.ndarray, np.ndarray],
) -> None:
    truth, predicted = pair
    if not truth.any():
        return
    absent = np.zeros((len(truth), 1), dtype=bool)
    before, after = (
        measure_indicators(truth, predicted),
        measure_indicators(np.hstack([truth, absent]), np.hstack([predicted, absent])),
    )
    for name in ("micro_f1", "macro_f1", "macro_k"):
        assert after[name] == pytest.approx(before[name])


@given(pairs)
def test_f1_agrees_with_scikit_learn_where_the_conventions_do(pair: tuple[np.ndarray, np.ndarray]) -> None:
    from sklearn.metrics import f1_score

    truth, predicted = pair
    # scikit-learn takes one column for a binary problem and counts its negatives as a class.
    truth, predicted = np.hstack([truth, truth]), np.hstack([predicted, predicted])
    for average, name in (("micro", "micro_f1"), ("macro", "macro_f1_paper")):
        expected = f1_score(truth.astype(int), predicted.astype(int), average=average, zero_division=1)
        assert measure_indicators(truth, predicted)[name] == pytest.approx(expected)


def test_counts_of_many_draws_are_measured_at_once() -> None:
    rng = np.random.default_rng(0)
    single = [Counts.of(rng.random((12, 9)) < 0.2, rng.random((12, 9)) < 0.2) for _ in range(6)]
    single += [Counts.of(np.zeros((3, 9)), np.zeros((3, 9)))] * 2
    tables = np.stack([counts.table() for counts in single], axis=-1).reshape(4, 9, 2, 4)
    for each in MEASURES.values():
        values = each.of(Counts.from_table(tables))
        assert values.shape == (2, 4)
        assert values.ravel() == pytest.approx([float(each.of(counts)) for counts in single])
