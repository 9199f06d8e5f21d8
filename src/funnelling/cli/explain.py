"""``funnelling explain``: why a document got a label."""

import argparse
import json

from funnelling.cli import options


def add_to(commands: options.Commands) -> None:
    parser = commands.add_parser(
        "explain",
        help="tell why documents get their labels",
        description="For each document, one JSON object a line: the labels assigned, or the most probable "
        "ones, and for each what the words added in tier 1 and what the labels added in tier 2; and the "
        "training documents nearest to it, from any language.",
    )
    parser.add_argument("model", metavar="MODEL", help="folder of the model")
    parser.add_argument("data", metavar="DATA", help=options.DATA_HELP)
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="output file (standard output)")
    parser.add_argument("--label", action="append", metavar="L", help="explain this label; may be repeated")
    parser.add_argument(
        "--top", type=options.count, default=10, metavar="N", help="how many words and labels to tell (10)"
    )
    options.add_skip_unknown(parser)
    options.add_force(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    from funnelling.cli.predict import check_is_jsonl
    from funnelling.formats import read_documents
    from funnelling.formats.files import writing
    from funnelling.method.explanation import label_columns
    from funnelling.prediction import Predictor, batches
    from funnelling.work.progress import progress_bar

    check_is_jsonl(arguments.output)
    model = options.load_text_model(arguments.model)
    label_columns(model.classes_, arguments.label or ())
    predictor = Predictor(model, skip_unknown=arguments.skip_unknown)
    documents = read_documents(arguments.data)
    with (
        writing(arguments.output, arguments.force) as stream,
        progress_bar("explain", None, True, "documents") as advance,
    ):
        for batch in batches(documents):
            for row in predictor.explain(batch, arguments.label, arguments.top, arguments.data):
                stream.write(json.dumps(row, ensure_ascii=False) + "\n")
            advance(len(batch))
