"""``funnelling suggest`` and ``label``: which documents to label next, and a page where people label them."""

import argparse
import os
from importlib.util import find_spec

from funnelling.cli.serve import add_access, add_place
from funnelling.commands import options
from funnelling.commands.declaring import style_of
from funnelling.errors import InputError


def add_to(commands: options.Commands) -> None:
    _add_suggest(commands)
    parser = commands.add_parser(
        "label",
        help="label documents on a page, by hand",
        description="Open a page on which one or several people label the documents of DATA, beside what the "
        "model suggests. Every decision is in the journal before the next document is shown; "
        "`funnelling update MODEL JOURNAL` learns from it.",
        epilog=options.examples("label model new.csv", "label model suspicious.csv --journal checked.jsonl"),
    )
    parser.add_argument("model", metavar="MODEL", help=options.MODEL_HELP)
    parser.add_argument("data", metavar="DATA", help=options.DATA_HELP)
    parser.add_argument(
        "--journal",
        type=options.journal,
        metavar="FILE",
        help="where decisions are kept, and gone on from (DATA with -journal.jsonl in place of its ending)",
    )
    parser.add_argument(
        "--max-journal",
        type=options.count,
        default=2**30,
        metavar="N",
        help="most bytes of the journal (1,073,741,824)",
    )
    parser.add_argument("--who", default="", metavar="NAME", help="who labels; else the page asks")
    parser.add_argument("--all", action="store_true", help="show documents that have labels, too")
    parser.add_argument(
        "--as-they-are",
        action="store_true",
        help="keep the order of DATA (those first that help most, unless DATA says why each is there)",
    )
    add_place(parser)
    options.add_label_set(parser, exclude=False)
    learning = parser.add_argument_group("learning meanwhile")
    learning.add_argument(
        "--learn-after",
        type=number,
        default=50,
        metavar="N",
        help="labels after which the model learns in the background; 0 for never (50)",
    )
    learning.add_argument(
        "-o",
        "--output",
        type=options.model_folder,
        metavar="MODEL",
        help="folder of the model that has learned (MODEL-labelled); MODEL stays as it is",
    )
    add_access(parser)
    options.add_resources(parser)
    options.add_jobs(parser)
    options.add_reading(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    if any(find_spec(name) is None for name in ("fastapi", "uvicorn", "httptools")):
        raise InputError("label needs FastAPI and uvicorn: pip install 'funnelling[serve]'")
    from funnelling.labelling.bench import UpdateSettings
    from funnelling.labelling.page import LabellingSettings, label
    from funnelling.serving.settings import ServiceSettings, read_token

    label(
        LabellingSettings(
            ServiceSettings(
                arguments.model,
                arguments.host,
                arguments.port,
                token=read_token(arguments.token_file),
                allowed_hosts=tuple(arguments.allow_host),
                style=style_of(arguments),
                label_set=arguments.label_set,
            ),
            arguments.data,
            UpdateSettings(
                arguments.model,
                arguments.journal or _journal_beside(arguments.data),
                arguments.output or f"{arguments.model.rstrip('/')}-labelled",
                arguments.learn_after,
                options.resources(arguments),
                arguments.jobs,
            ),
            options.layout(arguments),
            arguments.all,
            arguments.as_they_are,
            arguments.strict,
            arguments.who,
            arguments.max_journal,
        )
    )


def number(text: str) -> int:
    """A whole number, 0 or more."""
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number, 0 or more")
    return int(text)


def _journal_beside(data: str) -> str:
    """The journal of a file of documents, where none is named."""
    if data == "-":
        return "journal.jsonl"
    folder, name = os.path.split(os.path.normpath(data))
    return os.path.join(folder, f"{os.path.splitext(name.removesuffix('.gz'))[0]}-journal.jsonl")


def _add_suggest(commands: options.Commands) -> None:
    parser = commands.add_parser(
        "suggest",
        help="name the documents to label next",
        description="Name the documents without labels that a model would learn most from: those it is "
        "unsure of, that many others are like, and that are unlike what it has learned, no two of which say "
        "the same; across languages, with a reason for each. The output, a name that ends in .csv, .tsv, "
        ".xlsx, .parquet or .jsonl (.csv, .tsv and .jsonl also with .gz), has an empty field `labels`: fill "
        "it in, and give the file to `funnelling update`, which leaves out what is still empty. Standard "
        "output is JSON Lines. Documents with labels, documents for test and those that the model learned "
        "are left out.",
        epilog=options.examples("suggest model docs.jsonl -n 50 -o to-label.xlsx"),
    )
    parser.add_argument("model", metavar="MODEL", help=options.MODEL_HELP)
    parser.add_argument("data", metavar="DATA", help=options.DATA_HELP)
    parser.add_argument(
        "-n", "--number", type=options.count, default=100, metavar="N", help="how many documents (100)"
    )
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="output file (standard output)")
    parser.add_argument(
        "--balance",
        action="store_true",
        help="aim at the same number of labelled documents in every language (more of languages with more)",
    )
    options.add_force(parser)
    options.add_reading(parser)
    parser.set_defaults(run=run_suggest)


def run_suggest(arguments: argparse.Namespace) -> None:
    from funnelling.labelling.suggesting import suggest

    suggest(
        arguments.model,
        arguments.data,
        arguments.output,
        arguments.number,
        balance=arguments.balance,
        layout=options.layout(arguments),
        strict=arguments.strict,
        force=arguments.force,
        verbose=1,
    )
