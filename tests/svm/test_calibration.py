"""Scores become probabilities: Platt's sigmoid as libsvm fits it, and one temperature for all labels."""

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.special import expit

from funnelling.svm.calibration import (
    Calibration,
    Temperature,
    fit_calibration,
    fit_platt,
    fit_temperature,
)

Array = npt.NDArray[np.float64]
Targets = npt.NDArray[np.bool_]


def sigmoid_train(scores: Array, targets: Targets) -> tuple[float, float]:
    """libsvm's sigmoid_train (Lin, Lin and Weng 2007) for one label, word for word; A and B of its form."""
    positives, negatives = int(targets.sum()), int((~targets).sum())
    high, low = (positives + 1.0) / (positives + 2.0), 1.0 / (negatives + 2.0)
    goals = [high if target else low for target in targets]
    A, B = 0.0, math.log((negatives + 1.0) / (positives + 1.0))

    def loss(A: float, B: float) -> float:
        total = 0.0
        for score, goal in zip(scores, goals, strict=True):
            f = score * A + B
            total += (
                goal * f + math.log1p(math.exp(-f)) if f >= 0 else (goal - 1) * f + math.log1p(math.exp(f))
            )
        return total

    value = loss(A, B)
    for _ in range(100):
        h11, h22, h21, g1, g2 = 1e-12, 1e-12, 0.0, 0.0, 0.0
        for score, goal in zip(scores, goals, strict=True):
            f = score * A + B
            p = math.exp(-f) / (1 + math.exp(-f)) if f >= 0 else 1 / (1 + math.exp(f))
            d2, d1 = p * (1 - p), goal - p
            h11 += score * score * d2
            h22 += d2
            h21 += score * d2
            g1 += score * d1
            g2 += d1
        if abs(g1) < 1e-5 and abs(g2) < 1e-5:
            break
        determinant = h11 * h22 - h21 * h21
        dA, dB = -(h22 * g1 - h21 * g2) / determinant, -(-h21 * g1 + h11 * g2) / determinant
        slope = g1 * dA + g2 * dB
        step = 1.0
        while step >= 1e-10:
            new = loss(A + step * dA, B + step * dB)
            if new < value + 0.0001 * step * slope:
                A, B, value = A + step * dA, B + step * dB, new
                break
            step /= 2
        else:
            break
    return A, B


def held_out_scores(documents: int, labels: int, seed: int) -> tuple[Array, Targets]:
    """Scores that tell something about every label, as those of held-out documents do."""
    rng = np.random.default_rng(seed)
    targets = rng.random((documents, labels)) < rng.uniform(0.05, 0.6, labels)
    targets[:2] = [[True] * labels, [False] * labels]
    return rng.normal(size=(documents, labels)) + np.where(targets, 0.5, -1), targets


@pytest.mark.parametrize("seed", range(5))
def test_platt_is_libsvms(seed: int) -> None:
    scores, targets = held_out_scores(60, 6, seed)
    slopes, offsets = fit_platt(scores, targets)
    for label in range(6):
        A, B = sigmoid_train(scores[:, label], targets[:, label])
        assert A < 0, "a label that says nothing about the rule for wrong slopes"
        assert slopes[label] == pytest.approx(-A, abs=1e-4)
        assert offsets[label] == pytest.approx(-B, abs=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_all_labels_at_once_is_one_by_one(seed: int) -> None:
    scores, targets = held_out_scores(50, 8, seed)
    slopes, offsets = fit_platt(scores, targets)
    for label in range(8):
        slope, offset = fit_platt(scores[:, [label]], targets[:, [label]])
        assert (slope[0], offset[0]) == pytest.approx((slopes[label], offsets[label]), rel=1e-12)


def test_targets_are_smoothed_so_that_separated_scores_stay_below_certainty() -> None:
    targets = np.arange(20)[:, None] < 8
    scores = np.where(targets, 1.0, -1.0)
    slope, offset = fit_platt(scores, targets)
    posteriors = expit(scores * slope + offset)
    np.testing.assert_allclose(posteriors[targets], 9 / 10, atol=1e-4)
    np.testing.assert_allclose(posteriors[~targets], 1 / 14, atol=1e-4)


def test_a_slope_of_the_wrong_sign_is_the_median_of_the_others_with_an_offset_of_its_own() -> None:
    scores, targets = held_out_scores(80, 5, 0)
    scores[:, 3] *= -1
    slopes, offsets = fit_platt(scores, targets)
    others = [0, 1, 2, 4]
    assert slopes[3] == pytest.approx(np.median(slopes[others]))
    # Its own offset: with that slope, the mean posterior is the mean of the smoothed targets.
    positives = targets[:, 3].sum()
    goals = np.where(targets[:, 3], (positives + 1) / (positives + 2), 1 / (80 - positives + 2))
    assert expit(scores[:, 3] * slopes[3] + offsets[3]).mean() == pytest.approx(goals.mean(), abs=1e-6)


def test_without_any_right_slope_it_is_one() -> None:
    scores, targets = held_out_scores(80, 2, 0)
    assert fit_platt(-scores, targets)[0].tolist() == [1.0, 1.0]


@given(
    hnp.arrays(np.float32, (30, 2), elements=st.sampled_from([-1e30, -1e6, -1, 0, 1e-30, 1, 1e6, 1e30])),
    hnp.arrays(np.bool_, (30, 2)),
)
def test_no_scores_overflow(scores: npt.NDArray[np.float32], targets: Targets) -> None:
    targets[:2] = [[True, True], [False, False]]
    with np.errstate(all="raise", under="ignore"):
        slopes, offsets = fit_platt(scores, targets)
    assert np.isfinite(slopes).all()
    assert np.isfinite(offsets).all()
    assert (slopes > 0).all()


@pytest.mark.parametrize("constant", [-1.0, 0.0, 3.0])
@pytest.mark.parametrize("documents", [10, 1_000, 100_000])
def test_constant_scores_give_the_share_of_positives(constant: float, documents: int) -> None:
    targets = np.arange(documents)[:, None] % 10 == 0
    scores = np.full((documents, 1), constant)
    slope, offset = fit_platt(scores, targets)
    assert slope[0] > 0
    assert expit(scores[0] * slope + offset)[0] == pytest.approx(0.1, abs=1 / documents)


def test_the_paper_s_three_calibrations() -> None:
    scores, targets = held_out_scores(40, 2, 1)
    new = np.array([[-2.0, 0.5]])
    slopes, offsets = fit_platt(scores, targets)
    expected = {"platt": expit(new * slopes + offsets), "fixed": 1 / (1 + np.exp(-new)), "none": new}
    for kind, posteriors in expected.items():
        np.testing.assert_allclose(fit_calibration(kind, scores, targets)(new), posteriors)


@pytest.mark.parametrize(("kind", "rejected"), [("platt", 0), ("fixed", 0), ("none", 0)])
def test_labels_that_training_left_no_choice_about_are_constant(kind: str, rejected: int) -> None:
    scores, targets = held_out_scores(40, 3, 2)
    targets[:, 0], targets[:, 2] = False, True
    calibration = fit_calibration(kind, scores, targets)
    posteriors = calibration(np.array([[5.0, 0.0, -5.0], [-5.0, 0.0, 5.0]], dtype=np.float32))
    assert posteriors[:, 0].tolist() == [rejected, rejected]
    assert posteriors[:, 2].tolist() == [1, 1]
    assert calibration.trivial.tolist() == [True, False, True]


def test_constant_labels_do_not_disturb_the_others() -> None:
    scores, targets = held_out_scores(40, 3, 3)
    targets[:, 1] = False
    scores[:, 0] *= -1  # takes the median slope of the labels that have one
    some = fit_calibration("platt", scores[:, [0, 2]], targets[:, [0, 2]])
    every = fit_calibration("platt", scores, targets)
    np.testing.assert_array_equal(every.slope[[0, 2]], some.slope)
    np.testing.assert_array_equal(every.offset[[0, 2]], some.offset)


def test_calibrating_leaves_the_scores_as_they_were() -> None:
    scores = np.array([[1.0, 2.0]])
    calibration = Calibration("none", np.ones(2), np.zeros(2), np.array([0, np.nan]))
    assert calibration(scores).tolist() == [[0.0, 2.0]]
    assert scores.tolist() == [[1.0, 2.0]]


@given(hnp.arrays(np.float64, (5, 4), elements=st.floats(-50, 50)), st.floats(1 / 20, 100))
def test_a_temperature_keeps_the_order_and_sums_to_one(scores: Array, slope: float) -> None:
    probabilities = Temperature(slope)(scores)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    for row, probability in zip(scores, probabilities, strict=True):
        assert (np.diff(probability[np.argsort(row)]) >= 0).all()


def test_a_temperature_of_one_column_is_a_sigmoid() -> None:
    np.testing.assert_allclose(Temperature(2.0)(np.array([[-1.0], [0.0]])), expit([[-2.0], [0.0]]))


@pytest.mark.parametrize("columns", [1, 3])
def test_a_temperature_undoes_a_wrong_scale(columns: int) -> None:
    """Labels drawn from the probabilities of some scores: the fit finds the scale that was hidden."""
    rng = np.random.default_rng(4)
    scores = rng.normal(size=(20_000, columns)) * 2
    if columns == 1:
        targets = rng.random((20_000, 1)) < expit(scores)
    else:
        draws = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
        targets = draws[:, None] == np.arange(columns)
    assert fit_temperature(scores / 7, targets).slope == pytest.approx(7, rel=0.05)


def test_a_temperature_has_bounds() -> None:
    targets = np.arange(10)[:, None] < 5
    certain = fit_temperature(np.where(targets, 1.0, -1.0), targets)
    wrong = fit_temperature(np.where(targets, -1.0, 1.0), targets)
    assert 99 < certain.slope <= 100
    assert 1 / 20 <= wrong.slope < 0.051
