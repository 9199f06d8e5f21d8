"""``funnelling explain``: why a document got a label."""

import argparse

from funnelling.cli import options


def add_to(commands: options.Commands) -> None:
    parser = commands.add_parser(
        "explain",
        help="explain why documents get their labels",
        description="Explain documents, one JSON object per line: the labels assigned, or the most probable "
        "ones, and for each what the words added in tier 1 and what the labels added in tier 2; and the "
        "training documents nearest to it, from any language.",
    )
    parser.add_argument("model", metavar="MODEL", help="folder of the model")
    parser.add_argument("data", metavar="DATA", help=options.DATA_HELP)
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="output file (standard output)")
    parser.add_argument("--label", action="append", metavar="L", help="explain this label; may be repeated")
    parser.add_argument(
        "--top", type=options.count, default=10, metavar="N", help="how many words and labels to show (10)"
    )
    options.add_skip_unknown(parser)
    options.add_force(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    from funnelling.tasks.predicting import explain

    explain(
        arguments.model,
        arguments.data,
        arguments.output,
        arguments.label,
        arguments.top,
        skip_unknown=arguments.skip_unknown,
        force=arguments.force,
        verbose=1,
    )
