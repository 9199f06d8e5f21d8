"""Figures as SVG, drawn here so that a report needs no library of plots."""

from funnelling.report.content import Bars, Curves, Figure
from funnelling.report.figures.bars import draw_bars
from funnelling.report.figures.curves import draw_curves
from funnelling.report.figures.drawing import Drawing
from funnelling.report.figures.heat_map import draw_heat_map


def draw(figure: Figure, prefix: str) -> Drawing:
    """The panels of a figure; names inside them begin with ``prefix``."""
    if isinstance(figure, Bars):
        return draw_bars(figure, prefix)
    if isinstance(figure, Curves):
        return draw_curves(figure, prefix)
    return draw_heat_map(figure, prefix)
