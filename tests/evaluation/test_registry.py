"""A measure is one function and one line of the registry; everything else follows it."""

import pytest

from funnelling.evaluation import Counts, measure_indicators, measure_languages
from funnelling.evaluation.registry import (
    MEASURES,
    PAPER_MEASURES,
    Measure,
    main_measures,
    measures_to_test_by,
)
from funnelling.report.measures import languages_table
from tests.evaluation.decisions import PREDICTED, TRUTH


def share_right(counts: Counts) -> float:
    """The share of decisions that are right."""
    return float((counts.tp + counts.tn).sum() / counts.table().sum())


def test_the_papers_four_in_their_order() -> None:
    assert PAPER_MEASURES == ("micro_f1", "macro_f1_paper", "micro_k", "macro_k_paper")
    assert set(PAPER_MEASURES) < set(measure_indicators(TRUTH, PREDICTED))


def test_macro_averages_over_labels_that_occur_come_first_and_the_papers_bear_its_name() -> None:
    names = list(MEASURES)
    for measured in ("f1", "k"):
        assert MEASURES[f"macro_{measured}"].title == f"macro-{measured.upper()}"
        assert MEASURES[f"macro_{measured}_paper"].title == f"paper's macro-{measured.upper()}"
        assert names.index(f"macro_{measured}") < names.index(f"macro_{measured}_paper")


def test_methods_are_compared_by_labels_that_occur() -> None:
    assert main_measures(MEASURES) == ["accuracy", "micro_f1", "macro_f1", "micro_k", "macro_k"]
    assert measures_to_test_by(measure_indicators(TRUTH, PREDICTED))[-2:] == [
        "macro_f1_paper",
        "macro_k_paper",
    ]


def test_one_label_per_document_has_one_more_before_them() -> None:
    one_each = [[1, 0], [0, 1]]
    assert list(measure_indicators(one_each, one_each, one_label=True)) == list(MEASURES)
    assert list(MEASURES)[:2] == ["accuracy", "micro_f1"]


def test_a_new_measure_is_measured_by_language_and_averaged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MEASURES, "share_right", Measure("share right", share_right))
    assert measure_indicators(TRUTH, PREDICTED)["share_right"] == 15 / 20
    result = measure_languages(TRUTH, PREDICTED, ["it", "it", "en", "en"])
    assert result["languages"]["it"]["share_right"] == 7 / 10
    assert result["average"]["share_right"] == pytest.approx(15 / 20)


def test_tables_show_a_new_measure_where_the_registry_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    before = measure_languages(TRUTH, PREDICTED, ["it"] * 4)
    monkeypatch.setitem(MEASURES, "share_right", Measure("share right", share_right))
    monkeypatch.setitem(MEASURES, "hidden", Measure("the paper's", share_right, paper_only=True))
    result = measure_languages(TRUTH, PREDICTED, ["it"] * 4)
    table = languages_table(result)
    assert table.header[-1] == "share right"
    assert [row[-1] for row in table.rows] == [".750", ".750"]
    assert result["average"]["hidden"] == result["average"]["share_right"]
    assert "share right" not in languages_table(before).header  # measured before there was any
