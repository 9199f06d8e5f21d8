"""Texts of users inside HTML, SVG and Markdown: nothing they hold becomes markup, but `code` and links."""

import html
import re
from collections.abc import Iterator
from typing import NamedTuple

from funnelling.report.tables import Table

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
