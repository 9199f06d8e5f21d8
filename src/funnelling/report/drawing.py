"""Marks of SVG: elements, ticks, numbers and the width of words. Their colours are in `drawing.css`."""

import math
import unicodedata
from typing import NamedTuple

from funnelling.report.tables import escape

FONT = 12.0
SMALL_FONT = 11.0

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


DASHES = ("", "7 3", "2 2.5", "9 3 2 3", "4 2")
N_COLOURS = 8  # that `drawing.css` has for series


def series_class(position: int) -> str:
    """The class that colours a series."""
    return f"series-{position % N_COLOURS}"
