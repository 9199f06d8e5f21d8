"""Which articles are about the same thing: a table with one column per language and one row per group."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from funnelling.errors import InputError
from funnelling.formats.document import quoted
from funnelling.formats.files import text_lines
from funnelling.reproduction.corpora.compression import reading
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
        articles = {language: _cell(cells, positions[language]) for language in columns}
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


def _cell(cells: Sequence[str], position: int) -> str:
    return cells[position] if position < len(cells) else ""
