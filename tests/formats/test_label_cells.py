"""Labels in cells: numbers stay what they are unless all are whole, and lists hold labels only."""

import pytest

from funnelling.errors import InputError
from funnelling.formats.label_cells import find_label_cells, read_list
from funnelling.formats.layout import Layout


def read(*cells: str) -> list[list[str] | None]:
    found = find_label_cells(dict.fromkeys(cells, 2), Layout(), "d.csv")
    return [found.read(cell) for cell in cells]


def test_numbers_are_whole_where_all_are() -> None:
    assert read("1.0", "2.0", "3") == [["1"], ["2"], ["3"]]
    assert read("1.0", "1.5", "2.0") == [["1.0"], ["1.5"], ["2.0"]]
    assert read("1.000", "2.000") == [["1.000"], ["2.000"]]  # thousands, in some places


@pytest.mark.parametrize("cells", [("1,0", "2,0"), ("3,000", "4,000")])
def test_commas_in_numbers_are_asked_about(cells: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="--label-separator none"):
        read(*cells)


@pytest.mark.parametrize(
    ("cell", "labels"),
    [
        ("[9007199254740993, 1]", ["9007199254740993", "1"]),
        ("[1., 2.5]", ["1", "2.5"]),
        ("('a', 'b')", ["a", "b"]),
        ("['a', \"it's\"]", ["a", "it's"]),
        ("{'b', 'a'}", ["a", "b"]),
        ("[NaN]", None),
        ("[1e400]", None),
        ("[true]", None),
        ("['a', '']", None),
        (f"[{'1' * 5000}]", None),
        ("[" * 100_000 + "]", None),
    ],
    ids=range(11),
)
def test_lists(cell: str, labels: list[str] | None) -> None:
    assert read_list(cell) == labels


@pytest.mark.parametrize(
    "cell",
    [
        "['a' 'b']",
        "[1 2]",
        "[1. 2.]",
        "[np.str_('a'), np.str_('b')]",
        "array(['a', 'b'], dtype='<U1')",
        "array([], dtype=object)",
        "frozenset({'a'})",
        "{news,sport}",
        '{news,"Food, Drink"}',
    ],
)
def test_lists_of_numpy_and_postgresql_are_refused(cell: str) -> None:
    with pytest.raises(InputError, match=r"^d\.csv: .* looks like a list of labels.*--label-separator none"):
        read("x", cell)


@pytest.mark.parametrize("cell", ["set(a)", "array of lists", "[draft] note", "(draft)"])
def test_brackets_alone_are_no_list(cell: str) -> None:
    assert read("x", cell) == [["x"], [cell]]


@pytest.mark.parametrize("separator", ["/", " ", "+", "&", "#"])
def test_other_separators_are_named(separator: str) -> None:
    cells = [separator.join(pair) for pair in ("xy", "yz", "zx")] + ["x", "y", "z"]
    assert read(*cells) == [[cell] for cell in cells]
    found = find_label_cells(dict.fromkeys(cells, 2), Layout(label_separator=separator), "d.csv")
    assert found.read(cells[0]) == ["x", "y"]


def test_an_empty_separator_is_refused() -> None:
    with pytest.raises(InputError, match=r"^the label separator is empty\."):
        Layout(label_separator="")
