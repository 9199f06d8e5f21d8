"""``funnelling data`` and ``embeddings``: what is in a file of documents, corpora and vectors to build."""

import argparse
import shutil
from pathlib import Path
from typing import Any

from funnelling.commands import options, printing
from funnelling.commands.corpora import CORPORA
from funnelling.runtime.messages import say

MAX_LABELS_SHOWN = 30  # in a table, unless all are asked for
DIMENSIONS = 300  # of word vectors: MUSE's


def add_to(commands: options.Commands) -> None:
    parser = commands.add_parser(
        "data",
        help="look into files of documents, build corpora",
        description="Look into a file of documents before anything is learned from it, or build a corpus.",
        epilog=options.examples("data describe docs.csv"),
    )
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    _add_list(actions)
    _add_describe(actions)
    _add_build(actions)
    _add_embeddings(commands)


def _add_list(actions: options.Commands) -> None:
    listing = actions.add_parser(
        "list",
        help="list the corpora that can be built",
        description="List the corpora that can be built: from where, how large, under which licence.",
        epilog=options.examples("data list --json"),
    )
    options.add_json(listing)
    listing.set_defaults(run=run_list)


def run_list(arguments: argparse.Namespace) -> None:
    if arguments.json:
        fields = ("summary", "origin", "size", "licence")
        printing.print_json(
            {name: {field: getattr(entry, field) for field in fields} for name, entry in CORPORA.items()}
        )
        return
    import textwrap

    width = max(shutil.get_terminal_size().columns - 14, 40)
    for name, entry in CORPORA.items():
        print(f"{name}")
        for title, text in zip(("", "from", "size", "licence"), entry[1:5], strict=True):
            lines = textwrap.wrap(text, width, break_on_hyphens=False)
            print("\n".join(f"  {title if not i else '':8} {line}" for i, line in enumerate(lines)))
    print(f"\nBuild one with: {printing.program()} data build NAME -o FILE")


def _add_describe(actions: options.Commands) -> None:
    describe = actions.add_parser(
        "describe",
        help="describe a file of documents",
        description="Describe a file of documents: odd rows, documents and words by language, documents by "
        "label, words in common.",
        epilog=options.examples("data describe docs.csv --labels-column topics --label-separator ';'"),
    )
    describe.add_argument("data", metavar="DATA", help=options.DATA_HELP)
    describe.add_argument(
        "--all",
        action="store_true",
        help=f"list all labels, not only the {MAX_LABELS_SHOWN} most frequent ones",
    )
    options.add_json(describe)
    options.add_reading(describe)
    describe.set_defaults(run=run_describe)


def _add_build(actions: options.Commands) -> None:
    build = actions.add_parser(
        "build",
        help="build a corpus",
        description="Build a corpus: with apt, without changing anything on the machine, or from files in "
        "--source. Each takes only the options that it has a use for.",
        epilog="`funnelling data list` shows what they are, from where, and how large.\n\n"
        + options.examples("data build debian-parallel -o reference.jsonl --languages en,de,fr"),
    )
    build.add_argument("corpus", metavar="NAME", choices=CORPORA, help=f"one of {', '.join(CORPORA)}")
    build.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="FILE",
        help="output file: .jsonl, .csv, .tsv (each also .gz), .parquet, or - for standard output",
    )
    build.add_argument(
        "--source",
        action="append",
        type=Path,
        dest="sources",
        metavar="DIR",
        help="folder of files to build from; may be repeated",
    )
    build.add_argument("--languages", metavar="L,L…", help="languages, such as en,it,pt_BR")
    build.add_argument(
        "--min-words", type=options.count, metavar="N", help="words that a text must have in every language"
    )
    build.add_argument(
        "--paragraphs", action="store_true", default=None, help="one group per paragraph, not per page"
    )
    build.add_argument(
        "--documents", type=options.count, metavar="N", help="how many groups to sample (5,000)"
    )
    build.add_argument(
        "--alignments", type=Path, metavar="FILE", help="table of articles, one column per language"
    )
    options.add_seed(build)
    options.add_force(build)
    # None means not given: a corpus refuses what it has no use for.
    build.set_defaults(run=run_build, seed=None)


def run_build(arguments: argparse.Namespace) -> None:
    from funnelling.commands.building import build_corpus

    names = ("sources", "languages", "min_words", "paragraphs", "documents", "alignments", "seed")
    values = {name: getattr(arguments, name) for name in names}
    corpus_options = {name: value for name, value in values.items() if value is not None}
    if "languages" in corpus_options:
        corpus_options["languages"] = corpus_options["languages"].split(",")
    build_corpus(
        arguments.corpus,
        arguments.output,
        force=arguments.force,
        verbose=1,
        report=say,
        **corpus_options,
    )


def run_describe(arguments: argparse.Namespace) -> None:
    from funnelling.corpus import read_corpus
    from funnelling.corpus.findings import describe

    layout = options.layout(arguments)
    description = describe(
        read_corpus(arguments.data, verbose=1, layout=layout, strict=arguments.strict), verbose=1
    )
    if arguments.json:
        printing.print_json(description)
    else:
        _print(description, len(description["labels"]) if arguments.all else MAX_LABELS_SHOWN)


def _print(description: dict[str, Any], most_labels: int) -> None:
    """What to look at comes first, tables that grow with the file last."""
    from funnelling.errors import counted

    languages = description["languages"]
    print(
        f"{counted(description['documents'], 'document')}, {counted(len(languages), 'language')}, "
        f"{counted(len(description['labels']), 'label')}, "
        f"{description['labels_per_document']:.1f} labels per document"
    )
    splits = ", ".join(f"{split} {count:,}" for split, count in description["splits"].items())
    print(f"splits: {splits or 'none; compare will draw 30 % for test'}")
    if description["odd"]:
        print("\nodd rows")
        for line in description["odd"]:
            print(f"- {line}")
    print()
    _print_languages(languages)
    if description["labels"]:
        _print_labels(description["labels"], list(languages), most_labels)
    if len(languages) > 1:
        _print_shared_words(description["shared_words"])


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


def _print_labels(labels: dict[str, dict[str, int]], languages: list[str], most: int) -> None:
    from funnelling.report.tables import Table, plain

    print("\npositives by label and language, most frequent first")
    rows = [
        [label, str(sum(counts.values())), *(str(counts.get(language, 0)) for language in languages)]
        for label, counts in list(labels.items())[:most]
    ]
    print(plain(Table(["label", "all", *languages], rows)))
    if len(labels) > most:
        print(f"… and {len(labels) - most:,} more: add --all to see them")


def _add_embeddings(commands: options.Commands) -> None:
    parser = commands.add_parser(
        "embeddings",
        help="learn word vectors",
        description="Learn word vectors from a reference corpus.",
        epilog=options.examples("embeddings build reference.jsonl -o vectors"),
    )
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    build = actions.add_parser(
        "build",
        help="learn vectors from a reference corpus",
        description="Learn vectors for the words of all languages of a reference corpus, aligned with each "
        "other, and write one file per language in MUSE's text format.",
        epilog=options.examples("embeddings build reference.jsonl -o vectors --dimensions 100"),
    )
    build.add_argument("reference", metavar="REFERENCE", help=f"reference corpus, a {options.DATA_HELP}")
    build.add_argument("-o", "--output", required=True, metavar="DIR", help="folder of the vectors")
    build.add_argument(
        "--dimensions", type=options.count, default=DIMENSIONS, metavar="N", help=f"dimensions ({DIMENSIONS})"
    )
    build.add_argument(
        "--min-count", type=options.count, default=1, metavar="N", help="times a word must occur (1)"
    )
    build.add_argument(
        "--languages", type=options.languages, metavar="L,L…", help="languages (all of the reference corpus)"
    )
    options.add_seed(build)
    options.add_force(build)
    build.set_defaults(run=run_build_embeddings)


def run_build_embeddings(arguments: argparse.Namespace) -> None:
    from funnelling.commands.building import build_embeddings
    from funnelling.errors import counted

    size = build_embeddings(
        arguments.reference,
        arguments.output,
        dimensions=arguments.dimensions,
        min_count=arguments.min_count,
        languages=arguments.languages,
        seed=arguments.seed,
        force=arguments.force,
        verbose=1,
    )
    words = ", ".join(f"{language} {number:,}" for language, number in size.words.items())
    print(f"Vectors: {Path(arguments.output)}, from {counted(size.groups, 'group')} (words: {words})")
