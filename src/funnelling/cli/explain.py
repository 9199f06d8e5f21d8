"""``funnelling explain``: why a document got a label."""

import argparse
import os
import sys

from funnelling.commands import options
from funnelling.runtime.messages import NO_COLOUR


def add_to(commands: options.Commands) -> None:
    parser = commands.add_parser(
        "explain",
        help="explain why documents get their labels",
        description="Explain documents: the labels assigned, or the most probable ones, and for each the "
        "words of the text that speak for it and against it, marked in the text; and the training documents "
        "nearest to it, from any language. --json and -o FILE.jsonl tell more: what the words added in each "
        "view of tier 1, and what the labels added in tier 2.",
        epilog=options.examples(
            "explain model 'a few words'", "explain model docs.jsonl --html why.html --top 5"
        ),
    )
    parser.add_argument("model", metavar="MODEL", help=options.MODEL_HELP)
    parser.add_argument("data", metavar="DATA", help=f"{options.DATA_HELP}; or a text of two words or more")
    outputs = parser.add_mutually_exclusive_group()
    outputs.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="output file: .jsonl, .html for a page, or .csv, .tsv, .xlsx or .parquet for a table of words "
        "(standard output)",
    )
    outputs.add_argument("--html", metavar="FILE", help="write a page with the words marked in the texts")
    outputs.add_argument("--json", action="store_true", help="print JSON Lines instead of tables")
    parser.add_argument(
        "--id", action="append", metavar="ID", help="explain only the document of this id; may be repeated"
    )
    parser.add_argument("--label", action="append", metavar="L", help="explain this label; may be repeated")
    parser.add_argument(
        "--top", type=options.count, default=10, metavar="N", help="how many words and labels to show (10)"
    )
    options.add_label_set(parser, names=True, exclude=False)
    options.add_force(parser)
    options.add_reading(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    from funnelling.commands.explaining import explain
    from funnelling.formats.files import STANDARD

    style = "html" if arguments.html else "jsonl" if arguments.json else None
    output = arguments.html or arguments.output or STANDARD
    if arguments.output is None and style is None:
        style = "table"
    explain(
        arguments.model,
        arguments.data,
        output,
        arguments.label,
        arguments.top,
        ids=arguments.id,
        style=style,
        colour=sys.stdout.isatty() and not os.environ.get(NO_COLOUR),
        names=arguments.names,
        label_set=arguments.label_set,
        layout=options.layout(arguments),
        strict=arguments.strict,
        force=arguments.force,
        verbose=1,
    )
