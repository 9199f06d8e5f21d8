"""``funnelling experiment``: the paper's experiments on any corpus, ending in a report."""

import argparse
import json
from pathlib import Path

from funnelling.cli import comparing, options
from funnelling.reproduction.experiments.registry import ALL, ALWAYS, EXPERIMENTS

DEFAULT_METHODS = "naive,pooled,lri,dci,fun-kfcv,fun-tat"


def add_to(commands: options.Commands) -> None:
    parser = commands.add_parser(
        "experiment",
        help="run the paper's experiments, ending in a report",
        description="Run experiments of the paper on a corpus. Every result is kept as it is found: started "
        "again after an interruption, it goes on where it stopped.",
        epilog="\n".join(
            ["experiments:", *(f"  {name:16} {entry.summary}" for name, entry in EXPERIMENTS.items())]
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", metavar="NAME", choices=[ALL, *EXPERIMENTS], help="an experiment, or all")
    parser.add_argument(
        "--data",
        action="append",
        metavar="FILE|CORPUS",
        help="file of documents, or a corpus of `data list` (sample); several are several trials",
    )
    parser.add_argument(
        "--methods",
        metavar="M,M…",
        help=f"methods of the tables, or all ({DEFAULT_METHODS}, and upper-bound where it can be had)",
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
    comparing.add_trials(parser)
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
    return sorted({options.probability(part) for part in text.split(",")})


def run(arguments: argparse.Namespace) -> None:
    from funnelling.formats.files import writing
    from funnelling.method.registry import make_method, parse_methods, parse_settings
    from funnelling.report.content import Report
    from funnelling.report.facts import facts
    from funnelling.report.report_folder import write_report
    from funnelling.report.tables import plain
    from funnelling.reproduction.experiments.registry import parse_experiments, run_experiments
    from funnelling.reproduction.experiments.setting import FRACTIONS, Setting
    from funnelling.trials.pieces import Pieces

    names = parse_methods(arguments.methods or DEFAULT_METHODS)
    settings = parse_settings(arguments.set, [*names, *ALWAYS])
    store, data = Path(arguments.output), arguments.data or [comparing.SAMPLE]
    comparing.check_store(store, arguments.force)
    resources = options.read_resources(arguments)
    trials, notes = comparing.read_trials(data, arguments, store)
    names, left_out = comparing.choose_methods(
        names, resources, trials, everything=(arguments.methods or "").strip() == "all"
    )
    if arguments.methods is None and comparing.has_english_versions(trials):
        names.append("upper-bound")
    marks = {}
    for name in {*names, *ALWAYS}:
        # Refuses settings that do not exist.
        method = make_method(name, settings=settings, resources=resources)
        marks[name] = [settings.get(name), comparing.fingerprints(method, resources)]
    for line in (*notes, left_out):
        options.tell(line)
    pieces = Pieces(store)
    setting = Setting(
        trials,
        names,
        arguments.fractions or FRACTIONS,
        arguments.seed,
        arguments.jobs,
        pieces,
        settings,
        resources,
        marks,
        options.tell,
        verbose=1,
    )
    results, sections = run_experiments(parse_experiments(arguments.name), setting)
    with writing(store / "results.json", force=True) as stream:
        stream.write(json.dumps(results, ensure_ascii=False, indent=2) + "\n")
    shown = ", ".join(data)
    report = Report(
        f"Experiments on {shown}" if arguments.name == ALL else f"Experiment {arguments.name} on {shown}",
        ["From the paper on funnelling by Esuli, Moreo and Sebastiani (ACM TOIS 2019), run on this corpus."],
        sections,
        facts(shown, trials, arguments.seed, pieces.seconds, {"Methods": ", ".join(names)}),
    )
    write_report(report, store)
    if arguments.json:
        options.print_json(results)
    else:
        from funnelling.report.content import TableBlock

        for section in sections:
            print(f"\n{section.title}\n")
            for block in section.blocks:
                if isinstance(block, TableBlock):
                    print(f"{plain(block.table)}\n")
    options.tell(f"Report: {store / 'report.html'}")
