"""Bars on their side, and heat maps, each value with its number.

Few bars share one panel, in groups; many are cut into one panel per series, all of the same scale.
"""

from collections.abc import Sequence
from typing import NamedTuple

from funnelling.report.content import Bars, HeatMap, Number
from funnelling.report.figures.drawing import (
    DASH,
    FONT,
    SMALL_FONT,
    Drawing,
    Panel,
    element,
    known,
    nice_ticks,
    series_class,
    text_width,
    value_texts,
    write_text,
)

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
        return [*marks, write_text(zero + 4, base, DASH, class_="faint")]
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


# The scale cividis of Nuñez, Anderton and Renslow, at ten even steps.
_CIVIDIS = (
    (0, 34, 78),
    (18, 53, 112),
    (59, 73, 108),
    (87, 93, 109),
    (112, 113, 115),
    (138, 134, 120),
    (165, 156, 116),
    (195, 179, 105),
    (225, 204, 85),
    (254, 232, 56),
)
_CELL_HEIGHT, _LONGEST_LABEL, _SCALE_WIDTH = 26.0, 150.0, 130.0


def draw_heat_map(figure: HeatMap, prefix: str) -> Drawing:
    """The one panel of a heat map; ``prefix`` keeps the name of its scale apart from others'."""
    values = known(value for row in figure.values for value in row)
    low, high = min(values, default=0.0), max(values, default=1.0)
    texts = {value: _without_point(value, text) for value, text in value_texts(values, 2).items()}
    cell = max([22.0, *(text_width(text, SMALL_FONT) + 7 for text in texts.values())])
    left = min(max([0.0, *map(text_width, figure.rows)]), _LONGEST_LABEL) + 8
    turned = any(text_width(label) > cell - 2 for label in figure.columns)
    label_height = (
        min(max(map(text_width, figure.columns), default=0), _LONGEST_LABEL) + 8 if turned else FONT + 6
    )
    title_height = FONT + 8 if figure.column_title or figure.row_title else 0
    top = title_height + label_height
    right, bottom = left + cell * len(figure.columns), top + _CELL_HEIGHT * len(figure.rows)
    width = right + 2
    if values:
        ends = text_width(texts[low], SMALL_FONT) + text_width(texts[high], SMALL_FONT)
        width = max(width, left + ends + _SCALE_WIDTH + 14)
    marks = _draw_titles(figure, width) if title_height else []
    for number, label in enumerate(figure.columns):
        marks.append(_label_column(label, left + cell * (number + 0.5), top - 6, turned))
    for number, (label, row) in enumerate(zip(figure.rows, figure.values, strict=True)):
        y = top + _CELL_HEIGHT * number
        marks.append(
            write_text(left - 6, y + _CELL_HEIGHT / 2 + 4, label, room=_LONGEST_LABEL, text_anchor="end")
        )
        for position, value in enumerate(row):
            box = {"x": left + cell * position, "y": y, "width": cell - 1, "height": _CELL_HEIGHT - 1}
            if value is None or value not in texts:
                marks += _draw_cell(box, None, DASH)
            else:
                share = (value - low) / (high - low) if high > low else 0.5
                marks += _draw_cell(box, share, texts[value])
    if values:
        marks += _draw_scale(prefix, left, bottom + 14, texts[low], texts[high])
    description = f"{len(figure.rows)} rows by {len(figure.columns)} columns."
    return Drawing("matrix", [Panel("", description, width, bottom + (46 if values else 4), "".join(marks))])


def shade(share: float) -> tuple[int, int, int]:
    """The colour at a share of the scale, from 0, dark, to 1, light."""
    place = min(max(share, 0.0), 1.0) * (len(_CIVIDIS) - 1)
    below = min(int(place), len(_CIVIDIS) - 2)
    rest = place - below
    red, green, blue = (
        round(a + (b - a) * rest) for a, b in zip(_CIVIDIS[below], _CIVIDIS[below + 1], strict=True)
    )
    return red, green, blue


def luminance(colour: Sequence[int]) -> float:
    """How light a colour is, as the rules of accessibility count it."""
    linear = [c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _draw_cell(box: dict[str, float], share: float | None, words: str) -> list[str]:
    place = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2 + 4)
    if share is None:
        return [
            element("rect", class_="empty", **box),
            write_text(*place, words, size=SMALL_FONT, text_anchor="middle", class_="faint"),
        ]
    colour = shade(share)
    # Black is the better ink above this luminance, where both have the same contrast.
    ink = "on-light" if luminance(colour) > 0.179 else "on-dark"
    return [
        element("rect", class_="cell", fill=_hexadecimal(colour), **box),
        write_text(*place, words, size=SMALL_FONT, text_anchor="middle", class_=ink),
    ]


def _draw_titles(figure: HeatMap, width: float) -> list[str]:
    words = " · ".join(
        text
        for text in (
            f"↓ {figure.row_title}" if figure.row_title else "",
            f"→ {figure.column_title}" if figure.column_title else "",
        )
        if text
    )
    return [write_text(2, FONT, words, room=width - 2, size=SMALL_FONT, class_="faint")]


def _label_column(label: str, x: float, y: float, turned: bool) -> str:
    if not turned:
        return write_text(x, y, label, text_anchor="middle")
    turn = f"rotate(-90 {x + 4:.2f} {y:.2f})"
    return write_text(x + 4, y, label, room=_LONGEST_LABEL, transform=turn)


def _draw_scale(prefix: str, left: float, top: float, low: str, high: str) -> list[str]:
    steps = [
        element("stop", offset=number / 9, stop_color=_hexadecimal(colour))
        for number, colour in enumerate(_CIVIDIS)
    ]
    start = left + text_width(low, SMALL_FONT) + 6
    return [
        element("defs", element("linearGradient", "".join(steps), id=f"{prefix}-scale")),
        write_text(start - 6, top + 11, low, size=SMALL_FONT, text_anchor="end", class_="faint"),
        element("rect", x=start, y=top, width=_SCALE_WIDTH, height=14, fill=f"url(#{prefix}-scale)"),
        write_text(start + _SCALE_WIDTH + 6, top + 11, high, size=SMALL_FONT, class_="faint"),
    ]


def _without_point(value: float, text: str) -> str:
    """Whole numbers among fractions need no decimals, which keeps the cells narrow."""
    return f"{value:.0f}".replace("-", "−") if value == int(value) and "." in text else text


def _hexadecimal(colour: Sequence[int]) -> str:
    return "#" + "".join(f"{component:02x}" for component in colour)
