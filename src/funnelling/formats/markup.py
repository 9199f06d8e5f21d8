"""What is no text in a text: HTML, Markdown, and what a mail quotes of another."""

import html
import re
from collections.abc import Callable, Sequence
from html.parser import HTMLParser

_TAG = re.compile(r"</?[a-z][a-z0-9]*(?:\s[^<>]*)?/?>|&(?:[a-z]{2,8}|#\d{2,6});", re.IGNORECASE)
# All other tags end a word, as those of paragraphs and cells do.
# fmt: off
_INLINE = frozenset((
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i",
    "ins", "kbd", "label", "mark", "nobr", "q", "s", "samp", "small", "span", "strike", "strong", "sub",
    "sup", "time", "tt", "u", "var", "wbr",
))
# fmt: on
# Newer versions of Python see no tag in a title: one that is never closed would hide all that follows.
_TITLE, _TITLED = re.compile(r"(?<=<)title\b|(?<=</)title\b", re.IGNORECASE), "x-title"
_UNSEEN = frozenset({"script", "style", "template", _TITLED})
_ENDS = frozenset({"body", "html"})  # where all ends that was never closed
# Blanks are no line ends, and runs have an end: over many lines, or brackets, it would take for ever.
_MARKDOWN = re.compile(
    r"^#{1,6}[ \t]+\S|\[[^\[\]\n]+\]\([^)\s]{1,2000}\)|\*\*[^*\n]+\*\*|^```|^[ \t]*[-*][ \t]+\[[ x]\]",
    re.MULTILINE,
)
_QUOTE = re.compile(r"^[ \t]*>", re.MULTILINE)
_MARKDOWN_RULES = [
    (re.compile(r"^(?:```|~~~).*$", re.MULTILINE), ""),
    (re.compile(r"!?\[([^\[\]\n]*)\]\([^)\n]{0,2000}\)"), r"\1"),
    (re.compile(r"^[ \t]{0,3}#{1,6}[ \t]+", re.MULTILINE), ""),
    (re.compile(r"^[ \t]{0,3}(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?", re.MULTILINE), ""),
    (re.compile(r"^[ \t]{0,3}>[ \t]?", re.MULTILINE), ""),
    (re.compile(r"^[ \t]{0,3}(?:[-*_][ \t]*){3,}$", re.MULTILINE), ""),
    (re.compile(r"(\*\*|__)(?=\S)(.{1,1000}?)(?<=\S)\1"), r"\2"),
    (re.compile(r"(?<![\w*])\*(?=\S)([^*\n]+?)(?<=\S)\*(?![\w*])"), r"\1"),
    (re.compile(r"`([^`\n]+)`"), r"\1"),
]


def markup_in(text: str) -> list[str]:
    """What a text seems to hold beside text, by the names that `strip_markup` knows.

    >>> markup_in("<p>Ciao&nbsp;a tutti</p>"), markup_in("Sure.\\n> Can you come?"), markup_in("1 < 2")
    (['html'], ['quotes'], [])
    """
    kinds = []
    if ("<" in text or "&" in text) and _TAG.search(text):
        kinds.append("html")
    if _MARKDOWN.search(text):
        kinds.append("markdown")
    if ">" in text and _QUOTE.search(text):
        kinds.append("quotes")
    return kinds


def strip_markup(text: str, kinds: Sequence[str]) -> str:
    """A text without markup of these kinds, in the order in which it was put on.

    >>> strip_markup("<p>Ciao &amp; <b>grazie</b></p><script>x()</script>", ["html"])
    'Ciao & grazie'
    >>> strip_markup("# News\\n\\nSee **[this](http://x.org)**.", ["markdown"])
    'News\\n\\nSee this.'
    >>> strip_markup("Ja.\\n\\nAm Montag schrieb Eva:\\n> Kommst du?\\n> Eva\\n", ["quotes"])
    'Ja.'
    """
    for kind, strip in _STRIPPERS.items():
        if kind in kinds:
            text = strip(text)
    return text


class _Words(HTMLParser):
    """Collects what a browser would show."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._unseen: str | None = None  # the tag that hides what is in it

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        if self._unseen == _TITLED:  # in which there are no tags: it was never closed
            self._unseen = None
        if tag in _UNSEEN and self._unseen is None:
            self._unseen = tag
        self._end_word(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag == self._unseen or tag in _ENDS:
            self._unseen = None
        self._end_word(tag)

    def handle_data(self, data: str) -> None:
        if self._unseen is None:
            self.pieces.append(data)

    def _end_word(self, tag: str) -> None:
        if tag not in _INLINE:
            self.pieces.append("\n")


def _without_html(text: str) -> str:
    if not _TAG.search(text):
        return text
    if "<" not in text:
        return html.unescape(text)
    words = _Words()
    words.feed(_TITLE.sub(_TITLED, text))
    words.close()
    lines = (" ".join(line.split()) for line in "".join(words.pieces).splitlines())
    return "\n".join(line for line in lines if line)


def _without_markdown(text: str) -> str:
    for pattern, replacement in _MARKDOWN_RULES:
        text = pattern.sub(replacement, text)
    return text.strip()


def _without_quotes(text: str) -> str:
    """A mail without the lines that it quotes, nor the line before them that says whose they are."""
    kept: list[str] = []
    quoting = False
    for line in text.splitlines():
        if line.lstrip().startswith(">"):
            if not quoting:
                while kept and not kept[-1].strip():
                    kept.pop()
                if kept and kept[-1].rstrip().endswith(":"):
                    kept.pop()
            quoting = True
        else:
            quoting = False
            kept.append(line)
    return "\n".join(kept).strip() if len(kept) < len(text.splitlines()) else text


_STRIPPERS: dict[str, Callable[[str], str]] = {
    "html": _without_html,
    "quotes": _without_quotes,  # before Markdown, which quotes by the same sign
    "markdown": _without_markdown,
}
