"""What all figures share: marks of SVG, ticks, numbers, widths of words, and colours on light and dark."""

import math
import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from funnelling.report.content import Number
from funnelling.report.tables import escape

FONT = 12.0
SMALL_FONT = 11.0
DASH = "–"

_NARROW = frozenset("iljtfrI.,:;'|!()[]{} /\\-")
_WIDE = frozenset("w<>=+~#&−±†→")
_BROAD = frozenset("mMW@%…—")


class Panel(NamedTuple):
    """One drawing of a figure, in units that are about pixels."""

    title: str
    description: str
    width: float
    height: float
    marks: str


class Drawing(NamedTuple):
    """A figure as it is drawn: its panels, what tells its series apart, and what its axes are."""

    shape: str  # how the panels are laid out: wide, bars, small or matrix
    panels: Sequence[Panel]
    legend: Sequence[str] = ()
    axes: str = ""


def element(tag: str, content: str = "", /, **attributes: str | float | None) -> str:
    """A mark as text; ``content`` is markup already.

    >>> element("line", x1=0, y1=0.5, class_="axis", text_anchor=None)
    '<line x1="0" y1="0.5" class="axis"/>'
    """
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(plain_number(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    return f"<{tag}{written}>{content}</{tag}>" if content else f"<{tag}{written}/>"


def plain_number(value: str | float) -> str:
    """A coordinate in two decimals at most, so that equal figures are equal bytes everywhere."""
    if isinstance(value, str):
        return value
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def write_text(
    x: float,
    y: float,
    words: str,
    *,
    room: float = math.inf,
    size: float = FONT,
    **attributes: str | float | None,
) -> str:
    """Words at a place; those that do not fit are cut, and whole when pointed at."""
    bold = attributes.get("class_") == "title"
    shown = shorten(words, room / 1.12 if bold else room, size)
    whole = "" if shown == words else element("title", escape(words))
    return element("text", whole + escape(shown), x=x, y=y, font_size=size, **attributes)


def shorten(words: str, room: float, size: float = FONT) -> str:
    """As much of the words as has room, with an ellipsis where something was cut.

    >>> shorten("international trade", 60), shorten("it", 60)
    ('interna…', 'it')
    """
    if text_width(words, size) <= room:
        return words
    shown = words
    while shown and text_width(shown + "…", size) > room:
        shown = shown[:-1]
    return shown.rstrip() + "…"


def text_width(words: str, size: float = FONT) -> float:
    """About how wide words are in a sans serif type, rather too much than too little."""
    return size * sum(map(_letter_width, words))


def _letter_width(letter: str) -> float:
    if unicodedata.combining(letter):
        return 0
    if unicodedata.east_asian_width(letter) in "WF":
        return 1
    if letter in _NARROW:
        return 0.4
    if letter in _BROAD:
        return 1
    return 0.85 if letter.isupper() or letter in _WIDE else 0.64


def known(values: Iterable[Number]) -> list[float]:
    """The values that exist and are finite."""
    return [value for value in values if value is not None and math.isfinite(value)]


def value_texts(values: Iterable[float], digits: int) -> dict[float, str]:
    """How each value is printed, all with the same number of decimals; whole numbers have none.

    >>> value_texts([0.62, 0.5], 3), value_texts([-12.34, 5], 3), value_texts([1200.0], 3)
    ({0.62: '.620', 0.5: '.500'}, {-12.34: '−12.3', 5: '5.0'}, {1200.0: '1,200'})
    """
    distinct = list(dict.fromkeys(values))
    largest = max(map(abs, distinct), default=0.0)
    if all(value == int(value) for value in distinct):
        decimals = 0
    elif 0.1 <= largest <= 1:
        decimals = digits
    else:
        decimals = min(max(digits - 1 - math.floor(math.log10(largest)), 0), 9)
    return {value: _printed(value, decimals, bare=largest <= 1) for value in distinct}


def _printed(value: float, decimals: int, bare: bool) -> str:
    """A value in print; ``bare`` drops the zero before the point, as is done for scores."""
    text = f"{value:,.{decimals}f}"
    if not any(digit in "123456789" for digit in text):
        text = text.lstrip("-")
    if bare and decimals and text.lstrip("-").startswith("0."):
        text = text.replace("0.", ".", 1)
    return text.replace("-", "−")


def nice_step(low: float, high: float, count: int) -> float:
    """The round step that cuts a range into about so many steps.

    >>> nice_step(0, 1, 5), nice_step(-15, 25, 4)
    (0.2, 10.0)
    """
    rough = (high - low) / count
    if not rough > 0 or not math.isfinite(rough):
        return 1.0
    power = 10.0 ** math.floor(math.log10(rough))
    return min((power * base for base in (1, 2, 5, 10)), key=lambda step: (abs(math.log(step / rough)), step))


def nice_ticks(low: float, high: float, count: int) -> list[tuple[float, str]]:
    """Round numbers within a range, with their text.

    >>> nice_ticks(0, 1, 4)
    [(0.0, '0'), (0.2, '0.2'), (0.4, '0.4'), (0.6, '0.6'), (0.8, '0.8'), (1.0, '1')]
    """
    step = nice_step(low, high, count)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    if last - first > 50:
        return []
    digits = 9 - math.floor(math.log10(step))
    values = [round(position * step, digits) for position in range(first, last + 1)]
    return [(value, tick_text(value)) for value in values]


def logarithmic_ticks(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """Powers of ten within a range, or steps of 1, 2 and 5 where it spans few of them.

    >>> [text for _, text in logarithmic_ticks(3, 20_000, 5)]
    ['10', '100', '1k', '10k']
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for bases in ((1, 2, 5), (1, 3), (1,)):
        values = [base * 10.0**power for power in range(first, last + 1) for base in bases]
        values = [value for value in values if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]
        if len(values) <= most:
            break
    values = values[:: math.ceil(len(values) / most)] if values else []
    return [(value, tick_text(value)) for value in values]


def tick_text(value: float) -> str:
    """A round number in few letters."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:g}{unit}".replace("-", "−")
    return f"{value:g}".replace("-", "−")


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
