"""``funnelling predict``: labels and probabilities for each document, as the documents come."""

import argparse
import json
import os

from funnelling.cli import options
from funnelling.errors import InputError

LINES = (".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz", ".json", ".json.gz")


def add_to(commands: options.Commands) -> None:
    parser = commands.add_parser(
        "predict",
        help="label documents with a model",
        description="Label documents: one JSON object a line, with id, language, labels and scores (the "
        "probability of each label). Where a label's threshold is not .5, thresholds tells it. Of a folder "
        "of documents, -o may be a folder, too: each part becomes a part of predictions, in Parquet, and a "
        "run that was cut short goes on where it was.",
    )
    parser.add_argument("model", metavar="MODEL", help="folder of the model")
    parser.add_argument("data", metavar="DATA", help=options.DATA_HELP)
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="output file (standard output)")
    parser.add_argument("--top", type=options.count, metavar="N", help="show only the N most probable labels")
    parser.add_argument(
        "--threshold", type=options.probability, metavar="P", help="assign labels above this probability"
    )
    options.add_skip_unknown(parser)
    options.add_jobs(parser)
    options.add_cluster(parser)
    options.add_device(parser)
    options.add_force(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    from funnelling.formats import read_documents
    from funnelling.formats.files import STANDARD, writing
    from funnelling.prediction import Predictor, batches
    from funnelling.work.progress import progress_bar

    rows = {
        "top": arguments.top,
        "threshold": arguments.threshold,
        "skip_unknown": arguments.skip_unknown,
    }
    model = options.load_text_model(arguments.model).on_device(arguments.device)
    if os.path.isdir(arguments.data) and not arguments.output.lower().endswith((STANDARD, *LINES)):
        from funnelling.parts.predicting import Options, predict_parts

        predict_parts(
            arguments.model,
            arguments.data,
            arguments.output,
            Options(**rows),
            force=arguments.force,
            device=arguments.device,
            jobs=arguments.jobs,
            verbose=1,
        )
        return
    check_is_jsonl(arguments.output)
    predictor = Predictor(model, **rows)
    documents = read_documents(arguments.data)
    to_terminal = arguments.output == STANDARD and os.isatty(1)
    with (
        writing(arguments.output, arguments.force) as stream,
        progress_bar("predict", None, not to_terminal, "documents") as advance,
    ):
        for batch in batches(documents):
            for row in predictor(batch, arguments.data):
                stream.write(json.dumps(row, ensure_ascii=False) + "\n")
            if arguments.output == STANDARD:
                stream.flush()  # whoever reads along gets whole rows
            advance(len(batch))


def check_is_jsonl(output: str) -> None:
    """Refuse a name that would lie about what is written."""
    if output.lower().removesuffix(".gz").endswith((".csv", ".tsv", ".parquet")):
        raise InputError(f"{output}: predictions are JSON Lines. Choose a name that ends in .jsonl.")
