"""Tables of measures as people read them."""

from typing import Any

import pytest

from funnelling.evaluation.registry import MEASURES, PAPER_MEASURES, Measure
from funnelling.report.measure_tables import comparison_table, languages_table, notes, side_by_side
from funnelling.report.tables import markdown, plain


def _result(score: float, *languages: str) -> dict[str, Any]:
    values = dict.fromkeys(MEASURES, score)
    return {
        "average": values,
        "languages": {language: {**values, "documents": 10} for language in languages},
        "unknown_labels": 0,
    }


def test_languages_and_their_average() -> None:
    table = languages_table(_result(0.5, "en", "it"))
    assert table.header == ["language", "documents", *(measure.title for measure in MEASURES.values())]
    assert [row[:3] for row in table.rows] == [
        ["en", "10", ".500"],
        ["it", "10", ".500"],
        ["average", "20", ".500"],
    ]


def test_methods_side_by_side() -> None:
    table = side_by_side({"naive": _result(0.4, "en"), "fun-tat": _result(0.5, "en")})
    assert table.header == ["language", *["Naive", "Fun(TAT)"] * 4]
    assert table.rows == [["en", *[".400", ".500"] * 4], ["average", *[".400", ".500"] * 4]]
    lines = plain(table).splitlines()
    assert lines[0].split() == [MEASURES[measure].title for measure in PAPER_MEASURES]
    assert max(map(len, lines)) <= 80
    assert (
        markdown(table)
        .splitlines()[0]
        .startswith("| language | micro-F1 Naive | micro-F1 Fun(TAT) | macro-F1")
    )


def _comparison(deviation: float | None) -> dict[str, Any]:
    def method(score: float) -> dict[str, Any]:
        values = dict.fromkeys(MEASURES, score)
        spread = None if deviation is None else dict.fromkeys(MEASURES, deviation)
        return {"average": values, "deviation": spread, "fit_seconds": 1.25, "predict_seconds": 0.5}

    return {
        "methods": {"naive": method(0.4), "pooled": method(0.45), "fun-tat": method(0.5)},
        "significance": {
            measure: {"best": "fun-tat", "p": {"naive": 0.01, "pooled": 0.2}} for measure in PAPER_MEASURES
        },
        "rejector": {"average": dict.fromkeys(MEASURES, 0.1)},
        "unknown_labels": 1,
    }


def test_a_comparison_has_daggers_deviations_and_the_rejector() -> None:
    naive, pooled, fun, rejector = comparison_table(_comparison(0.02)).rows
    assert naive[:2] == ["Naive", ".400 ± .020††"]
    assert pooled[:2] == ["Pooled", ".450 ± .020†"]
    assert fun[:2] == ["Fun(TAT)", ".500 ± .020"]
    assert fun[5] == ".500 ± .020"  # measures beside the paper's are not tested
    assert naive[-2:] == ["1.2", "0.5"]
    assert rejector == ["(rejects all)", *[".100"] * len(MEASURES), "", ""]


def test_one_trial_has_no_deviation() -> None:
    assert comparison_table(_comparison(None)).rows[2][1] == ".500"


def test_notes_count_labels_unknown_to_training() -> None:
    assert not any("unknown" in note for note in notes(_result(0.5, "en")))
    assert "1 label of the test documents unknown to training: not counted" in notes(_comparison(None))


def test_notes_explain_daggers_where_there_are_any() -> None:
    assert notes(_comparison(None))[-1].startswith("† not different")
    beaten = {**_comparison(None), "significance": {"micro_f1": {"best": "fun-tat", "p": {"naive": 1e-9}}}}
    assert not any("†" in note for note in notes(beaten))


def test_a_comparison_shows_a_measure_that_was_added(monkeypatch: pytest.MonkeyPatch) -> None:
    # First in line, so that the best cells must follow their measures.
    registry = {"toy": Measure("toy", lambda _counts: 0.5), **MEASURES}
    result = _comparison(0.02)
    for method in (*result["methods"].values(), result["rejector"]):
        method["average"] = dict.fromkeys(registry, 0.4)
        method["deviation"] = dict.fromkeys(registry, 0.02)
    monkeypatch.setattr("funnelling.report.measure_tables.MEASURES", registry)
    table = comparison_table(result)
    assert table.header[:3] == ["method", "toy", "micro-F1"]
    assert table.rows[0][:3] == ["Naive", ".400 ± .020", ".400 ± .020††"]
    assert table.best == [(2, column) for column in (2, 3, 4, 5)]
