"""What a table is, and how it looks as plain text and as Markdown."""

import unicodedata
from collections.abc import Collection, Sequence
from itertools import zip_longest
from typing import NamedTuple

from funnelling.errors import printable


class Table(NamedTuple):
    """Cells as text. ``groups`` are titles over several columns each, beginning with the second, or nothing.

    ``best`` are the positions (row, column) of cells to be marked.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    groups: Sequence[tuple[str, int]] = ()
    best: Collection[tuple[int, int]] = ()


def plain(table: Table) -> str:
    """A table in aligned columns, the first and those of words to the left, numbers to the right.

    >>> rows = [["it", ".5", ".6"], ["average", ".5", ".6"]]
    >>> print(plain(Table(["language", "Naive", "Fun"], rows, [("F1", 2)])))
                  F1
    language  Naive  Fun
    --------  -----  ---
    it           .5   .6
    average      .5   .6
    """
    shown = [[_printable(cell) for cell in row] for row in (table.header, *table.rows)]
    widths = [max(map(_width, column)) for column in zip(*shown, strict=True)]
    to_left = [not place or _has_words(column) for place, column in enumerate(zip(*shown[1:], strict=True))]
    header, *rows = (_line(row, widths, to_left or [True] * len(widths)) for row in shown)
    lines = [_groups_line(table.groups, widths), header, "  ".join("-" * width for width in widths), *rows]
    return "\n".join(line.rstrip() for line in (lines if table.groups else lines[1:]))


def markdown(table: Table) -> str:
    """A table in Markdown, the best cells in bold.

    >>> print(markdown(Table(["language", "Naive"], [["it", ".5"]], [("F1", 1)])))
    | language | F1 Naive |
    | --- | ---: |
    | it | .5 |
    """
    header = full_header(table)
    rule = ["---"] + ["---:"] * (len(header) - 1)
    rows = [
        [f"**{cell}**" if (row, column) in table.best else cell for column, cell in enumerate(cells)]
        for row, cells in enumerate(table.rows)
    ]
    return "\n".join("| " + " | ".join(row) + " |" for row in [header, rule, *rows])


def full_header(table: Table) -> list[str]:
    """A title for each column, that of its group before it."""
    titles = ["", *(f"{text} " if text else "" for text, columns in table.groups for _ in range(columns))]
    return [text + cell for text, cell in zip_longest(titles, table.header, fillvalue="")]


def _line(cells: Sequence[str], widths: Sequence[int], to_left: Sequence[bool]) -> str:
    parts = []
    for cell, width, left in zip(cells, widths, to_left, strict=True):
        padding = " " * (width - _width(cell))
        parts.append(cell + padding if left else padding + cell)
    return "  ".join(parts)


def _has_words(cells: Sequence[str]) -> bool:
    return any(cell[:1].isalpha() for cell in cells)


def _groups_line(groups: Sequence[tuple[str, int]], widths: Sequence[int]) -> str:
    cells, start = [" " * widths[0]], 1
    for text, columns in groups:
        cells.append(text.center(sum(widths[start : start + columns]) + 2 * (columns - 1)))
        start += columns
    return "  ".join(cells)


def _printable(cell: str) -> str:
    """A cell without the line ends, tabs and controls of terminals that a label may hold."""
    return " ".join(printable(cell).split()) if not cell.isprintable() else cell


def _width(text: str) -> int:
    """The columns of a terminal that a text takes: two for wide characters, none for accents of their own."""
    return sum(
        0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in text
    )


def number(value: float) -> str:
    """A score as the paper prints it.

    >>> number(0.6214), number(1.0), number(-0.05)
    ('.621', '1.000', '-.050')
    """
    return f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 0.9995 else f"{value:.3f}"
