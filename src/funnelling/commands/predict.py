"""``funnelling predict``: labels and probabilities for each document, as the documents come."""

import logging
import os
from collections.abc import Iterator

from funnelling.commands.declaring import argument, flag
from funnelling.commands.options import (
    DATA_HELP,
    MODEL_HELP,
    Cluster,
    FilePath,
    Jobs,
    Overwriting,
    Predicting,
    Reading,
    output_option,
)
from funnelling.errors import InputError
from funnelling.runtime.messages import Reporter, silent
from funnelling.runtime.progress import progress_bar

_log = logging.getLogger(__name__)


class Predict(Predicting, Jobs, Cluster, Overwriting, Reading):
    """Assign labels to documents.

    -o names a file whose ending says what it is: .csv, .tsv, .xlsx, .parquet or .jsonl (.csv, .tsv and .jsonl
    also with .gz). It has the columns of DATA, then labels, best_label, its probability, and abstained.
    Standard output is JSON Lines: id, language, labels, best_label, probability, abstained and probabilities,
    one for each label. A document without a known word gets no label: abstained is out-of-vocabulary, or
    unknown-language in a language that the model does not know. Thresholds that are not .5 are shown by
    funnelling inspect. For a folder of documents, -o may be a folder, too: it gets one Parquet file of
    predictions per file of documents, and a run that was cut short goes on where it stopped.
    """

    examples = ("predict model docs.csv -o labels.xlsx", "predict model 'a few words' --top 3")

    model: FilePath = argument(MODEL_HELP, "MODEL")
    data: FilePath = argument(f"{DATA_HELP}; or a text of two words or more", "DATA")
    output: FilePath = output_option(
        "output file (standard output)", "FILE", default="-", exclusive="output", common=True
    )
    json: bool = flag("print one JSON object per line (usual without -o)", exclusive="output", common=True)

    def run(self, report: Reporter = silent, verbose: int = 0) -> None:
        from funnelling.commands.predictions import (
            Counts,
            counting,
            say_renamed,
            summary,
            table_of,
            thresholds_shown,
        )
        from funnelling.commands.sources import layout_for, load_text_model
        from funnelling.formats import is_text, is_text_folder, read_documents
        from funnelling.formats.files import shown_name, writing
        from funnelling.formats.tables import JSON_LINES, PARQUET, check_writable, to_json, write_table
        from funnelling.methods.rows import Predictor, batches, thresholds_of

        target, data = os.fspath(self.output), os.fspath(self.data)
        parts = os.path.isdir(data) and not is_text_folder(data) and _is_folder(target)
        ending = PARQUET if parts else JSON_LINES if _is_stream(target) else check_writable(target)
        model = load_text_model(self.model).following(self.label_set, self.exclude)
        predictor = Predictor(
            model, self.top, self.threshold, self.strict, names=self.names, languages=self.languages
        )
        table = table_of(self, ending, model)
        layout = layout_for(model, self.layout)
        counts = Counts()
        if parts:
            from funnelling.commands.parts import predict_parts

            counts = predict_parts(
                os.fspath(self.model),
                data,
                target,
                self,
                force=self.force,
                layout=layout,
                jobs=self.jobs,
                verbose=verbose,
            )
        elif _is_stream(target):
            documents = read_documents(data, layout, labels=False)
            with (
                writing(target, self.force) as stream,
                # A bar among the rows would make both unreadable.
                progress_bar("predict", None, bool(verbose) and not os.isatty(1), "documents") as advance,
            ):
                for batch in batches(documents):
                    for row in counting(predictor(batch, data), counts):
                        stream.write(to_json(table.plain(row)) + "\n")
                    stream.flush()  # whatever reads along gets whole rows
                    advance(len(batch))
        else:
            beside = table.objects if ending == JSON_LINES else table.rows

            def rows() -> Iterator[dict[str, object]]:
                with progress_bar("predict", None, bool(verbose), "documents") as advance:
                    for batch in batches(read_documents(data, layout, labels=False, keep_fields=True)):
                        yield from beside(batch, counting(predictor(batch, data), counts))
                        advance(len(batch))

            thresholds = thresholds_shown(self, model)
            write_table(
                target,
                rows(),
                table.columns,
                self.force,
                title="predictions",
                attached={"thresholds": thresholds} if thresholds else {},
                verbose=verbose,
            )
            say_renamed(table.renamed)
        text = is_text(data, layout)
        if any(kind for kind, _ in counts) or not text:
            name = shown_name(target) if not _is_stream(target) else "the text" if text else shown_name(data)
            for line in summary(name, counts):
                report(line)
        if self.threshold is None and thresholds_of(model):
            _say_where_thresholds_stand(os.fspath(self.model), target, ending)


def _is_folder(output: str) -> bool:
    """Whether a folder is to take the predictions for a folder: any name but that of a file of rows."""
    from funnelling.formats.tables import ending_of

    if _is_stream(output):
        return False
    try:
        return os.path.isdir(output) or not ending_of(output)
    except InputError:
        return True


def _is_stream(output: str) -> bool:
    """Whether a name is that of standard output, a pipe or a device, of which an ending says nothing."""
    from funnelling.formats.files import STANDARD

    is_special = os.path.exists(output) and not os.path.isfile(output) and not os.path.isdir(output)
    return output == STANDARD or is_special


def _say_where_thresholds_stand(model: str, output: str, ending: str) -> None:
    from funnelling.formats.tables import PARQUET, XLSX

    places = {
        XLSX: f'the sheet "thresholds" of {output} has them',
        PARQUET: f"the metadata of {output} (funnelling.thresholds) has them",
    }
    where = places.get(ending, f"funnelling inspect {model} --json has them")
    _log.info(f"Labels are assigned above thresholds that are not all .5: {where}.")
