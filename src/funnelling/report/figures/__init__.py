"""Figures: the content of each kind drawn as SVG, within a page or as one file with title and legend."""

import math

from funnelling.report.content import Bars, Curves, Figure, Points
from funnelling.report.figures.bars import draw_bars, draw_heat_map
from funnelling.report.figures.curves import draw_curves, draw_points, swatch
from funnelling.report.figures.drawing import (
    FONT,
    LIGHT,
    SHAPES,
    Drawing,
    colour_rules,
    element,
    text_width,
    write_text,
)
from funnelling.report.tables import escape


def draw(figure: Figure, prefix: str) -> Drawing:
    """The panels of a figure; names inside them begin with ``prefix``."""
    if isinstance(figure, Bars):
        return draw_bars(figure, prefix)
    if isinstance(figure, Curves):
        return draw_curves(figure, prefix)
    if isinstance(figure, Points):
        return draw_points(figure, prefix)
    return draw_heat_map(figure, prefix)


_MARGIN, _GAP, _WIDTH, _LEAST = 14.0, 18.0, 1100.0, 360.0


def standalone_svg(figure: Figure) -> str:
    """The text of an SVG file that needs nothing beside it."""
    drawing = draw(figure, "figure")
    columns = _columns(drawing)
    column = max((panel.width for panel in drawing.panels), default=0.0)
    width = max(2 * _MARGIN + columns * column + (columns - 1) * _GAP, _LEAST)
    marks = [write_text(_MARGIN, 24, figure.title, room=width - 2 * _MARGIN, size=15, class_="title")]
    top = 40.0
    legend, top = _draw_legend(drawing, width, top)
    marks += legend
    for start in range(0, len(drawing.panels), columns):
        row = drawing.panels[start : start + columns]
        for number, panel in enumerate(row):
            marks.append(
                element(
                    "svg",
                    panel.marks or " ",
                    x=_MARGIN + number * (column + _GAP),
                    y=top,
                    width=panel.width,
                    height=panel.height,
                    viewBox=f"0 0 {panel.width:g} {panel.height:g}",
                )
            )
        top += max(panel.height for panel in row) + _GAP
    height = math.ceil(top)
    opening = [
        element("title", escape(figure.title) or " ", id="figure-title"),
        element("desc", escape(figure.alternative) or " ", id="figure-description"),
        element("style", escape(SHAPES + colour_rules(LIGHT)).replace("&quot;", '"')),
        element("rect", width=width, height=height, fill=LIGHT.ground),
    ]
    return (
        element(
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
        + "\n"
    )


def _columns(drawing: Drawing) -> int:
    if not drawing.panels:
        return 1
    most = int((_WIDTH - 2 * _MARGIN + _GAP) // (drawing.panels[0].width + _GAP))
    return max(1, min(most, len(drawing.panels)))


def _draw_legend(drawing: Drawing, width: float, top: float) -> tuple[list[str], float]:
    """The legend in as many lines as it takes, and where it ends."""
    marks, x = [], _MARGIN
    for position, name in enumerate(drawing.legend):
        room = width - 2 * _MARGIN - 40
        needed = 38 + min(text_width(name), room) + 16
        if x > _MARGIN and x + needed > width - _MARGIN:
            x, top = _MARGIN, top + 20
        marks.append(element("g", swatch(position), transform=f"translate({x:g} {top:g})"))
        marks.append(write_text(x + 38, top + 11, name, room=room))
        x += needed
    if drawing.legend:
        top += 24
    if drawing.axes:
        marks.append(
            write_text(_MARGIN, top + 11, drawing.axes, room=width - 2 * _MARGIN, size=FONT, class_="faint")
        )
        top += 24
    return marks, top
