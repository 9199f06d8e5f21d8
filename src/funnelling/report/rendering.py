"""A report as one page of HTML that needs nothing beside it, as Markdown, and as a folder with its data."""

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote

from funnelling.formats.files import cannot_write, writing
from funnelling.report.content import Block, Figure, MarkedText, Report, TableBlock, Texts, named_sections
from funnelling.report.figures import draw, standalone_svg
from funnelling.report.figures.curves import swatch
from funnelling.report.figures.drawing import DARK, LIGHT, SHAPES, Drawing, Panel, colour_rules, element
from funnelling.report.passages import LEGEND, marked_html
from funnelling.report.tables import (
    Table,
    comma_separated,
    escape,
    escape_markdown,
    escape_table,
    inline_html,
    inline_markdown,
    markdown,
)

FACTS_TITLE = "How this was made"
BEST_NOTE = "bold: the best"

_SHORT = 20  # letters of a row's title that need not be broken
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
# Below this share of its own size the numbers of a heat map would be too small to read.
_SMALLEST_MATRIX, _LARGEST_MATRIX = 0.95, 1.35


def html_page(report: Report) -> str:
    """The whole page; equal reports are equal bytes."""
    sections = list(named_sections(report))
    places = [(f"section-{name}", section.title) for name, section, _ in sections]
    if report.facts:
        places.append(("facts", FACTS_TITLE))
    lines = [
        "<header>",
        f"<h1>{escape(report.title)}</h1>",
        *_paragraphs(report.paragraphs),
        *(_contents(places) if len(places) > 1 else []),
        "</header>",
    ]
    for name, section, blocks in sections:
        place = f"section-{name}"
        lines += [
            f'<section aria-labelledby="{place}">',
            f'<h2 id="{place}">{escape(section.title)}</h2>',
            *_paragraphs(section.paragraphs),
            *(_block(block_name, block) for block_name, block in blocks),
            "</section>",
        ]
    if report.facts:
        lines += _facts(report)
    return "\n".join([*head(report.title), *lines, "</main>", "</body>", "</html>", ""])


def head(title: str) -> list[str]:
    """The lines of a page before its content, which ends with ``main``, ``body`` and ``html``."""
    dark = f"@media screen and (prefers-color-scheme: dark) {{\n{colour_rules(DARK)}}}\n"
    rules = files("funnelling.report").joinpath("page.css").read_text("utf-8")
    return [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        '<link rel="icon" href="data:,">',
        f"<title>{escape(title)}</title>",
        f"<style>\n{rules}{SHAPES}{colour_rules(LIGHT)}{dark}</style>",
        "</head>",
        "<body>",
        "<main>",
    ]


def _paragraphs(texts: Sequence[str]) -> list[str]:
    return [f"<p>{inline_html(text)}</p>" for text in texts]


def _contents(places: Sequence[tuple[str, str]]) -> list[str]:
    links = [f'<li><a href="#{place}">{escape(title)}</a></li>' for place, title in places]
    return ['<nav aria-label="Contents">', "<ol>", *links, "</ol>", "</nav>"]


def _facts(report: Report) -> list[str]:
    pairs = [f"<dt>{escape(name)}</dt>\n<dd>{escape(value)}</dd>" for name, value in report.facts.items()]
    return [
        '<section aria-labelledby="facts">',
        f'<h2 id="facts">{FACTS_TITLE}</h2>',
        "<dl>",
        *pairs,
        "</dl>",
        "</section>",
    ]


def _block(name: str, block: Block) -> str:
    if isinstance(block, TableBlock):
        return _table_block(name, block)
    if isinstance(block, Texts):
        return _texts(name, block)
    return _figure(name, block)


def _table_block(name: str, block: TableBlock) -> str:
    notes = [f"<p>{inline_html(note)}</p>" for note in block.notes]
    if block.table.best:
        word, rest = BEST_NOTE.split(":", 1)
        notes.insert(0, f'<p><span class="best">{word}</span>:{rest}</p>')
    title = escape(block.title)
    table = [_table(block.table, f"<h3>{title}</h3>", block.title)]
    if block.folded:
        table = [
            f"<h3>{title}</h3>",
            "<details>",
            f'<summary>{len(block.table.rows)} rows<span class="hidden"> of {title}</span></summary>',
            _table(block.table, f'<span class="hidden">{title}</span>', block.title),
            "</details>",
        ]
    return "\n".join(
        [
            f'<div class="block" id="block-{name}">',
            *table,
            *(['<div class="notes">', *notes, "</div>"] if notes else []),
            _download(name, block.table, block.title),
            "</div>",
        ]
    )


def _texts(name: str, block: Texts) -> str:
    notes = [f"<p>{inline_html(note)}</p>" for note in block.notes]
    return "\n".join(
        [
            f'<div class="block" id="block-{name}">',
            f"<h3>{escape(block.title)}</h3>",
            *(['<div class="notes">', *notes, "</div>"] if notes else []),
            *([LEGEND] if any(text.passages for text in block.texts) else []),
            '<ol class="texts">',
            *map(_marked_text, block.texts),
            "</ol>",
            _download(name, block.data, block.title),
            "</div>",
        ]
    )


def _marked_text(text: MarkedText) -> str:
    pairs = [f"<dt>{escape(name)}</dt>\n<dd>{escape(value)}</dd>" for name, value in text.facts.items()]
    return "\n".join(
        [
            "<li>",
            f"<h4>{escape(text.title)}</h4>",
            "<dl>",
            *pairs,
            "</dl>",
            marked_html(text.text, text.passages, text.language),
            "</li>",
        ]
    )


def _table(table: Table, caption: str, label: str) -> str:
    """A table in a region of its own that scrolls where the page is too narrow for it."""
    numeric = [_is_numeric([row[column] for row in table.rows]) for column in range(len(table.header))]
    long = [any(len(row[column]) > _SHORT for row in table.rows) for column in range(len(table.header))]
    begins = _group_starts(table)
    lines = [
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(f"Table: {label}")}">',
        "<table>",
        f"<caption>{caption}</caption>",
        "<thead>",
    ]
    if table.groups:
        lines.append(_group_row(table))
    header = [
        _cell("th", escape(text), _classes(column, numeric, begins), 'scope="col"')
        for column, text in enumerate(table.header)
    ]
    lines += ["<tr>" + "".join(header) + "</tr>", "</thead>", "<tbody>"]
    for number, row in enumerate(table.rows):
        cells = []
        for column, text in enumerate(row):
            classes = [*_classes(column, numeric, begins), *(["long"] if long[column] else [])]
            best = (number, column) in table.best
            shown = f"<b>{escape(text)}</b>" if best else escape(text)
            if column == 0:
                classes = ["short"] if len(text) <= _SHORT else []
                cells.append(_cell("th", shown, [*classes, "best"] if best else classes, 'scope="row"'))
            else:
                cells.append(_cell("td", shown, [*classes, "best"] if best else classes))
        lines.append("<tr>" + "".join(cells) + "</tr>")
    return "\n".join([*lines, "</tbody>", "</table>", "</div>"])


def _group_row(table: Table) -> str:
    cells = ["<td></td>"]
    for text, columns in table.groups:
        tag, scope = ("th", ' scope="colgroup"') if text else ("td", "")
        cells.append(f'<{tag}{scope} colspan="{columns}" class="begins">{escape(text)}</{tag}>')
    rest = len(table.header) - 1 - sum(columns for _, columns in table.groups)
    if rest > 0:
        cells.append(f'<td class="begins" colspan="{rest}"></td>')
    return "<tr>" + "".join(cells) + "</tr>"


def _group_starts(table: Table) -> set[int]:
    starts, column = set(), 1
    for _, columns in table.groups:
        starts.add(column)
        column += columns
    return starts | {column} if table.groups else starts


def _classes(column: int, numeric: Sequence[bool], begins: set[int]) -> list[str]:
    classes = ["number"] if column and numeric[column] else []
    return [*classes, "begins"] if column in begins else classes


def _cell(tag: str, content: str, classes: Sequence[str], scope: str = "") -> str:
    written = f' class="{" ".join(classes)}"' if classes else ""
    return f"<{tag}{written}{' ' + scope if scope else ''}>{content}</{tag}>"


def _is_numeric(cells: Sequence[str]) -> bool:
    """Whether a column holds numbers, be they with deviations, daggers or gaps."""
    filled = [cell.lstrip("-+−±(").lstrip(".")[:1] for cell in cells if cell.strip("-–— ")]
    return bool(filled) and all(start.isdigit() for start in filled)


def _figure(name: str, figure: Figure) -> str:
    drawing = draw(figure, f"figure-{name}")
    title = escape(figure.title)
    single = len(drawing.panels) == 1
    described = "" if single else f' aria-describedby="figure-{name}-alternative"'
    hidden = f'<p class="hidden" id="figure-{name}-alternative">{escape(figure.alternative)}</p>'
    return "\n".join(
        [
            f'<figure class="block" id="figure-{name}" aria-labelledby="figure-{name}-caption"{described}>',
            f'<figcaption id="figure-{name}-caption"><h3>{title}</h3></figcaption>',
            *([] if single else [hidden]),
            *_legend(drawing),
            *([f'<p class="axes">{escape(drawing.axes)}</p>'] if drawing.axes else []),
            _panels(name, figure, drawing),
            "<details>",
            f'<summary>Data<span class="hidden"> of {title}</span></summary>',
            _table(figure.table(), f'<span class="hidden">Data of {title}</span>', f"data of {figure.title}"),
            _download(name, figure.table(), figure.title),
            "</details>",
            "</figure>",
        ]
    )


def _legend(drawing: Drawing) -> list[str]:
    if not any(drawing.legend):
        return []
    keys = [
        f'<li><svg class="drawing" viewBox="0 0 32 14" aria-hidden="true">{swatch(position)}</svg>'
        f"<span>{escape(series)}</span></li>"
        for position, series in enumerate(drawing.legend)
    ]
    return ['<ul class="legend">', *keys, "</ul>"]


def _panels(name: str, figure: Figure, drawing: Drawing) -> str:
    single = len(drawing.panels) == 1
    drawn = []
    for number, panel in enumerate(drawing.panels, start=1):
        title = figure.title if single else f"{figure.title}: {panel.title}"
        words = figure.alternative if single else panel.description
        drawn.append(_svg(f"figure-{name}-{number}", panel, title, words, drawing.shape))
    region = ""
    if drawing.shape == "matrix":
        region = f' role="region" tabindex="0" aria-label="{escape(f"Figure: {figure.title}")}"'
    classes = f"panels {drawing.shape}" + (" scroll" if region else "")
    return "\n".join([f'<div class="{classes}"{region}>', *drawn, "</div>"])


def _svg(place: str, panel: Panel, title: str, words: str, shape: str) -> str:
    style = None
    if shape == "matrix":
        smallest, largest = panel.width * _SMALLEST_MATRIX, panel.width * _LARGEST_MATRIX
        style = f"min-width:{smallest:.0f}px;max-width:{largest:.0f}px"
    texts = [
        element("title", escape(title) or " ", id=f"{place}-title"),
        element("desc", escape(words) or " ", id=f"{place}-description"),
    ]
    return element(
        "svg",
        "".join(texts) + panel.marks,
        class_="drawing",
        role="img",
        aria_labelledby=f"{place}-title {place}-description",
        viewBox=f"0 0 {panel.width:g} {panel.height:g}",
        style=style,
    )


def _download(name: str, table: Table, title: str) -> str:
    data = quote(comma_separated(table), safe="", errors="replace")
    return (
        f'<p class="download"><a download="{name}.csv" href="data:text/csv;charset=utf-8,{data}">'
        f'Download as CSV<span class="hidden">: {escape(title)}</span></a></p>'
    )


def markdown_page(report: Report) -> str:
    """The whole report; figures are links to ``figures/NAME.svg``, data to ``data/NAME.csv``."""
    paragraphs = [f"# {escape_markdown(report.title)}", *map(inline_markdown, report.paragraphs)]
    for _, section, blocks in named_sections(report):
        paragraphs += [f"## {escape_markdown(section.title)}", *map(inline_markdown, section.paragraphs)]
        for name, block in blocks:
            paragraphs += _markdown_block(name, block)
    if report.facts:
        paragraphs.append(f"## {FACTS_TITLE}")
        paragraphs.append(
            "\n".join(
                f"- {escape_markdown(name)}: {escape_markdown(value)}" for name, value in report.facts.items()
            )
        )
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph) + "\n"


def _markdown_block(name: str, block: Block) -> Sequence[str]:
    title = f"### {escape_markdown(block.title)}"
    if isinstance(block, TableBlock):
        notes = [*([BEST_NOTE] if block.table.best else []), *block.notes]
        return [
            title,
            *([] if block.folded else [markdown(escape_table(block.table))]),
            *map(inline_markdown, notes),
            f"[Data as CSV](data/{name}.csv)",
        ]
    if isinstance(block, Texts):
        return [
            title,
            *map(inline_markdown, block.notes),
            markdown(escape_table(block.data)),
            f"[Data as CSV](data/{name}.csv)",
        ]
    return [
        title,
        f"![{escape_markdown(block.alternative)}](figures/{name}.svg)",
        f"[Data as CSV](data/{name}.csv)",
    ]


def write_report(report: Report, folder: Path) -> list[Path]:
    """Write a report into a folder, over an older one if there is one; say which files were written.

    They are ``report.html``, ``report.md``, ``data/NAME.csv`` for every table and figure, and
    ``figures/NAME.svg`` for every figure.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in write_report(Report("Results"), Path(folder))]
    ['report.html', 'report.md']
    """
    texts = {Path("report.html"): html_page(report), Path("report.md"): markdown_page(report)}
    for _, _, blocks in named_sections(report):
        for name, block in blocks:
            table = block.table if isinstance(block, TableBlock) else block.table()
            texts[Path("data", f"{name}.csv")] = comma_separated(table)
            if isinstance(block, Figure):
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
