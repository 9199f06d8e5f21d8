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

    description = describe(read_corpus(arguments.data, verbose=1), verbose=1)
    if arguments.json:
        options.print_json(description)
    else:
        _print(description)


def _print(description: dict[str, Any]) -> None:
    from funnelling.report.tables import counted

    languages = description["languages"]
    print(
        f"{counted(description['documents'], 'document')}, {counted(len(languages), 'language')}, "
        f"{counted(len(description['labels']), 'label')}, "
        f"{description['labels_per_document']:.1f} labels a document"
    )
    splits = ", ".join(f"{split} {count:,}" for split, count in description["splits"].items())
    print(f"splits: {splits or 'none; compare will draw 30 % for test'}\n")
    _print_languages(languages)
    if len(languages) > 1:
        _print_shared_words(description["shared_words"])
    if description["labels"]:
        _print_labels(description["labels"], list(languages))
    if description["odd"]:
        print("\nodd rows")
        for line in description["odd"]:
            print(f"- {line}")


def _print_languages(languages: dict[str, dict[str, Any]]) -> None:
    from funnelling.report.tables import Table, plain

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
    print(plain(Table(header, rows)))


def _print_shared_words(shared: dict[str, dict[str, float]]) -> None:
    from funnelling.report.tables import Table, plain

    print("\nwords that two languages share, in % of the smaller vocabulary")
    rows = [[a, *("" if a == b else f"{100 * shared[a][b]:.0f}" for b in shared)] for a in shared]
    print(plain(Table(["", *shared], rows)))


def _print_labels(labels: dict[str, dict[str, int]], languages: list[str]) -> None:
    from funnelling.report.tables import Table, plain

    print("\npositives by label and language, most frequent first")
    rows = [
        [label, str(sum(counts.values())), *(str(counts.get(language, 0)) for language in languages)]
        for label, counts in labels.items()
    ]
    print(plain(Table(["label", "all", *languages], rows)))
