"""``funnelling evaluate``: how good a model is on labelled documents, by language."""

import argparse
from typing import TYPE_CHECKING

from funnelling.cli import options
from funnelling.errors import InputError
from funnelling.formats.document import quoted
from funnelling.formats.files import shown_name

if TYPE_CHECKING:
    from funnelling.corpus import Corpus
    from funnelling.method import Method


def add_to(commands: options.Commands) -> None:
    parser = commands.add_parser(
        "evaluate",
        help="measure a model on labelled documents",
        description="Measure a model on the test rows of a file, or on all labelled rows without splits.",
    )
    parser.add_argument("model", metavar="MODEL", help="folder of the model")
    parser.add_argument("data", metavar="DATA", help=options.DATA_HELP)
    parser.add_argument(
        "--skip-unknown", action="store_true", help="leave out documents in languages the model does not know"
    )
    options.add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    model = options.load_text_model(arguments.model)
    model.verbose = 1  # detection and labelling show their progress
    corpus, note = options.read_labelled(arguments.data)
    test, left_out = _measurable(corpus, model, shown_name(arguments.data), arguments.skip_unknown)

    from funnelling.report.measure_tables import languages_table, notes, rates
    from funnelling.report.tables import plain
    from funnelling.trials.comparison import measure_in_full, measures_of

    result = measures_of(measure_in_full(model, test))
    options.tell(note)
    options.tell(left_out)
    if arguments.json:
        options.print_json(result)
    else:
        print(plain(languages_table(result)))
        print("\n".join(notes(result)))
        print(rates(result))


def _measurable(corpus: "Corpus", model: "Method", name: str, skip_unknown: bool) -> "tuple[Corpus, str]":
    """The documents to measure on, and what to tell of the others."""
    from funnelling.trials.comparison import served

    if any(corpus.splits):
        corpus = corpus.split("test")
        if not len(corpus):
            raise InputError(f'{name}: no labelled document with split "test". Mark what to measure on.')
    known = served(corpus, model)
    if known.all():
        return corpus, ""
    unknown = list(corpus.select(~known).by_language())
    if not skip_unknown or not known.any():
        cure = "Add --skip-unknown to leave such documents out." if known.any() else "Choose another file."
        raise InputError(
            f"{name}: the model does not know the language {quoted(unknown[0])}, only "
            f"{', '.join(model.languages_)}. {cure}"
        )
    left_out = f"{name}: left out {(~known).sum():,} documents in {', '.join(unknown)}."
    return corpus.select(known), left_out
