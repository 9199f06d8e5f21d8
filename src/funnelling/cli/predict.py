"""``funnelling predict``: labels and probabilities for each document, as the documents come."""

import argparse
import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from funnelling.cli import options
from funnelling.errors import InputError

if TYPE_CHECKING:
    from funnelling.formats import Document

BATCH_DOCUMENTS = 1_000
BATCH_CHARACTERS = 4_000_000


def add_to(commands: options.Commands) -> None:
    parser = commands.add_parser(
        "predict",
        help="label documents with a model",
        description="Label documents: one JSON object a line, with id, language, labels and scores (the "
        "probability of each label). Where a label's threshold is not .5, thresholds tells it.",
    )
    parser.add_argument("model", metavar="MODEL", help="folder of the model")
    parser.add_argument("data", metavar="DATA", help=options.DATA_HELP)
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="output file (standard output)")
    parser.add_argument("--top", type=options.count, metavar="N", help="show only the N most probable labels")
    parser.add_argument(
        "--threshold", type=options.probability, metavar="P", help="assign labels above this probability"
    )
    options.add_skip_unknown(parser)
    options.add_force(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    import os

    from funnelling.formats import read_documents
    from funnelling.formats.files import STANDARD, writing
    from funnelling.prediction import Predictor
    from funnelling.progress import progress_bar

    check_is_jsonl(arguments.output)
    predictor = Predictor(
        options.load_text_model(arguments.model),
        top=arguments.top,
        threshold=arguments.threshold,
        skip_unknown=arguments.skip_unknown,
    )
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


def batches(documents: Iterable["Document"]) -> Iterator[list["Document"]]:
    """Documents in lists that are bounded in number and in characters."""
    batch: list[Any] = []
    characters = 0
    for document in documents:
        batch.append(document)
        characters += len(document.text)
        if len(batch) == BATCH_DOCUMENTS or characters >= BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch
