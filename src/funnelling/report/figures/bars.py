"""Bars lie on their side, each with its name before it and its value behind it.

Few bars share one panel, in groups; many are cut into one panel per series, all of the same scale.
"""

from collections.abc import Sequence
from typing import NamedTuple

from funnelling.report.content import Bars, Number
from funnelling.report.figures.drawing import (
    FONT,
    MISSING,
    SMALL_FONT,
    Drawing,
    Panel,
    element,
    known,
    nice_ticks,
    text_width,
    value_texts,
    write_text,
)
from funnelling.report.figures.style import series_class

WIDTH = 340.0
MOST_IN_ONE_PANEL = 20
_ROW, _BAR, _TITLE, _FOOT = 20.0, 13.0, 26.0, 22.0
_PATTERNS = (
    "",
    '<rect class="hatch" width="2.5" height="6"/>',
    '<circle class="hatch" cx="3" cy="3" r="1.6"/>',
    '<rect class="hatch" width="6" height="2.5"/>',
)
_TURNS = (0, 45, 0, 0)


class _Row(NamedTuple):
    label: str
    value: Number = None
    series: int = 0
    heading: bool = False


class _Scale(NamedTuple):
    low: float
    high: float
    left: float
    right: float
    texts: dict[float, str]

    def place(self, value: float) -> float:
        return self.left + (value - self.low) / (self.high - self.low) * (self.right - self.left)


def draw_bars(figure: Bars, prefix: str) -> Drawing:
    """The panels of a figure of bars; ``prefix`` keeps the names of its patterns apart from others'."""
    series = list(figure.series.items())
    if len(series) * len(figure.categories) <= MOST_IN_ONE_PANEL and len(series) > 1:
        rows = []
        for position, category in enumerate(figure.categories):
            rows.append(_Row(category, heading=True))
            rows += [_Row(name, values[position], number) for number, (name, values) in enumerate(series)]
        panels, patterned = [("", rows)], True
    else:
        panels = [
            (
                name if len(series) > 1 else "",
                [_Row(*pair, number) for pair in zip(figure.categories, values, strict=True)],
            )
            for number, (name, values) in enumerate(series)
        ]
        patterned = False
    scale = _shared_scale([row for _, rows in panels for row in rows])
    drawn = [
        _draw_panel(title, rows, scale, figure.value_title, prefix if patterned else "")
        for title, rows in panels
    ]
    return Drawing("bars", drawn)


def _shared_scale(rows: Sequence[_Row]) -> _Scale:
    values = known(row.value for row in rows)
    texts = value_texts(values, 3)
    low, high = min([0.0, *values]), max([0.0, *values])
    if low == high:
        high = 1.0
    gutter = min(max((text_width(row.label) for row in rows if not row.heading), default=0), 0.4 * WIDTH) + 8
    before = max((text_width(texts[value]) + 6 for value in values if value < 0), default=0)
    after = max((text_width(texts[value]) + 6 for value in values if value >= 0), default=14)
    return _Scale(low, high, gutter + before, WIDTH - after - 2, texts)


def _draw_panel(title: str, rows: Sequence[_Row], scale: _Scale, value_title: str, prefix: str) -> Panel:
    top = _TITLE if title else 4.0
    tops = _row_tops(rows, top)
    bottom = (tops[-1] if tops else top) + _ROW
    height = bottom + _FOOT + (16 if value_title else 0)
    marks = [write_text(0, 15, title, room=WIDTH, size=FONT + 1, class_="title")] if title else []
    if prefix:
        marks.append(_define_patterns(prefix, max(row.series for row in rows) + 1 if rows else 0))
    for value, text in nice_ticks(scale.low, scale.high, 4):
        x = scale.place(value)
        marks.append(element("line", x1=x, x2=x, y1=top, y2=bottom, class_="grid"))
        marks.append(write_text(x, bottom + 15, text, size=SMALL_FONT, text_anchor="middle", class_="faint"))
    for row, row_top in zip(rows, tops, strict=True):
        marks += _draw_row(row, row_top, scale, prefix)
    zero = scale.place(0)
    marks.append(element("line", x1=zero, x2=zero, y1=top, y2=bottom, class_="zero"))
    if value_title:
        middle = (scale.left + scale.right) / 2
        middle = min(middle, WIDTH - min(text_width(value_title, SMALL_FONT), WIDTH) / 2)
        marks.append(
            write_text(
                middle,
                height - 5,
                value_title,
                room=WIDTH,
                size=SMALL_FONT,
                text_anchor="middle",
                class_="faint",
            )
        )
    return Panel(title, _describe(rows, scale), WIDTH, height, "".join(marks))


def _row_tops(rows: Sequence[_Row], top: float) -> list[float]:
    """Where each row begins: a heading stands off from the group before it."""
    tops: list[float] = []
    for row in rows:
        if row.heading and tops:
            top += 8
        tops.append(top)
        top += _ROW
    return tops


def _draw_row(row: _Row, top: float, scale: _Scale, prefix: str) -> list[str]:
    base = top + _ROW / 2 + 4
    if row.heading:
        return [write_text(0, base, row.label, room=WIDTH, class_="title")]
    marks = [write_text(0, base, row.label, room=0.4 * WIDTH)]
    zero = scale.place(0)
    if row.value is None or not known([row.value]):
        return [*marks, write_text(zero + 4, base, MISSING, class_="faint")]
    end = scale.place(row.value)
    box = {"x": min(zero, end), "y": top + (_ROW - _BAR) / 2, "width": abs(end - zero), "height": _BAR}
    marks.append(element("rect", class_=f"bar {series_class(row.series)}", **box))
    if prefix and row.series:
        marks.append(element("rect", fill=f"url(#{prefix}-pattern-{row.series})", **box))
    words = scale.texts[row.value]
    if row.value < 0:
        return [*marks, write_text(end - 4, base, words, text_anchor="end")]
    return [*marks, write_text(end + 4, base, words)]


def _define_patterns(prefix: str, count: int) -> str:
    """Patterns for all series but the first; wider ones when the kinds have run out."""
    patterns = []
    for position in range(1, count):
        turn, size = _TURNS[position % 4], 1 + position // 4 * 0.6
        patterns.append(
            element(
                "pattern",
                _PATTERNS[position % 4] or _PATTERNS[1],
                id=f"{prefix}-pattern-{position}",
                width=6,
                height=6,
                patternUnits="userSpaceOnUse",
                patternTransform=f"rotate({turn}) scale({size:g})",
            )
        )
    return element("defs", "".join(patterns)) if patterns else ""


def _describe(rows: Sequence[_Row], scale: _Scale) -> str:
    present = [(row.value, row.label) for row in rows if row.value is not None and known([row.value])]
    if not present:
        return "No values."
    (low, lowest), (high, highest) = min(present), max(present)
    return f"Highest {scale.texts[high]} ({highest}), lowest {scale.texts[low]} ({lowest})."
