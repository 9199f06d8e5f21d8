"""``funnelling compare``: several methods on the same documents, over several trials."""

import argparse
import json
from functools import partial
from pathlib import Path
from typing import Any

from funnelling.cli import comparing, options

DEFAULT_METHODS = "naive,pooled,fun-tat"


def add_to(commands: options.Commands) -> None:
    parser = commands.add_parser(
        "compare",
        help="compare methods on a file of documents",
        description="Compare methods on the split of a file, or on 30 %% of each language drawn by seed. "
        "Further runs redraw the split; several files are several trials.",
    )
    parser.add_argument(
        "data", metavar="DATA", nargs="+", help=f"{options.DATA_HELP}; or a corpus of `data list`"
    )
    parser.add_argument(
        "--methods", default=DEFAULT_METHODS, metavar="M,M…", help=f"methods, or all ({DEFAULT_METHODS})"
    )
    comparing.add_trials(parser)
    parser.add_argument(
        "-o", "--output", metavar="DIR", help="keep every result here; started again, it goes on from there"
    )
    parser.add_argument(
        "--hold-out",
        action="extend",
        type=options.languages,
        default=[],
        metavar="LANG",
        help="take a language's training documents away and measure on its test documents alone; several "
        "have commas between them",
    )
    options.add_resources(parser)
    options.add_settings(parser)
    options.add_seed(parser)
    options.add_jobs(parser)
    options.add_cluster(parser)
    options.add_force(parser)
    options.add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    from funnelling.method.registry import make_method, parse_methods, parse_settings
    from funnelling.trials.splits import hold_out

    names = parse_methods(arguments.methods)
    settings = parse_settings(arguments.set, names)
    store = None if arguments.output is None else Path(arguments.output)
    if store is not None:
        comparing.check_store(store, arguments.force)
    resources = options.read_resources(arguments)
    trials, notes = comparing.read_trials(arguments.data, arguments, store)
    if arguments.hold_out:
        with options.naming(", ".join(arguments.data)):
            trials = [hold_out(trial, arguments.hold_out) for trial in trials]
    everything = arguments.methods.strip() == "all"
    names, left_out = comparing.choose_methods(names, resources, trials, everything)
    makers = {
        name: partial(
            make_method, name, jobs=arguments.jobs, verbose=1, settings=settings, resources=resources
        )
        for name in names
    }
    for make in makers.values():
        make()  # refuses settings that do not exist
    for line in (*notes, left_out):
        options.tell(line)

    from funnelling.report.comparison_blocks import comparison_blocks
    from funnelling.report.content import Report, Section
    from funnelling.report.facts import facts
    from funnelling.report.report_folder import write_report
    from funnelling.trials.comparison import Comparison
    from funnelling.trials.pieces import Pieces

    pieces = Pieces(store)
    keys = {name: [settings.get(name), comparing.fingerprints(makers[name](), resources)] for name in names}
    result = Comparison(trials, makers, arguments.seed, pieces, keys, options.tell).run()
    if store is not None:
        _keep(result, store)
        report = Report(
            "Comparison of methods",
            sections=[Section("comparison", "Methods", blocks=comparison_blocks(result))],
            facts=facts(", ".join(arguments.data), trials, arguments.seed, pieces.seconds),
        )
        write_report(report, store)
        options.tell(f"Report: {store / 'report.html'}")
    if arguments.json:
        options.print_json(result)
    else:
        _print(result)


def _keep(result: Any, store: Path) -> None:
    from funnelling.formats.files import writing

    with writing(store / "comparison.json", force=True) as stream:
        stream.write(json.dumps(result, ensure_ascii=False, indent=2) + "\n")


def _print(result: Any) -> None:
    from funnelling.report.measure_tables import comparison_table, notes
    from funnelling.report.tables import plain

    print(plain(comparison_table(result)))
    print("\n".join(notes(result)))
