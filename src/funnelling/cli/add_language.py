"""``funnelling add-language``: a model learns further languages, without starting over."""

import argparse

from funnelling.cli import options


def add_to(commands: options.Commands) -> None:
    parser = commands.add_parser(
        "add-language",
        help="teach a model a further language",
        description="Teach a model languages that it does not know. It becomes the model that is trained on "
        "all documents at once, with the views that were chosen before. Measures before and after are shown; "
        "a model that became worse by more than noise is not saved.",
        epilog=options.examples("add-language model finnish.jsonl -o model-with-finnish"),
    )
    options.add_growth(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    from funnelling.cli.growing import learn_on
    from funnelling.tasks.growing import add_language

    learn_on(add_language, arguments)
