"""The measures on counts worked out by hand, and the laws they obey."""

import json
from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from funnelling.errors import InputError
from funnelling.evaluation import Counts, expected_calibration_error, f1, k, measure, measure_languages

# Four documents, five labels: ordinary, absent and left alone, absent and predicted, everywhere, missed.
TRUTH = np.array(
    [
        [1, 0, 0, 1, 1],
        [1, 0, 0, 1, 0],
        [0, 0, 0, 1, 0],
        [0, 0, 0, 1, 0],
    ]
)
PREDICTED = np.array(
    [
        [1, 0, 1, 1, 0],
        [0, 0, 0, 1, 0],
        [1, 0, 0, 1, 0],
        [0, 0, 0, 0, 0],
    ]
)


def test_counts_of_each_label() -> None:
    counts = Counts.of(TRUTH, PREDICTED)
    assert counts.tp.tolist() == [1, 0, 0, 3, 0]
    assert counts.fp.tolist() == [1, 0, 1, 0, 0]
    assert counts.fn.tolist() == [1, 0, 0, 1, 1]
    assert counts.tn.tolist() == [1, 4, 3, 0, 3]
    assert list(astuple(counts.pooled())) == [[4], [2], [3], [11]]


def test_f1_of_each_label() -> None:
    assert Counts.of(TRUTH, PREDICTED).f1() == pytest.approx([2 / 4, 1, 0, 6 / 7, 0])


def test_k_of_each_label() -> None:
    # 1/2 + 1/2 - 1; absent: 2 * 4/4 - 1 and 2 * 3/4 - 1; everywhere: 2 * 3/4 - 1; missed: 0/1 + 3/3 - 1
    assert Counts.of(TRUTH, PREDICTED).k() == pytest.approx([0, 1, 0.5, 0.5, 0])


def test_micro_and_macro() -> None:
    assert measure(TRUTH, PREDICTED) == pytest.approx(
        {
            "micro_f1": 8 / 13,
            "macro_f1": (1 / 2 + 1 + 6 / 7) / 5,
            "micro_k": 4 / 7 + 11 / 13 - 1,
            "macro_k": 2 / 5,
            "macro_f1_present": (1 / 2 + 6 / 7) / 3,
            "macro_k_present": 0.5 / 3,
        }
    )


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
    assert set(measure(nothing, nothing).values()) == {1.0}


def test_the_measures_are_ready_for_json() -> None:
    result = measure_languages(TRUTH, PREDICTED, ["it", "en", "it", "en"])
    assert json.loads(json.dumps(result)) == result
    assert isinstance(result["languages"]["it"]["documents"], int)


def test_languages_weigh_the_same_whatever_their_size() -> None:
    result = measure_languages([[1], [1], [1], [1]], [[1], [1], [1], [0]], np.array(["it", "it", "it", "en"]))
    assert list(result["languages"]) == ["en", "it"]
    assert result["languages"]["it"]["documents"] == 3
    assert result["average"]["micro_f1"] == 0.5
    assert result["average"]["macro_k"] == 0
    assert "documents" not in result["average"]


@pytest.mark.parametrize(
    ("truth", "predicted", "message"),
    [
        (np.zeros((0, 3)), np.zeros((0, 3)), r"at least one of each, found shape \(0, 3\)"),
        (np.zeros((3, 0)), np.zeros((3, 0)), r"found shape \(3, 0\)"),
        ([1, 0], [1, 0], r"found shape \(2,\)"),
        ([[1, 0]], [[1]], r"truth has shape \(1, 2\) and prediction \(1, 1\)"),
        ([[1, 0]], [[0.3, 0.7]], r"holds only 0 and 1\. Compare scores with a threshold"),
        ([[1, np.nan]], [[1, 0]], r"holds only 0 and 1"),
    ],
)
def test_what_cannot_be_measured_is_refused(truth: object, predicted: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        measure(truth, predicted)  # type: ignore[arg-type]


def test_every_document_needs_a_language() -> None:
    with pytest.raises(InputError, match="2 documents have 1 languages"):
        measure_languages([[1], [1]], [[1], [1]], ["it"])
    with pytest.raises(InputError, match="row 1 has no language"):
        measure_languages([[1], [1]], [[1], [1]], ["it", None])


shapes = st.tuples(st.integers(1, 12), st.integers(1, 6))
pairs = shapes.flatmap(lambda shape: st.tuples(hnp.arrays(bool, shape), hnp.arrays(bool, shape)))


@given(pairs, st.integers(0, 2**32 - 1))
def test_the_order_of_documents_and_labels_does_not_matter(
    pair: tuple[np.ndarray, np.ndarray], seed: int
) -> None:
    truth, predicted = pair
    random = np.random.default_rng(seed)
    order = np.ix_(random.permutation(truth.shape[0]), random.permutation(truth.shape[1]))
    assert measure(truth[order], predicted[order]) == pytest.approx(measure(truth, predicted))


@given(pairs)
def test_f1_is_the_same_when_truth_and_prediction_change_places(pair: tuple[np.ndarray, np.ndarray]) -> None:
    truth, predicted = pair
    there, back = measure(truth, predicted), measure(predicted, truth)
    assert [there["micro_f1"], there["macro_f1"]] == pytest.approx([back["micro_f1"], back["macro_f1"]])


@given(pairs)
def test_the_measures_keep_their_range_and_truth_is_perfect(pair: tuple[np.ndarray, np.ndarray]) -> None:
    truth, predicted = pair
    for name, value in measure(truth, predicted).items():
        assert (0 if "f1" in name else -1) <= value <= 1
    assert set(measure(truth, truth).values()) == {1.0}


@given(pairs)
def test_k_changes_sign_when_every_decision_does(pair: tuple[np.ndarray, np.ndarray]) -> None:
    truth, predicted = pair
    there, back = measure(truth, predicted), measure(truth, ~predicted)
    assert there["micro_k"] == pytest.approx(-back["micro_k"])
    assert there["macro_k"] == pytest.approx(-back["macro_k"])


@given(pairs)
def test_an_absent_label_changes_no_micro_f1_and_no_present_macro(
    pair: tuple[np.ndarray, np.ndarray],
) -> None:
    truth, predicted = pair
    if not truth.any():
        return
    absent = np.zeros((len(truth), 1), dtype=bool)
    before, after = (
        measure(truth, predicted),
        measure(np.hstack([truth, absent]), np.hstack([predicted, absent])),
    )
    for name in ("micro_f1", "macro_f1_present", "macro_k_present"):
        assert after[name] == pytest.approx(before[name])


@given(pairs)
def test_f1_agrees_with_scikit_learn_where_the_conventions_do(pair: tuple[np.ndarray, np.ndarray]) -> None:
    from sklearn.metrics import f1_score

    truth, predicted = pair
    # scikit-learn takes one column for a binary problem and counts its negatives as a class.
    truth, predicted = np.hstack([truth, truth]), np.hstack([predicted, predicted])
    for average in ("micro", "macro"):
        expected = f1_score(truth.astype(int), predicted.astype(int), average=average, zero_division=1)
        assert measure(truth, predicted)[f"{average}_f1"] == pytest.approx(expected)


# Calibration


def test_calibration_error_by_hand() -> None:
    # Bin [.2, .3): .2 and .25, one positive: |.45 - 1|; bin [.9, 1]: .9 and 1, both positive: |1.9 - 2|
    truth, probabilities = [[1, 0], [1, 1]], [[0.2, 0.25], [0.9, 1.0]]
    assert expected_calibration_error(truth, probabilities) == pytest.approx((0.55 + 0.1) / 4)
    assert expected_calibration_error(truth, probabilities, bins=1) == pytest.approx(abs(2.35 - 3) / 4)


@given(pairs)
def test_certain_and_right_is_calibrated(pair: tuple[np.ndarray, np.ndarray]) -> None:
    truth, _ = pair
    assert expected_calibration_error(truth, truth.astype(float)) == 0
    assert expected_calibration_error(truth, 1.0 - truth) == 1


@pytest.mark.parametrize("probability", [-0.1, 1.1, np.nan])
def test_probabilities_lie_between_0_and_1(probability: float) -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        expected_calibration_error([[1]], [[probability]])


def test_calibration_needs_bins_and_documents() -> None:
    with pytest.raises(InputError, match="bins must be at least 1"):
        expected_calibration_error([[1]], [[1.0]], bins=0)
    with pytest.raises(InputError, match="at least one of each"):
        expected_calibration_error(np.zeros((0, 1)), np.zeros((0, 1)))
