"""``funnelling evaluate``: how good a model is on labelled documents, by language."""

import argparse

from funnelling.cli import options, printing


def add_to(commands: options.Commands) -> None:
    parser = commands.add_parser(
        "evaluate",
        help="measure a model on labelled documents",
        description="Measure a model on the test rows of a file, or on all labelled rows without splits.",
    )
    parser.add_argument("model", metavar="MODEL", help="folder of the model")
    parser.add_argument("data", metavar="DATA", help=options.DATA_HELP)
    parser.add_argument(
        "--skip-unknown", action="store_true", help="leave out documents in languages the model does not know"
    )
    options.add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    from funnelling.tasks.evaluating import evaluate

    scores = evaluate(
        arguments.model,
        arguments.data,
        skip_unknown=arguments.skip_unknown,
        verbose=1,
        report=printing.say,
    )
    if arguments.json:
        printing.print_json(scores)
    else:
        printing.print_scores(scores)
