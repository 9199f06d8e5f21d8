"""The content of a report, apart from its looks: sections of prose, tables, figures and texts.

Every figure has a table too, its data as CSV. So have texts.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from funnelling.report.tables import DASH, Table, value_texts

Number = float | None  # None is a value that does not exist


@dataclass(frozen=True)
class TableBlock:
    """A table under a title; ``name`` is that of its file.

    A long table that few read is ``folded``: the page opens it on demand, Markdown leaves it to the file.
    """

    name: str
    title: str
    table: Table
    notes: Sequence[str] = ()
    folded: bool = False


@dataclass(frozen=True)
class Bars:
    """A table of bars: one row per category, one column per series. Values may be negative."""

    name: str
    title: str
    alternative: str  # what the figure shows, in a sentence or two
    categories: Sequence[str]
    series: Mapping[str, Sequence[Number]]
    value_title: str = ""
    category_title: str = ""

    @property
    def values(self) -> list[tuple[Number, ...]]:
        """The values of each category."""
        return list(zip(*self.series.values(), strict=True))

    def table(self) -> Table:
        """Its values: one row per category, one column per series."""
        return _matrix([self.category_title, *self.series], self.categories, self.values)


@dataclass(frozen=True)
class HeatMap:
    """A table of values with shades: the higher the value, the fuller the colour of its cell."""

    name: str
    title: str
    alternative: str
    row_title: str
    column_title: str
    rows: Sequence[str]
    columns: Sequence[str]
    values: Sequence[Sequence[Number]]

    def table(self) -> Table:
        """Its values, laid out as they are shown."""
        return _matrix([f"{self.row_title} \\ {self.column_title}", *self.columns], self.rows, self.values)


@dataclass(frozen=True)
class Curves:
    """Lines through points, in one panel or several small ones of the same axes."""

    name: str
    title: str
    alternative: str
    x_title: str
    y_title: str
    panels: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]]  # panel -> series -> points
    diagonal: bool = False  # draw x = y, what perfect calibration would be
    logarithmic: bool = False  # the x axis
    logarithmic_y: bool = False

    def table(self) -> Table:
        """Its points, one per row."""
        rows = [
            [panel, series, _shown(x), _shown(y)]
            for panel, lines in self.panels.items()
            for series, points in lines.items()
            for x, y in points
        ]
        columns = ["series", self.x_title, self.y_title]
        if list(self.panels) == [""]:
            return Table(columns, [row[1:] for row in rows])
        return Table(["panel", *columns], rows)


@dataclass(frozen=True)
class Points:
    """Separate points, each with a name that shows when it is pointed at."""

    name: str
    title: str
    alternative: str
    point_title: str  # what a point is
    x_title: str
    y_title: str
    points: Mapping[str, tuple[float, float]]
    logarithmic: bool = False  # the x axis

    def table(self) -> Table:
        """Its points, one per row."""
        rows = [[name, _shown(x), _shown(y)] for name, (x, y) in self.points.items()]
        return Table([self.point_title, self.x_title, self.y_title], rows)


@dataclass(frozen=True)
class MarkedText:
    """A text in some language, with what is said of it and the passages that spoke for that, or against it.

    A passage is its start and its end in the text, and its weight, below 0 where it spoke against.
    """

    title: str
    language: str
    facts: Mapping[str, str]
    text: str
    passages: Sequence[tuple[int, int, float]] = ()


@dataclass(frozen=True)
class Texts:
    """Texts below each other, passages marked in them; ``data`` says the same as a table."""

    name: str
    title: str
    texts: Sequence[MarkedText]
    data: Table
    notes: Sequence[str] = ()

    def table(self) -> Table:
        return self.data


Drawing = Curves | Points  # drawn as SVG
Shaped = Bars | HeatMap  # shown as tables whose cells have bars or shades
Block = TableBlock | Drawing | Shaped | Texts


@dataclass(frozen=True)
class Section:
    """A section of a report: paragraphs, then tables and figures."""

    name: str
    title: str
    paragraphs: Sequence[str] = ()
    blocks: Sequence[Block] = ()


@dataclass(frozen=True)
class Report:
    """A whole report.

    ``summary`` answers the questions of a reader in a hurry, at the top. ``facts`` at the end say what was
    run on which data, with which versions and seed.
    """

    title: str
    paragraphs: Sequence[str] = ()
    sections: Sequence[Section] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    summary: Mapping[str, str] = field(default_factory=dict)


def _matrix(header: Sequence[str], names: Sequence[str], values: Sequence[Sequence[Number]]) -> Table:
    rows = [[name, *map(_shown, row)] for name, row in zip(names, values, strict=True)]
    return Table(header, rows)


def known_values(figure: Shaped) -> list[float]:
    """The values of a figure that exist and are finite."""
    return [value for row in figure.values for value in row if value is not None and math.isfinite(value)]


def shown_values(figure: Shaped) -> Table:
    """The table of a figure as people read it: all values with the same number of decimals."""
    texts = value_texts(known_values(figure), 3 if isinstance(figure, Bars) else 2)
    header, rows, *_ = figure.table()
    shown = [
        [name, *(DASH if value is None else texts.get(value, DASH) for value in values)]
        for (name, *_), values in zip(rows, figure.values, strict=True)
    ]
    groups = []
    if isinstance(figure, Bars) and figure.value_title not in ("", *figure.series):
        groups = [(figure.value_title, len(figure.series))]
    return Table(header, shown, groups)


def _shown(value: Number) -> str:
    """A number in full enough for a table of data."""
    return "" if value is None else f"{value:.6g}"


_UNSAFE = re.compile(r"[^a-z0-9]+")


class Slugs:
    """Hands out names of lower-case letters, digits and hyphens, no two the same.

    >>> names = Slugs()
    >>> names.give("Per language"), names.give("per-language"), names.give("../ü")
    ('per-language', 'per-language-2', 'part')
    """

    def __init__(self) -> None:
        self._names: set[str] = set()

    def give(self, wish: str) -> str:
        base = _UNSAFE.sub("-", wish.lower())[:80].strip("-") or "part"
        name, count = base, 1
        while name in self._names:
            count += 1
            name = f"{base}-{count}"
        self._names.add(name)
        return name


def named_sections(report: Report) -> Iterator[tuple[str, Section, list[tuple[str, Block]]]]:
    """The sections of a report with the names of each and of its blocks, which are the same at every call."""
    sections, blocks = Slugs(), Slugs()
    for section in report.sections:
        yield (
            sections.give(section.name or section.title),
            section,
            [(blocks.give(block.name or block.title), block) for block in section.blocks],
        )
