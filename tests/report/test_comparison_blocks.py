"""What a report shows of a comparison: which labels are taken for which."""

import csv
import io
from typing import Any

import pytest

from funnelling.evaluation.registry import MEASURES
from funnelling.formats.parquet import is_number
from funnelling.report.comparison import (
    MAX_ROWS_UNFOLDED,
    comparison_blocks,
    comparison_summary,
    pairs_blocks,
)
from funnelling.report.content import HeatMap, Report, Section, TableBlock
from funnelling.report.labels import MAX_MATRIX_LABELS
from funnelling.report.rendering import html_page, markdown_page
from funnelling.report.tables import comma_separated

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
        "p_value": {},
    }
    return {
        "methods": {"naive": method},
        "best": {"accuracy": best},
        "dummy": {"most_frequent": {"average": average}},
        "unknown_labels": 0,
    }


def test_the_most_accurate_method_has_a_matrix_of_truth_by_answer() -> None:
    (figure,) = (block for block in comparison_blocks(_result(CELLS)) if isinstance(block, HeatMap))
    assert figure.title == "Which labels Naive takes for which"
    assert list(figure.rows) == list(figure.columns) == ["cat", "dog", "new"]
    assert figure.values == [[8, 2, 0], [3, 1, 0], [1, 0, 0]]
    assert "Most: 3 of dog taken for cat." in figure.alternative
    assert figure.table().header == ["true \\ given", "cat", "dog", "new"]


def test_the_summary_has_the_best_method_what_it_beats_and_where_it_is_weakest() -> None:
    result = _result([])
    naive = result["methods"]["naive"]
    better = {"average": dict.fromkeys(MEASURES, 0.75)}
    better["languages"] = {
        "en": {**better["average"], "documents": 15},
        "it": {"accuracy": 0.25, "documents": 5},
    }
    result["methods"] = {"naive": naive, "fun-tat": naive | better}
    assert comparison_summary(result) == {
        "What was measured": "2 methods on 20 test documents in 2 languages, by accuracy",
        "Best method": "Fun(TAT)",
        "Better than the baseline?": "Yes: .750 against .500 of Naive",
        "Better than a constant?": "Yes: .750 against .500 of always the most frequent label",
        "Weakest language": "it .250 (the best: en .750)",
    }


def test_the_summary_of_one_method_says_that_nothing_was_compared() -> None:
    summary = comparison_summary(_result([]))
    assert summary["Better than the baseline?"] == "Not compared"
    assert summary["Better than a constant?"].startswith("No: .500 against .500")
    assert "Weakest language" not in summary


def test_of_many_labels_the_most_confused_pairs_are_listed() -> None:
    many = [[f"label {i:02}", f"label {i:02}", 1] for i in range(MAX_MATRIX_LABELS + 1)]
    blocks = comparison_blocks(_result([*many, ["label 00", "label 01", 5], ["label 01", "label 00", 7]]))
    assert not any(isinstance(block, HeatMap) for block in blocks)
    (listed,) = (block for block in blocks if block.name == "confusion")
    assert isinstance(listed, TableBlock)
    assert listed.table.rows == [["label 01", "label 00", "7"], ["label 00", "label 01", "5"]]


@pytest.mark.parametrize("change", [{"best": None}, {"confusion": []}])
def test_nothing_to_confuse(change: dict[str, Any]) -> None:
    blocks = comparison_blocks(_result(**{"confusion": CELLS, **change}))
    assert not any(block.name == "confusion" for block in blocks)


def _pairs(p_groups: float | None = 0.001) -> dict[str, Any]:
    pair = {"a": "naive", "b": "fun-tat", "difference": -0.0123, "p": 1.234e-8, "p_groups": p_groups}
    other = {"a": "naive", "b": "B", "difference": 0.1, "p": None, "p_groups": None}
    return {"pairs": {"micro_f1": [pair, other], "macro_k_paper": [{**pair, "p": 1.0}, other]}}


def test_every_p_is_a_number_in_the_file() -> None:
    (block,) = pairs_blocks("significance", _pairs(), {"B": "one language"})
    header, first, second = csv.reader(io.StringIO(comma_separated(block.table)))
    assert header[:5] == ["method", "minus", "micro-F1 difference", "micro-F1 p", "micro-F1 p over groups"]
    assert first == ["Naive", "Fun(TAT)", "-0.0123", "1.23e-08", "0.001", "-0.0123", "1", "0.001"]
    assert second == ["Naive", "one language", "0.1000", "", "", "0.1000", "", ""]
    assert all(is_number(cell) for cell in first[2:])
    assert (block.name, len(block.notes)) == ("significance", 3)


def test_without_decisions_there_is_the_t_test_alone() -> None:
    (block,) = pairs_blocks("significance", _pairs(None))
    assert block.table.header == [
        *("method", "minus", "micro-F1 difference", "micro-F1 p"),
        *("paper's macro-K difference", "paper's macro-K p"),
    ]
    assert not any("over groups" in note for note in block.notes)


def test_one_method_makes_no_pair() -> None:
    assert pairs_blocks("significance", {"pairs": {"micro_f1": [], "macro_k_paper": []}}) == []


def test_many_pairs_are_folded_away() -> None:
    (few,) = pairs_blocks("significance", _pairs())
    result = _pairs()
    result["pairs"] = {measure: tests * MAX_ROWS_UNFOLDED for measure, tests in result["pairs"].items()}
    (many,) = pairs_blocks("significance", result)
    assert (few.folded, many.folded) == (False, True)
    pages = [Report("Results", sections=[Section("all", "All", blocks=[block])]) for block in (few, many)]
    assert ["<summary>" in html_page(page) for page in pages] == [False, True]
    assert ["| Naive |" in markdown_page(page) for page in pages] == [True, False]
    assert all("[Data as CSV](data/significance.csv)" in markdown_page(page) for page in pages)
