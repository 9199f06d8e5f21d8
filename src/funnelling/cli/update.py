"""``funnelling update``: a model learns further documents, without starting over."""

import argparse

from funnelling.cli import options, printing


def add_to(commands: options.Commands) -> None:
    parser = commands.add_parser(
        "update",
        help="teach a model further documents",
        description="Add labelled documents to languages that the model knows. Vocabularies stay as they "
        "were. Measures before and after are shown, on rows with split test and on training documents that "
        "were held out.",
    )
    options.add_growth(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    from funnelling.tasks.growing import update

    growth = update(
        arguments.model,
        arguments.data,
        arguments.output,
        layout=options.layout(arguments),
        strict=arguments.strict,
        jobs=arguments.jobs,
        force=arguments.force,
        verbose=1,
        report=printing.say,
    )
    printing.print_growth(growth, arguments.output or arguments.model)
