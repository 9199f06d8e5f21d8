"""Which measured figures of README, guide and benchmarks may be out of date.

    python scripts/figures.py            # every marked place, those whose code has changed most first
    python scripts/figures.py --check    # status 1 where a figure is unmarked or wrong, or a marker is

A figure is marked by a comment in the page, which readers do not see:

    <!-- measured: 3fa2c1d | funnelling compare documents.jsonl --methods fun-tat | funnel svm native -->
    <!-- checked: reports/debian-comparable-10/data/methods.csv -->
    <!-- not measured: the paper's figures -->

*Measured* has the commit on which the figures came out, the command that gave them (``no command`` where none
was kept), and the code that they depend on: paths below src/funnelling or below the root. *Checked* names
committed results, below docs/: every figure has to be found in one of these files, in a table under its row
and column where the file has both. *Not measured* says what the numbers are instead: settings, definitions,
figures of others.

A marker covers what stands above it, up to the heading or the marker before; markers in a row cover the same.
It may stand at the end of a line, too. What is in code or in a link's address is no figure. Everything else
that is a decimal below 1 with two digits or more, a number of seconds, bytes or times, a percentage or a
p-value, looks measured (``FIGURE``), and --check wants it covered.
"""

import argparse
import csv
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
NO_COMMAND = "no command"

UNIT = r"(?:[nµm]?s|seconds?|min|minutes?|hours?|[KMG]B|times)\b|%|×(?!\s?\d)"
FIGURE = re.compile(rf"(?<![\w.])(?:\d[\d,]*(?:\.\d+)?\s?(?:{UNIT})|0?\.\d{{2,}}\b)|\bp\s?[<=>≤≥]\s?\d\S*")
NUMBER = re.compile(r"(?<![\w.-])([-−+]?)(\d[\d,]*(?:\.\d+)?|\.\d+)(?![\d⁻])")  # of 10⁻⁹ nothing
MARKER = re.compile(r"<!--\s*(measured|checked|not measured):\s*(.*?)\s*-->", re.DOTALL)
HEADING = re.compile(r"^#+ .*|\Z", re.MULTILINE)  # or the end of the page
# Comments, fenced code, code within a line, addresses of links: they hold no figure, heading or cell.
OPAQUE = re.compile(
    r"<!--.*?-->|^ *(```|~~~).*?^ *\1|(`+)[^`]+\2|\]\(.*?\)|<http.*?>", re.DOTALL | re.MULTILINE
)


@dataclass(frozen=True)
class Block:
    """A stretch of a page, and the marker that covers it: without one, its kind is empty."""

    page: str
    line: int
    text: str
    kind: str
    content: str
    marker_line: int

    @property
    def place(self) -> str:
        return f"{self.page}:{self.marker_line}"


@dataclass(frozen=True)
class Measured:
    """The content of a marker of that kind."""

    commit: str
    command: str
    code: list[str]


def parse_measured(content: str) -> Measured | None:
    commit, *command, code = (field.strip() for field in content.split("|"))  # commands may have pipes
    if not (commit and command and code and re.fullmatch(r"[0-9a-f]{7,40}", commit)):
        return None
    return Measured(commit, " | ".join(command), code.split())


def read_blocks(root: Path) -> Iterator[Block]:
    pages = [root / "README.md", *sorted((root / "docs").glob("*.md")), root / "benchmarks" / "README.md"]
    for path in pages:
        if path.exists():
            yield from divide(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"))


def divide(page: str, text: str) -> Iterator[Block]:
    """The blocks of a page."""
    legible = OPAQUE.sub(lambda found: re.sub(r"[\d#|]", "_", found[0]), text)  # as long as the text
    markers = (MARKER.fullmatch(text, *opaque.span()) for opaque in OPAQUE.finditer(text))
    bounds = sorted([*HEADING.finditer(legible), *filter(None, markers)], key=re.Match.start)

    def line(offset: int) -> int:
        return text.count("\n", 0, offset) + 1

    start = first = last = 0
    for bound in bounds:
        kind, content = bound.groups() if bound.re is MARKER else ("", "")
        if not kind or legible[start : bound.start()].strip():
            first, last = start, bound.start()
        content = " ".join(content.split())
        yield Block(page, line(first), legible[first:last], kind, content, line(bound.start()))
        start = bound.end()


class History:
    """The commits of the repository. An sdist has none, a shallow clone not all: it is not complete."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.complete = self._git("rev-parse", "--is-shallow-repository") == "false"

    def _git(self, *arguments: str) -> str | None:
        if not (self.root / ".git").exists():  # an sdist, which may lie in a repository that is not ours
            return None
        done = subprocess.run(["git", *arguments], cwd=self.root, capture_output=True, text=True, check=False)
        return None if done.returncode else done.stdout.strip()

    def has(self, commit: str) -> bool:
        return self._git("merge-base", "--is-ancestor", commit, "HEAD") is not None

    def commits_since(self, commit: str, code: Iterable[str]) -> int | None:
        paths = [str(self.path(part) or part) for part in code]
        count = self._git("rev-list", "--count", f"{commit}..HEAD", "--", *paths)
        return None if count is None else int(count)

    def path(self, part: str) -> Path | None:
        """The code that a marker names: a folder or file of the package, or one below the root."""
        package = self.root / "src" / "funnelling"
        choices = [package / part, package / f"{part}.py", self.root / part]
        return next((path for path in choices if path.exists()), None)


class Results:
    """The numbers of committed CSV files, by row and column and all together."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self.cells: dict[tuple[str, str], list[list[str]]] = defaultdict(list)
        for path in paths:
            with path.open(encoding="utf-8", newline="") as file:
                header, *rows = csv.reader(file)
            columns = names_of_today(header[1:])
            for title, *cells in filter(None, rows):
                for column, cell in zip(columns, cells, strict=False):
                    self.cells[title.casefold(), column.casefold()].append(numbers(cell))
        self.all = {number for cells in self.cells.values() for cell in cells for number in cell}

    def wrong(self, text: str) -> Iterator[tuple[int, str]]:
        """Figures that are not there, each with its line in the text."""
        columns: list[str] = []
        for line, row in enumerate(text.splitlines()):
            if not row.startswith("|"):
                columns = []
                yield from ((line, figure) for figure in self._strangers(row))
                continue
            title, *cells = (plain(cell) for cell in row.strip().strip("|").split("|"))
            if not columns:
                columns = [column.casefold() for column in cells]
            for column, cell in zip(columns, cells, strict=False):
                known = self.cells.get((title.casefold(), column))
                if known is None:
                    yield from ((line, figure) for figure in self._strangers(cell))
                elif not any(agree(numbers(cell), there) for there in known):
                    yield line, f"{cell} ({title}, {column})"

    def _strangers(self, text: str) -> Iterator[str]:
        for found in FIGURE.finditer(text):
            sign = text[: found.start()][-1:]
            figure = f"{sign if sign in '-−+' else ''}{found[0]}"
            if not any(same(number, there) for number in numbers(figure)[:1] for there in self.all):
                yield figure


def names_of_today(columns: Sequence[str]) -> list[str]:
    """The titles of measures as pages have them; older results say macro-F1 for the paper's, * for the other.

    >>> names_of_today(["micro-F1", "macro-F1", "macro-F1*"])
    ['micro-F1', "paper's macro-F1", 'macro-F1']
    """
    if any(column.startswith("paper's") for column in columns):
        return list(columns)
    return [re.sub(r"^(macro-[FK]1?)(\*?)$", _name_of_today, column) for column in columns]


def _name_of_today(found: re.Match[str]) -> str:
    return found[1] if found[2] else f"paper's {found[1]}"


def plain(cell: str) -> str:
    r"""A cell without marks: ``**Fun(TAT)**`` is Fun(TAT), ``macro-F1\*`` is macro-F1*."""
    return re.sub(r"(?<!\\)[*`]", "", cell).replace("\\", "").strip()


def numbers(text: str) -> list[str]:
    return [f"{sign}{digits}".replace(",", "").replace("−", "-") for sign, digits in NUMBER.findall(text)]


def agree(cell: Sequence[str], there: Sequence[str]) -> bool:
    """Whether a cell's numbers are the first of those there: a page may leave deviations out."""
    return len(cell) <= len(there) and all(map(same, cell, there))


def same(number: str, there: str) -> bool:
    """Whether a number is the one there, rounded. Without a sign it may be said of either: “.02 below”."""
    _, _, digits = number.partition(".")
    value, true = float(number), float(there)
    if number[0] not in "-+":
        true = abs(true)
    return abs(value - true) <= 0.5 * 10.0 ** -len(digits) + 1e-9


def problems(root: Path) -> Iterator[str]:
    history = History(root)
    for block in read_blocks(root):
        if block.kind == "measured":
            yield from (f"{block.place}: {problem}" for problem in wrong_marker(block.content, history))
        elif block.kind == "checked":
            yield from wrong_figures(block, root / "docs")
        elif not block.kind:
            yield from unmarked(block)


def wrong_marker(content: str, history: History) -> Iterator[str]:
    marker = parse_measured(content)
    if marker is None:
        yield "a marker is to read <!-- measured: COMMIT | COMMAND | CODE -->."
        return
    if history.complete and not history.has(marker.commit):
        yield f"the history of HEAD has no commit {marker.commit}."
    missing = [part for part in marker.code if history.path(part) is None]
    if missing:
        yield f"there is no code {', '.join(missing)}."


def wrong_figures(block: Block, docs: Path) -> Iterator[str]:
    names = block.content.replace(",", " ").split()
    missing = [name for name in names if not (docs / name).is_file()]
    if missing:
        yield f"{block.place}: there is no docs/{missing[0]}."
        return
    for line, figure in Results(docs / name for name in names).wrong(block.text):
        yield f"{block.page}:{block.line + line}: {figure} is not in {block.content}."


def unmarked(block: Block) -> Iterator[str]:
    figures = list(FIGURE.finditer(block.text))
    if figures:
        line = block.line + block.text.count("\n", 0, figures[0].start())
        others = f" and {len(figures) - 1} more" if figures[1:] else ""
        yield f"{block.page}:{line}: {figures[0][0]}{others}: no marker says what gave that."


def listing(root: Path) -> Iterator[str]:
    history = History(root)
    blocks = list(read_blocks(root))
    checked = [block for block in blocks if block.kind == "checked"]
    rows = []
    for block in blocks:
        marker = parse_measured(block.content) if block.kind == "measured" else None
        if marker:
            since = history.commits_since(marker.commit, marker.code)
            rows.append((-1 if since is None else since, block.place, marker))
    rows.sort(key=lambda row: -row[0])
    width = max((len(block.place) for block in blocks if block.kind), default=0)
    yield f"commits since  commit   {'place':{width}}  command"
    for since, place, marker in rows:
        yield f"{'?' if since < 0 else since:>13}  {marker.commit:7.7}  {place:{width}}  {marker.command}"
    yield from (f"{'checked':>13}  {'':7}  {block.place:{width}}  {block.content}" for block in checked)
    stale = sum(since > 0 for since, *_ in rows)
    nameless = sum(marker.command == NO_COMMAND for *_, marker in rows)
    yield f"{len(rows)} places measured: the code of {stale} has changed since, {nameless} name no command."
    yield f"{len(checked)} places checked against committed results."


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--check", action="store_true", help="name what is unmarked or wrong")
    check = parser.parse_args(arguments).check
    lines = list(problems(root) if check else listing(root))
    print(*lines, sep="\n", end="\n" if lines else "")
    return int(check and bool(lines))


if __name__ == "__main__":
    sys.exit(main())
