"""A report as one HTML page that needs nothing else, as Markdown, and as a folder with its data."""

import math
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from funnelling.formats.files import cannot_write, writing
from funnelling.report.content import (
    Bars,
    Block,
    Drawing,
    Report,
    Shaped,
    TableBlock,
    Texts,
    known_values,
    named_sections,
    shown_values,
)
from funnelling.report.curves import draw, standalone_svg, swatch
from funnelling.report.passages import marks, signed
from funnelling.report.tables import (
    Table,
    comma_separated,
    escape_markdown,
    escape_table,
    inline_markdown,
    inline_pieces,
    is_numeric,
    markdown,
    xml_characters,
)

if TYPE_CHECKING:
    from jinja2 import Environment

FACTS_TITLE = "How this was made"
BEST_NOTE = "bold: the best"

_MAX_SHORT = 20  # letters of a cell that need not be broken
_MAX_LEVEL = 4  # letters of a column's title that is not turned in a heat map


@cache
def templates(of_pages: bool = True) -> "Environment":
    """The templates of pages, or of Markdown. Either escapes all texts but markup."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    clean = xml_characters if of_pages else escape_markdown
    made = Environment(
        loader=PackageLoader("funnelling.report"),
        autoescape=of_pages,
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
        lstrip_blocks=True,
        finalize=lambda value: clean(value) if type(value) is str else value,
    )
    if of_pages:
        made.globals.update(pieces=inline_pieces, marks=marks, signed=signed, swatch=swatch)
    else:
        made.filters["inline"] = lambda text: Markup(inline_markdown(text))
        made.filters["table"] = lambda table: Markup(markdown(escape_table(table)))
    return made


def html_page(report: Report) -> str:
    """The whole page; equal reports are equal bytes."""
    sections = [
        (f"section-{name}", section, [_page_view(*block) for block in blocks])
        for name, section, blocks in named_sections(report)
    ]
    contents = [(place, section.title) for place, section, _ in sections]
    contents += [("facts", FACTS_TITLE)] if report.facts else []
    page = templates().get_template("report.html")
    return page.render(title=report.title, report=report, sections=sections, contents=contents)


def _data(block: Block) -> Table:
    """The table that holds all of a block."""
    return block.table if isinstance(block, TableBlock) else block.table()


def _view(name: str, block: Block) -> dict[str, Any]:
    """What pages and Markdown show of a block: a table, or what stands for it, between paragraphs."""
    view: dict[str, Any] = {
        "name": name,
        "kind": "table",
        "block": block,
        "table": _data(block),
        "after": [],
        "folded": False,
    }
    if isinstance(block, TableBlock):
        notes = [*([BEST_NOTE] if block.table.best else []), *block.notes]
        return view | {"before": [], "after": notes, "folded": block.folded}
    if isinstance(block, Texts):
        return view | {"kind": "texts", "before": block.notes}
    if isinstance(block, Drawing):
        return view | {"kind": "drawing", "before": [block.alternative]}
    return view | {"table": shown_values(block), "before": [block.alternative]}


def _page_view(name: str, block: Block) -> dict[str, Any]:
    """What the page needs beside that: cells with their classes, lines and points drawn, data to download."""
    view = _view(name, block)
    view |= _cells(view["table"])
    if isinstance(block, Shaped):
        _shape(view, block)
    return {
        **view,
        "drawn": draw(block) if isinstance(block, Drawing) else None,
        "data": quote(comma_separated(_data(block)), safe="", errors="replace"),
    }


def _cells(table: Table) -> dict[str, Any]:
    """A table with the classes of its cells: ``groups`` cover all columns but the first."""
    columns = list(zip(*table.rows, strict=True)) or [()] * len(table.header)
    kinds = [
        "number" if is_numeric(cells) else "long" if any(len(cell) > _MAX_SHORT for cell in cells) else ""
        for cells in columns[1:]
    ]
    rest = len(kinds) - sum(columns for _, columns in table.groups)
    rows = [
        [
            {
                "text": text,
                "best": (number, column) in table.best,
                "style": None,
                "kind": kinds[column - 1] if column else "short" if len(text) <= _MAX_SHORT else "",
            }
            for column, text in enumerate(row)
        ]
        for number, row in enumerate(table.rows)
    ]
    groups = [*table.groups, ("", rest)] if table.groups and rest else table.groups
    return {"header": table.header, "kinds": ["", *kinds], "groups": groups, "rows": rows, "shape": ""}


def _shape(view: dict[str, Any], figure: Shaped) -> None:
    """Give the cells of bars or of a heat map their places on the common scale of all."""
    is_bars = isinstance(figure, Bars)
    ends = [*([0.0] if is_bars else []), *known_values(figure)] or [0.0]
    low, width = min(ends), max(ends) - min(ends)

    def share(value: float) -> str:
        return f"{(value - low) / width if width else 0.5:.3f}"

    for cells, values in zip(view["rows"], figure.values, strict=True):
        for cell, value in zip(cells[1:], values, strict=True):
            cell["kind"] = "number"
            if value is not None and math.isfinite(value):
                bar = f"--from:{share(min(value, 0.0))};--to:{share(max(value, 0.0))}"
                cell["style"] = bar if is_bars else f"--share:{share(value)}"
    turned = any(len(title) > _MAX_LEVEL for title in view["header"][1:])
    view["shape"] = "bars" if is_bars else "shades turned" if turned else "shades"
    view["kinds"] = ["", *["number"] * (len(view["header"]) - 1)]


def markdown_page(report: Report) -> str:
    """The whole report; drawings are links to ``figures/NAME.svg``, data to ``data/NAME.csv``."""
    sections = [
        (section, [_view(*block) for block in blocks]) for _, section, blocks in named_sections(report)
    ]
    return render_markdown("report.md", report=report, sections=sections, facts_title=FACTS_TITLE)


def render_markdown(name: str, **values: Any) -> str:
    """A template of Markdown with these values, without empty lines that are left of what is not there."""
    text = templates(of_pages=False).get_template(name).render(values)
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n") + "\n"


def write_report(report: Report, folder: Path) -> list[Path]:
    """Write a report into a folder, over an older one if there is one; return the files written.

    They are ``report.html``, ``report.md``, ``data/NAME.csv`` for every table and figure, and
    ``figures/NAME.svg`` for every figure of lines or points.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in write_report(Report("Results"), Path(folder))]
    ['report.html', 'report.md']
    """
    texts = {Path("report.html"): html_page(report), Path("report.md"): markdown_page(report)}
    for _, _, blocks in named_sections(report):
        for name, block in blocks:
            texts[Path("data", f"{name}.csv")] = comma_separated(_data(block))
            if isinstance(block, Drawing):
                texts[Path("figures", f"{name}.svg")] = standalone_svg(block)
    written = []
    for path, text in texts.items():
        target = folder / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise cannot_write(target.parent, error) from error
        with writing(target, force=True) as stream:
            stream.write(text)
        written.append(target)
    return written
