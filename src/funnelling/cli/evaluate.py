"""``funnelling evaluate``: how good a model is on labelled documents, by language."""

import argparse
from typing import TYPE_CHECKING, Any

from funnelling.cli import options, printing

if TYPE_CHECKING:
    from funnelling.report.tables import Table

ALL = 0  # labels or pairs, where no number is given
CONFUSED = 10


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
    parser.add_argument(
        "--by-label",
        nargs="?",
        type=_count,
        const=ALL,
        metavar="N",
        help="list labels from the worst to the best, or the N worst, and the languages where they fail",
    )
    parser.add_argument(
        "--confused",
        nargs="?",
        type=_count,
        const=CONFUSED,
        metavar="N",
        help=f"list the N pairs of labels that are most often taken for each other ({CONFUSED})",
    )
    parser.add_argument(
        "--confusion-matrix",
        action="store_true",
        help="show which labels were given to the documents of each (one label per document)",
    )
    options.add_json(parser)
    parser.set_defaults(run=run)


def _count(text: str) -> int:
    try:
        return options.count(text)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"{error}. Options come after MODEL and DATA") from None


def run(arguments: argparse.Namespace) -> None:
    from funnelling.tasks.evaluating import evaluate

    amounts = {"labels": arguments.by_label, "pairs": arguments.confused}
    scores = evaluate(
        arguments.model,
        arguments.data,
        skip_unknown=arguments.skip_unknown,
        **{name: amount or None for name, amount in amounts.items() if amount is not None},
        confusion=arguments.confusion_matrix,
        verbose=1,
        report=printing.say,
    )
    if arguments.json:
        printing.print_json(scores)
    else:
        printing.print_scores(scores)
        _print_mistakes(scores, arguments)


def _print_mistakes(scores: Any, arguments: argparse.Namespace) -> None:
    """Print the tables of labels that were asked for."""
    from funnelling.report.label_tables import (
        by_label_table,
        confused_table,
        confusion_matrix,
        missed_together_table,
    )

    one_label = "missed_together" not in scores
    if arguments.by_label is not None:
        _print_table("Labels from the worst to the best", by_label_table(scores["by_label"]))
    if arguments.confused is not None:
        _print_table("Labels that are taken for others", confused_table(scores["confused"], one_label))
        if not one_label:
            _print_table(
                "Labels missed in the same document", missed_together_table(scores["missed_together"])
            )
    if arguments.confusion_matrix:
        _print_table(
            "Which labels were given to the documents of each", confusion_matrix(scores["confusion"])
        )


def _print_table(heading: str, table: "Table") -> None:
    from funnelling.report.tables import plain

    print(f"\n{heading}:\n{plain(table) if table.rows else 'none'}")
