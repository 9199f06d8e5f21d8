"""A matrix of shades that grow lighter evenly for every eye, dark blue to yellow, each with its number."""

from collections.abc import Sequence

from funnelling.report.content import HeatMap
from funnelling.report.figures.drawing import (
    FONT,
    MISSING,
    SMALL_FONT,
    Drawing,
    Panel,
    element,
    known,
    text_width,
    value_texts,
    write_text,
)

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
                marks += _draw_cell(box, None, MISSING)
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
