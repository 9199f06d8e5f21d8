"""``funnelling embeddings``: word vectors, learned from a reference corpus."""

import argparse
from pathlib import Path

from funnelling.cli import options

DIMENSIONS = 300  # MUSE's


def add_to(commands: options.Commands) -> None:
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
    build.set_defaults(run=run_build)


def run_build(arguments: argparse.Namespace) -> None:
    from funnelling.errors import counted
    from funnelling.tasks.building import build_embeddings

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
