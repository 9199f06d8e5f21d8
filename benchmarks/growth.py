"""How the time and the memory of a fit grow with documents, labels and languages.

    python benchmarks/growth.py --figure growth.svg
    python benchmarks/growth.py --base 2x100x10x1000 --doublings 2 --recipe-limit 10 --json

One of the three is doubled at a time, the others stay those of the base shape. An exponent of 2 says that
twice as much takes four times as long. Each of our fits runs in a new process, which measures its memory;
the recipe runs in this one, since its workers would keep a process from ending.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import corpora
from drawing import Shape
from fresh import fit_afresh
from funnelling.commands import options, values
from funnelling.errors import counted
from funnelling.report.content import Curves
from funnelling.report.curves import standalone_svg
from funnelling.report.tables import Table
from funnelling.research import PaperFunnelClassifier
from funnelling.runtime.messages import say
from measuring import add_options, machine, run, short, show, timed
from recipe import META_C, Recipe

Step = dict[str, float]  # the size of what is doubled, seconds of both sides, bytes that our fit added

VARIED = ("documents", "labels", "languages")
# How many times as long a fit may take once its corpus is doubled; decides if the recipe is tried again.
STEEPEST = 4


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure how fits grow with the corpus.")
    parser.add_argument(
        "--base", default="4x250x20x4000", metavar="S", help="shape that is doubled (4x250x20x4000)"
    )
    parser.add_argument(
        "--vary", nargs="+", choices=VARIED, default=VARIED, metavar="WHAT", help=f"{', '.join(VARIED)} (all)"
    )
    parser.add_argument("--doublings", type=values.count, default=4, metavar="N", help="of each (4)")
    parser.add_argument(
        "--recipe-limit",
        type=float,
        default=120.0,
        metavar="S",
        help="seconds that a fit of the recipe may take, 0 for none of it (120)",
    )
    parser.add_argument("--figure", type=Path, metavar="FILE", help="draw it as well, as SVG")
    add_options(parser, options.Jobs, options.Seed, options.AsJson)
    arguments = parser.parse_args()

    base = Shape.parse(arguments.base)
    result = {
        "growth": {varied: grow(base, varied, arguments) for varied in arguments.vary},
        "base": arguments.base,
        "jobs": arguments.jobs,
        "machine": machine(),
    }
    if arguments.figure:
        arguments.figure.write_text(standalone_svg(_figure(result)), "utf-8")
    show(result, _tables(result), arguments.json)


def grow(base: Shape, varied: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """Fit ever larger corpora: ours all of them, the recipe until a fit may pass its limit."""
    jobs, seed = arguments.jobs, arguments.seed
    funnelling = PaperFunnelClassifier("tat", meta_C=META_C, n_jobs=jobs, random_state=seed)
    recipe = Recipe(META_C, jobs, seed)
    corpora.warm_up(recipe)
    steps, recipe_may_take = [], 0.0
    for doubling in range(arguments.doublings + 1):
        size = getattr(base, varied) * 2**doubling
        corpus = corpora.draw_corpus(replace(base, **{varied: size}), seed)
        cost = fit_afresh(funnelling, corpus)
        step: Step = {"size": size, "funnelling_seconds": cost.seconds, "added_bytes": cost.added_bytes}
        if recipe_may_take < arguments.recipe_limit:
            step["recipe_seconds"], _ = timed(partial(recipe.fit, corpus.train, corpus.train_labels))
            recipe_may_take = STEEPEST * step["recipe_seconds"]
        say(f"{size:,} {varied}: {short(cost.seconds)} s")
        steps.append(step)
    measured = ("funnelling_seconds", "recipe_seconds", "added_bytes")
    return {"steps": steps, "exponents": {what: exponent(steps, what) for what in measured}}


def exponent(steps: Sequence[Step], what: str) -> float | None:
    """The slope of a straight line through the logarithms; None where there are too few points for one."""
    points = [(step["size"], step[what]) for step in steps if step.get(what)]
    if len(points) < 2:
        return None
    sizes, values = np.log(points).T
    return float(np.polyfit(sizes, values, 1)[0])


def _figure(result: dict[str, Any]) -> Curves:
    """A panel for each that is doubled; a line as steep as the exponent."""
    lines = {
        "funnelling, seconds": ("funnelling_seconds", 1),
        "recipe, seconds": ("recipe_seconds", 1),
        "funnelling, GB": ("added_bytes", 1e-9),
    }
    panels = {}
    for varied, grown in result["growth"].items():
        steps = grown["steps"]
        panels[varied] = {
            name: [(step["size"] / steps[0]["size"], unit * step[what]) for step in steps if what in step]
            for name, (what, unit) in lines.items()
        }
    return Curves(
        "growth",
        f"How a fit grows from {result['base']}, {counted(result['jobs'], 'job')}",
        "Seconds and memory of a fit where documents, labels or languages are doubled one at a time.",
        "times as many",
        "seconds of a fit, GB that it adds",
        panels,
        logarithmic=True,
        logarithmic_y=True,
    )


def _tables(result: dict[str, Any]) -> list[tuple[str, Table]]:
    start = f"from {result['base']}, {counted(result['jobs'], 'job')}"
    return [
        (f"{varied} doubled {start}", _table(varied, grown)) for varied, grown in result["growth"].items()
    ]


def _table(varied: str, grown: dict[str, Any]) -> Table:
    rows = []
    for step in grown["steps"]:
        ours, theirs = step["funnelling_seconds"], step.get("recipe_seconds")
        against = ["", ""] if theirs is None else [short(theirs), short(theirs / ours)]
        rows.append([f"{step['size']:,}", short(ours), *against, short(step["added_bytes"] / 1e9)])
    slopes = ("" if slope is None else f"{slope:.2f}" for slope in grown["exponents"].values())
    seconds, recipe_seconds, memory = slopes
    rows.append(["exponent", seconds, recipe_seconds, "", memory])
    return Table([varied, "funnelling s", "recipe s", "ratio", "fit GB"], rows)


if __name__ == "__main__":
    run(main)
