"""Labels from worst to best, on counts worked out by hand."""

import numpy as np

from funnelling.evaluation.labels import measure_labels

TRUTH = np.array([[1, 1, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0]])
GIVEN = np.array([[1, 0, 0, 0], [0, 0, 0, 1], [1, 1, 0, 0], [1, 0, 0, 0]])
LANGUAGES = ["en", "en", "it", "it"]
LABELS = ["cat", "dog", "absent", "invented"]


def test_the_worst_come_first_and_those_that_do_not_occur_last() -> None:
    rows = measure_labels(TRUTH, GIVEN, LANGUAGES, LABELS)
    assert [row["label"] for row in rows] == ["invented", "cat", "dog", "absent"]
    # cat and dog have the same F1, and cat more documents
    assert [row["f1"] for row in rows] == [0, 2 / 3, 2 / 3, None]


def test_counts_precision_and_recall() -> None:
    by_name = {row["label"]: row for row in measure_labels(TRUTH, GIVEN, LANGUAGES, LABELS)}
    keys = ("support", "n_predicted", "n_correct", "precision", "recall")
    assert [by_name["cat"][key] for key in keys] == [3, 3, 2, 2 / 3, 2 / 3]  # type: ignore[literal-required]
    assert [by_name["dog"][key] for key in keys] == [2, 1, 1, 1, 1 / 2]  # type: ignore[literal-required]
    assert [by_name["invented"][key] for key in keys] == [0, 1, 0, 0, None]  # type: ignore[literal-required]
    assert [by_name["absent"][key] for key in keys] == [0, 0, 0, None, None]  # type: ignore[literal-required]


def test_the_languages_with_mistakes_from_the_worst_on() -> None:
    by_name = {row["label"]: row for row in measure_labels(TRUTH, GIVEN, LANGUAGES, LABELS)}
    assert by_name["dog"]["languages"] == [
        {"language": "en", "support": 1, "n_predicted": 0, "n_correct": 0, "f1": 0.0}
    ]
    assert [each["language"] for each in by_name["cat"]["languages"]] == ["en", "it"]
    assert by_name["absent"]["languages"] == []


def test_the_range_of_thresholds_over_languages() -> None:
    thresholds = np.array([[0.5, 0.2, np.nan, np.nan], [0.5, 0.4, 0.3, np.nan]])
    rows = measure_labels(TRUTH, GIVEN, LANGUAGES, LABELS, thresholds)
    assert {row["label"]: row["threshold"] for row in rows} == {
        "cat": [0.5, 0.5],
        "dog": [0.2, 0.4],
        "absent": [0.3, 0.3],
        "invented": None,
    }
