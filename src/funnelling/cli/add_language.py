"""``funnelling add-language``: a model learns further languages, without starting over."""

import argparse

from funnelling.cli import options, printing


def add_to(commands: options.Commands) -> None:
    parser = commands.add_parser(
        "add-language",
        help="teach a model a further language",
        description="Fit the base classifiers of languages that the model does not know, and tier 2 anew. "
        "All other base classifiers stay untouched. Measures before and after are shown, on rows with split "
        "test and on training documents that were held out.",
    )
    options.add_growth(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    from funnelling.tasks.growing import add_language

    growth = add_language(
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
