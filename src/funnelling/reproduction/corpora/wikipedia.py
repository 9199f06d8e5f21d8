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
from funnelling.formats.files import text_lines
from funnelling.randomness import stream as random_stream
from funnelling.reproduction.corpora.aligned_groups import documents_of, has_words, none_left, too_short
from funnelling.reproduction.corpora.alignments import Column, plain_title, read_alignments
from funnelling.reproduction.corpora.builders import (
    BuiltCorpus,
    check_folders,
    language_of,
    normal_languages,
    omissions_in_words,
)
from funnelling.reproduction.corpora.compression import reading
from funnelling.runtime.progress import Advance, progress_bar

MIN_WORDS, DOCUMENTS = 50, 5_000

_FILE = re.compile(r"wiki_\d+(?:\.bz2|\.gz|\.xz)?", re.ASCII)


class Article(NamedTuple):
    """What WikiExtractor says of an article."""

    id: str
    title: str
    text: str


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
        for article in _articles(path):
            advance(1)
            group = column.groups.get(article.id if column.by_id else plain_title(article.title))
            if group is not None and group in groups:
                yield group, _text(article)


def _articles(path: Path) -> Iterator[Article]:
    with reading(path) as stream:
        for number, line in text_lines(stream, str(path)):
            try:
                record = json.loads(line)
                yield Article(str(record["id"]), str(record["title"]), str(record["text"]))
            except (ValueError, KeyError, TypeError, RecursionError):
                raise InputError(
                    f"{path}:{number}: not an article with id, title and text in JSON. "
                    "Run WikiExtractor with --json."
                ) from None


def _text(article: Article) -> str:
    """The title, then one line per paragraph; WikiExtractor writes < as &lt; and may repeat the title."""
    title = html.unescape(article.title).strip()
    lines = [line.strip() for line in html.unescape(article.text).splitlines()]
    lines = [line for line in lines if line]
    return "\n".join([title, *lines[lines[:1] == [title] :]])
