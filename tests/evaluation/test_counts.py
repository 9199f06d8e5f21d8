"""Counts worked out by hand, and what cannot be counted."""

from dataclasses import astuple

import numpy as np
import pytest

from funnelling.errors import InputError
from funnelling.evaluation import Counts, measure_indicators
from tests.evaluation.decisions import PREDICTED, TRUTH


def test_counts_of_each_label() -> None:
    counts = Counts.of(TRUTH, PREDICTED)
    assert counts.tp.tolist() == [1, 0, 0, 3, 0]
    assert counts.fp.tolist() == [1, 0, 1, 0, 0]
    assert counts.fn.tolist() == [1, 0, 0, 1, 1]
    assert counts.tn.tolist() == [1, 4, 3, 0, 3]
    assert list(astuple(counts.pooled())) == [[4], [2], [3], [11]]


def test_a_table_of_counts_gives_them_back() -> None:
    table = Counts.of(TRUTH, PREDICTED).table()
    assert table.shape == (4, 5)
    assert np.array_equal(Counts.from_table(table.tolist()).table(), table)


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
        measure_indicators(truth, predicted)  # type: ignore[arg-type]
