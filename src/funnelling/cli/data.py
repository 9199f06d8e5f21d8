"""``funnelling data describe``: what is in a file, before anything is learned from it."""

import argparse
from typing import Any

from funnelling.cli import options


def add_to(commands: options.Commands) -> None:
    parser = commands.add_parser("data", help="look into files of documents")
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    describe = actions.add_parser(
        "describe",
        help="describe a file of documents",
        description="Documents and words by language, positives by label, words in common, odd rows.",
    )
    describe.add_argument("data", metavar="FILE", help=options.DATA_HELP)
    options.add_json(describe)
    describe.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    from funnelling.corpus import read_corpus
    from funnelling.description import describe

    description = describe(read_corpus(arguments.data))
    if arguments.json:
        options.print_json(description)
    else:
        _print(description)


def _print(description: dict[str, Any]) -> None:
    from funnelling.report.tables import plain

    languages = description["languages"]
    print(
        f"{description['documents']:,} documents, {len(languages)} languages, "
        f"{len(description['labels'])} labels, {description['labels_per_document']:.1f} labels a document"
    )
    splits = ", ".join(f"{split} {count:,}" for split, count in description["splits"].items())
    print(f"splits: {splits or 'none; compare will draw 30 % for test'}\n")
    header = ["language", "documents", "labelled", "words", "distinct", "labels", "reduced to", "stop words"]
    rows = [
        [
            language,
            *(f"{values[key]:,}" for key in ("documents", "labelled", "words", "distinct_words", "labels")),
            values["reduced_to"] or "plain words",
            "yes" if values["stop_words"] else "no",
        ]
        for language, values in languages.items()
    ]
    print(plain(header, rows))
    if len(languages) > 1:
        print("\nwords that two languages share, in % of the smaller vocabulary")
        shared = description["shared_words"]
        print(
            plain(
                ["", *languages],
                [[a, *("" if a == b else f"{100 * shared[a][b]:.0f}" for b in languages)] for a in languages],
            )
        )
    if description["labels"]:
        print("\npositives by label and language, most frequent first")
        rows = [
            [label, str(sum(counts.values())), *(str(counts.get(language, 0)) for language in languages)]
            for label, counts in description["labels"].items()
        ]
        print(plain(["label", "all", *languages], rows))
    if description["odd"]:
        print("\nodd rows")
        for line in description["odd"]:
            print(f"- {line}")
