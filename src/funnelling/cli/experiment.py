"""``funnelling experiment``: the paper's experiments on any corpus, ending in a report."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from funnelling.commands import options, printing
from funnelling.commands.declaring import refuse_retired
from funnelling.research.experiments.registry import ALWAYS, DEFAULT_METHODS, EXPERIMENTS
from funnelling.runtime.messages import say

if TYPE_CHECKING:
    from funnelling.report.content import Section


def add_to(commands: options.Commands) -> None:
    parser = commands.add_parser(
        "experiment",
        help="run the paper's experiments, ending in a report",
        description="Run experiments of the paper on a corpus. Every result is kept as it comes: "
        "started again after an interruption, work goes on where it stopped.",
        epilog="\n".join(
            [
                "experiments:",
                *(f"  {name:16} {entry.summary}" for name, entry in EXPERIMENTS.items()),
                "",
                options.examples("experiment methods --data docs.jsonl --runs 10 -o results"),
            ]
        ),
    )
    named = parser.add_argument(
        "name",
        metavar="NAME",
        help="an experiment, several with commas between them, or all",
    )
    named.complete = lambda: [*EXPERIMENTS, options.ALL_METHODS]
    parser.add_argument(
        "--data",
        action="append",
        metavar="FILE|CORPUS",
        help="file of documents, or a corpus of `data list` (sample); several are several trials",
    )
    parser.add_argument(
        "--methods",
        metavar="M,M…",
        help="methods of the tables, as train has them, or all "
        f"({','.join(DEFAULT_METHODS)}, and upper-bound where it can be had); {options.VARIANTS_HELP}",
    )
    parser.add_argument(
        "--fractions",
        type=fractions,
        metavar="F,F…",
        help="shares of a language's training documents, for learning-curves (0,.1,.2,.3,.5,.75,1)",
    )
    parser.add_argument(
        "-o",
        "--output",
        default="experiment",
        metavar="DIR",
        help="folder of results and report (experiment)",
    )
    options.add_trials(parser)
    options.add_labelling(parser)
    options.add_resources(parser)
    options.add_settings(parser)
    options.add_seed(parser)
    options.add_jobs(parser)
    options.add_cluster(parser)
    options.add_force(parser)
    options.add_json(parser)
    parser.set_defaults(run=run)


def fractions(text: str) -> list[float]:
    """Numbers from 0 to 1 with commas between them, in growing order."""
    return sorted({options.probability(share) for share in text.split(",")})


def run(arguments: argparse.Namespace) -> None:
    for name in arguments.name.split(","):
        refuse_retired("experiment", name.strip())
    from funnelling.commands.building import SAMPLE
    from funnelling.methods.registry import parse_methods, parse_settings
    from funnelling.research.experiments.registry import parse_experiments
    from funnelling.research.experiments.setting import FRACTIONS
    from funnelling.research.running import experiment

    methods = None if arguments.methods is None else parse_methods(arguments.methods)
    experiments = experiment(
        parse_experiments(arguments.name),
        arguments.output,
        arguments.data or [SAMPLE],
        methods=methods,
        skip_lacking=(arguments.methods or "").strip() == options.ALL_METHODS,
        fractions=arguments.fractions or FRACTIONS,
        runs=arguments.runs,
        seed=arguments.seed,
        sources=arguments.sources,
        resources=options.resources(arguments),
        settings=parse_settings(arguments.set, dict.fromkeys([*(methods or DEFAULT_METHODS), *ALWAYS])),
        one_label=arguments.one_label,
        force=arguments.force,
        jobs=arguments.jobs,
        verbose=1,
        report=say,
    )
    if arguments.json:
        printing.print_json(experiments.results)
    else:
        _print(experiments.sections)
    say(f"Report: {Path(arguments.output) / 'report.html'}")


def _print(sections: "Sequence[Section]") -> None:
    from funnelling.report.content import TableBlock
    from funnelling.report.tables import plain

    for section in sections:
        print(f"\n{section.title}\n")
        for block in section.blocks:
            if isinstance(block, TableBlock) and not block.folded:
                print(f"{plain(block.table)}\n")
