"""Lines through points, told apart by colour, dash and mark, or points alone; small panels share axes."""

import math
import re
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import NamedTuple

from funnelling.report.content import Curves, Drawing, Points
from funnelling.report.drawing import (
    DASHES,
    FONT,
    SMALL_FONT,
    Panel,
    element,
    logarithmic_ticks,
    nice_step,
    nice_ticks,
    plain_number,
    series_class,
    text_width,
    tick_text,
    write_text,
)
from funnelling.report.tables import escape

Point = tuple[float, float]

_MAX_MARKS = 14
_MAX_NAMES = 10  # of points in one place
_MARKS = (
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
    "M-3.6 -3.6h7.2v7.2h-7.2z",
    "M0 -4.8L4.6 3.4H-4.6z",
    "M0 -5L5 0L0 5L-5 0z",
    "M0 4.8L4.6 -3.4H-4.6z",
    "M-1.5 -5h3v3.5h3.5v3h-3.5v3.5h-3v-3.5h-3.5v-3h3.5z",
    "M-4.6 -2.5L-2.5 -4.6L0 -2.1L2.5 -4.6L4.6 -2.5L2.1 0L4.6 2.5L2.5 4.6L0 2.1L-2.5 4.6L-4.6 2.5L-2.1 0z",
    "M-3.4 0a3.4 3.4 0 1 0 6.8 0a3.4 3.4 0 1 0 -6.8 0z",
)


class _Size(NamedTuple):
    width: float
    height: float
    font: float
    x_ticks: int
    y_ticks: int
    mark: float


_WIDE = _Size(380, 270, FONT, 5, 5, 1.0)
_SMALL = _Size(170, 142, SMALL_FONT, 3, 3, 0.72)


class _Axis(NamedTuple):
    low: float
    high: float
    ticks: Sequence[tuple[float, str]]
    logarithmic: bool

    def share(self, value: float) -> float:
        if self.logarithmic:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


class _Frame(NamedTuple):
    """The area between the axes of a panel."""

    x: _Axis
    y: _Axis
    left: float
    right: float
    top: float
    bottom: float

    def place(self, point: Point) -> Point:
        across, up = self.x.share(point[0]), self.y.share(point[1])
        return (
            self.left + across * (self.right - self.left),
            self.bottom - up * (self.bottom - self.top),
        )


class Drawn(NamedTuple):
    """The panels of a figure, the series in its legend, and a note on its axes."""

    panels: Sequence[Panel]
    series: Sequence[str] = ()
    axes: str = ""


def draw(figure: Drawing) -> Drawn:
    """Draw the panels of a figure: one wide panel, or several small ones."""
    return _draw_curves(figure) if isinstance(figure, Curves) else _draw_points(figure)


def _draw_curves(figure: Curves) -> Drawn:
    series = list(dict.fromkeys(name for lines in figure.panels.values() for name in lines))
    drawable = {
        panel: {name: _drawable(points, figure) for name, points in lines.items()}
        for panel, lines in figure.panels.items()
    }
    size = _WIDE if len(drawable) == 1 else _SMALL
    points = [point for lines in drawable.values() for line in lines.values() for point in line]
    across, up = [x for x, _ in points], [y for _, y in points]
    if figure.diagonal and not (figure.logarithmic or figure.logarithmic_y):
        across = up = [*across, *up]
    axes = (
        _axis(across, size.x_ticks, figure.logarithmic, rounded=figure.diagonal),
        _axis(up, size.y_ticks, figure.logarithmic_y),
    )
    x_title = _axis_title(figure.x_title, figure.logarithmic)
    y_title = _axis_title(figure.y_title, figure.logarithmic_y)
    if sum(len(line) for lines in figure.panels.values() for line in lines.values()) > len(points):
        x_title += " – not drawn: points without a place"
    panels = []
    for title, lines in drawable.items():
        frame, marks = _draw_frame(title, axes, size, (x_title, y_title))
        if figure.diagonal:
            marks.append(_draw_diagonal(frame))
        for name, line in lines.items():
            marks += _draw_line(series.index(name), name, line, frame, size)
        panels.append(Panel(title, _describe(lines), size.width, size.height, "".join(marks)))
    notes = [] if size is _WIDE else [f"→ {x_title}", f"↑ {y_title}"]
    if figure.diagonal:
        notes.append(f"thin grey line: {figure.x_title} = {figure.y_title}")
    return Drawn(panels, series, " · ".join(notes))


def _draw_points(figure: Points) -> Drawn:
    """Draw the one panel of a figure of points. Those in the same place are one mark with all their names."""
    names: dict[Point, list[str]] = {}
    for name, point in figure.points.items():
        for place in _drawable([point], figure):
            names.setdefault(place, []).append(name)
    axes = (
        _axis([x for x, _ in names], _WIDE.x_ticks, figure.logarithmic),
        _axis([y for _, y in names], _WIDE.y_ticks, logarithmic=False),
    )
    titles = _axis_title(figure.x_title, figure.logarithmic), figure.y_title
    frame, marks = _draw_frame("", axes, _WIDE, titles)
    for (x, y), here in names.items():
        further = f" and {len(here) - _MAX_NAMES} more" if len(here) > _MAX_NAMES else ""
        words = f"{', '.join(here[:_MAX_NAMES])}{further}: {x:g}, {y:.3g}"
        marks.append(_mark(0, frame.place((x, y)), _SMALL.mark, words))
    description = f"{len(figure.points)} points."
    return Drawn([Panel("", description, _WIDE.width, _WIDE.height, "".join(marks))])


def swatch(position: int) -> str:
    """A short piece of the line of a series, 32 by 14, for legends."""
    colour = series_class(position)
    line = element("path", d="M1 7H31", class_=f"line {colour}", stroke_dasharray=_dash(position))
    return line + _mark(position, (16, 7), 1.0, "")


def _axis_title(title: str, logarithmic: bool) -> str:
    return f"{title} (logarithmic)" if logarithmic else title


def _drawable(points: Iterable[Point], figure: Drawing) -> list[Point]:
    """The points that have a place on the axes."""
    above_x = 0 if figure.logarithmic else -math.inf
    above_y = 0 if isinstance(figure, Curves) and figure.logarithmic_y else -math.inf
    return [(x, y) for x, y in points if above_x < x < math.inf and above_y < y < math.inf]


def _axis(values: Sequence[float], count: int, logarithmic: bool, rounded: bool = True) -> _Axis:
    """An axis with about ``count`` ticks; a ``rounded`` linear one ends at round numbers."""
    values = values or ([1.0, 10.0] if logarithmic else [0.0, 1.0])
    low, high = min(values), max(values)
    if logarithmic:
        if low == high:
            low, high = low / 2, high * 2
        return _Axis(low, high, logarithmic_ticks(low, high, count), True)
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        low, high = low - (abs(low) or 1) / 2, high + (abs(high) or 1) / 2
    if rounded:
        step = nice_step(low, high, count)
        low, high = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
    return _Axis(low, high, nice_ticks(low, high, count), False)


def _draw_frame(
    title: str, axes: tuple[_Axis, _Axis], size: _Size, titles: tuple[str, str]
) -> tuple[_Frame, list[str]]:
    """The place of a panel's points, and its title and axes as they are drawn."""
    x, y = axes
    x_title, y_title = titles if size is _WIDE else ("", "")
    top = (26.0 if title else 6.0) + (20 if y_title else 0)
    left = max([text_width(text, size.font) for _, text in y.ticks] or [0.0]) + 8
    frame = _Frame(x, y, left, size.width - 9, top, size.height - 20 - (18 if x_title else 0))
    marks = [write_text(0, 14, title, room=size.width, size=FONT, class_="title")] if title else []
    if y_title:
        marks.append(write_text(0, top - 10, y_title, room=size.width, class_="faint"))
    if x_title:
        fits = text_width(x_title) < frame.right - frame.left
        middle = (frame.left + frame.right) / 2 if fits else size.width / 2
        marks.append(_write_faint(middle, size.height - 4, x_title, "middle", room=size.width))
    for value, text in y.ticks:
        height = frame.place((x.low, value))[1]
        marks.append(element("line", x1=left, x2=frame.right, y1=height, y2=height, class_="grid"))
        marks.append(_write_faint(left - 5, height + 4, text, "end", size=size.font))
    base = frame.bottom
    for value, text in x.ticks:
        across = frame.place((value, y.low))[0]
        marks.append(element("line", x1=across, x2=across, y1=base, y2=base + 4, class_="zero"))
        inside = min(across, size.width - text_width(text, size.font) / 2)
        marks.append(_write_faint(inside, base + 16, text, "middle", size=size.font))
    return frame, [*marks, element("line", x1=left, x2=frame.right, y1=base, y2=base, class_="zero")]


def _write_faint(
    x: float, y: float, words: str, anchor: str, room: float = math.inf, size: float = FONT
) -> str:
    return write_text(x, y, words, room=room, size=size, text_anchor=anchor, class_="faint")


def _draw_diagonal(frame: _Frame) -> str:
    low, high = max(frame.x.low, frame.y.low), min(frame.x.high, frame.y.high)
    if low >= high:
        return ""
    steps = [low + (high - low) * step / 24 for step in range(25)] if frame.x.logarithmic else [low, high]
    return element("path", d=_path([frame.place((value, value)) for value in steps]), class_="diagonal")


def _draw_line(position: int, name: str, points: Sequence[Point], frame: _Frame, size: _Size) -> list[str]:
    if not points:
        return []
    places = [frame.place(point) for point in points]
    colour = series_class(position)
    marks = [element("path", d=_path(places), class_=f"line {colour}", stroke_dasharray=_dash(position))]
    # On a long line each series sets its marks elsewhere, so that they do not hide one another.
    stride = math.ceil(len(points) / _MAX_MARKS)
    for number in range(position % stride, len(points), stride):
        x, y = points[number]
        marks.append(_mark(position, places[number], size.mark, f"{name}: {x:g}, {y:.4g}"))
    return marks


def _mark(position: int, place: Point, scale: float, words: str) -> str:
    x, y = map(plain_number, place)
    resized = "" if scale == 1 else f" scale({scale:g})"
    kind = "mark ring" if position % len(_MARKS) == 7 else "mark"
    return element(
        "path",
        element("title", escape(words)) if words else "",
        d=_MARKS[position % len(_MARKS)],
        transform=f"translate({x} {y}){resized}",
        class_=f"{kind} {series_class(position)}",
    )


def _path(places: Sequence[Point]) -> str:
    return "M" + "L".join(f"{plain_number(x)} {plain_number(y)}" for x, y in places)


def _dash(position: int) -> str | None:
    return DASHES[position % len(DASHES)] or None


def _describe(lines: dict[str, list[Point]]) -> str:
    lines_in_words = [
        f"{name}: from {points[0][1]:.3g} at {tick_text(points[0][0])} "
        f"to {points[-1][1]:.3g} at {tick_text(points[-1][0])}"
        for name, points in lines.items()
        if points
    ]
    return "; ".join(lines_in_words) + "." if lines_in_words else "No points."


_MARGIN, _GAP, _MAX_WIDTH, _MIN_WIDTH = 14.0, 18.0, 1100.0, 360.0


def standalone_svg(figure: Drawing) -> str:
    """The text of an SVG file that needs nothing beside it: title, legend and panels in rows."""
    drawn = draw(figure)
    first = drawn.panels[0] if drawn.panels else Panel("", "", 0.0, 0.0, "")
    across, down = first.width + _GAP, first.height + _GAP
    columns = max(1, min(int((_MAX_WIDTH - 2 * _MARGIN + _GAP) // across), len(drawn.panels)))
    width = max(2 * _MARGIN + columns * across - _GAP, _MIN_WIDTH)
    room = width - 2 * _MARGIN
    marks = [write_text(_MARGIN, 24, figure.title, room=room, size=15, class_="title")]
    x, top = _MARGIN, 40.0
    for position, name in enumerate(drawn.series):
        needed = 38 + min(text_width(name), room - 40) + 16
        if x > _MARGIN and x + needed > width - _MARGIN:
            x, top = _MARGIN, top + 20
        marks.append(element("g", swatch(position), transform=f"translate({x:g} {top:g})"))
        marks.append(write_text(x + 38, top + 11, name, room=room - 40))
        x += needed
    top += 24 if drawn.series else 0
    if drawn.axes:
        marks.append(_write_faint(_MARGIN, top + 11, drawn.axes, "start", room=room))
        top += 24
    for number, panel in enumerate(drawn.panels):
        row, column = divmod(number, columns)
        place = {"x": _MARGIN + column * across, "y": top + row * down}
        size = {"width": panel.width, "height": panel.height}
        marks.append(element("svg", panel.marks or " ", **place, **size))
    height = math.ceil(top + math.ceil(len(drawn.panels) / columns) * down)
    opening = [
        element("title", escape(figure.title) or " ", id="figure-title"),
        element("desc", escape(figure.alternative) or " ", id="figure-description"),
        element("style", _light_rules()),
        element("rect", width=width, height=height, class_="ground"),
    ]
    drawing = element(
        "svg",
        "\n".join([*opening, *marks]),
        xmlns="http://www.w3.org/2000/svg",
        class_="drawing",
        role="img",
        aria_labelledby="figure-title figure-description",
        width=width,
        height=height,
        viewBox=f"0 0 {width:g} {height:g}",
    )
    return drawing + "\n"


def _light_rules() -> str:
    """The style of drawings with the light page's colours: many programs that show SVG know no variables."""
    folder = files("funnelling.report").joinpath("templates")
    page, drawing = (folder.joinpath(name).read_text("utf-8") for name in ("page.css", "drawing.css"))
    light = dict(re.findall(r"--([\w-]+): ([^;]+);", page.partition("@media")[0]))
    return re.sub(r"var\(--([\w-]+)\)", lambda match: light[match[1]], drawing)
