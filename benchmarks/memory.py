"""How much memory a fit takes, in multiples of the largest kernel matrix, and how long.

    python benchmarks/memory.py
    python benchmarks/memory.py --shape large --memory-limit 2e9 --json

Each fit runs in a new process. The recipe, with --recipe, runs as one job: each worker of scikit-learn would
hold a copy of its own.
"""

import argparse
from dataclasses import asdict
from typing import Any

import corpora
from drawing import SHAPES, Shape
from fresh import fit_afresh
from funnelling.commands import options
from funnelling.errors import counted
from funnelling.report.tables import Table
from funnelling.research import PaperFunnelClassifier
from funnelling.runtime.messages import say
from measuring import add_options, machine, run, short, show
from recipe import META_C, Recipe

GRAM_ITEM = 4  # bytes of a kernel value, a float32


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the memory and the seconds of fits.")
    parser.add_argument(
        "--shape",
        nargs="+",
        default=["rcv", "jrc"],
        metavar="S",
        help=f"{', '.join(SHAPES)} or 4x500x30x2000",
    )
    parser.add_argument(
        "--memory-limit",
        type=float,
        default=8e9,
        metavar="BYTES",
        help="funnelling's for a kernel matrix (8e9)",
    )
    parser.add_argument(
        "--grid", action=argparse.BooleanOptionalAction, default=True, help="search tier 2's C (yes)"
    )
    parser.add_argument("--recipe", action="store_true", help="measure scikit-learn as well, one job")
    add_options(parser, options.Jobs, options.Seed, options.AsJson)
    arguments = parser.parse_args()

    shapes = {text: Shape.parse(text) for text in arguments.shape}
    result = {
        "shapes": {text: measure(text, shape, arguments) for text, shape in shapes.items()},
        "jobs": arguments.jobs,
        "machine": machine(),
    }
    show(result, [(counted(arguments.jobs, "job"), _table(result))], arguments.json)


def measure(text: str, shape: Shape, arguments: argparse.Namespace) -> dict[str, Any]:
    """The costs of a fit on a corpus of this shape, beside the size of its largest Gram, tier 2's."""
    corpus = corpora.draw_corpus(shape, arguments.seed)
    meta_C = None if arguments.grid else META_C
    models: dict[str, PaperFunnelClassifier | Recipe] = {
        "funnelling": PaperFunnelClassifier(
            "tat",
            meta_C=meta_C,
            memory_limit=arguments.memory_limit,
            n_jobs=arguments.jobs,
            random_state=arguments.seed,
        )
    }
    if arguments.recipe:
        models["recipe"] = Recipe(meta_C, jobs=1, seed=arguments.seed)
    gram = GRAM_ITEM * corpus.documents**2
    result: dict[str, Any] = {"corpus": corpus.sizes(), "gram_bytes": gram}
    for side, model in models.items():
        cost = fit_afresh(model, corpus)
        say(f"{text}, {side}: {short(cost.seconds)} s, {short(cost.peak_bytes / 1e9)} GB")
        result[side] = {**asdict(cost), "grams": cost.added_bytes / gram}
    return result


def _table(result: dict[str, Any]) -> Table:
    rows = [
        [
            text,
            side,
            f"{measured['corpus']['documents']:,}",
            short(measured[side]["seconds"]),
            short(measured["gram_bytes"] / 1e9),
            short(measured[side]["peak_bytes"] / 1e9),
            short(measured[side]["added_bytes"] / 1e9),
            short(measured[side]["grams"]),
        ]
        for text, measured in result["shapes"].items()
        for side in ("funnelling", "recipe")
        if side in measured
    ]
    return Table(["shape", "side", "documents", "fit s", "Gram GB", "peak GB", "fit GB", "Grams"], rows)


if __name__ == "__main__":
    run(main)
