"""What a table is, as plain text, Markdown and CSV; texts of users never become markup or a formula."""

import csv
import html
import io
import math
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from funnelling.errors import printable
from funnelling.formats.parquet import defused

DASH = "–"  # in place of a value that does not exist


class Table(NamedTuple):
    """Cells as text. ``groups`` are titles over several columns each, beginning with the second, or nothing.

    ``best`` are the positions (row, column) of cells to be marked.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    groups: Sequence[tuple[str, int]] = ()
    best: Collection[tuple[int, int]] = ()


def plain(table: Table) -> str:
    """A table in aligned columns, the first and those of words to the left, numbers to the right.

    Titles of groups stand above a rule, which says whose the columns are.

    >>> rows = [["it", ".5", ".6"], ["average", ".5", ".6"]]
    >>> print(plain(Table(["language", "Naive", "Fun"], rows, [("F1", 2)])))
                  F1
    language  Naive  Fun
    --------  -----  ---
    it           .5   .6
    average      .5   .6
    """
    shown = [[_printable(cell) for cell in row] for row in (table.header, *table.rows)]
    widths = [max(map(_width, column)) for column in zip(*shown, strict=True)]
    to_left = [not place or _has_words(column) for place, column in enumerate(zip(*shown[1:], strict=True))]
    header, *rows = (_line(row, widths, to_left or [True] * len(widths)) for row in shown)
    rule = "  ".join("-" * width for width in widths)
    lines = [_groups_line(table.groups, widths), header, rule, *rows] if table.groups else [header, *rows]
    return "\n".join(line.rstrip() for line in lines)


def markdown(table: Table) -> str:
    """A table in Markdown, the best cells in bold.

    >>> print(markdown(Table(["language", "Naive"], [["it", ".5"]], [("F1", 1)])))
    | language | F1 Naive |
    | --- | ---: |
    | it | .5 |
    """
    header = full_header(table)
    rule = ["---"] + ["---:"] * (len(header) - 1)
    rows = [
        [f"**{cell}**" if (row, column) in table.best else cell for column, cell in enumerate(cells)]
        for row, cells in enumerate(table.rows)
    ]
    return "\n".join("| " + " | ".join(row) + " |" for row in [header, rule, *rows])


def full_header(table: Table) -> list[str]:
    """A title for each column, that of its group before it."""
    titles = ["", *(f"{text} " if text else "" for text, columns in table.groups for _ in range(columns))]
    return [text + cell for text, cell in zip_longest(titles, table.header, fillvalue="")]


def _line(cells: Sequence[str], widths: Sequence[int], to_left: Sequence[bool]) -> str:
    parts = []
    for cell, width, left in zip(cells, widths, to_left, strict=True):
        padding = " " * (width - _width(cell))
        parts.append(cell + padding if left else padding + cell)
    return "  ".join(parts)


def _has_words(cells: Sequence[str]) -> bool:
    return any(cell[:1].isalpha() for cell in cells)


def _groups_line(groups: Sequence[tuple[str, int]], widths: Sequence[int]) -> str:
    cells, start = [" " * widths[0]], 1
    for text, columns in groups:
        cells.append(text.center(sum(widths[start : start + columns]) + 2 * (columns - 1)))
        start += columns
    return "  ".join(cells)


def _printable(cell: str) -> str:
    """A cell without the line ends, tabs and controls of terminals that a label may hold."""
    return " ".join(printable(cell).split()) if not cell.isprintable() else cell


def _width(text: str) -> int:
    """The columns of a terminal that a text takes: two for wide characters, none for accents of their own."""
    return sum(
        0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in text
    )


def number(value: float) -> str:
    """A score as the paper prints it.

    >>> number(0.6214), number(1.0), number(-0.05)
    ('.621', '1.000', '-.050')
    """
    return f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 0.9995 else f"{value:.3f}"


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


def is_numeric(cells: Sequence[str]) -> bool:
    """Whether the cells of a column are numbers, with or without deviations, daggers and gaps."""
    filled = [cell.lstrip("-+−±(").lstrip(".")[:1] for cell in cells if cell.strip("-–— ")]
    return bool(filled) and all(start.isdigit() for start in filled)


_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_INLINE = re.compile(r"`([^`]+)`|\[([^\[\]]+)\]\(((?:[^()\s]|\([^()\s]*\))+)\)")
_SAFE_LINK = re.compile(r"(?:https?://|mailto:)[!-~]+|[#\w./?=&%-]+", re.ASCII)
_MARKDOWN = re.compile(r"[\\`*<>|~\[\]]|(?<!\w)_|_(?!\w)|&(?=#?\w+;)|(?<=\w)!(?=\[)")
_LINE_START = re.compile(r"(#{1,6}(?=\s|$)|[-+=](?=\s|$|[-=])|\d{1,9}(?=[.)](?:\s|$)))")


def xml_characters(text: str) -> str:
    """A text with a replacement in place of each character that HTML and XML do not allow."""
    return _NOT_XML.sub("\ufffd", text)


def escape(text: str) -> str:
    """A text as it stands in HTML or XML, in attributes too.

    >>> escape('<b title="x">\\0')
    '&lt;b title=&quot;x&quot;&gt;\ufffd'
    """
    return html.escape(xml_characters(text))


def escape_markdown(text: str) -> str:
    r"""A text on one line of Markdown that shows as it is.

    >>> escape_markdown("macro_f1 of <b> | *")
    'macro_f1 of \\<b\\> \\| \\*'
    >>> escape_markdown("1. not a list"), escape_markdown("- nor this")
    ('1\\. not a list', '\\- nor this')
    """
    escaped = _MARKDOWN.sub(r"\\\g<0>", " ".join(xml_characters(text).split()))
    start = _LINE_START.match(escaped)
    if start is None:
        return escaped
    place = start.end() if start.group()[0].isdigit() else 0
    return escaped[:place] + "\\" + escaped[place:]


def escape_table(table: Table) -> Table:
    """A table whose cells show as they are in Markdown."""
    return Table(
        [escape_markdown(cell) for cell in table.header],
        [[escape_markdown(cell) for cell in row] for row in table.rows],
        [(escape_markdown(text), columns) for text, columns in table.groups],
        table.best,
    )


def inline_markdown(text: str) -> str:
    """A paragraph as Markdown: its code and its links stay, all else shows as it is."""
    return "".join(
        f"`{piece.code}`"
        if piece.code
        else f"[{_escape_middle(piece.words)}]({piece.target})"
        if piece.target
        else _escape_middle(piece.words, begins=number == 0)
        for number, piece in enumerate(inline_pieces(" ".join(text.split())))
    )


class Piece(NamedTuple):
    """A piece of a paragraph: words, words that link to a target, or code."""

    words: str = ""
    target: str = ""
    code: str = ""


def inline_pieces(text: str) -> Iterator[Piece]:
    """Cut a paragraph at its code and its links to the web, to mail, or to a place beside the page.

    Any other link is words.

    >>> list(inline_pieces("see [the paper](https://example.org)"))[1:2]
    [Piece(words='the paper', target='https://example.org', code='')]
    >>> list(inline_pieces("[x](javascript:alert)"))[1].words
    '[x](javascript:alert)'
    """
    end = 0
    for match in _INLINE.finditer(text):
        code, words, target = match.groups()
        yield Piece(text[end : match.start()])
        if code is not None:
            yield Piece(code=code)
        elif _SAFE_LINK.fullmatch(target):
            yield Piece(words, target)
        else:
            yield Piece(match.group())
        end = match.end()
    yield Piece(text[end:])


def _escape_middle(text: str, begins: bool = False) -> str:
    """Escape a piece of a line whose blanks at both ends count."""
    if begins:
        return escape_markdown(text) + (" " if text.endswith(" ") and text.strip() else "")
    return _MARKDOWN.sub(r"\\\g<0>", xml_characters(text))


def comma_separated(table: Table) -> str:
    r"""A table as CSV, titles of groups before those of their columns.

    >>> comma_separated(Table(["language", "Naive"], [["=1+1", "-.5"]], [("F1", 1)]))
    "language,F1 Naive\r\n'=1+1,-.5\r\n"
    """
    stream = io.StringIO()
    writer = csv.writer(stream)
    for row in [full_header(table), *table.rows]:
        writer.writerow([defused(cell) for cell in row])
    return stream.getvalue()
