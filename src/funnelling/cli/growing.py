"""What the commands share that let a model learn on."""

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from funnelling.cli import options, printing

if TYPE_CHECKING:
    from funnelling.tasks.growing import GrownModel


def learn_on(task: "Callable[..., GrownModel]", arguments: argparse.Namespace) -> None:
    """Have a model learn on and print what has changed, also where it became worse and was not saved."""
    from funnelling.tasks.growing import ScoreFellError

    try:
        growth = task(
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
            report=printing.say,
        )
    except ScoreFellError as error:
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
