"""A report as Markdown, with its figures and data in files beside it."""

from collections.abc import Sequence

from funnelling.report.content import Block, Report, TableBlock, Texts
from funnelling.report.markup import escape_markdown, escape_table, inline_markdown
from funnelling.report.names import named_sections
from funnelling.report.page import BEST_NOTE, FACTS_TITLE
from funnelling.report.tables import markdown


def markdown_page(report: Report) -> str:
    """The whole report; figures are links to ``figures/NAME.svg``, data to ``data/NAME.csv``."""
    paragraphs = [f"# {escape_markdown(report.title)}", *map(inline_markdown, report.paragraphs)]
    for _, section, blocks in named_sections(report):
        paragraphs += [f"## {escape_markdown(section.title)}", *map(inline_markdown, section.paragraphs)]
        for name, block in blocks:
            paragraphs += _block(name, block)
    if report.facts:
        paragraphs.append(f"## {FACTS_TITLE}")
        paragraphs.append(
            "\n".join(
                f"- {escape_markdown(name)}: {escape_markdown(value)}" for name, value in report.facts.items()
            )
        )
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph) + "\n"


def _block(name: str, block: Block) -> Sequence[str]:
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
