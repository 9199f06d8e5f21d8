"""Tables of what goes wrong, as people read them."""

from typing import Any

from funnelling.report.labels import by_label_table, confused_table, confusion_matrix, missed_together_table

ROW: dict[str, Any] = {
    "label": "cat",
    "support": 1200,
    "n_predicted": 3,
    "n_correct": 2,
    "precision": 2 / 3,
    "recall": None,
    "f1": 0.5,
    "threshold": [0.25, 0.5],
    "languages": [{"language": tag, "f1": 0.1} for tag in ("da", "de", "en", "it")],
}


def test_a_label_and_where_it_fails() -> None:
    table = by_label_table([ROW, {**ROW, "threshold": [0.5, 0.5], "languages": ROW["languages"][:1]}])
    assert table.header == [
        *("label", "documents", "predicted", "correct", "precision", "recall", "F1", "threshold", "fails in"),
    ]
    assert table.rows[0] == [
        *("cat", "1,200", "3", "2", ".667", "–", ".500", ".250–.500"),
        "da .100, de .100, en .100, …",
    ]
    assert table.rows[1][-2:] == [".500", "da .100"]


def test_without_thresholds_there_is_no_column_of_them() -> None:
    assert "threshold" not in by_label_table([{**ROW, "threshold": None}]).header


def test_pairs_of_labels() -> None:
    pairs = [["cat", "dog", 1200]]
    assert confused_table(pairs, one_label=True).header == ["label", "taken for", "documents"]
    assert confused_table(pairs, one_label=False).header == ["missed", "given instead", "documents"]
    assert missed_together_table(pairs).rows == [["cat", "dog", "1,200"]]


def test_a_confusion_matrix_has_the_right_answers_on_its_diagonal() -> None:
    table = confusion_matrix([["cat", "cat", 7], ["dog", "cat", 1], ["dog", "dog", 2], ["new", "dog", 1]])
    assert table.header == ["true \\ given", "1", "2", "3"]
    assert table.rows == [["1 cat", "7", "·", "·"], ["2 dog", "1", "2", "·"], ["3 new", "·", "1", "·"]]
