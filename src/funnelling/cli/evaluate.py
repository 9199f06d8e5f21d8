"""``funnelling evaluate``: how good a model is on labelled documents, by language."""

import argparse

from funnelling.cli import options
from funnelling.errors import InputError


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
    import numpy as np

    from funnelling.evaluation.comparison import measure_method
    from funnelling.formats.files import shown_name
    from funnelling.inputs import served_by
    from funnelling.report.tables import PRESENT_NOTE, languages_table, plain
    from funnelling.storage import load_model

    model = load_model(arguments.model)
    corpus = options.read_labelled(arguments.data)
    name = shown_name(arguments.data)
    if any(corpus.splits):
        corpus = corpus.split("test")
        if not len(corpus):
            raise InputError(f'{name}: no labelled document with split "test". Mark what to measure on.')
    known = np.array([served_by(tag, model.languages_) in model.languages_ for tag in corpus.languages])
    if not known.all():
        unknown = sorted({str(corpus.languages[row]) for row in np.flatnonzero(~known)})
        if not arguments.skip_unknown or not known.any():
            raise InputError(
                f"{name}: the model does not know the language {unknown[0]!r}, only "
                f"{', '.join(model.languages_)}. Add --skip-unknown to leave such documents out."
            )
        options.tell(f"{name}: left out {int((~known).sum())} documents in {', '.join(unknown)}.")
        corpus = corpus.select(known)
    result = measure_method(model, corpus)
    if result["unknown_labels"]:
        options.tell(f"{name}: {result['unknown_labels']} labels unknown to the model are not counted.")
    if arguments.json:
        options.print_json(result)
    else:
        print(plain(*languages_table(result)))
        print(PRESENT_NOTE)
