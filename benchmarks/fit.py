"""How much faster funnelling fits and predicts than the scikit-learn recipe, and whether it is as good.

    python benchmarks/fit.py --languages 4 --labels 30
    python benchmarks/fit.py --shape rcv --no-recipe --json

Both sides get the same vectors in the same run, first with tier 2's C fixed, then with a grid search for it.
"""

import argparse
from functools import partial
from typing import Any

import corpora
from funnelling.commands import options, values
from funnelling.errors import counted
from funnelling.report.tables import Table, number
from funnelling.research import PaperFunnelClassifier
from funnelling.runtime.messages import say
from measuring import add_options, machine, run, short, show, sizes, timed
from recipe import META_C, Recipe
from vectors import Vectors

PREDICTIONS = 5
ROWS = (
    ("fit_seconds", "fit s", short),
    ("predict_seconds", "predict s", short),
    ("micro_f1", "micro-F1", number),
    ("macro_f1_paper", "paper's macro-F1", number),
    ("meta_C", "C of tier 2", short),
)


def main() -> None:
    parser = argparse.ArgumentParser(description="Time fit and predict against the scikit-learn recipe.")
    corpora.add_options(parser)
    parser.add_argument("--repeats", type=values.count, default=5, metavar="N", help="our fits; median (5)")
    parser.add_argument(
        "--grid", action=argparse.BooleanOptionalAction, default=True, help="search tier 2's C as well"
    )
    parser.add_argument(
        "--recipe", action=argparse.BooleanOptionalAction, default=True, help="time scikit-learn as well"
    )
    add_options(parser, options.Jobs, options.Seed, options.AsJson)
    arguments = parser.parse_args()

    corpus = corpora.corpus_of(arguments)
    result: dict[str, Any] = compare(corpus, META_C, arguments)
    if arguments.grid:
        result["grid"] = compare(corpus, None, arguments)
    result |= {"jobs": arguments.jobs, "corpus": corpus.sizes(), "machine": machine()}
    show(result, _tables(result), arguments.json)


def compare(corpus: Vectors, meta_C: float | None, arguments: argparse.Namespace) -> dict[str, Any]:
    """Each measure of each side, and how many times faster funnelling is."""
    jobs, seed = arguments.jobs, arguments.seed
    funnelling = PaperFunnelClassifier("tat", meta_C=meta_C, n_jobs=jobs, random_state=seed)
    sides = {"funnelling": measure(funnelling, corpus, arguments.repeats)}
    if arguments.recipe:
        sides["recipe"] = measure(Recipe(meta_C, jobs, seed), corpus, fits=1)
    result: dict[str, Any] = {
        measured: {side: values[measured] for side, values in sides.items()}
        for measured in sides["funnelling"]
    }
    if arguments.recipe:
        for step in ("fit", "predict"):
            seconds = result[f"{step}_seconds"]
            result[f"{step}_ratio"] = seconds["recipe"] / seconds["funnelling"]
    return result


def measure(model: PaperFunnelClassifier | Recipe, corpus: Vectors, fits: int) -> dict[str, Any]:
    """Fit and predict: how long it takes, how good it is."""
    name = type(model).__name__
    corpora.warm_up(model)
    fit_seconds, _ = timed(partial(model.fit, corpus.train, corpus.train_labels), fits)
    meta_C = model.final_c if isinstance(model, Recipe) else model.model_.fitted.final_c
    say(f"{name}: fit in {short(fit_seconds)} s, meta_C {meta_C:g}")
    predict_seconds, predicted = timed(partial(model.predict, corpus.test), PREDICTIONS)
    say(f"{name}: predict in {short(predict_seconds)} s")
    return {
        "fit_seconds": fit_seconds,
        "predict_seconds": predict_seconds,
        **corpus.measure(predicted),
        "meta_C": meta_C,
    }


def _tables(result: dict[str, Any]) -> list[tuple[str, Table]]:
    corpus = f"{sizes(result['corpus'])}, {counted(result['jobs'], 'job')}"
    tables = [(f"{corpus}\n\nC of tier 2 fixed", _table(result))]
    if "grid" in result:
        tables.append(("C of tier 2 by grid search", _table(result["grid"])))
    return tables


def _table(result: dict[str, Any]) -> Table:
    rows = []
    for measured, title, text in ROWS:
        ratio = result.get(f"{measured.removesuffix('_seconds')}_ratio")
        cells = [text(value) for value in result[measured].values()]
        rows.append([title, *cells, "" if ratio is None else short(ratio)])
    return Table(["", *result["fit_seconds"], "ratio"], rows)


if __name__ == "__main__":
    run(main)
