"""``funnelling audit``: labelled documents whose labels look wrong or missing."""

import argparse
import shutil

from funnelling.cli import options, printing
from funnelling.runtime.messages import say

DEFAULT_N_SHOWN = 20  # documents on a terminal, unless a number is given
MIN_WIDTH, MAX_WIDTH = 60, 110  # of lines of text


def add_to(commands: options.Commands) -> None:
    parser = commands.add_parser(
        "audit",
        help="find documents whose labels look wrong or missing",
        description="List labelled documents whose labels look wrong or missing, the most suspicious first: "
        "by models that did not learn from them, by labels that go together, by near-duplicates and by "
        "translations (documents of one group) that are labelled otherwise. Each has a kind, the label that "
        "is doubted, the one it should rather have, and the words, labels and documents that speak for and "
        "against. -o FILE has all documents unless -n says how many; correct its labels, and update takes "
        "it. For a model, its own training documents are looked at, as far as it keeps them.",
        epilog=options.examples("audit docs.jsonl -n 100 -o suspects.xlsx", "audit model"),
    )
    parser.add_argument(
        "source", metavar="MODEL|DATA", help="file of labelled documents, or folder of a trained model"
    )
    parser.add_argument(
        "-n",
        "--number",
        type=options.count,
        metavar="N",
        help=f"how many documents ({DEFAULT_N_SHOWN}; with -o, all)",
    )
    outputs = parser.add_mutually_exclusive_group()
    outputs.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="output file: .csv, .tsv, .xlsx, .parquet or .jsonl, or - (JSON Lines on standard output)",
    )
    outputs.add_argument("--json", action="store_true", help="print JSON instead of a listing")
    parser.add_argument(
        "--method", metavar="M", help="method that judges the documents of a file (fun-views)"
    )
    options.add_seed(parser)
    options.add_jobs(parser)
    options.add_force(parser)
    options.add_reading(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    from funnelling.labelling.auditing import audit_file
    from funnelling.report.labels import audit_listing

    number = arguments.number or (DEFAULT_N_SHOWN if arguments.output is None else None)
    rows = audit_file(
        arguments.source,
        number,
        arguments.output,
        method=arguments.method,
        seed=arguments.seed,
        layout=options.layout(arguments),
        strict=arguments.strict,
        jobs=arguments.jobs,
        force=arguments.force,
        verbose=1,
        report=say,
    )
    if arguments.json:
        printing.print_json(rows)
    elif arguments.output is None:
        width = min(max(MIN_WIDTH, shutil.get_terminal_size((MAX_WIDTH, 0)).columns), MAX_WIDTH)
        print(audit_listing(rows, width))
