"""``funnelling compare``: several methods on the same documents, over several trials."""

import argparse
from pathlib import Path
from typing import Any

from funnelling.commands import options, printing
from funnelling.methods.registry import DEFAULT_COMPARISON, DEFAULT_XMC_METHOD
from funnelling.runtime.messages import say


def add_to(commands: options.Commands) -> None:
    parser = commands.add_parser(
        "compare",
        help="compare methods on a file of documents",
        description="Compare methods on the split of a file, or on 30 % of each language drawn by seed. "
        "Further runs redraw the split; several files are several trials.",
        epilog=options.examples("compare docs.jsonl --methods naive,fun-auto --runs 5 -o results"),
    )
    parser.add_argument(
        "data", metavar="DATA|CORPUS", nargs="+", help=f"{options.DATA_HELP}; or a corpus of `data list`"
    )
    parser.add_argument(
        "--methods",
        metavar="M,M…",
        help=f"methods, as train has them, or all ({','.join(DEFAULT_COMPARISON)}, and {DEFAULT_XMC_METHOD} "
        f"where there are more than 1,000 labels); {options.VARIANTS_HELP}",
    )
    options.add_trials(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        help="keep every result here; started again, work goes on from there",
    )
    parser.add_argument(
        "--hold-out",
        action="extend",
        type=options.languages,
        default=[],
        metavar="LANG",
        help="take a language's training documents away and measure on its test documents alone; several "
        "are separated by commas",
    )
    options.add_labelling(parser)
    options.add_resources(parser)
    options.add_settings(parser)
    options.add_seed(parser)
    options.add_jobs(parser)
    options.add_cluster(parser)
    options.add_force(parser)
    options.add_json(parser)
    options.add_reading(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    from funnelling.commands.comparing import compare
    from funnelling.methods.registry import parse_methods, parse_settings

    names = None if arguments.methods is None else parse_methods(arguments.methods)
    result = compare(
        arguments.data,
        names,
        runs=arguments.runs,
        seed=arguments.seed,
        sources=arguments.sources,
        held_out=arguments.hold_out,
        resources=options.resources(arguments),
        settings=parse_settings(arguments.set, names or (*DEFAULT_COMPARISON, DEFAULT_XMC_METHOD)),
        one_label=arguments.one_label,
        layout=options.layout(arguments),
        strict=arguments.strict,
        skip_lacking=(arguments.methods or "").strip() == options.ALL_METHODS,
        output=arguments.output,
        force=arguments.force,
        jobs=arguments.jobs,
        verbose=1,
        report=say,
    )
    if arguments.output is not None:
        say(f"Report: {Path(arguments.output) / 'report.html'}")
    if arguments.json:
        printing.print_json(result)
    else:
        _print(result)


def _print(result: Any) -> None:
    from funnelling.report.measures import comparison_table, notes, weighted_table
    from funnelling.report.tables import plain

    print(plain(comparison_table(result)))
    print("\n".join(notes(result)))
    by_documents = weighted_table(result)
    if by_documents is not None:
        print(f"\nAverages weighted by documents:\n{plain(by_documents)}")
