"""The look of figures: colours that no one confuses, on light and on dark, and the rules that use them."""

from typing import NamedTuple


class Theme(NamedTuple):
    """The colours of a drawing; the series begin with blue and vermilion, the safest pair."""

    ground: str
    ink: str
    faint: str  # words of less weight
    line: str  # grid lines
    series: tuple[str, ...]


# After Okabe and Ito, with orange, sky blue and yellow darkened until they stand out from white.
LIGHT = Theme(
    "#ffffff",
    "#1c2430",
    "#566072",
    "#dde1e8",
    ("#0072b2", "#d55e00", "#00805c", "#b3548a", "#3d3d3d", "#a87400", "#2f8fc4", "#7a5195"),
)
DARK = Theme(
    "#14181f",
    "#e6e9ee",
    "#a3acba",
    "#333b47",
    ("#56b4e9", "#f0803c", "#2fc296", "#dd92bd", "#e8e8e8", "#e6b422", "#8fa8ff", "#c9a3e6"),
)

DASHES = ("", "7 3", "2 2.5", "9 3 2 3", "4 2")

SHAPES = """
.drawing { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
.drawing text { font-variant-numeric: tabular-nums; }
.drawing .title { font-weight: 600; }
.drawing .grid { stroke-width: 1; }
.drawing .zero { stroke-width: 1.2; }
.drawing .diagonal { stroke-width: 1; fill: none; }
.drawing .line { fill: none; stroke: currentColor; stroke-width: 2; stroke-linejoin: round; }
.drawing .band { fill: currentColor; fill-opacity: .16; }
.drawing .mark { fill: currentColor; stroke-width: .8; paint-order: stroke; }
.drawing .ring { stroke: currentColor; stroke-width: 1.6; }
.drawing .bar { fill: currentColor; }
.drawing .empty { fill: none; stroke-dasharray: 2 2; }
.drawing .frame { fill: none; }
"""


def colour_rules(theme: Theme) -> str:
    """The rules of style that depend on the ground."""
    rules = [
        f".drawing text {{ fill: {theme.ink}; }}",
        f".drawing .faint {{ fill: {theme.faint}; }}",
        f".drawing .grid, .drawing .empty, .drawing .frame {{ stroke: {theme.line}; }}",
        f".drawing .zero, .drawing .diagonal {{ stroke: {theme.faint}; }}",
        f".drawing .mark {{ stroke: {theme.ground}; }}",
        f".drawing .ring {{ fill: {theme.ground}; stroke: currentColor; }}",
        f".drawing .hatch {{ fill: {theme.ground}; fill-opacity: .5; }}",
        # Shades are the same on every ground, and so are the numbers on them.
        ".drawing text.on-dark { fill: #ffffff; }",
        ".drawing text.on-light { fill: #000000; }",
        *(f".drawing .series-{position} {{ color: {c}; }}" for position, c in enumerate(theme.series)),
    ]
    return "\n".join(rules) + "\n"


def series_class(position: int) -> str:
    """The class that colours a series."""
    return f"series-{position % len(LIGHT.series)}"
