"""Explanations for readers: what is told, whatever a model can tell."""

from typing import Any

import pytest

from funnelling.report.explanations import document_text, explanation_page, sides

TEXT = "Tea, more tea and no coffee"
TOLD = {
    "probability": 0.9,
    "score": 1.0,
    "threshold": 0.3,
    "assigned": True,
    "spans": [[0, 3, 0.5], [10, 13, 0.25], [18, 20, -0.001], [21, 27, -0.4]],
}
NEAR = {"id": "a/1", "language": "it", "labels": [], "distance": 0.1, "text": "Un tè"}


def row(**changes: Any) -> dict[str, Any]:
    return {
        "id": "1",
        "language": "en",
        "labels": {"drinks": TOLD},
        "neighbours": [NEAR],
        "abstained": None,
        **changes,
    }


def document_html(text: str, row: dict[str, Any], top: int) -> str:
    return "".join(explanation_page("docs.jsonl", [(text, row)], top))


def test_words_are_summed_and_what_adds_nothing_is_left_out() -> None:
    assert sides(TEXT, TOLD, 5) == ([("Tea", 0.75)], [("coffee", -0.4)])


def test_without_places_the_features_are_named() -> None:
    told = {"tier_one": {"words": [["17", 0.3], ["4", -0.2]]}}
    assert sides(TEXT, told, 5) == ([("17", 0.3)], [("4", -0.2)])
    assert sides(TEXT, {}, 5) == ([], [])


@pytest.mark.parametrize("draw", [document_text, document_html])
def test_all_that_matters_is_told(draw: Any) -> None:
    shown = draw(TEXT, row(), 5)
    for word in (
        "drinks",
        "90 %, assigned (above 30 %)",
        "+0.75",
        "−0.40",
        "coffee",
        "a/1",
        "no label",
        "Un tè",
    ):
        assert word in shown


@pytest.mark.parametrize("draw", [document_text, document_html])
@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"labels": {}, "abstained": "unknown-language"}, "cannot label"),
        ({"abstained": "out-of-vocabulary"}, "Out of vocabulary"),
        ({"zero_shot": True}, "no documents in this language"),
        (
            {"labels": {"drinks": {"probability": 1.0, "assigned": False}}, "neighbours": []},
            "100 %, not assigned",
        ),
    ],
)
def test_what_is_odd_is_said(draw: Any, changes: dict[str, Any], says: str) -> None:
    assert says in draw(TEXT, row(**changes), 5)


def test_a_long_text_is_cut_for_a_terminal() -> None:
    text = "filler " * 500 + "tea"
    told = {**TOLD, "spans": [[3500, 3503, 1.0]]}
    shown = document_text(text, row(labels={"drinks": told}), 5)
    assert "[+tea]" in shown
    assert len(shown) < 2_000
