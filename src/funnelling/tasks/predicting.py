"""Label the documents of a file: one row, or one JSON object, per document."""

import logging
import os
from collections.abc import Iterator

from funnelling.errors import InputError
from funnelling.formats import is_text_folder, read_documents
from funnelling.formats.files import STANDARD, writing
from funnelling.formats.layout import AS_FOUND, Layout
from funnelling.formats.predictions import say_renamed
from funnelling.formats.tables import (
    JSON_LINES,
    PARQUET,
    XLSX,
    check_writable,
    ending_of,
    to_json,
    write_table,
)
from funnelling.methods.rows import batches, thresholds_of
from funnelling.parts.predicting import PredictionOptions, predict_parts
from funnelling.runtime.progress import progress_bar
from funnelling.tasks.sources import FilePath, layout_for, load_text_model, say_unknown

DEFAULTS = PredictionOptions()

_log = logging.getLogger(__name__)


def predict(
    model: FilePath,
    data: FilePath,
    output: FilePath = STANDARD,
    options: PredictionOptions = DEFAULTS,
    *,
    layout: Layout = AS_FOUND,
    jobs: int | None = None,
    force: bool = False,
    verbose: int = 0,
) -> None:
    """Write a row with labels and probabilities for each document.

    Parameters
    ----------
    model : folder of the model
    data : file of documents, or a folder of such files; or a text of two words or more
    output : file whose ending says what it is (.csv, .tsv, .xlsx, .parquet or .jsonl), with the documents'
        own columns in front; or - for JSON Lines on standard output, without them; for a folder of documents
        it may be a folder, too, which gets one Parquet file of predictions per file of documents
    options : how many labels a row shows, and which are assigned
    layout : where the fields of documents are in the file, as far as that is not to be found
    jobs : processes that label a folder's files
    force : whether an output that exists is replaced
    verbose : above 0 for a progress bar
    """
    target = os.fspath(output)
    parts = os.path.isdir(data) and not is_text_folder(data) and _is_folder(target)
    ending = PARQUET if parts else _ending_of(target)
    classifier = options.following(load_text_model(model))
    predictor, table = options.predictor(classifier), options.table(ending, classifier)
    layout = layout_for(classifier, layout)
    unknown = predictor.unknown
    if parts:
        unknown = predict_parts(
            os.fspath(model),
            os.fspath(data),
            target,
            options,
            force=force,
            layout=layout,
            jobs=jobs,
            verbose=verbose,
        )
    elif _is_stream(target):
        documents = read_documents(data, layout, labels=False)
        with (
            writing(target, force) as stream,
            # A bar among the rows would make both unreadable.
            progress_bar("predict", None, bool(verbose) and not os.isatty(1), "documents") as advance,
        ):
            for batch in batches(documents):
                for row in predictor(batch, os.fspath(data)):
                    stream.write(to_json(table.plain(row)) + "\n")
                stream.flush()  # whatever reads along gets whole rows
                advance(len(batch))
    else:
        beside = table.objects if ending == JSON_LINES else table.rows

        def rows() -> Iterator[dict[str, object]]:
            with progress_bar("predict", None, bool(verbose), "documents") as advance:
                for batch in batches(read_documents(data, layout, labels=False, keep_fields=True)):
                    yield from beside(batch, predictor(batch, os.fspath(data)))
                    advance(len(batch))

        thresholds = options.thresholds(classifier)
        write_table(
            target,
            rows(),
            table.columns,
            force,
            title="predictions",
            attached={"thresholds": thresholds} if thresholds else {},
            verbose=verbose,
        )
        say_renamed(table.renamed)
    say_unknown(unknown)
    if options.threshold is None and thresholds_of(classifier):
        _say_where_thresholds_stand(os.fspath(model), target, ending)


def _is_folder(output: str) -> bool:
    """Whether a folder is to take the predictions for a folder: any name but that of a file of rows."""
    if _is_stream(output):
        return False
    try:
        return os.path.isdir(output) or not ending_of(output)
    except InputError:
        return True


def _ending_of(output: str) -> str:
    return JSON_LINES if _is_stream(output) else check_writable(output)


def _is_stream(output: str) -> bool:
    """Whether a name is that of standard output, a pipe or a device, of which an ending says nothing."""
    is_special = os.path.exists(output) and not os.path.isfile(output) and not os.path.isdir(output)
    return output == STANDARD or is_special


def _say_where_thresholds_stand(model: str, output: str, ending: str) -> None:
    places = {
        XLSX: f'the sheet "thresholds" of {output} has them',
        PARQUET: f"the metadata of {output} (funnelling.thresholds) has them",
    }
    where = places.get(ending, f"funnelling inspect {model} --json has them")
    _log.info(f"Labels are assigned above thresholds that are not all .5: {where}.")
