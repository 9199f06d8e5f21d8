"""``funnelling suggest``: which documents to label next."""

import argparse

from funnelling.cli import options


def add_to(commands: options.Commands) -> None:
    parser = commands.add_parser(
        "suggest",
        help="name the documents to label next",
        description="Name the documents without labels that a model would learn most from: those it is "
        "unsure of, that many others are like, and that are unlike what it has learned, no two of which say "
        "the same; across languages, with a reason for each. The output, a name that ends in .csv, .tsv, "
        ".xlsx, .parquet or .jsonl (.csv, .tsv and .jsonl also with .gz), has an empty field `labels`: fill "
        "it in, and give the file to `funnelling update`, which leaves out what is still empty. Standard "
        "output is JSON Lines. Documents with labels, documents for test and those that the model learned "
        "are left out.",
        epilog=options.examples("suggest model docs.jsonl -n 50 -o to-label.xlsx"),
    )
    parser.add_argument("model", metavar="MODEL", help=options.MODEL_HELP)
    parser.add_argument("data", metavar="DATA", help=options.DATA_HELP)
    parser.add_argument(
        "-n", "--number", type=options.count, default=100, metavar="N", help="how many documents (100)"
    )
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="output file (standard output)")
    parser.add_argument(
        "--balance",
        action="store_true",
        help="aim at the same number of labelled documents in every language (more of languages with more)",
    )
    options.add_force(parser)
    options.add_reading(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    from funnelling.labelling.suggesting import suggest

    suggest(
        arguments.model,
        arguments.data,
        arguments.output,
        arguments.number,
        balance=arguments.balance,
        layout=options.layout(arguments),
        strict=arguments.strict,
        force=arguments.force,
        verbose=1,
    )
