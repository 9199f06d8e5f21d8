"""What a table is, as plain text, Markdown and CSV; texts of users never become markup or a formula."""

import csv
import html
import io
import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from funnelling.errors import printable
from funnelling.formats.parquet import defused


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
    lines = [_groups_line(table.groups, widths), header, "  ".join("-" * width for width in widths), *rows]
    return "\n".join(line.rstrip() for line in (lines if table.groups else lines[1:]))


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


_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_INLINE = re.compile(r"`([^`]+)`|\[([^\[\]]+)\]\(((?:[^()\s]|\([^()\s]*\))+)\)")
_SAFE_LINK = re.compile(r"(?:https?://|mailto:)[!-~]+|[#\w./?=&%-]+", re.ASCII)
_MARKDOWN = re.compile(r"[\\`*<>|~\[\]]|(?<!\w)_|_(?!\w)|&(?=#?\w+;)|(?<=\w)!(?=\[)")
_LINE_START = re.compile(r"(#{1,6}(?=\s|$)|[-+=](?=\s|$|[-=])|\d{1,9}(?=[.)](?:\s|$)))")


def escape(text: str) -> str:
    """A text as it stands in HTML or XML, in attributes too.

    >>> escape('<b title="x">\\0')
    '&lt;b title=&quot;x&quot;&gt;\ufffd'
    """
    return html.escape(_NOT_XML.sub("\ufffd", text))


def inline_html(text: str) -> str:
    """A paragraph as HTML; links lead to the web, to mail, or to a place beside the page.

    >>> inline_html("run `a < b`, see [the paper](https://example.org)")
    'run <code>a &lt; b</code>, see <a href="https://example.org">the paper</a>'
    >>> inline_html("[x](javascript:alert)")
    '[x](javascript:alert)'
    """
    return "".join(
        f"<code>{escape(piece.code)}</code>"
        if piece.code
        else f'<a href="{escape(piece.target)}">{escape(piece.words)}</a>'
        if piece.target
        else escape(piece.words)
        for piece in _pieces(text)
    )


def escape_markdown(text: str) -> str:
    r"""A text on one line of Markdown that shows as it is.

    >>> escape_markdown("macro_f1 of <b> | *")
    'macro_f1 of \\<b\\> \\| \\*'
    >>> escape_markdown("1. not a list"), escape_markdown("- nor this")
    ('1\\. not a list', '\\- nor this')
    """
    escaped = _MARKDOWN.sub(r"\\\g<0>", " ".join(_NOT_XML.sub("\ufffd", text).split()))
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
        for number, piece in enumerate(_pieces(" ".join(text.split())))
    )


class _Piece(NamedTuple):
    """A piece of a paragraph: words, words that link to a target, or code."""

    words: str = ""
    target: str = ""
    code: str = ""


def _pieces(text: str) -> Iterator[_Piece]:
    """A paragraph cut at its code and its links; a link that leads astray is words like others."""
    end = 0
    for match in _INLINE.finditer(text):
        code, words, target = match.groups()
        yield _Piece(text[end : match.start()])
        if code is not None:
            yield _Piece(code=code)
        elif _SAFE_LINK.fullmatch(target):
            yield _Piece(words, target)
        else:
            yield _Piece(match.group())
        end = match.end()
    yield _Piece(text[end:])


def _escape_middle(text: str, begins: bool = False) -> str:
    """Escape a piece of a line whose blanks at both ends count."""
    if begins:
        return escape_markdown(text) + (" " if text.endswith(" ") and text.strip() else "")
    return _MARKDOWN.sub(r"\\\g<0>", _NOT_XML.sub("\ufffd", text))


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
