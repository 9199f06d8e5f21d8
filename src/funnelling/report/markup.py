"""Texts of users inside HTML, SVG and Markdown: nothing they hold becomes markup, but `code` and links."""

import html
import re

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
    pieces, end = [], 0
    for found in _INLINE.finditer(text):
        code, words, target = found.groups()
        pieces.append(escape(text[end : found.start()]))
        if code is not None:
            pieces.append(f"<code>{escape(code)}</code>")
        elif _SAFE_LINK.fullmatch(target):
            pieces.append(f'<a href="{escape(target)}">{escape(words)}</a>')
        else:
            pieces.append(escape(found.group()))
        end = found.end()
    return "".join([*pieces, escape(text[end:])])


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


def inline_markdown(text: str) -> str:
    """A paragraph as Markdown: its code and its links stay, all else shows as it is."""
    text, pieces, end = " ".join(text.split()), [], 0
    for found in _INLINE.finditer(text):
        code, words, target = found.groups()
        pieces.append(_escape_middle(text[end : found.start()], begins=end == 0))
        if code is not None:
            pieces.append(f"`{code}`")
        elif _SAFE_LINK.fullmatch(target):
            pieces.append(f"[{_escape_middle(words)}]({target})")
        else:
            pieces.append(_escape_middle(found.group()))
        end = found.end()
    return "".join([*pieces, _escape_middle(text[end:], begins=end == 0)])


def _escape_middle(text: str, begins: bool = False) -> str:
    """Escape a piece of a line whose blanks at both ends count."""
    if begins:
        return escape_markdown(text) + (" " if text.endswith(" ") and text.strip() else "")
    return _MARKDOWN.sub(r"\\\g<0>", _NOT_XML.sub("\ufffd", text))
