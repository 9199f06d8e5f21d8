"""``funnelling explain``: why a document got a label, as tables to read, as a page, or as JSON Lines."""

import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from funnelling.commands.declaring import argument, flag, option
from funnelling.commands.options import (
    DATA_HELP,
    MODEL_HELP,
    FilePath,
    LabelSetFile,
    Names,
    Overwriting,
    Reading,
    output_option,
)
from funnelling.commands.values import count
from funnelling.errors import InputError
from funnelling.runtime.messages import NO_COLOUR, Reporter, silent
from funnelling.runtime.progress import progress_bar

if TYPE_CHECKING:
    from funnelling.formats import Document

LINE_ENDINGS = (".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz", ".json", ".json.gz")
PAGE_ENDINGS = (".html", ".htm")
TABLE_ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".xlsx", ".parquet")


class Explain(LabelSetFile, Names, Overwriting, Reading):
    """Show why documents get their labels: the words for and against each label, marked in the text, and the
    nearest training documents of any language. Explained are the labels assigned, or the most probable ones.
    --json and -o FILE.jsonl have more: what the words added in each view of tier 1, and what the labels added
    in tier 2.
    """

    examples = ("explain model 'a few words'", "explain model docs.jsonl --html why.html --top 5")

    model: FilePath = argument(MODEL_HELP, "MODEL")
    data: FilePath = argument(f"{DATA_HELP}; or a text of two words or more", "DATA")
    output: FilePath | None = output_option(
        "output file: .jsonl, .html for a page, or .csv, .tsv, .xlsx or .parquet for a table of words "
        "(standard output)",
        "FILE",
        default=None,
        exclusive="output",
        common=True,
    )
    html: FilePath | None = option(
        "write a page with the words marked in the texts",
        "FILE",
        default=None,
        exclusive="output",
        common=True,
    )
    json: bool = flag("print one JSON object per line instead of tables", exclusive="output", common=True)
    id: Sequence[str] | None = option(
        "explain only the document of this id; may be repeated",
        "ID",
        default=None,
        action="append",
        common=True,
    )
    label: Sequence[str] = option(
        "explain this label; may be repeated", "L", default=(), action="append", common=True
    )
    top: int = option("how many words and labels to show (10)", "N", default=10, type=count, common=True)

    def run(self, report: Reporter = silent, verbose: int = 0) -> None:
        """Say for each document why it gets its labels; see `Predictor.explain`."""
        from funnelling.commands.predictions import Counts, counting, summary
        from funnelling.commands.sources import layout_for, load_text_model
        from funnelling.corpus.labels import label_columns
        from funnelling.formats import is_text, read_documents
        from funnelling.formats.files import STANDARD, shown_name, writing
        from funnelling.formats.tables import write_table
        from funnelling.methods.rows import Predictor, batches
        from funnelling.report.explanations import explanation_rows

        target, data, labels = os.fspath(self.html or self.output or STANDARD), self.data, self.label or None
        style = self._style(target)
        model = load_text_model(self.model).following(self.label_set)
        label_columns(model.labels.classes, self.label)  # refuses labels that do not exist
        predictor = Predictor(model, strict=self.strict, names=self.names, languages=self.languages)
        counts = Counts()
        documents = read_documents(data, layout_for(model, self.layout), labels=False)
        if self.id is not None:
            documents = _chosen(documents, self.id, shown_name(data))

        def explained() -> Iterator[tuple[str, dict[str, Any]]]:
            """Each text with its explanation."""
            # A bar among the rows would make both unreadable.
            show_bar = bool(verbose) and not (target == STANDARD and os.isatty(1))
            with progress_bar("explain", None, show_bar, "documents") as advance:
                for batch in batches(documents):
                    rows = counting(predictor.explain(batch, labels, self.top, os.fspath(data)), counts)
                    yield from zip((document.text for document in batch), rows, strict=True)
                    advance(len(batch))

        if style == "rows":
            told = (row for text, each in explained() for row in explanation_rows(text, each, self.top))
            write_table(target, told, None, self.force, title="explanations")
        else:
            colour = sys.stdout.isatty() and not os.environ.get(NO_COLOUR)
            name = os.path.basename(os.fspath(data))
            with writing(target, self.force) as stream:
                for piece in _written(style, name, explained(), self.top, colour):
                    stream.write(piece)
                    if target == STANDARD:
                        stream.flush()  # whatever reads along gets whole rows
        if any(kind for kind, _ in counts):
            for line in summary("the text" if is_text(data, self.layout) else shown_name(data), counts):
                report(line)

    def _style(self, target: str) -> str:
        """How explanations are written, where no option says so by the end of a file's name."""
        from funnelling.formats.tables import check_writable

        name = target.lower()
        if self.html is not None:
            return "html"
        if not self.json and self.output is None:
            return "table"
        if self.json or target == "-" or name.endswith(LINE_ENDINGS):
            return "jsonl"
        if name.endswith(PAGE_ENDINGS):
            return "html"
        if name.endswith(TABLE_ENDINGS):
            check_writable(target)
            return "rows"
        raise InputError(
            f"{target}: explanations are JSON Lines, a page or a table. Choose a name that ends in .jsonl, "
            ".html, .csv, .tsv, .xlsx or .parquet."
        )


def _chosen(documents: "Iterable[Document]", ids: Sequence[str], name: str) -> "Iterator[Document]":
    """The documents that have one of these ids, each of which some document must have."""
    from funnelling.formats.document import quoted

    left = set(ids)
    for document in documents:
        if document.id in ids:
            left.discard(document.id)
            yield document
    if left:
        raise InputError(f"{name}: no document has the id {quoted(min(left))}. Check --id.")


def _written(
    style: str, data: str, explained: Iterator[tuple[str, dict[str, Any]]], top: int, colour: bool
) -> Iterator[str]:
    """Explanations as they are written, a piece at a time."""
    from funnelling.report.explanations import document_text, explanation_page

    if style == "html":
        return explanation_page("standard input" if data == "-" else data, explained, top)
    if style == "table":
        return (document_text(text, row, top, colour) for text, row in explained)
    return (json.dumps(row, ensure_ascii=False) + "\n" for _, row in explained)
