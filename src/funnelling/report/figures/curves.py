"""Lines through points, told apart by colour, dash and mark, or points alone; small panels share axes."""

import math
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from funnelling.report.content import Curves, Points
from funnelling.report.figures.drawing import (
    DASHES,
    FONT,
    SMALL_FONT,
    Drawing,
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
    logarithmic: bool = False

    def share(self, value: float) -> float:
        if self.logarithmic:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


class _Frame(NamedTuple):
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


def draw_curves(figure: Curves, _prefix: str) -> Drawing:
    """The panels of a figure of lines."""
    series = list(dict.fromkeys(name for lines in figure.panels.values() for name in lines))
    drawable = {
        panel: {name: _drawable(points, figure) for name, points in lines.items()}
        for panel, lines in figure.panels.items()
    }
    size = _WIDE if len(drawable) == 1 else _SMALL
    points = [point for lines in drawable.values() for line in lines.values() for point in line]
    x, y = _shared_axes(points, figure, size)
    number = sum(len(line) for lines in figure.panels.values() for line in lines.values())
    x_title = _axis_title(figure.x_title, figure.logarithmic)
    y_title = _axis_title(figure.y_title, figure.logarithmic_y)
    if number > len(points):
        x_title += " – not drawn: points without a place"
    panels = [
        _draw_panel(title, lines, series, (x, y), size, (x_title, y_title), figure.diagonal)
        for title, lines in drawable.items()
    ]
    notes = [] if size is _WIDE else [f"→ {x_title}", f"↑ {y_title}"]
    if figure.diagonal:
        notes.append(f"thin grey line: {figure.x_title} = {figure.y_title}")
    return Drawing("wide" if size is _WIDE else "small", panels, series, " · ".join(notes))


def draw_points(figure: Points, _prefix: str) -> Drawing:
    """The one panel of a figure of points; those in the same place are one mark with all their names."""
    names: dict[Point, list[str]] = {}
    for name, (x, y) in figure.points.items():
        if math.isfinite(x) and math.isfinite(y) and (x > 0 or not figure.logarithmic):
            names.setdefault((x, y), []).append(name)
    across, up = [x for x, _ in names], [y for _, y in names]
    scale = _logarithmic_axis if figure.logarithmic else partial(_linear_axis, rounded=True)
    axes = scale(across, _WIDE.x_ticks), _linear_axis(up, _WIDE.y_ticks, rounded=True)
    titles = _axis_title(figure.x_title, figure.logarithmic), figure.y_title
    frame, marks = _draw_frame("", axes, _WIDE, titles)
    for (x, y), of_place in names.items():
        words = f"{_listed(of_place)}: {x:g}, {y:.3g}"
        marks.append(_mark(0, frame.place((x, y)), _SMALL.mark, words))
    description = f"{len(figure.points)} points."
    return Drawing("wide", [Panel("", description, _WIDE.width, _WIDE.height, "".join(marks))])


def _listed(names: Sequence[str]) -> str:
    further = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    return ", ".join(names[:_MAX_NAMES]) + further


def swatch(position: int) -> str:
    """A short piece of the line of a series, 32 by 14, for legends."""
    line = element(
        "path", d="M1 7H31", class_=f"line {series_class(position)}", stroke_dasharray=_dash(position)
    )
    return line + _mark(position, (16, 7), 1.0, "")


def _axis_title(title: str, logarithmic: bool) -> str:
    return f"{title} (logarithmic)" if logarithmic else title


def _drawable(points: Sequence[Point], figure: Curves) -> list[Point]:
    return [
        (x, y)
        for x, y in points
        if math.isfinite(x)
        and math.isfinite(y)
        and (x > 0 or not figure.logarithmic)
        and (y > 0 or not figure.logarithmic_y)
    ]


def _shared_axes(points: Sequence[Point], figure: Curves, size: _Size) -> tuple[_Axis, _Axis]:
    across, up = [x for x, _ in points], [y for _, y in points]
    if figure.diagonal and not (figure.logarithmic or figure.logarithmic_y):
        across = up = [*across, *up]
    x = (
        _logarithmic_axis(across, size.x_ticks)
        if figure.logarithmic
        else _linear_axis(across, size.x_ticks, rounded=figure.diagonal)
    )
    y = (
        _logarithmic_axis(up, size.y_ticks)
        if figure.logarithmic_y
        else _linear_axis(up, size.y_ticks, rounded=True)
    )
    return x, y


def _logarithmic_axis(values: Sequence[float], count: int) -> _Axis:
    low, high = (min(values), max(values)) if values else (1.0, 10.0)
    if low == high:
        low, high = low / 2, high * 2
    return _Axis(low, high, logarithmic_ticks(low, high, count), logarithmic=True)


def _linear_axis(values: Sequence[float], count: int, rounded: bool) -> _Axis:
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        low, high = low - (abs(low) or 1) / 2, high + (abs(high) or 1) / 2
    if rounded:
        step = nice_step(low, high, count)
        low, high = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
    return _Axis(low, high, nice_ticks(low, high, count))


def _draw_panel(
    title: str,
    lines: dict[str, list[Point]],
    series: Sequence[str],
    axes: tuple[_Axis, _Axis],
    size: _Size,
    titles: tuple[str, str],
    diagonal: bool,
) -> Panel:
    frame, marks = _draw_frame(title, axes, size, titles)
    if diagonal:
        marks.append(_draw_diagonal(frame))
    for name, points in lines.items():
        marks += _draw_line(series.index(name), name, points, frame, size)
    return Panel(title, _describe(lines), size.width, size.height, "".join(marks))


def _draw_frame(
    title: str, axes: tuple[_Axis, _Axis], size: _Size, titles: tuple[str, str]
) -> tuple[_Frame, list[str]]:
    """The place of a panel's points, and its title and axes as they are drawn."""
    x, y = axes
    wide = size is _WIDE
    top = (26.0 if title else 6.0) + (20 if wide and titles[1] else 0)
    left = max([text_width(text, size.font) for _, text in y.ticks] or [0.0]) + 8
    frame = _Frame(x, y, left, size.width - 9, top, size.height - 20 - (18 if wide and titles[0] else 0))
    marks = [write_text(0, 14, title, room=size.width, size=FONT, class_="title")] if title else []
    if wide and titles[1]:
        marks.append(write_text(0, top - 10, titles[1], room=size.width, class_="faint"))
    if wide and titles[0]:
        fits = text_width(titles[0]) < frame.right - frame.left
        middle = (frame.left + frame.right) / 2 if fits else size.width / 2
        base = size.height - 4
        marks.append(
            write_text(middle, base, titles[0], room=size.width, text_anchor="middle", class_="faint")
        )
    return frame, marks + _draw_axes(frame, size)


def _draw_axes(frame: _Frame, size: _Size) -> list[str]:
    marks = []
    for value, text in frame.y.ticks:
        y = frame.place((frame.x.low, value))[1]
        marks.append(element("line", x1=frame.left, x2=frame.right, y1=y, y2=y, class_="grid"))
        marks.append(
            write_text(frame.left - 5, y + 4, text, size=size.font, text_anchor="end", class_="faint")
        )
    for value, text in frame.x.ticks:
        x = frame.place((value, frame.y.low))[0]
        marks.append(element("line", x1=x, x2=x, y1=frame.bottom, y2=frame.bottom + 4, class_="zero"))
        inside = min(x, size.width - text_width(text, size.font) / 2)
        marks.append(
            write_text(inside, frame.bottom + 16, text, size=size.font, text_anchor="middle", class_="faint")
        )
    base = {"y1": frame.bottom, "y2": frame.bottom}
    marks.append(element("line", x1=frame.left, x2=frame.right, class_="zero", **base))
    return marks


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
