"""Probabilities against frequencies, on bins worked out by hand."""

import numpy as np
import pytest
from hypothesis import given

from funnelling.errors import InputError
from funnelling.evaluation import expected_calibration_error
from tests.evaluation.decisions import pairs


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
