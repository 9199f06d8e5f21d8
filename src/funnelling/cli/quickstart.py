"""``funnelling quickstart``: see it work on the embedded corpus."""

import argparse
import shlex
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from funnelling.commands import options, printing
from funnelling.runtime.messages import say

if TYPE_CHECKING:
    from funnelling.corpus import Corpus


def add_to(commands: options.Commands) -> None:
    parser = commands.add_parser(
        "quickstart",
        help="see it work on the embedded corpus",
        description="Train on the embedded corpus, compare with one classifier per language, save a model.",
        epilog=options.examples("quickstart"),
    )
    parser.add_argument(
        "-o",
        "--output",
        default="quickstart",
        metavar="DIR",
        help="folder of all that is made (quickstart)",
    )
    options.add_seed(parser)
    options.add_jobs(parser)
    options.add_force(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    from funnelling.commands.quickstarting import EXPLANATION, Quickstart
    from funnelling.report.measures import side_by_side
    from funnelling.report.tables import plain

    start = Quickstart(Path(arguments.output), arguments.force)
    start.check()
    _print_corpus(start.corpus)
    result = start.run(arguments.seed, arguments.jobs, verbose=1, report=say)
    print(plain(side_by_side(result["methods"])))
    print(f"\n{textwrap.fill(EXPLANATION, 80)}")
    _print_next(*(shlex.quote(str(path)) for path in (start.model_folder, start.page, start.documents_file)))


def _print_corpus(corpus: "Corpus") -> None:
    train, test = corpus.split("train"), corpus.split("test")
    print(
        f"The embedded corpus: descriptions of software in {len(train.by_language())} languages under "
        f"{len(train.label_set())} labels,\n{len(train):,} to learn from and {len(test):,} to measure on.\n",
        flush=True,
    )


def _print_next(model: str, report: str, documents: str) -> None:
    program = shlex.quote(printing.program())
    print(f"\nModel:  {model}\nReport: {report}")
    print(
        f"Next:   {program} predict {model} {documents} --top 3\n"
        f"        {program} inspect {model}\n"
        f"        {program} train YOUR_DOCUMENTS.jsonl -o my-model"
    )
