"""A page of LibreOffice's help: what a reader reads of it, paragraph by paragraph."""

from html.parser import HTMLParser
from typing import NamedTuple

# Everything around is the frame of the web site: menus, index, search, what the page was made from.
_BODY = "DisplayArea"
_PARAGRAPHS = frozenset({"title", "h1", "h2", "h3", "h4", "h5", "h6", "p"})
_UNREAD_TAGS = frozenset({"script", "style", "noscript", "pre", "nav", "header", "footer", "aside", "button"})
# Links to other pages, the same heading over every menu path, and what macOS calls the keys: the other
# systems' keys stand beside it.
_UNREAD_CLASSES = frozenset({"relatedtopics", "howtogetheader", "MAC"})
_SWITCH = "switchinline"
_VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}
)


class Paragraph(NamedTuple):
    """A title, heading or paragraph; ``id`` is empty where the page gives none."""

    id: str
    text: str


def paragraphs_of(page: str) -> list[Paragraph]:
    """The title of a page, then the headings and paragraphs of its body, even those without letters.

    >>> frame = "<title>Files</title><nav><p>Menu</p></nav>"
    >>> paragraphs_of(frame + '<div id="DisplayArea"><p id="par_2">Press <b>F1</b>&nbsp;now.</p></div>')
    [Paragraph(id='title', text='Files'), Paragraph(id='par_2', text='Press F1 now.')]
    """
    reader = _Reader()
    start, end_of_title, rest = page.partition("</title>")
    body = rest.find(f'id="{_BODY}"')
    if body >= 0:
        # The frame in between has half of all tags.
        page = start + end_of_title + rest[max(rest.rfind("<", 0, body), 0) :]
    reader.feed(page)
    reader.close()
    reader.end_paragraph()
    return reader.paragraphs


class _Reader(HTMLParser):
    """Keeps the tags that are open, each with what it is to us; a closing tag closes all that it encloses."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.paragraphs: list[Paragraph] = []
        self._open: list[tuple[str, str]] = []
        self._bodies = self._unread = 0
        self._id = ""
        self._pieces: list[str] | None = None

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag in _VOID:
            self._add(" ")
            return
        if self._open and self._open[-1][1] == "switch":
            self._add(" ")  # what follows is an alternative to the words before
        values = dict(attributes)
        classes = (values.get("class") or "").split()
        kind = ""
        if tag in _UNREAD_TAGS or not _UNREAD_CLASSES.isdisjoint(classes):
            kind = "unread"
            self._unread += 1
        elif values.get("id") == _BODY:
            kind = "body"
            self._bodies += 1
        elif _SWITCH in classes:
            kind = "switch"
        self._open.append((tag, kind))
        if tag in _PARAGRAPHS:
            self.end_paragraph()
            if not self._unread and (self._bodies or tag == "title"):
                self._id = "title" if tag == "title" else values.get("id") or ""
                self._pieces = []

    def handle_endtag(self, tag: str) -> None:
        if all(tag != name for name, _ in self._open):
            return
        while True:
            name, kind = self._open.pop()
            self._unread -= kind == "unread"
            self._bodies -= kind == "body"
            if name in _PARAGRAPHS:
                self.end_paragraph()
            if name == tag:
                break

    def handle_data(self, data: str) -> None:
        if not self._unread:
            self._add(data)

    def _add(self, text: str) -> None:
        if self._pieces is not None:
            self._pieces.append(text)

    def end_paragraph(self) -> None:
        if self._pieces is not None:
            self.paragraphs.append(Paragraph(self._id, " ".join("".join(self._pieces).split())))
            self._pieces = None
