"""Figures as SVG, drawn here so that a report needs no library of plots."""

from funnelling.report.content import Bars, Curves, Figure, Points
from funnelling.report.figures.bars import draw_bars, draw_heat_map
from funnelling.report.figures.curves import draw_curves, draw_points
from funnelling.report.figures.drawing import Drawing


def draw(figure: Figure, prefix: str) -> Drawing:
    """The panels of a figure; names inside them begin with ``prefix``."""
    if isinstance(figure, Bars):
        return draw_bars(figure, prefix)
    if isinstance(figure, Curves):
        return draw_curves(figure, prefix)
    if isinstance(figure, Points):
        return draw_points(figure, prefix)
    return draw_heat_map(figure, prefix)
