"""``funnelling update`` and ``add-language``: a model learns further documents, without starting over."""

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from funnelling.cli import options, printing
from funnelling.runtime.messages import say

if TYPE_CHECKING:
    from funnelling.tasks.growing import GrownModel


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
    parser.set_defaults(run=run, task="add_language")
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
    parser.set_defaults(run=run, task="update")


def run(arguments: argparse.Namespace) -> None:
    """Have a model learn on and print what has changed, also where it became worse and was not saved."""
    from funnelling.tasks import growing

    learn_on: Callable[..., GrownModel] = getattr(growing, arguments.task)
    try:
        growth = learn_on(
            arguments.model,
            arguments.data,
            arguments.output,
            layout=options.layout(arguments),
            strict=arguments.strict,
            resources=options.resources(arguments),
            exact=arguments.exact,
            choose=arguments.choose,
            jobs=arguments.jobs,
            force=arguments.force,
            verbose=1,
            report=say,
        )
    except growing.ScoreFellError as error:
        _print(error.growth, None, arguments.json)
        raise
    _print(growth, arguments.output or arguments.model, arguments.json)


def _print(growth: "GrownModel", folder: str | None, as_json: bool) -> None:
    if as_json:
        printing.print_json({"model": folder, **growth.record()})
        return
    printing.print_growth(growth)
    if folder is not None:
        print(f"Model: {folder}")
