"""Explain why the documents of a file get their labels: as tables to read, as a page, or as JSON Lines."""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from funnelling.corpus.labels import label_columns
from funnelling.errors import InputError
from funnelling.formats import Document, read_documents
from funnelling.formats.document import quoted
from funnelling.formats.files import STANDARD, shown_name, writing
from funnelling.formats.layout import AS_FOUND, Layout
from funnelling.formats.tables import check_writable, write_table
from funnelling.methods.rows import Predictor, batches
from funnelling.report.explanations import document_text, explanation_page, explanation_rows
from funnelling.runtime.progress import progress_bar
from funnelling.tasks.sources import FilePath, layout_for, load_text_model, say_unknown

LINE_ENDINGS = (".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz", ".json", ".json.gz")
PAGE_ENDINGS = (".html", ".htm")
TABLE_ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".xlsx", ".parquet")


def explain(
    model: FilePath,
    data: FilePath,
    output: FilePath = STANDARD,
    labels: Sequence[str] | None = None,
    top: int = 10,
    *,
    ids: Sequence[str] | None = None,
    style: str | None = None,
    colour: bool = False,
    names: str | None = None,
    label_set: FilePath | None = None,
    layout: Layout = AS_FOUND,
    strict: bool = False,
    force: bool = False,
    verbose: int = 0,
) -> None:
    """Say for each document why it gets its labels; see `Predictor.explain`.

    Parameters
    ----------
    model : folder of the model
    data : file of documents
    output : file of JSON Lines, of a page where the name ends in .html, or of a table with a row per word
        where it ends in .csv, .tsv, .xlsx or .parquet; or - for standard output
    labels : those to explain; None for those assigned, or the most probable ones
    top : how many words and labels a row shows
    ids : those of the documents to explain; None for all
    style : "jsonl", "html", "rows" of a table, or "table", for a reader; None goes by the name of the output
    colour : whether a table may have colours
    names : the language of the names of labels to show beside them, None for none
    label_set : file of labels (see `read_label_set`) in place of what the model keeps of them
    layout : where the fields of documents are in the file, as far as that is not to be found
    strict : whether documents in unknown languages are refused, or else get a row without labels
    force : whether an output that exists is replaced
    verbose : above 0 for a progress bar
    """
    target = os.fspath(output)
    style = style or _style_of(target)
    classifier = load_text_model(model).following(label_set)
    label_columns(classifier.labels.classes, labels or ())  # refuses labels that do not exist
    predictor = Predictor(classifier, strict=strict, names=names)
    documents = read_documents(data, layout_for(classifier, layout), labels=False)
    if ids is not None:
        documents = _chosen(documents, ids, shown_name(data))

    def explained() -> Iterator[tuple[str, dict[str, Any]]]:
        """Each text with its explanation."""
        # A bar among the rows would make both unreadable.
        show_bar = bool(verbose) and not (target == STANDARD and os.isatty(1))
        with progress_bar("explain", None, show_bar, "documents") as advance:
            for batch in batches(documents):
                rows = predictor.explain(batch, labels, top, os.fspath(data))
                yield from zip((document.text for document in batch), rows, strict=True)
                advance(len(batch))

    if style == "rows":
        told = (row for text, each in explained() for row in explanation_rows(text, each, top))
        write_table(target, told, None, force, title="explanations")
    else:
        name = os.path.basename(os.fspath(data))
        with writing(target, force) as stream:
            for piece in _written(style, name, explained(), top, colour):
                stream.write(piece)
                if target == STANDARD:
                    stream.flush()  # whatever reads along gets whole rows
    say_unknown(predictor.unknown)


def _chosen(documents: Iterable[Document], ids: Sequence[str], name: str) -> Iterator[Document]:
    """The documents that have one of these ids, each of which some document must have."""
    left = set(ids)
    for document in documents:
        if document.id in ids:
            left.discard(document.id)
            yield document
    if left:
        raise InputError(f"{name}: no document has the id {quoted(min(left))}. Check --id.")


def _style_of(output: str) -> str:
    """What a file is to hold, by the end of its name; one that says neither is refused."""
    name = output.lower()
    if output == STANDARD or name.endswith(LINE_ENDINGS):
        return "jsonl"
    if name.endswith(PAGE_ENDINGS):
        return "html"
    if name.endswith(TABLE_ENDINGS):
        check_writable(output)
        return "rows"
    raise InputError(
        f"{output}: explanations are JSON Lines, a page or a table. Choose a name that ends in .jsonl, "
        ".html, .csv, .tsv, .xlsx or .parquet."
    )


def _written(
    style: str, data: str, explained: Iterator[tuple[str, dict[str, Any]]], top: int, colour: bool
) -> Iterator[str]:
    """Explanations as they are written, a piece at a time."""
    if style == "html":
        return explanation_page("standard input" if data == STANDARD else data, explained, top)
    if style == "table":
        return (document_text(text, row, top, colour) for text, row in explained)
    return (json.dumps(row, ensure_ascii=False) + "\n" for _, row in explained)
