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
        ("[9007199254740993 1]", ["9007199254740993", "1"]),
        ("[1. 2.]", ["1", "2"]),
        ("array(['a', 'b'], dtype='<U1')", ["a", "b"]),
        ("array([], dtype=object)", []),
        ("frozenset({'a'})", ["a"]),
        ("[NaN]", None),
        ("[1e400]", None),
        (f"[{'1' * 5000}]", None),
        (f"[{'1' * 5000} 2]", None),
        (f"list({',dtype=' * 200_000})x", None),
    ],
    ids=range(10),
)
def test_lists(cell: str, labels: list[str] | None) -> None:
    assert read_list(cell) == labels
