"""Tables as people read them."""

from typing import Any

import pytest

from funnelling.evaluation.measures import MEASURES
from funnelling.report.tables import (
    MEASURE_TITLES,
    Table,
    comparison_table,
    languages_table,
    markdown,
    notes,
    number,
    plain,
    side_by_side,
)


def _result(score: float, *languages: str) -> dict[str, Any]:
    values = dict.fromkeys(MEASURE_TITLES, score)
    return {
        "average": values,
        "languages": {language: {**values, "documents": 10} for language in languages},
        "unknown_labels": 0,
    }


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, ".000"), (1, "1.000"), (-1, "-1.000"), (0.1234, ".123"), (-0.5, "-.500"), (0.9996, "1.000"),
     (0.9994, ".999"), (-0.9996, "-1.000"), (0.0004, ".000")],
)  # fmt: skip
def test_numbers_look_like_the_papers(value: float, text: str) -> None:
    assert number(value) == text


def test_columns_are_aligned_by_what_a_terminal_shows() -> None:
    rows = [["日本語", "1"], ["cafe\u0301", "22"], ["tab\there\n", "333"], ["🎉", "4"]]
    lines = plain(Table(["label", "all"], rows)).splitlines()
    assert lines == [
        "label     all",
        "--------  ---",
        "日本語      1",
        "cafe\u0301       22",
        "tab here  333",
        "🎉          4",
    ]


def test_a_table_without_rows() -> None:
    assert plain(Table(["a", "b"], [])) == "a  b\n-  -"


def test_languages_and_their_average() -> None:
    table = languages_table(_result(0.5, "en", "it"))
    assert table.header == ["language", "documents", *MEASURE_TITLES.values()]
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
    assert lines[0].split() == [MEASURE_TITLES[measure] for measure in MEASURES]
    assert max(map(len, lines)) <= 80
    assert (
        markdown(table)
        .splitlines()[0]
        .startswith("| language | micro-F1 Naive | micro-F1 Fun(TAT) | macro-F1")
    )


def _comparison(deviation: float | None) -> dict[str, Any]:
    def method(score: float) -> dict[str, Any]:
        values = dict.fromkeys(MEASURE_TITLES, score)
        spread = None if deviation is None else dict.fromkeys(MEASURE_TITLES, deviation)
        return {"average": values, "deviation": spread, "fit_seconds": 1.25, "predict_seconds": 0.5}

    return {
        "methods": {"naive": method(0.4), "pooled": method(0.45), "fun-tat": method(0.5)},
        "significance": {
            measure: {"best": "fun-tat", "p": {"naive": 0.01, "pooled": 0.2}} for measure in MEASURES
        },
        "rejector": {"average": dict.fromkeys(MEASURE_TITLES, 0.1)},
        "unknown_labels": 1,
    }


def test_a_comparison_has_daggers_deviations_and_the_rejector() -> None:
    naive, pooled, fun, rejector = comparison_table(_comparison(0.02)).rows
    assert naive[:2] == ["Naive", ".400 ± .020††"]
    assert pooled[:2] == ["Pooled", ".450 ± .020†"]
    assert fun[:2] == ["Fun(TAT)", ".500 ± .020"]
    assert fun[5] == ".500 ± .020"  # measures beside the paper's are not tested
    assert naive[-2:] == ["1.2", "0.5"]
    assert rejector == ["(rejects all)", *[".100"] * 6, "", ""]


def test_one_trial_has_no_deviation() -> None:
    assert comparison_table(_comparison(None)).rows[2][1] == ".500"


def test_notes_count_labels_unknown_to_training() -> None:
    assert not any("unknown" in note for note in notes(_result(0.5, "en")))
    assert "1 label of the test documents unknown to training: not counted" in notes(_comparison(None))


def test_notes_explain_daggers_where_there_are_any() -> None:
    assert notes(_comparison(None))[-1].startswith("† not different")
    beaten = {**_comparison(None), "significance": {"micro_f1": {"best": "fun-tat", "p": {"naive": 1e-9}}}}
    assert not any("†" in note for note in notes(beaten))
