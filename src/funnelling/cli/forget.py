"""``funnelling forget``: a model becomes the one that never saw some documents."""

import argparse

from funnelling.cli import options, printing
from funnelling.runtime.messages import say


def add_to(commands: options.Commands) -> None:
    parser = commands.add_parser(
        "forget",
        help="remove documents from a model",
        description="Make a model the one that never saw some documents: everything is learned anew without "
        "them, and neither they nor their ids are anywhere in its folder afterwards.",
        epilog=options.examples("forget model --ids withdrawn.txt"),
    )
    options.add_changed_model(parser)
    parser.add_argument(
        "--ids",
        required=True,
        metavar="FILE",
        help="ids of the documents: one per line, or a table with a column of ids; - for standard input",
    )
    parser.add_argument("--id-column", metavar="NAME", help="column of the ids, where FILE is a table")
    parser.add_argument(
        "--ignore-unknown", action="store_true", help="pass over ids that no document of the model has"
    )
    options.add_json(parser)
    options.add_resources(parser)
    options.add_jobs(parser)
    options.add_force(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    from funnelling.errors import counted, printable
    from funnelling.formats.layout import Layout
    from funnelling.tasks.forgetting import forget

    forgetful = forget(
        arguments.model,
        arguments.ids,
        arguments.output,
        layout=Layout(id=arguments.id_column),
        ignore_unknown=arguments.ignore_unknown,
        resources=options.resources(arguments),
        jobs=arguments.jobs,
        force=arguments.force,
        verbose=1,
        report=say,
    )
    folder = arguments.output or arguments.model
    if arguments.json:
        printing.print_json({"model": folder, **forgetful.record()})
        return
    number = sum(forgetful.forgotten.values())
    by_language = ", ".join(f"{language} {each:,}" for language, each in forgetful.forgotten.items())
    print(f"Forgot {counted(number, 'document')}: {by_language}")
    if forgetful.unknown:
        print(f"Passed over: {counted(forgetful.unknown, 'id')} that no document has")
    for what, gone in (("Languages", forgetful.gone_languages), ("Labels", forgetful.gone_labels)):
        if gone:
            print(f"{what} that only they had, and that are gone: {', '.join(map(printable, gone))}")
    printing.print_change(forgetful.change)
    print("README.md and report.html were written anew, without them.")
    if arguments.output is not None:
        print(f"The old model still has them: {arguments.model}")
    print(f"Model: {folder}")
