"""Plain texts: a document per line, a file per document, or nested folders; markup and quotes taken out."""

import html
import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path

from funnelling.errors import InputError, counted
from funnelling.formats.document import SPLITS, LineNumber, quoted
from funnelling.formats.encoded import TextFile, say_western
from funnelling.formats.files import cannot_read
from funnelling.formats.layout import Layout

# Art and war are words
_CODE = re.compile(r"[a-z]{2}(?:[-_][a-z]{2,4})?|[a-z]{3}[-_][a-z]{4}", re.IGNORECASE)
ENDINGS = (".txt", ".text", ".md", ".html", ".htm")
LEVELS = ("split", "language", "label")


class LineRows:
    """A document per line; blank lines are passed over."""

    options = ("encoding",)
    columns = ("text",)

    def __init__(self, path: str | os.PathLike[str], name: str, layout: Layout) -> None:
        self.name = name
        self.found: list[str] = []
        self._file = TextFile(path, name, layout.encoding)

    def rows(self, wanted: Collection[str] | None = None) -> Iterator[tuple[int, dict[str, object]]]:
        """A row per line."""
        for number, line in self._file.text_lines():
            if line.strip():
                yield number, {"text": line.rstrip("\r\n")}


class TextRow:
    """A file that is one document, or a text that was given as it is.

    Nobody gave it an id: the name of its file is one to show, and it is known by its text.
    """

    options = ("encoding",)
    columns = ("id", "text")

    def __init__(self, text: str, name: str, document: str = "1") -> None:
        self.name = name
        self.found: list[str] = []
        self._row: dict[str, object] = {"id": LineNumber(document), "text": text}

    def rows(self, wanted: Collection[str] | None = None) -> Iterator[tuple[int, dict[str, object]]]:
        """The one document."""
        yield 1, self._row


class FolderRows:
    """A file per document in folders that are named after labels, languages or splits.

    A level of folders that are all named like splits tells the split, one of language codes the language, any
    other the label. One level of language codes alone could be either. Documents are called by their paths,
    which are no ids: a file that moves to the folder of another label is the same document.
    """

    options = ("encoding", "folders")

    def __init__(self, path: str | os.PathLike[str], layout: Layout) -> None:
        self.name = os.fspath(path)
        self.found: list[str] = []
        self._layout = layout
        self._said_western = False
        self._files = _text_files(Path(path))
        depths = {len(names) for names in self._files.values()}
        if len(depths) != 1:
            shallow = quoted(min(self._files, key=lambda path: len(path.parts)).name)
            raise InputError(
                f"{self.name}: text files at different depths, such as {shallow}. Give each a folder per "
                "label, or per language and label."
            )
        self._levels = self._find_levels([set(level) for level in zip(*self._files.values(), strict=True)])
        fields = {"label": "labels"}
        self.columns = ("id", "text", *(fields.get(level, level) for level in self._levels))
        if self._levels and not layout.folders:
            self.found.append(f"folders are {' / '.join(self._levels)}")
        others = Counter(path.suffix for path in _files(Path(path)) if path not in self._files)
        if others:
            endings = ", ".join(ending or "without an ending" for ending in sorted(others))
            self.found.append(f"{counted(others.total(), 'other file')} passed over ({endings})")

    def rows(self, wanted: Collection[str] | None = None) -> Iterator[tuple[int, dict[str, object]]]:
        """A row per file, in the order of their paths."""
        for number, (path, names) in enumerate(self._files.items(), start=1):
            file = TextFile(path, encoding=self._layout.encoding, in_folder=True)
            relative = path.relative_to(self.name).as_posix()
            row: dict[str, object] = {"id": LineNumber(relative), "text": file.text()}
            if self._layout.encoding is None and file.encoding == "cp1252" and not self._said_western:
                self._said_western = True
                say_western(self.name)
            for level, name in zip(self._levels, names, strict=True):
                row["labels" if level == "label" else level] = [name] if level == "label" else name
            yield number, row

    def _find_levels(self, names: list[set[str]]) -> list[str]:
        given = list(self._layout.folders)
        if given:
            if len(given) != len(names) or len(set(given)) < len(given) or not set(given) <= set(LEVELS):
                raise InputError(
                    f"{self.name}: {len(names)} levels of folders. Name each with --folders, such as "
                    "language/label."
                )
            return given
        levels = []
        for level in names:
            if {name.lower() for name in level} <= set(SPLITS):
                levels.append("split")
            elif all(map(_is_language, level)) and "language" not in levels:
                levels.append("language")
            else:
                levels.append("label")
        codes = sum(all(map(_is_language, level)) for level in names)  # it and hr are also departments
        if names and (len(set(levels)) < len(levels) or "label" not in levels or codes > 1):
            example = quoted(min(names[-1]))
            raise InputError(
                f"{self.name}: what do the folders stand for, such as {example}? Say it with --folders, such "
                f"as {'label' if len(names) == 1 else 'language/label'}."
            )
        return levels


def _is_language(name: str) -> bool:
    from langcodes import tag_is_valid

    return _CODE.fullmatch(name) is not None and tag_is_valid(name.replace("_", "-"))


def holds_text_files(path: str | os.PathLike[str], nested: bool = True) -> bool:
    """Whether a folder holds text files in folders of its own, or if not ``nested`` any."""
    try:
        files = _text_files(Path(path))
    except InputError:
        return False
    return any(files.values()) if nested else bool(files)


def _text_files(root: Path) -> dict[Path, tuple[str, ...]]:
    """The text files under a folder, hidden ones passed over, with the names of the folders they are in."""
    files = sorted(_files(root))
    paths = [path for path in files if path.suffix.lower() in ENDINGS]
    # Beside such, a file without an ending is a README.
    paths = paths or [path for path in files if not path.suffix]
    return {path: path.relative_to(root).parts[:-1] for path in paths}


def _files(root: Path) -> list[Path]:
    try:
        return [
            path
            for path in root.rglob("*")
            if path.is_file()
            and not any(part.startswith((".", "_")) for part in path.relative_to(root).parts)
        ]
    except OSError as error:
        raise cannot_read(os.fspath(root), error) from error


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

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
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
