"""What a report shows of a comparison: which labels are taken for which."""

from typing import Any

import pytest

from funnelling.evaluation.registry import MEASURES
from funnelling.report.comparison_blocks import MOST_LABELS, comparison_blocks
from funnelling.report.content import HeatMap, TableBlock

CELLS = [["cat", "cat", 8], ["cat", "dog", 2], ["dog", "cat", 3], ["dog", "dog", 1], ["new", "cat", 1]]


def _result(confusion: Any, best: str | None = "naive") -> dict[str, Any]:
    average = dict.fromkeys(MEASURES, 0.5)
    method = {
        "average": average,
        "languages": {"en": {**average, "documents": 15}},
        "deviation": None,
        "fit_seconds": 1.0,
        "predict_seconds": 1.0,
        "reliability": [[15, 0.5, 0.5]],
        "f1_by_examples": [],
        "confusion": confusion,
    }
    return {
        "methods": {"naive": method},
        "significance": {"accuracy": {"best": best, "p": {}}},
        "most_frequent": {"average": average},
        "unknown_labels": 0,
    }


def test_the_most_accurate_method_has_a_matrix_of_truth_by_answer() -> None:
    (figure,) = (block for block in comparison_blocks(_result(CELLS)) if isinstance(block, HeatMap))
    assert figure.title == "Which labels Naive takes for which"
    assert list(figure.rows) == list(figure.columns) == ["cat", "dog", "new"]
    assert figure.values == [[8, 2, 0], [3, 1, 0], [1, 0, 0]]
    assert "Most: 3 of dog taken for cat." in figure.alternative
    assert figure.table().header == ["true \\ given", "cat", "dog", "new"]


def test_of_many_labels_the_most_confused_pairs_are_listed() -> None:
    many = [[f"label {i:02}", f"label {i:02}", 1] for i in range(MOST_LABELS + 1)]
    blocks = comparison_blocks(_result([*many, ["label 00", "label 01", 5], ["label 01", "label 00", 7]]))
    assert not any(isinstance(block, HeatMap) for block in blocks)
    (listed,) = (block for block in blocks if block.name == "confusion")
    assert isinstance(listed, TableBlock)
    assert listed.table.rows == [["label 01", "label 00", "7"], ["label 00", "label 01", "5"]]


@pytest.mark.parametrize("change", [{"best": None}, {"confusion": []}])
def test_nothing_to_confuse(change: dict[str, Any]) -> None:
    blocks = comparison_blocks(_result(**{"confusion": CELLS, **change}))
    assert not any(block.name == "confusion" for block in blocks)
