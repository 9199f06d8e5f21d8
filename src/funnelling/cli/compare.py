"""``funnelling compare``: several methods on the same documents, over several trials."""

import argparse
import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from funnelling.cli import options
from funnelling.errors import InputError

if TYPE_CHECKING:
    from funnelling.corpus import Corpus
    from funnelling.evaluation.splits import Trial
    from funnelling.method import Method

DEFAULT_METHODS = "naive,pooled,fun-tat"


def add_to(commands: options.Commands) -> None:
    parser = commands.add_parser(
        "compare",
        help="compare methods on a file of documents",
        description="Compare methods on the split of a file, or on 30 %% of each language drawn by seed. "
        "Further runs redraw the split; several files are several trials.",
    )
    parser.add_argument("data", metavar="DATA", nargs="+", help=options.DATA_HELP)
    parser.add_argument(
        "--methods", default=DEFAULT_METHODS, metavar="M,M…", help=f"methods, or all ({DEFAULT_METHODS})"
    )
    parser.add_argument("--runs", type=options.count, default=1, metavar="N", help="trials a file (1)")
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
    options.add_force(parser)
    options.add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    from funnelling.methods import make_method, parse_methods, parse_settings

    names = parse_methods(arguments.methods)
    settings = parse_settings(arguments.set, names)
    store = None if arguments.output is None else Path(arguments.output)
    if store is not None:
        _check_store(store, arguments.force)
    resources = options.read_resources(arguments)
    trials, notes = [], []
    for path in arguments.data:
        corpus, note = options.read_labelled(path)
        trials += _trials(corpus, path, arguments)
        notes.append(note)
    names, left_out = _choose(names, resources, trials, everything=arguments.methods.strip() == "all")
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

    from funnelling.evaluation.comparison import Comparison

    keys = {name: [settings.get(name), _fingerprints(makers[name](), resources)] for name in names}
    result = Comparison(trials, makers, arguments.seed, store, keys, options.tell).run()
    if store is not None:
        _keep(result, store)
    if arguments.json:
        options.print_json(result)
    else:
        _print(result)


def _choose(
    names: list[str], resources: dict[str, Any], trials: "list[Trial]", everything: bool
) -> tuple[list[str], str]:
    """The methods whose resources are at hand, and what the others lack; one asked for by name must not."""
    from funnelling.methods import RESOURCES, lacking

    at_hand = set(resources)
    if all("en" in trial.parallel.languages for trial in trials):
        at_hand.add("parallel")
    missing = {name: lacking(name, at_hand) for name in names}
    if not everything:
        for name in names:
            options.check_resources(name, at_hand)
    told = [
        f"{name} ({' and '.join(RESOURCES[need] for need in needs)})"
        for name, needs in missing.items()
        if needs
    ]
    left_out = f"Left out for what they lack: {'; '.join(told)}." if told else ""
    return [name for name in names if not missing[name]], left_out


def _fingerprints(method: "Method", resources: dict[str, Any]) -> dict[str, Any]:
    """What tells the resources that a method reads from others of the same name."""
    marks: dict[str, Any] = {}
    parameters = method.get_params(deep=False)
    if "reference" in resources and "reference" in parameters:
        marks["reference"] = resources["reference"].digest()
    if "embeddings" in resources and "embeddings" in parameters:
        files = [path.stat() for path in sorted(Path(resources["embeddings"]).iterdir())]
        marks["embeddings"] = [(file.st_size, file.st_mtime_ns) for file in files]
    return marks


def _check_store(store: Path, force: bool) -> None:
    """A folder of results is added to; any other that holds something is left alone."""
    from funnelling.evaluation.pieces import FOLDER
    from funnelling.formats.files import check_output_folder

    if store.is_dir() and any(store.iterdir()) and not (store / FOLDER).is_dir() and not force:
        raise InputError(f"{store} exists and holds no comparison. Choose another path or add --force.")
    check_output_folder(store)


def _trials(corpus: "Corpus", path: str, arguments: argparse.Namespace) -> "list[Trial]":
    from funnelling.evaluation.splits import hold_out, trial_split
    from funnelling.formats.files import shown_name

    try:
        trials = [trial_split(corpus, run, arguments.seed) for run in range(arguments.runs)]
        return [hold_out(trial, arguments.hold_out) if arguments.hold_out else trial for trial in trials]
    except InputError as error:
        raise InputError(f"{shown_name(path)}: {error}") from None


def _keep(result: Any, store: Path) -> None:
    from funnelling.formats.files import writing
    from funnelling.report.tables import comparison_table, markdown

    with writing(store / "comparison.json", force=True) as stream:
        stream.write(json.dumps(result, ensure_ascii=False, indent=2) + "\n")
    with writing(store / "comparison.md", force=True) as stream:
        stream.write(markdown(comparison_table(result)) + "\n")


def _print(result: Any) -> None:
    from funnelling.report.tables import comparison_table, notes, plain

    print(plain(comparison_table(result)))
    print(notes(result))
    if any(p is not None for tests in result["significance"].values() for p in tests["p"].values()):
        print("† not different from the best method (p ≥ .05), †† barely (.001 ≤ p < .05); paired t-test")
