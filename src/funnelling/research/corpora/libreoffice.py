"""LibreOffice's help: one group per page, in every language that Debian packages it in (MPL-2.0)."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

from funnelling.errors import InputError
from funnelling.research.corpora.apt import files_in, private_apt
from funnelling.research.corpora.builders import (
    BuiltCorpus,
    check_folders,
    normal_languages,
    omissions_in_words,
)
from funnelling.research.corpora.debian import documents_of, groups_in_all, none_left, too_short
from funnelling.runtime.progress import Advance, progress_bar
from funnelling.text.languages import normalise_tag, primary

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


# The eleven languages of the paper's experiments on JRC-Acquis.
LANGUAGES = ("da", "de", "en", "es", "fi", "fr", "hu", "it", "nl", "pt", "sv")
PAGE_WORDS, PARAGRAPH_WORDS = 50, 3

_ENGLISH = "en"
_PREFIX = "libreoffice-help-"
_CODE = r"([a-z]{2,3}(?:-[a-z]{2,8})*)"
_PACKAGE = re.compile(_PREFIX + _CODE)  # not the one called common
_PAGE = re.compile(rf"(?:.*/)?help/(?i:{_CODE})/text/([\w./-]+)\.html", re.ASCII)

Pages = dict[str, list[Paragraph]]
# The texts of each page under the keys of their paragraphs, in the order of the page.
Translations = dict[str, dict[str, str]]


def build_libreoffice_help(
    languages: Sequence[str] = LANGUAGES,
    sources: Sequence[Path] = (),
    min_words: int | None = None,
    paragraphs: bool = False,
    verbose: int = 0,
) -> BuiltCorpus:
    """Pages, or paragraphs, with enough words in all languages once what is not translated is gone.

    ``sources`` are folders of .deb files; without any, apt downloads them.
    """
    languages = normal_languages(map(_language, languages))
    if min_words is None:
        min_words = PARAGRAPH_WORDS if paragraphs else PAGE_WORDS
    texts: dict[str, dict[str, str]] = {}
    shares = []
    with (
        _packages({*languages, _ENGLISH}, sources, verbose) as packages,
        progress_bar("read help", None, bool(verbose), "pages") as advance,
    ):
        empty = [language for language in languages if not _has_pages(packages[language], language)]
        languages = tuple(language for language in languages if language not in empty)
        if not languages or not _has_pages(packages[_ENGLISH], _ENGLISH):
            package = packages[empty[0] if empty else _ENGLISH]
            raise InputError(f"{package}: no help page is in it. Take another file or other --languages.")
        english = _read_pages(packages[_ENGLISH], _ENGLISH, advance)
        for language in languages:
            pages = english if language == _ENGLISH else _read_pages(packages[language], language, advance)
            translations = {
                page: _translated(content, english.get(page, []), language) for page, content in pages.items()
            }
            texts[language] = _by_paragraph(translations) if paragraphs else _by_page(translations)
            shares.append(f"{language} {100 * _untranslated(pages, translations):.0f} %")
    groups = groups_in_all(texts, min_words)
    distinct = _without_repetitions(groups, texts) if paragraphs else groups
    kind = "paragraph" if paragraphs else "page"
    if not distinct:
        raise none_left(kind, languages, min_words)
    candidates = set.union(*map(set, texts.values()))
    omissions = omissions_in_words(
        (len(candidates) - len(groups), kind, too_short(min_words)),
        (len(groups) - len(distinct), "repetition", "of a paragraph"),
    )
    return BuiltCorpus(
        documents_of("libreoffice", distinct, texts),
        [
            *(f"{language}, for {packages[language].name} holds no page in it" for language in empty),
            f"untranslated paragraphs ({', '.join(shares)})",
            *omissions,
        ],
    )


# --- packages -----------------------------------------------------------------------------------


@contextmanager
def _packages(languages: set[str], sources: Sequence[Path], verbose: int) -> Iterator[dict[str, Path]]:
    """The package of each language, for as long as the files are there."""
    if sources:
        check_folders(sources)
        yield _packages_in(sources, languages)
        return
    with private_apt(verbose=verbose) as apt:
        names = {
            _language(match[1]): name
            for name in apt.package_names(_PREFIX)
            if (match := _PACKAGE.fullmatch(name))
        }
        _check_packaged(languages, names, "apt's sources")
        yield _packages_in([apt.download([names[language] for language in sorted(languages)])], languages)


def _packages_in(folders: Sequence[Path], languages: set[str]) -> dict[str, Path]:
    packages: dict[str, Path] = {}
    for path in sorted(path for folder in folders for path in folder.glob(f"{_PREFIX}*.deb")):
        match = _PACKAGE.fullmatch(path.name.partition("_")[0].removesuffix(".deb"))
        if match is None:
            continue
        first = packages.setdefault(_language(match[1]), path)
        if first != path:
            raise InputError(f"{path}: {first} is of the same language. Remove one of them.")
    _check_packaged(languages, packages, ", ".join(map(str, folders)))
    return packages


def _language(tag: str) -> str:
    """The language of a tag or of a package: the English of the United States is English itself.

    >>> _language("pt-br"), _language("en-us")
    ('pt_BR', 'en')
    """
    language = normalise_tag(tag)
    return _ENGLISH if language == "en_US" else language


def _check_packaged(languages: set[str], packaged: Mapping[str, object], place: str) -> None:
    for language in sorted(languages - set(packaged)):
        code = "en-us" if language == _ENGLISH else language.lower().replace("_", "-")
        reason = ", which shows what is untranslated" if language == _ENGLISH else ""
        raise InputError(
            f"{place}: no package {_PREFIX}{code}{reason}. "
            f"Use languages of those there: {', '.join(sorted(packaged)) or 'none'}."
        )


# --- pages --------------------------------------------------------------------------------------


def _has_pages(package: Path, language: str) -> bool:
    """Whether a package holds pages in its language: Debian's Slovak one only points at the Czech pages."""
    return any(files_in(package, partial(_page_of, language)))


def _read_pages(package: Path, language: str, advance: Advance) -> Pages:
    pages: Pages = {}
    for name, content in files_in(package, partial(_page_of, language)):
        try:
            pages[_page_of(language, name)] = paragraphs_of(content.decode())
        except UnicodeDecodeError:
            raise InputError(f"{package}: {name} is not UTF-8 text. Download the package again.") from None
        advance(1)
    return pages


def _page_of(language: str, name: str) -> str:
    """The page that a file is in this language, or nothing; the Catalan package holds Valencian too.

    >>> _page_of("it", "./usr/share/libreoffice/help/it/text/swriter/guide/anchor_object.html")
    'swriter/guide/anchor_object'
    """
    match = _PAGE.fullmatch(name)
    return match[2] if match and _language(match[1]) == language else ""


def _translated(page: Sequence[Paragraph], english: Sequence[Paragraph], language: str) -> dict[str, str]:
    """The paragraphs that have letters and are not in English, unless that is the language, under their keys.

    Compared with all of the English page, since lists of functions are sorted anew in each language.
    """
    left_in_english = set() if primary(language) == _ENGLISH else {text.casefold() for _, text in english}
    return {
        key: text
        for key, (_, text) in zip(_keys(page, english, language), page, strict=True)
        if _has_letters(text) and text.casefold() not in left_in_english
    }


def _keys(page: Sequence[Paragraph], english: Sequence[Paragraph], language: str) -> list[str]:
    """What a paragraph is called in all languages: its id where only one has it, else its position.

    Where the order is another than in English, a position says nothing and gets a name that no other
    language knows.
    """
    ids, english_ids = [paragraph.id for paragraph in page], [paragraph.id for paragraph in english]
    counts, english_counts = Counter(ids), Counter(english_ids)
    prefix = "" if ids == english_ids else f"{language}."
    return [
        name if name and counts[name] == english_counts[name] == 1 else f"{prefix}{position}"
        for position, name in enumerate(ids)
    ]


def _by_page(translations: Translations) -> dict[str, str]:
    texts = {}
    for page, content in translations.items():
        lines = list(content.values())
        # The title, which the first heading mostly repeats.
        texts[page] = "\n".join(lines[lines[:1] == lines[1:2] :])
    return texts


def _by_paragraph(translations: Translations) -> dict[str, str]:
    return {f"{page}#{key}": text for page, content in translations.items() for key, text in content.items()}


def _without_repetitions(groups: Sequence[str], texts: Mapping[str, Mapping[str, str]]) -> list[str]:
    """The first of all groups that say the same in all languages: pages share paragraphs."""
    first: dict[tuple[str, ...], str] = {}
    for group in groups:
        first.setdefault(tuple(versions[group] for versions in texts.values()), group)
    return list(first.values())


def _untranslated(pages: Pages, translations: Translations) -> float:
    lettered = sum(_has_letters(text) for page in pages.values() for _, text in page)
    return 1 - sum(map(len, translations.values())) / max(lettered, 1)


def _has_letters(text: str) -> bool:
    return any(map(str.isalpha, text))
