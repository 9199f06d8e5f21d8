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
    options.add_force(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    from funnelling.cli.predict import batches
    from funnelling.explanation import explain_documents
    from funnelling.formats import read_documents
    from funnelling.formats.files import writing
    from funnelling.progress import progress_bar

    model = options.load_text_model(arguments.model)
    with (
        writing(arguments.output, arguments.force) as stream,
        options.naming(arguments.data),
        progress_bar("explain", None, True, "documents") as advance,
    ):
        for batch in batches(read_documents(arguments.data)):
            texts = [document.text for document in batch]
            languages = [document.language for document in batch]
            rows = explain_documents(model, texts, languages, arguments.label, arguments.top)
            for document, row in zip(batch, rows, strict=True):
                stream.write(json.dumps({"id": document.id, **row}, ensure_ascii=False) + "\n")
            advance(len(batch))
