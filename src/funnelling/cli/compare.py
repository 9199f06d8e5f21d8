"""``funnelling compare``: several methods on the same documents, over several trials."""

import argparse
from typing import Any

from funnelling.cli import options
from funnelling.errors import InputError

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
    parser.add_argument("--runs", type=options.whole_number, default=1, metavar="N", help="trials a file (1)")
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
    import json
    from functools import partial
    from pathlib import Path

    from funnelling.evaluation.comparison import Comparison
    from funnelling.formats.files import writing
    from funnelling.methods import make_method, parse_methods, parse_settings
    from funnelling.report.tables import comparison_table, markdown

    names, settings = parse_methods(arguments.methods), parse_settings(arguments.set)
    makers = {name: partial(_make, make_method, name, arguments.jobs, settings) for name in names}
    for make in makers.values():
        make(arguments.seed)
    store = None if arguments.output is None else Path(arguments.output)
    if store is not None:
        _check_store(store, arguments.force)
    corpora = [options.read_labelled(path) for path in arguments.data]
    for corpus, path in zip(corpora, arguments.data, strict=True):
        options.check_learnable(corpus, path)
    result = Comparison(
        corpora, makers, arguments.runs, arguments.seed, store, {"set": settings}, options.tell
    ).run()
    if store is not None:
        with writing(store / "comparison.json", force=True) as stream:
            json.dump(result, stream, ensure_ascii=False, indent=2)
        with writing(store / "comparison.md", force=True) as stream:
            stream.write(markdown(*comparison_table(result)) + "\n")
    if arguments.json:
        options.print_json(result)
    else:
        _print(result)


def _make(make_method: Any, name: str, jobs: int, settings: Any, seed: int) -> Any:
    return make_method(name, seed=seed, jobs=jobs, verbose=1, settings=settings)


def _check_store(store: Any, force: bool) -> None:
    """A folder of results is added to; any other that holds something is left alone."""
    if store.exists() and not store.is_dir():
        raise InputError(f"{store} is no folder. Choose another path.")
    ours = (store / "trials").is_dir()
    if store.is_dir() and any(store.iterdir()) and not ours and not force:
        raise InputError(f"{store} exists and holds no comparison. Choose another path or add --force.")
    options.make_folder(store / "trials")


def _print(result: Any) -> None:
    from funnelling.report.tables import PRESENT_NOTE, comparison_table, plain

    print(plain(*comparison_table(result)))
    print(PRESENT_NOTE)
    if any(p is not None for tests in result["significance"].values() for p in tests["p"].values()):
        print("† not different from the best method (p ≥ .05), †† barely (.001 ≤ p < .05); paired t-test")
