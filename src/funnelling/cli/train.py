"""``funnelling train``: documents in, a model folder and an honest table out."""

import argparse
from typing import TYPE_CHECKING, Any

from funnelling.cli import options
from funnelling.errors import InputError

if TYPE_CHECKING:
    from funnelling.corpus import Corpus

DEFAULT_METHOD = "fun-tat"


def add_to(commands: options.Commands) -> None:
    parser = commands.add_parser(
        "train",
        help="train a model on a file of documents",
        description="Train a model. Rows with split train are learned from and rows with split test are "
        "measured on; a file without splits is learned from whole and measured by five outer folds.",
    )
    parser.add_argument("data", metavar="DATA", help=options.DATA_HELP)
    parser.add_argument("-o", "--output", required=True, metavar="MODEL", help="folder of the model")
    parser.add_argument("--method", default=DEFAULT_METHOD, metavar="M", help=f"method ({DEFAULT_METHOD})")
    parser.add_argument("--no-table", action="store_true", help="skip the outer folds and their table")
    options.add_settings(parser)
    options.add_seed(parser)
    options.add_jobs(parser)
    options.add_force(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    from pathlib import Path

    from funnelling.evaluation.comparison import cross_validate, fit_method, measure_method
    from funnelling.evaluation.splits import known_languages
    from funnelling.methods import make_method, parse_settings
    from funnelling.storage import check_writable, save_model

    settings = parse_settings(arguments.set)

    def make(verbose: int = 0) -> Any:
        return make_method(
            arguments.method, seed=arguments.seed, jobs=arguments.jobs, verbose=verbose, settings=settings
        )

    make()
    check_writable(Path(arguments.output), arguments.force)
    train, test = _sides(options.read_labelled(arguments.data), arguments.data)
    options.check_learnable(train, arguments.data)
    options.tell(
        f"Training {arguments.method} on {len(train):,} documents in {len(train.by_language())} languages "
        f"with {len(train.label_set())} labels."
    )
    model = fit_method(make(verbose=1), train)
    scores, how = None, ""
    if test is not None:
        scores = measure_method(model, test.select(known_languages(test, model.languages_)))
        how = f"measured on {len(test):,} test documents"
    elif not arguments.no_table:
        options.tell("Measuring by five outer folds.")
        scores = cross_validate(lambda: make(verbose=1), train, seed=arguments.seed)
        how = "measured by five outer folds over the training documents"
    save_model(model, arguments.output, scores=scores, force=arguments.force)
    if scores is not None:
        from funnelling.report.tables import PRESENT_NOTE, languages_table, plain

        print(plain(*languages_table(scores)))
        print(f"{how}; {PRESENT_NOTE}")
    print(f"Model: {arguments.output}")
    print(f"Next:  funnelling predict {arguments.output} NEW_DOCUMENTS.jsonl")


def _sides(corpus: "Corpus", path: str) -> tuple["Corpus", "Corpus | None"]:
    """What is learned from and what is measured on, if the file says."""
    if not any(corpus.splits):
        return corpus, None
    train, test = corpus.split("train"), corpus.split("test")
    if not len(train):
        raise InputError(f'{path}: no labelled document with split "train". Mark what to learn from.')
    return train, test if len(test) else None
