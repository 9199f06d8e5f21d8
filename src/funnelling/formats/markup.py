"""What is no text in a text: HTML, Markdown, and what a mail quotes of another."""

import html
import re
from collections.abc import Callable, Sequence
from html.parser import HTMLParser

_TAG = re.compile(r"</?[a-z][a-z0-9]*(?:\s[^<>]*)?/?>|&(?:[a-z]{2,8}|#\d{2,6});", re.IGNORECASE)
_BLOCKS = frozenset(
    [
        "p",
        "div",
        "br",
        "li",
        "tr",
        "td",
        "th",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "ul",
        "ol",
        "table",
        "section",
        "article",
        "blockquote",
        "hr",
        "pre",
    ]
)
_UNSEEN = frozenset({"script", "style", "head", "template"})
_MARKDOWN = re.compile(
    r"^#{1,6}\s+\S|\[[^\]\n]+\]\([^)\s]+\)|\*\*[^*\n]+\*\*|^```|^\s*[-*]\s+\[[ x]\]", re.MULTILINE
)
_QUOTE = re.compile(r"^\s*>", re.MULTILINE)
_MARKDOWN_RULES = [
    (re.compile(r"^(?:```|~~~).*$", re.MULTILINE), ""),
    (re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)"), r"\1"),
    (re.compile(r"^\s{0,3}#{1,6}\s+", re.MULTILINE), ""),
    (re.compile(r"^\s{0,3}(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?", re.MULTILINE), ""),
    (re.compile(r"^\s{0,3}>\s?", re.MULTILINE), ""),
    (re.compile(r"^\s{0,3}(?:[-*_]\s*){3,}$", re.MULTILINE), ""),
    (re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1"), r"\2"),
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
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        if tag in _UNSEEN:
            self._unseen += 1
        elif tag in _BLOCKS:
            self.pieces.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in _UNSEEN:
            self._unseen = max(0, self._unseen - 1)
        elif tag in _BLOCKS:
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self.pieces.append(data)


def _without_html(text: str) -> str:
    if not _TAG.search(text):
        return text
    if "<" not in text:
        return html.unescape(text)
    words = _Words()
    words.feed(text)
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
