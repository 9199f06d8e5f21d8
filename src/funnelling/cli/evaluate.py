"""``funnelling evaluate``: how good a model is on labelled documents, by language."""

import argparse
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from funnelling.commands import options, printing
from funnelling.runtime.messages import say

if TYPE_CHECKING:
    from funnelling.report.tables import Table

NO_LIMIT = 0  # labels or pairs, where no number is given
DEFAULT_PAIRS, DEFAULT_ERRORS = 10, 20
TABLES = ("by-label", "confused", "errors")
MIN_WIDTH, MAX_WIDTH = 60, 110  # of lines of text


def add_to(commands: options.Commands) -> None:
    parser = commands.add_parser(
        "evaluate",
        help="measure a model on labelled documents",
        description="Measure a model on the test rows of a file, or on all labelled rows without splits.",
        epilog=options.examples(
            "evaluate model test.jsonl --by-label 10 --errors", "evaluate model test.jsonl -o report"
        ),
    )
    parser.add_argument("model", metavar="MODEL", help=options.MODEL_HELP)
    parser.add_argument("data", metavar="DATA", help=options.DATA_HELP)
    parser.add_argument(
        "--by-label",
        nargs="?",
        type=_count,
        const=NO_LIMIT,
        metavar="N",
        help="list labels from the worst to the best, or the N worst, and the languages where they fail",
    )
    parser.add_argument(
        "--confused",
        nargs="?",
        type=_count,
        const=DEFAULT_PAIRS,
        metavar="N",
        help=f"list the N pairs of labels that are most often taken for each other ({DEFAULT_PAIRS})",
    )
    parser.add_argument(
        "--confusion-matrix",
        action="store_true",
        help="show which labels were given to the documents of each (one label per document)",
    )
    parser.add_argument(
        "--errors",
        nargs="?",
        type=_count,
        const=DEFAULT_ERRORS,
        metavar="N",
        help="list the N documents that the model was most sure about, and wrong, and why "
        f"({DEFAULT_ERRORS})",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR|FILE",
        help="folder for a report of all this: report.html, report.md, tables and figures; or a file for one "
        "table, .csv, .tsv, .xlsx, .parquet or .jsonl",
    )
    options.add_label_set(parser)
    options.add_force(parser)
    options.add_json(parser)
    options.add_reading(parser)
    parser.set_defaults(run=run)


def _count(text: str) -> int:
    try:
        return options.count(text)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"{error}. Options come after MODEL and DATA") from None


def run(arguments: argparse.Namespace) -> None:
    from funnelling.commands.evaluating import evaluate

    amounts = {"labels": arguments.by_label, "pairs": arguments.confused}
    scores = evaluate(
        arguments.model,
        arguments.data,
        layout=options.layout(arguments),
        strict=arguments.strict,
        **{name: amount or None for name, amount in amounts.items() if amount is not None},
        confusion=arguments.confusion_matrix,
        errors=arguments.errors or 0,
        output=arguments.output,
        tables=[name for name in TABLES if getattr(arguments, name.replace("-", "_")) is not None],
        label_set=arguments.label_set,
        exclude=arguments.exclude,
        force=arguments.force,
        verbose=1,
        report=say,
    )
    if arguments.output is not None:
        page = Path(arguments.output) / "report.html"
        say(f"Report: {page}" if page.exists() else f"Table: {arguments.output}")
    if arguments.json:
        printing.print_json(scores)
    else:
        printing.print_scores(scores)
        _print_mistakes(scores, arguments)


def _print_mistakes(scores: Any, arguments: argparse.Namespace) -> None:
    """Print the tables of labels that were asked for."""
    from funnelling.report.labels import (
        BY_LABEL,
        CONFUSED,
        MISSED_TOGETHER,
        confusion_matrix,
        errors_listing,
        mistakes,
    )

    tables = mistakes(scores)
    if arguments.by_label is not None:
        _print_table(BY_LABEL, tables.get(BY_LABEL))
    if arguments.confused is not None:
        _print_table(CONFUSED, tables.get(CONFUSED))
        if "missed_together" in scores:
            _print_table(MISSED_TOGETHER, tables.get(MISSED_TOGETHER))
    if arguments.confusion_matrix:
        _print_table(
            "Which labels were given to the documents of each", confusion_matrix(scores["confusion"])
        )
    if arguments.errors is not None:
        width = min(max(MIN_WIDTH, shutil.get_terminal_size((MAX_WIDTH, 0)).columns), MAX_WIDTH)
        listed = errors_listing(scores["errors"], width) or "nowhere"
        print(f"\nWhere the model was most sure, and wrong:\n{listed}")


def _print_table(heading: str, table: "Table | None") -> None:
    from funnelling.report.tables import plain

    print(f"\n{heading}:\n{'none' if table is None else plain(table)}")
