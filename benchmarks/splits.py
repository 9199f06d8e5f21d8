"""What it changes that splits share labels out: beside groups drawn by lot, in languages of the same sizes.

    python benchmarks/splits.py documents.jsonl.gz
    python benchmarks/splits.py documents.jsonl.gz --runs 10 --method fun-tat
    python benchmarks/splits.py documents.jsonl.gz --runs 5 --method naive --set naive.C=1 --outer

Counts labels of a language, those that two documents or more have there: how many have no document to learn
from, or none to measure on, where 30 % are for test, and how many lie in one of five folds alone. A method is
fitted on each draw: the mean of what it reaches, and the standard deviation over draws. With --outer it is
measured by five outer folds over the training rows, beside what it reaches on the test rows.
"""

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from unittest.mock import patch

import numpy as np

from funnelling import Corpus, read_corpus
from funnelling.commands import options, values
from funnelling.evaluation.fitting import cross_validate
from funnelling.evaluation.measuring import evaluate_classifier
from funnelling.evaluation.registry import MEASURES, measures_to_test_by
from funnelling.evaluation.splits import TEST_SHARE, Trial, settle, sides_of
from funnelling.folds import deal_folds, draw_test
from funnelling.matrices import Folds
from funnelling.methods.registry import make_method, parse_settings
from funnelling.report.tables import Table, number, plain
from funnelling.runtime.progress import watched
from measuring import add_options, run

FOLDS = 5
SPREAD = 5  # documents: the least that a label has whose share is looked at
DRAWN = {"by lot": False, "labels shared out": True}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--runs", type=values.count, default=10, help="draws, each by its seed (10)")
    parser.add_argument("--languages", metavar="L,…", help="only these")
    parser.add_argument("--method", help="what is fitted on each draw")
    parser.add_argument("--outer", action="store_true", help="measure the method by outer folds")
    add_options(parser, options.Settings, options.Jobs)
    arguments = parser.parse_args()
    corpus = read_corpus(arguments.data).labelled()
    if arguments.languages:
        corpus = corpus.select(np.isin(corpus.languages, arguments.languages.split(",")))
    if arguments.method is None:
        print(plain(looked_at(corpus, arguments.runs)))
        return

    settings = parse_settings(arguments.set, [arguments.method])

    def make() -> Any:
        return make_method(arguments.method, seed=0, jobs=arguments.jobs, settings=settings)

    print(plain((by_outer_folds if arguments.outer else on_draws)(corpus, arguments.runs, make)))


def test_rows(corpus: Corpus, labels: Sequence[Any], seed: int) -> Folds:
    quota = Counter({tag: round(TEST_SHARE * size) for tag, size in Counter(corpus.languages).items()})
    return draw_test(quota, corpus.languages, corpus.groups, labels, seed, "test", 0).astype(np.intp)


def folds_of(corpus: Corpus, labels: Sequence[Any], seed: int) -> Folds:
    return deal_folds(FOLDS, corpus.languages, corpus.groups, labels, seed, "outer")


def seen(corpus: Corpus, shares_out: bool) -> Sequence[Any]:
    """The labels as a draw sees them."""
    return corpus.labels if shares_out else [None] * len(corpus)


def looked_at(corpus: Corpus, runs: int) -> Table:
    """Where labels lie, mean over draws."""
    rows = []
    for name, shares_out in DRAWN.items():
        found = []
        for seed in range(runs):
            start = time.perf_counter()
            test = test_rows(corpus, seen(corpus, shares_out), seed)
            folds = folds_of(corpus, seen(corpus, shares_out), seed)
            seconds = (time.perf_counter() - start) / 2
            sides, parts = counts(corpus, test, 2), counts(corpus, folds, FOLDS)
            nothing = (sides[sides.sum(axis=1) > 1] == 0).sum(axis=0)
            in_one = (parts[parts.sum(axis=1) > 1] > 0).sum(axis=1) == 1
            found.append(
                [*nothing, in_one.sum(), *map(spread, (sides, parts), (TEST_SHARE, 1 / FOLDS)), seconds]
            )
        learn, measure, one, of_test, of_folds, seconds = np.mean(found, axis=0)
        shown = [f"{each:,.1f}" for each in (learn, measure, one)]
        rows.append(
            [name, *shown, *(f"{100 * each:.1f} %" for each in (of_test, of_folds)), f"{seconds:.2f}"]
        )
    several = int((counts(corpus, np.zeros(len(corpus), dtype=np.intp), 1) > 1).sum())
    titles = ["none to learn", "none to measure", "in one fold", "off 30 %", "off a fifth", "s"]
    return Table([f"of {several:,} labels of a language", *titles], rows)


def counts(corpus: Corpus, side: Folds, sides: int) -> Any:
    """How many documents each label of each language has on each side."""
    found: dict[tuple[Any, str], Any] = {}
    for language, labels, where in zip(corpus.languages, corpus.label_lists(), side, strict=True):
        for label in labels:
            found.setdefault((language, label), np.zeros(sides, dtype=int))[where] += 1
    return np.array(list(found.values()))


def spread(parts: Any, share: float) -> float:
    """How far a label's share on a side is from what it should be, in the mean."""
    known = parts[parts.sum(axis=1) >= SPREAD]
    shares = known / known.sum(axis=1, keepdims=True)
    return float(np.abs(shares[:, -1] - share).mean())


def on_draws(corpus: Corpus, runs: int, make: Callable[[], Any]) -> Table:
    """What a method reaches where 30 % are for test."""

    def results(shares_out: bool) -> Iterator[dict[str, float]]:
        for seed in watched(range(runs), "draws", True, "draws"):
            test = test_rows(corpus, seen(corpus, shares_out), seed) == 1
            (trial,), _ = settle([Trial(corpus.select(~test), corpus.select(test), Corpus())])
            yield evaluate_classifier(make().fit(trial.train), trial.test)["average"]

    return table({name: list(results(shares_out)) for name, shares_out in DRAWN.items()})


def by_outer_folds(corpus: Corpus, runs: int, make: Callable[[], Any]) -> Table:
    """What outer folds over the training rows say, and what the test rows say."""
    (trial,), _ = settle([sides_of(corpus)])
    train = trial.train

    def results(shares_out: bool) -> Iterator[dict[str, float]]:
        for seed in watched(range(runs), "draws", True, "draws"):
            folds = folds_of(train, seen(train, shares_out), seed)
            with patch("funnelling.evaluation.fitting.outer_folds", return_value=folds):
                result = cross_validate(make(), train, FOLDS, seed)
            if result is not None:
                yield result["average"]

    said = {name: list(results(shares_out)) for name, shares_out in DRAWN.items()}
    return table({**said, "test rows": [evaluate_classifier(make().fit(train), trial.test)["average"]]})


def table(results: dict[str, list[dict[str, float]]]) -> Table:
    measures = measures_to_test_by(next(iter(results.values()))[0])
    rows = []
    for name, averages in results.items():
        found = [[average[measure] for measure in measures] for average in averages]
        spreads = np.std(found, axis=0, ddof=1) if len(found) > 1 else [None] * len(measures)
        means = zip(np.mean(found, axis=0), spreads, strict=True)
        rows.append([name, *(number(m) + ("" if s is None else f" ± {s:.4f}") for m, s in means)])
    return Table(["drawn", *(MEASURES[measure].title for measure in measures)], rows)


if __name__ == "__main__":
    run(main)
