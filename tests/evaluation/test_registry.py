"""A measure is one function and one line of the registry; everything else follows it."""

import pytest

from funnelling.evaluation import Counts, measure, measure_languages
from funnelling.evaluation.registry import MEASURES, PAPER_MEASURES, Measure
from funnelling.report.measure_tables import languages_table
from tests.evaluation.decisions import PREDICTED, TRUTH


def share_right(counts: Counts) -> float:
    """The share of decisions that are right."""
    return float((counts.tp + counts.tn).sum() / counts.table().sum())


def test_the_papers_four_in_their_order() -> None:
    assert PAPER_MEASURES == ("micro_f1", "macro_f1", "micro_k", "macro_k")
    assert list(measure(TRUTH, PREDICTED))[:4] == list(PAPER_MEASURES)


def test_one_label_per_document_has_two_more_before_them() -> None:
    one_each = [[1, 0], [0, 1]]
    assert list(measure(one_each, one_each, one_label=True)) == list(MEASURES)
    assert list(MEASURES)[:2] == ["accuracy", "sklearn_macro_f1"]


def test_a_new_measure_is_measured_by_language_and_averaged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MEASURES, "share_right", Measure("share right", share_right))
    assert measure(TRUTH, PREDICTED)["share_right"] == 15 / 20
    result = measure_languages(TRUTH, PREDICTED, ["it", "it", "en", "en"])
    assert result["languages"]["it"]["share_right"] == 7 / 10
    assert result["average"]["share_right"] == pytest.approx(15 / 20)


def test_tables_show_a_new_measure_where_the_registry_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    before = measure_languages(TRUTH, PREDICTED, ["it"] * 4)
    monkeypatch.setitem(MEASURES, "share_right", Measure("share right", share_right))
    monkeypatch.setitem(MEASURES, "hidden", Measure("not to be seen", share_right, in_tables=False))
    result = measure_languages(TRUTH, PREDICTED, ["it"] * 4)
    table = languages_table(result)
    assert table.header[-1] == "share right"
    assert [row[-1] for row in table.rows] == [".750", ".750"]
    assert result["average"]["hidden"] == result["average"]["share_right"]
    assert "share right" not in languages_table(before).header  # measured before there was any
