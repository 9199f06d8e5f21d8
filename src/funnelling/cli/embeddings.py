"""``funnelling embeddings``: word vectors, learned from a reference corpus and looked into."""

import argparse
from pathlib import Path

from funnelling.cli import options

DIMENSIONS = 300  # MUSE's


def add_to(commands: options.Commands) -> None:
    parser = commands.add_parser("embeddings", help="learn word vectors and look into them")
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    _add_build(actions)
    _add_neighbours(actions)


def _add_build(actions: options.Commands) -> None:
    build = actions.add_parser(
        "build",
        help="learn vectors from a reference corpus",
        description="Learn vectors for the words of all languages of a reference corpus, aligned with each "
        "other, and write a file a language in MUSE's text format.",
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
    )
    neighbours.add_argument("embeddings", metavar="DIR", help="folder of vectors, a file a language")
    neighbours.add_argument("language", metavar="LANG", help="language of the word")
    neighbours.add_argument("word", metavar="WORD")
    neighbours.add_argument(
        "-n", "--count", type=options.count, default=5, metavar="N", help="words a language (5)"
    )
    options.add_json(neighbours)
    neighbours.set_defaults(run=run_neighbours)


def run_build(arguments: argparse.Namespace) -> None:
    from funnelling.corpus.reference import read_reference
    from funnelling.embeddings.folders import check_folder, write_folder
    from funnelling.embeddings.learning import learn_vectors
    from funnelling.wording import counted

    folder = Path(arguments.output)
    check_folder(folder, arguments.force)
    reference = read_reference(arguments.reference, arguments.languages)
    vectors = learn_vectors(
        reference.texts, arguments.dimensions, arguments.min_count, arguments.seed, shown=True
    )
    write_folder(folder, vectors, arguments.force, shown=True)
    sizes = ", ".join(f"{language} {len(of.words):,}" for language, of in vectors.items())
    print(f"Vectors: {folder}, from {counted(len(reference.groups), 'group')} (words: {sizes})")


def run_neighbours(arguments: argparse.Namespace) -> None:
    from funnelling.embeddings.neighbours import nearest_words
    from funnelling.report.tables import Table, plain

    nearest = nearest_words(
        arguments.embeddings, arguments.language, arguments.word, arguments.count, shown=True
    )
    if arguments.json:
        options.print_json({language: dict(found) for language, found in nearest.items()})
        return
    rows = [
        [language, ", ".join(f"{word} {_short(cosine)}" for word, cosine in found)]
        for language, found in nearest.items()
    ]
    print(plain(Table(["language", "nearest words, with cosines"], rows)))


def _short(cosine: float) -> str:
    """A cosine without the zero before its point."""
    return f"{cosine:.2f}".replace("0.", ".", 1)
