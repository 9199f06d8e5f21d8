"""``funnelling embeddings``: word vectors, learned from a reference corpus and looked into."""

import argparse
from pathlib import Path

from funnelling.cli import options, printing

DIMENSIONS = 300  # MUSE's


def add_to(commands: options.Commands) -> None:
    parser = commands.add_parser(
        "embeddings",
        help="learn word vectors and look into them",
        description="Learn word vectors from a reference corpus, or show which words are near to a word.",
        epilog=options.examples("embeddings build reference.jsonl -o vectors"),
    )
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    _add_build(actions)
    _add_neighbours(actions)


def _add_build(actions: options.Commands) -> None:
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
    build.set_defaults(run=run_build)


def _add_neighbours(actions: options.Commands) -> None:
    neighbours = actions.add_parser(
        "neighbours",
        help="show the nearest words of a word in every language",
        description="Show the nearest words of a word in every language of a folder of vectors.",
        epilog=options.examples("embeddings neighbours vectors en printer -n 3"),
    )
    neighbours.add_argument("embeddings", metavar="DIR", help="folder of vectors, one file per language")
    neighbours.add_argument("language", metavar="LANG", help="language of the word")
    neighbours.add_argument("word", metavar="WORD", help="word whose neighbours are shown")
    neighbours.add_argument(
        "-n", "--count", type=options.count, default=5, metavar="N", help="words per language (5)"
    )
    options.add_json(neighbours)
    neighbours.set_defaults(run=run_neighbours)


def run_build(arguments: argparse.Namespace) -> None:
    from funnelling.tasks.building import build_embeddings
    from funnelling.wording import counted

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


def run_neighbours(arguments: argparse.Namespace) -> None:
    from funnelling.embeddings.neighbours import nearest_words
    from funnelling.report.tables import Table, plain

    nearest = nearest_words(
        arguments.embeddings, arguments.language, arguments.word, arguments.count, shown=True
    )
    if arguments.json:
        printing.print_json({language: dict(words) for language, words in nearest.items()})
        return
    rows = [
        [language, ", ".join(f"{word} {_short(cosine)}" for word, cosine in words)]
        for language, words in nearest.items()
    ]
    print(plain(Table(["language", "nearest words, with cosines"], rows)))


def _short(cosine: float) -> str:
    """A cosine without the zero before its point."""
    return f"{cosine:.2f}".replace("0.", ".", 1)
