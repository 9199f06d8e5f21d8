"""Metrics of predictions from anywhere, in every form that labels come in."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from funnelling.errors import InputError
from funnelling.evaluation.scores import measure

TRUTH, PREDICTED = [["cat"], ["cat", "dog"], []], [["cat"], ["dog"], ["dog"]]
LANGUAGES = ["en", "it", "it"]


def matrix(lists: list[list[str]]) -> np.ndarray:
    return np.array([["cat" in row, "dog" in row] for row in lists])


def test_lists_and_matrices_are_measured_alike() -> None:
    expected = measure(TRUTH, PREDICTED, languages=LANGUAGES)
    assert expected.by_language["en"] == {**expected.by_language["en"], "micro_f1": 1, "documents": 1}
    assert expected.by_language["it"]["micro_f1"] == 0.5  # one right, one wrong, one missed
    assert expected.average["micro_f1"] == 0.75
    forms: list[Any] = [matrix, lambda rows: sparse.csr_array(matrix(rows))]
    for form in forms:
        assert measure(form(TRUTH), form(PREDICTED), languages=LANGUAGES) == expected


def test_without_languages_all_documents_are_one() -> None:
    scores = measure(TRUTH, PREDICTED)
    assert (scores.average["precision"], scores.average["recall"]) == (2 / 3, 2 / 3)
    assert (scores.by_language, scores.calibration) == ({}, None)


def test_calibration_counts_assigned_labels_alone() -> None:
    chances = np.array([[0.95, 0.2], [0.4, 0.85], [0.1, 0.85]])
    calibration = measure(TRUTH, PREDICTED, y_proba=chances).calibration
    assert calibration is not None
    assert [tuple(each.values()) for each in calibration["bins"]] == [(0.8, 0.9, 2, 1), (0.9, 1.0, 1, 1)]
    # Bins from .1 on: .1 of 0, .2 of 0, .4 of 1, 1.7 of 1, .95 of 1
    assert calibration["error"] == pytest.approx((0.1 + 0.2 + 0.6 + 0.7 + 0.05) / 6)
    dicts = [{"cat": row[0], "dog": row[1]} for row in chances.tolist()]
    assert measure(TRUTH, PREDICTED, y_proba=dicts).calibration == calibration


def test_a_frame_has_a_row_per_language() -> None:
    pytest.importorskip("pandas")
    frame = measure(TRUTH, PREDICTED, languages=LANGUAGES).to_frame()
    assert frame.index.tolist() == ["en", "it", "average"]
    assert frame.loc["average", "micro_f1"] == 0.75


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], []), "y_true is empty"),
        (([["cat"], "cat"], ["cat", "cat"]), "y_true has label lists and single labels"),
        ((matrix(TRUTH), TRUTH), "y_true has an indicator matrix, and y_pred label lists"),
    ],
)
def test_what_cannot_be_measured_is_refused(arguments: tuple[Any, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        measure(*arguments)
    with pytest.raises(InputError, match=r"y_proba has shape \(3, 3\), and the labels \(3, 2\)"):
        measure(TRUTH, PREDICTED, y_proba=np.zeros((3, 3)))
