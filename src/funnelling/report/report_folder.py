"""A report as a folder: the page, a page in Markdown, the data of every table and figure, every figure."""

from pathlib import Path

from funnelling.formats.files import cannot_write, writing
from funnelling.report.content import Figure, Report, TableBlock
from funnelling.report.figures.standalone import standalone_svg
from funnelling.report.markdown_page import markdown_page
from funnelling.report.names import named_sections
from funnelling.report.page import html_page
from funnelling.report.spreadsheets import comma_separated


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
