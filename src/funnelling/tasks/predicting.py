"""Label the documents of a file: one JSON object per document."""

import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from typing import Any

from funnelling.errors import InputError
from funnelling.formats import Document, read_documents
from funnelling.formats.files import STANDARD, writing
from funnelling.parts.predicting import PredictionOptions, predict_parts
from funnelling.prediction import Predictor, batches
from funnelling.tasks.sources import FilePath, load_text_model
from funnelling.work.progress import progress_bar

LINES = (".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz", ".json", ".json.gz")
OTHER_FORMATS = (".csv", ".tsv", ".parquet")
DEFAULTS = PredictionOptions()


def predict(
    model: FilePath,
    data: FilePath,
    output: FilePath = STANDARD,
    options: PredictionOptions = DEFAULTS,
    *,
    device: str = "cpu",
    jobs: int | None = None,
    force: bool = False,
    verbose: int = 0,
) -> None:
    """Write a row with labels and probabilities for each document, as the documents come.

    Parameters
    ----------
    model : folder of the model
    data : file of documents, or a folder of such files
    output : file of JSON Lines, or - for standard output; for a folder of documents it may be a folder, too,
        which gets one Parquet file of predictions per file of documents
    options : how many labels a row shows, and which are assigned
    device : "cpu" or "cuda", where a funnel works in tier 2
    jobs : processes that label a folder's files
    force : whether an output that exists is replaced
    verbose : above 0 for a progress bar
    """
    classifier = load_text_model(model).on_device(device)
    predictor = Predictor(classifier, **asdict(options))  # refuses options that the model cannot follow
    target = os.fspath(output)
    if os.path.isdir(data) and not target.lower().endswith((STANDARD, *LINES)):
        predict_parts(
            os.fspath(model),
            os.fspath(data),
            target,
            options,
            force=force,
            device=device,
            jobs=jobs,
            verbose=verbose,
        )
        return
    _check_is_jsonl(target)

    def rows(batch: Sequence[Document]) -> Iterable[dict[str, Any]]:
        return predictor(batch, os.fspath(data))

    _write_rows("predict", data, target, rows, force, verbose)


def _check_is_jsonl(output: str) -> None:
    """Refuse a name that would lie about what is written."""
    if output.lower().removesuffix(".gz").endswith(OTHER_FORMATS):
        raise InputError(f"{output}: predictions are JSON Lines. Choose a name that ends in .jsonl.")


def _write_rows(
    title: str,
    data: FilePath,
    output: str,
    rows: Callable[[Sequence[Document]], Iterable[dict[str, Any]]],
    force: bool,
    verbose: int,
) -> None:
    documents = read_documents(data)
    # A bar among the rows would make both unreadable.
    show_bar = bool(verbose) and not (output == STANDARD and os.isatty(1))
    with (
        writing(output, force) as stream,
        progress_bar(title, None, show_bar, "documents") as advance,
    ):
        for batch in batches(documents):
            for row in rows(batch):
                stream.write(json.dumps(row, ensure_ascii=False) + "\n")
            if output == STANDARD:
                stream.flush()  # whatever reads along gets whole rows
            advance(len(batch))
