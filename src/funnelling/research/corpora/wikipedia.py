"""Articles of Wikipedia that exist in all languages, as the paper's reference corpus (CC BY-SA).

The texts are those of WikiExtractor, one folder per language: ``wikiextractor --json -o DIR/it it.xml.bz2``.
They are read twice, so that of all articles only those sampled are ever held.
"""

import html
import json
import re
from collections.abc import Iterator, Sequence, Set
from pathlib import Path
from typing import NamedTuple

from funnelling.errors import InputError
from funnelling.formats.document import quoted
from funnelling.formats.files import text_lines
from funnelling.randomness import stream as random_stream
from funnelling.research.corpora.builders import (
    BuiltCorpus,
    check_folders,
    language_of,
    normal_languages,
    omissions_in_words,
    reading,
)
from funnelling.research.corpora.debian import documents_of, has_words, none_left, too_short
from funnelling.runtime.progress import Advance, progress_bar
from funnelling.text.languages import normalise_tag

_GROUP, _ID = "group", ":id"


class Column(NamedTuple):
    """The articles of a language: the group of each, under its title or its number."""

    by_id: bool
    groups: dict[str, str]


def read_alignments(path: Path, languages: Sequence[str] | None = None) -> dict[str, Column]:
    r"""The rows of a .tsv file that name an article in each of the languages, or in all the file has.

    A column called ``it`` holds titles, one called ``it:id`` the numbers of articles. A group goes by the
    first cell of its row that is not empty: an article, or what a first column called ``group`` says.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "alignments.tsv")
    ...     _ = file.write_text("group\ten\tit:id\nQ146\tCat\t42\nQ144\tDog\t\n")
    ...     read_alignments(file)
    {'en': Column(by_id=False, groups={'Cat': 'Q146'}), 'it': Column(by_id=True, groups={'42': 'Q146'})}
    """
    rows = _rows(path)
    _, header = next(rows, (1, []))
    positions, by_id = _columns(path, header)
    for language in languages or ():
        if language not in positions:
            raise InputError(f"{path}: no column for {language}. Use languages of {', '.join(positions)}.")
    columns = {language: Column(by_id[language], {}) for language in sorted(languages or positions)}
    groups = set()
    for number, cells in rows:
        if len(cells) > len(header):
            raise InputError(
                f"{path}:{number}: {len(cells)} cells where the header has {len(header)}. Drop some."
            )
        cells += [""] * (len(header) - len(cells))
        articles = {language: cells[positions[language]] for language in columns}
        if not all(articles.values()):
            continue
        group = next(filter(None, cells))
        if group in groups:
            raise InputError(f"{path}:{number}: group {quoted(group)} a second time. Drop one of the rows.")
        groups.add(group)
        for language, article in articles.items():
            name = article if by_id[language] else plain_title(article)
            if columns[language].groups.setdefault(name, group) != group:
                raise InputError(
                    f"{path}:{number}: article {quoted(article)} of {language} is in two groups. "
                    "Drop it from one."
                )
    return columns


def plain_title(title: str) -> str:
    """A title as readers see it; dumps write spaces as underscores."""
    return title.replace("_", " ").strip()


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    with reading(path) as stream:
        for number, line in text_lines(stream, str(path)):
            yield number, [cell.strip() for cell in line.rstrip("\r\n").split("\t")]


def _columns(path: Path, header: Sequence[str]) -> tuple[dict[str, int], dict[str, bool]]:
    """Where each language stands, and whether its articles go by their numbers."""
    positions: dict[str, int] = {}
    by_id = {}
    for position, name in enumerate(header):
        if position == 0 and name == _GROUP:
            continue
        try:
            language = normalise_tag(name.removesuffix(_ID))
        except InputError as error:
            raise InputError(f"{path}:1: {error} Columns are called it, or it:id for numbers.") from None
        if language in positions:
            raise InputError(f"{path}:1: two columns are of {language}. Drop one of them.")
        positions[language] = position
        by_id[language] = name.endswith(_ID)
    if not positions:
        raise InputError(f"{path}: no column of a language. Begin with a line of language codes.")
    return positions, by_id


MIN_WORDS, DOCUMENTS = 50, 5_000

_FILE = re.compile(r"wiki_\d+(?:\.bz2|\.gz|\.xz)?", re.ASCII)


def build_wikipedia(
    languages: Sequence[str] | None = None,
    sources: Sequence[Path] = (),
    alignments: Path | None = None,
    min_words: int = MIN_WORDS,
    documents: int = DOCUMENTS,
    seed: int = 0,
    verbose: int = 0,
) -> BuiltCorpus:
    """A random sample of the articles with enough words in every language, of those that are aligned.

    ``sources`` are folders with one folder per language; ``alignments`` is a table as read_alignments wants
    it, whose columns are the languages unless some are asked for.
    """
    if not sources or alignments is None:
        raise InputError(
            "wikipedia needs texts and their alignments. Add --source DIR and --alignments FILE."
        )
    check_folders(sources)
    columns = read_alignments(alignments, normal_languages(languages) if languages else None)
    files = {language: _files(sources, language) for language in columns}
    aligned = {group for column in columns.values() for group in column.groups.values()}
    complete = aligned
    with progress_bar("find articles", None, bool(verbose), "articles") as advance:
        for language, column in columns.items():
            articles = _articles_of(complete, column, files[language], advance)
            complete = {group for group, text in articles if has_words(text, language, min_words)}
    if not complete:
        raise none_left("aligned article", list(columns), min_words)
    positions = random_stream(seed, "wikipedia").permutation(len(complete))[:documents].tolist()
    ordered = sorted(complete)
    sample = {ordered[position] for position in positions}
    texts: dict[str, dict[str, str]] = {}
    with progress_bar("read articles", None, bool(verbose), "articles") as advance:
        for language, column in columns.items():
            articles = _articles_of(sample, column, files[language], advance)
            texts[language] = {
                group: text for group, text in articles if has_words(text, language, min_words)
            }
    return BuiltCorpus(
        documents_of("wikipedia", sorted(sample), texts),
        omissions_in_words(
            (len(aligned) - len(complete), "aligned article", too_short(min_words)),
            (len(complete) - len(sample), "article", "not drawn"),
        ),
    )


def _files(sources: Sequence[Path], language: str) -> list[Path]:
    """The files of a language's folders, in the order of their names."""
    folders = [
        folder
        for source in sources
        for folder in source.iterdir()
        if language_of(folder.name) == language and folder.is_dir()
    ]
    files = [path for folder in folders for path in folder.rglob("wiki_*") if _FILE.fullmatch(path.name)]
    if not files:
        raise InputError(
            f"{', '.join(map(str, sources))}: no {language}/AA/wiki_00. "
            f"Put WikiExtractor's output for {language} there."
        )
    return sorted(files)


def _articles_of(
    groups: Set[str], column: Column, files: Sequence[Path], advance: Advance
) -> Iterator[tuple[str, str]]:
    """The texts of those articles that belong to the groups."""
    for path in files:
        with reading(path) as stream:
            for number, line in text_lines(stream, str(path)):
                try:
                    record = json.loads(line)
                    name, title, text = (str(record[field]) for field in ("id", "title", "text"))
                except (ValueError, KeyError, TypeError, RecursionError):
                    raise InputError(
                        f"{path}:{number}: not an article with id, title and text in JSON. "
                        "Run WikiExtractor with --json."
                    ) from None
                advance(1)
                group = column.groups.get(name if column.by_id else plain_title(title))
                if group is not None and group in groups:
                    yield group, _with_title(title, text)


def _with_title(title: str, text: str) -> str:
    """The title, then one line per paragraph; WikiExtractor writes < as &lt; and may repeat the title."""
    title = html.unescape(title).strip()
    lines = [line.strip() for line in html.unescape(text).splitlines()]
    lines = [line for line in lines if line]
    return "\n".join([title, *lines[lines[:1] == [title] :]])
