"""Tables of measures as people read them."""

from collections.abc import Iterable
from typing import Any

import pytest

from funnelling.evaluation.registry import MEASURES, Measure, measures_to_test_by
from funnelling.report.measures import (
    change_table,
    comparison_table,
    languages_table,
    notes,
    side_by_side,
    weighted_table,
)
from funnelling.report.tables import full_header, markdown, plain

SEVERAL = {name: measure for name, measure in MEASURES.items() if name != "accuracy"}
COMPARED = ["micro-F1", "macro-F1"]  # over labels that occur
ONE_LABEL = ["accuracy", "macro-F1"]


def _result(score: float, *languages: str, measures: Iterable[str] = SEVERAL) -> dict[str, Any]:
    values = dict.fromkeys(measures, score)
    return {
        "average": values,
        "languages": {language: {**values, "documents": 40} for language in languages},
        "unknown_labels": 0,
    }


def test_languages_and_their_average() -> None:
    result = _result(0.5, "en", "it")
    table = languages_table(result, paper=True)
    assert full_header(table) == ["language", "documents", *(measure.title for measure in SEVERAL.values())]
    assert table.groups[-1] == ("paper's", 2)
    table = languages_table(result)
    assert full_header(table) == ["language", "documents", "micro-F1", "macro-F1", "precision", "recall"]
    assert [row[:3] for row in table.rows] == [
        ["en", "40", ".500"],
        ["it", "40", ".500"],
        ["average", "80", ".500"],
    ]


def test_above_twelve_languages_the_average_comes_first() -> None:
    names = [f"l{number}" for number in range(13)]
    assert [row[0] for row in languages_table(_result(0.5, *names)).rows] == ["average", *names]
    assert languages_table(_result(0.5, *names[:12])).rows[-1][0] == "average"


def test_a_language_with_few_documents_is_marked() -> None:
    result = _result(0.5, "en", "is")
    result["languages"]["is"] = dict.fromkeys(SEVERAL, 1.0) | {"documents": 10}
    rows = languages_table(result).rows
    assert [row[0] for row in rows] == ["en", "is !", "average"]
    assert notes(result)[0] == "! Fewer than 30 test documents: these metrics are unreliable."
    assert not any(note.startswith("!") for note in notes(_result(0.5, "en", "it")))
    methods = side_by_side({"naive": result, "fun-tat": result})
    assert [row[0] for row in methods.rows] == [row[0] for row in rows]


def test_methods_compared_have_weighted_averages_where_languages_differ_in_size() -> None:
    result = _comparison(None)
    assert weighted_table(result) is None
    for method in result["methods"].values():
        method["languages"] = {
            "en": {**method["average"], "documents": 30},
            "is": dict.fromkeys(method["average"], 0.8) | {"documents": 10},
        }
    table = weighted_table(result)
    assert table is not None
    assert table.header[:3] == ["method", "micro-F1", "macro-F1"]
    assert [row[:2] for row in table.rows] == [["Naive", ".500"], ["Pooled", ".537"], ["Fun(TAT)", ".575"]]
    assert notes(result)[0].startswith("! Fewer than 30")


def test_methods_side_by_side() -> None:
    table = side_by_side({"naive": _result(0.4, "en"), "fun-tat": _result(0.5, "en")})
    assert table.header == ["language", *["Naive", "Fun(TAT)"] * 2]
    assert table.rows == [["en", *[".400", ".500"] * 2], ["average", *[".400", ".500"] * 2]]
    lines = plain(table).splitlines()
    assert lines[0].split() == COMPARED
    assert max(map(len, lines)) <= 80
    assert (
        markdown(table)
        .splitlines()[0]
        .startswith("| language | micro-F1 Naive | micro-F1 Fun(TAT) | macro-F1")
    )


def _comparison(deviation: float | None) -> dict[str, Any]:
    def method(score: float, p: float | None) -> dict[str, Any]:
        values = dict.fromkeys(SEVERAL, score)
        spread = None if deviation is None else dict.fromkeys(SEVERAL, deviation)
        p_value = dict.fromkeys(measures_to_test_by(SEVERAL), p)
        seconds = {"fit_seconds": 1.25, "predict_seconds": 0.5}
        return {"average": values, "deviation": spread, "p_value": p_value, **seconds}

    return {
        "methods": {"naive": method(0.4, 0.01), "pooled": method(0.45, 0.2), "fun-tat": method(0.5, None)},
        "best": dict.fromkeys(measures_to_test_by(SEVERAL), "fun-tat"),
        "dummy": {"assigns_nothing": {"average": dict.fromkeys(SEVERAL, 0.1)}},
        "unknown_labels": 1,
    }


def test_a_comparison_has_daggers_deviations_and_the_constant() -> None:
    assert comparison_table(_comparison(0.02)).header == ["method", *COMPARED, "fit s", "predict s"]
    table = comparison_table(_comparison(0.02), paper=True)
    paper = ["micro-K", "macro-K", "macro-F1", "macro-K"]
    assert table.header == ["method", *COMPARED, *paper, "fit s", "predict s"]
    assert full_header(table)[5:7] == ["paper's macro-F1", "paper's macro-K"]
    naive, pooled, fun, constant = table.rows
    assert naive[:2] == ["Naive", ".400 ± .020††"]
    assert pooled[:2] == ["Pooled", ".450 ± .020†"]
    assert fun[:2] == ["Fun(TAT)", ".500 ± .020"]
    assert pooled[2] == pooled[5] == ".450 ± .020†"  # over labels that occur, and the paper's
    assert naive[-2:] == ["1.2", "0.5"]
    assert constant == ["(assigns nothing)", *[".100"] * 6, "", ""]


def test_one_trial_has_no_deviation() -> None:
    assert comparison_table(_comparison(None)).rows[2][1] == ".500"


def test_notes_count_labels_unknown_to_training() -> None:
    assert not any("unknown" in note for note in notes(_result(0.5, "en")))
    assert "1 label of the test documents unknown to training: not counted" in notes(_comparison(None))


def test_notes_explain_daggers_where_there_are_any() -> None:
    assert notes(_comparison(None))[-1].startswith("† not different")
    beaten = _comparison(None)
    for method in beaten["methods"].values():
        method["p_value"] = {"micro_f1": 1e-9}
    assert not any("†" in note for note in notes(beaten))


def test_a_comparison_shows_a_measure_that_was_added(monkeypatch: pytest.MonkeyPatch) -> None:
    # First in line, so that the best cells must follow their measures.
    registry = {"toy": Measure("toy", lambda _counts: 0.5), **SEVERAL}
    result = _comparison(0.02)
    for method in (*result["methods"].values(), result["dummy"]["assigns_nothing"]):
        method["average"] = dict.fromkeys(registry, 0.4)
        method["deviation"] = dict.fromkeys(registry, 0.02)
    monkeypatch.setattr("funnelling.report.measures.MEASURES", registry)
    monkeypatch.setattr("funnelling.evaluation.registry.MEASURES", registry)
    table = comparison_table(result, paper=True)
    assert table.header[:3] == ["method", "toy", "micro-F1"]
    assert table.rows[0][:3] == ["Naive", ".400 ± .020", ".400 ± .020††"]
    assert table.best == [(2, column) for column in (2, 3, 4, 5, 6, 7)]


class TestOneLabelPerDocument:
    def test_accuracy_stands_for_what_it_equals(self) -> None:
        result = _result(0.5, "en", measures=MEASURES)
        assert full_header(languages_table(result)) == ["language", "documents", *ONE_LABEL]
        paper = ["micro-K", "macro-K", "paper's macro-F1", "paper's macro-K"]
        assert full_header(languages_table(result, paper=True)) == [
            "language",
            "documents",
            *ONE_LABEL,
            *paper,
        ]
        change = change_table({"en": result["average"]}, {"en": result["average"]})
        assert [text for text, _ in change.groups] == ONE_LABEL
        assert [text for text, _ in side_by_side({"naive": result}).groups] == ONE_LABEL

    def test_unknown_labels_are_never_right(self) -> None:
        (line,) = notes({**_result(0.5, "en", measures=MEASURES), "unknown_labels": 2})
        assert line == "2 labels of the test documents unknown to training: never right"

    def test_a_comparison_ends_with_the_most_frequent_label(self) -> None:
        result = _comparison(None)
        floor = {"average": dict.fromkeys(MEASURES, 0.2)}
        for method in result["methods"].values():
            method["average"] = dict.fromkeys(MEASURES, 0.4)
        table = comparison_table({**result, "dummy": {"most_frequent": floor}})
        assert table.header[1:3] == ONE_LABEL
        assert table.rows[-1][:2] == ["(most frequent)", ".200"]
