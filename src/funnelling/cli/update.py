"""``funnelling update``: a model learns further documents and corrected labels, without starting over."""

import argparse

from funnelling.cli import options


def add_to(commands: options.Commands) -> None:
    parser = commands.add_parser(
        "update",
        help="teach a model further documents or corrected labels",
        description="Teach a model further documents. It becomes the model that is trained on all documents "
        "at once, with the views that were chosen before. Those it knows, by id or else by text, get the "
        "labels given now; a file of ids and labels is enough for that. Measures before and after are shown; "
        "a model that became worse by more than noise is not saved.",
        epilog=options.examples("update model corrections.csv --choose"),
    )
    options.add_growth(parser, data_optional=True)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    from funnelling.cli.growing import learn_on
    from funnelling.tasks.growing import update

    learn_on(update, arguments)
