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
    makers = {
        name: partial(make_method, name, jobs=arguments.jobs, verbose=1, settings=settings) for name in names
    }
    trials, notes = [], []
    for path in arguments.data:
        corpus, note = options.read_labelled(path)
        trials += _trials(corpus, path, arguments.runs, arguments.seed)
        notes.append(note)
    for make in makers.values():
        make()  # refuses settings that do not exist
    for note in notes:
        options.tell(note)

    from funnelling.evaluation.comparison import Comparison

    result = Comparison(trials, makers, arguments.seed, store, settings, options.tell).run()
    if store is not None:
        _keep(result, store)
    if arguments.json:
        options.print_json(result)
    else:
        _print(result)


def _check_store(store: Path, force: bool) -> None:
    """A folder of results is added to; any other that holds something is left alone."""
    from funnelling.formats.files import check_output_folder

    if store.is_dir() and any(store.iterdir()) and not (store / "trials").is_dir() and not force:
        raise InputError(f"{store} exists and holds no comparison. Choose another path or add --force.")
    check_output_folder(store)


def _trials(corpus: "Corpus", path: str, runs: int, seed: int) -> "list[tuple[Corpus, Corpus]]":
    from funnelling.evaluation.splits import trial_split
    from funnelling.formats.files import shown_name

    try:
        return [trial_split(corpus, run, seed) for run in range(runs)]
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
