"""``funnelling relabel``: a model's labels get other names, become one, or are dropped."""

import argparse
from typing import TYPE_CHECKING

from funnelling.cli import options, printing
from funnelling.runtime.messages import say

if TYPE_CHECKING:
    from funnelling.tasks.relabelling import RelabelledModel


def add_to(commands: options.Commands) -> None:
    parser = commands.add_parser(
        "relabel",
        help="rename, merge or drop labels",
        description="Give labels of a model other names. Several that get the same one are merged, and the "
        "model learns anew from what it keeps of its documents; one that gets none is dropped. Names and "
        "drops change no other answer.",
        epilog=options.examples("relabel model --map names.csv -o renamed-model"),
    )
    options.add_changed_model(parser)
    parser.add_argument(
        "--map",
        required=True,
        metavar="FILE",
        help='table of labels and new names in two columns (.csv, .tsv, .xlsx, …), or JSON: {"old": "new"}',
    )
    options.add_resources(parser)
    options.add_jobs(parser)
    options.add_force(parser)
    options.add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    from funnelling.tasks.relabelling import relabel

    relabelled = relabel(
        arguments.model,
        arguments.map,
        arguments.output,
        resources=options.resources(arguments),
        jobs=arguments.jobs,
        force=arguments.force,
        verbose=1,
        report=say,
    )
    folder = arguments.output or arguments.model
    if arguments.json:
        printing.print_json(
            {
                "model": folder,
                "labels": relabelled.model.labels.classes.tolist(),
                "renamed": relabelled.renamed,
                "merged": relabelled.merged,
                "dropped": relabelled.dropped,
                "before": relabelled.before,
                "after": relabelled.after,
            }
        )
    else:
        _print(relabelled, folder)


def _print(relabelled: "RelabelledModel", folder: str) -> None:
    from funnelling.report.measures import change_table
    from funnelling.report.tables import plain

    for old, new in relabelled.renamed.items():
        print(f"Renamed   {old} → {new}")
    for new, several in relabelled.merged.items():
        print(f"Merged    {', '.join(several)} → {new}")
    for label in relabelled.dropped:
        print(f"Dropped   {label}")
    if relabelled.after:
        print("On training documents that were held out, under the new labels, before and after:")
        print(plain(change_table(relabelled.before, relabelled.after)))
    print(f"Labels    {len(relabelled.model.labels.classes)}")
    print(f"Model: {folder}")
