"""Tables as people read them."""

import pytest

from funnelling.report.tables import Table, number, plain


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
        "日本語      1",
        "cafe\u0301       22",
        "tab here  333",
        "🎉          4",
    ]


def test_a_table_without_rows() -> None:
    assert plain(Table(["a", "b"], [])) == "a  b"


def test_columns_of_words_are_set_to_the_left_and_numbers_to_the_right() -> None:
    table = Table(["missed", "given instead", "documents"], [["cat", "dog", "12"], ["a", "elephant", "3"]])
    assert plain(table).splitlines() == [
        "missed  given instead  documents",
        "cat     dog                   12",
        "a       elephant               3",
    ]
    assert plain(Table(["missed", "together"], [])).splitlines()[0] == "missed  together"
