"""A measure is one function and one line of the registry; everything else follows it."""

import pytest

from funnelling.evaluation import Counts, measure, measure_languages
from funnelling.evaluation.registry import MEASURES, PAPER_MEASURES, Measure
from funnelling.report.measure_tables import languages_table
from tests.evaluation.decisions import PREDICTED, TRUTH


def accuracy(counts: Counts) -> float:
    """The share of decisions that are right."""
    return float((counts.tp + counts.tn).sum() / counts.table().sum())


def test_the_papers_four_in_their_order() -> None:
    assert PAPER_MEASURES == ("micro_f1", "macro_f1", "micro_k", "macro_k")
    assert list(MEASURES)[:4] == list(PAPER_MEASURES)


def test_a_new_measure_is_measured_by_language_and_averaged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MEASURES, "accuracy", Measure("accuracy", accuracy))
    assert measure(TRUTH, PREDICTED)["accuracy"] == 15 / 20
    result = measure_languages(TRUTH, PREDICTED, ["it", "it", "en", "en"])
    assert result["languages"]["it"]["accuracy"] == 7 / 10
    assert result["average"]["accuracy"] == pytest.approx(15 / 20)


def test_tables_show_a_new_measure_where_the_registry_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    before = measure_languages(TRUTH, PREDICTED, ["it"] * 4)
    monkeypatch.setitem(MEASURES, "accuracy", Measure("accuracy", accuracy))
    monkeypatch.setitem(MEASURES, "hidden", Measure("not to be seen", accuracy, in_tables=False))
    result = measure_languages(TRUTH, PREDICTED, ["it"] * 4)
    table = languages_table(result)
    assert table.header[-1] == "accuracy"
    assert [row[-1] for row in table.rows] == [".750", ".750"]
    assert result["average"]["hidden"] == result["average"]["accuracy"]
    assert "accuracy" not in languages_table(before).header  # measured before there was any
