"""What to label next: documents that `label --to` chooses, beside documents drawn at random.

    python benchmarks/labelling.py documents.jsonl.gz --runs 10
    python benchmarks/labelling.py sample --learner naive --label-up-to 500 --steps 4

A trial begins with 20 labelled documents per language, and the method learns anew after each step. The labels
of the training documents play the person who labels what is chosen. Macro averages run over all labels of the
training documents, labelled or not.
"""

import argparse
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from funnelling import Corpus, InputError
from funnelling.commands import options, values
from funnelling.commands.corpora import read_trials
from funnelling.evaluation.registry import (
    MEASURES,
    PAPER_MEASURES,
    SINGLE_LABEL_MEASURES,
    is_of_one_label,
    measure_languages,
)
from funnelling.evaluation.splits import Trial, settle
from funnelling.methods.active_learning import next_to_label
from funnelling.methods.registry import make_method
from funnelling.randomness import stream
from funnelling.report.tables import Table, number
from funnelling.research.experiments.tables import decisions_of
from funnelling.runtime.messages import say
from measuring import add_options, machine, run, show

RANDOM, SUGGESTED = "at random", "suggested"
START = 20  # labelled documents per language
LESS = 2 / 3  # of the labels, by which suggestions are judged

Result = dict[str, Any]
Places = npt.NDArray[np.intp]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data", metavar="FILE|CORPUS")
    parser.add_argument("--runs", type=values.count, default=1, metavar="N", help="trials (%(default)s)")
    parser.add_argument("--learner", default="fun-views", metavar="M", help="the method (%(default)s)")
    parser.add_argument(
        "--label-up-to",
        type=values.count,
        default=2_000,
        metavar="N",
        help="how many documents are labelled in the end (%(default)s)",
    )
    parser.add_argument(
        "--steps",
        type=values.count,
        default=12,
        metavar="N",
        help="in steps of an N-th of these (%(default)s)",
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the result as JSON, as it grows")
    add_options(parser, options.Jobs, options.Seed, options.AsJson)
    arguments = parser.parse_args()
    trials, notes = read_trials([arguments.data], arguments.runs, arguments.seed)
    trials, kind = settle(trials)
    for line in (*notes, *kind):
        say(line)
    result: Result = {"learner": arguments.learner, "label_up_to": arguments.label_up_to, "trials": []}
    result["machine"] = machine()
    for place, trial in enumerate(trials):
        ways = {way: label_on(trial, way, arguments.seed + place, arguments) for way in (RANDOM, SUGGESTED)}
        result["trials"].append(ways)
        say(f"trial {place + 1} of {len(trials)}")
        if arguments.output:
            arguments.output.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    show(result, tables(result), arguments.json)


def label_on(trial: Trial, way: str, seed: int, arguments: argparse.Namespace) -> list[Result]:
    """The measures of a trial after each step, with the documents labelled that one way of choosing names."""
    train = trial.train
    by_language = train.by_language().items()
    shuffled = [rows[stream(seed, "labelling", tag).permutation(len(rows))] for tag, rows in by_language]
    labelled = np.concatenate([rows[:START] for rows in shuffled])
    others = np.setdiff1d(np.arange(len(train)), labelled)
    at_random = np.concatenate([labelled, stream(seed, "labelling").permutation(others)])
    points: list[Result] = []
    model: Any = None
    for size in sizes_of(arguments, len(labelled), len(train)):
        if way == RANDOM:
            labelled = at_random[:size]
        elif model is not None:
            labelled = np.concatenate([labelled, suggested(model, train, labelled, size - len(labelled))])
        method = make_method(arguments.learner, seed=seed, jobs=arguments.jobs)
        # The order of words makes suggestions better.
        model = method.under(keep="texts").fit(train.select(labelled))
        points.append({"labelled": size, **measured(trial, model)})
    return points


def sizes_of(arguments: argparse.Namespace, start: int, documents: int) -> list[int]:
    """How many documents are labelled in the beginning, and after each step."""
    most = arguments.label_up_to
    if not start < most <= documents:
        raise InputError(
            f"--label-up-to {most} is out of reach: the training documents to choose from are {documents}, "
            f"and {start} are labelled from the beginning."
        )
    steps = [round(most * step / arguments.steps) for step in range(1, arguments.steps + 1)]
    return [start, *(size for size in steps if size > start)]


def suggested(model: Any, train: Corpus, labelled: Places, wanted: int) -> Places:
    """The places of documents that a method suggests; where it has too few, of others, in their order."""
    left = np.setdiff1d(np.arange(len(train)), labelled)
    pool = train.select(left)
    groups = pool.groups if any(pool.groups) else None
    rows = next_to_label(model, pool.texts, pool.languages, wanted, ids=range(len(pool)), groups=groups)
    places = left[[int(row["id"]) for row in rows]]
    return np.concatenate([places, np.setdiff1d(left, places)[: wanted - len(places)]])


def measured(trial: Trial, model: Any) -> Result:
    """The measures of a method over all labels of the trial, those not met yet included."""
    train, test, _ = trial
    classes = train.label_set()
    decisions = decisions_of(model, test, classes)
    found = measure_languages(test.label_matrix(classes), decisions, test.languages, train.one_label)
    return {"average": found["average"], "languages": found["languages"]}


def tables(result: Result) -> Iterable[tuple[str, Table]]:
    """What suggested documents are worth beside documents drawn at random, on average and by language."""
    budget, points = result["label_up_to"], result["trials"][0][RANDOM]
    measures = SINGLE_LABEL_MEASURES if is_of_one_label(points[0]["average"]) else PAPER_MEASURES[:2]
    titles = [MEASURES[measure].title for measure in measures]
    sizes = [point["labelled"] for point in points]
    less = min(range(1, len(sizes)), key=lambda step: (abs(sizes[step] - LESS * budget), step))
    rows = []
    for measure, title in zip(measures, titles, strict=True):
        values = {way: values_of(result, way, measure) for way in (RANDOM, SUGGESTED)}
        means = {way: each.mean(axis=0).tolist() for way, each in values.items()}
        cells = [
            f"{number(each[:, step].mean())} ± {number(each[:, step].std())}"
            for step in (less, -1)
            for each in values.values()
        ]
        needed = needed_for(means[RANDOM][-1], sizes, means[SUGGESTED])
        rows.append([title, *cells, "–" if needed is None else f"{needed:,.0f}"])
    groups = [(f"{sizes[less]:,} labelled", 2), (f"{budget:,} labelled", 2), ("suggested", 1)]
    header = ["measure", RANDOM, SUGGESTED, RANDOM, SUGGESTED, f"needed for {budget:,}"]
    yield f"{result['learner']}, {len(result['trials'])} trials", Table(header, rows, groups)
    rows = []
    for language in points[0]["languages"]:
        cells = []
        for measure in measures:
            drawn, named = (values_of(result, way, measure, language)[:, less] for way in (RANDOM, SUGGESTED))
            cells += [number(named.mean()), f"{(named - drawn).mean():+.3f}"]
        rows.append([language, *cells])
    table = Table(["language", *[SUGGESTED, "more"] * len(titles)], rows, [(title, 2) for title in titles])
    yield f"{sizes[less]:,} labelled, by how much more than at random", table


def values_of(result: Result, way: str, measure: str, language: str | None = None) -> npt.NDArray[np.float64]:
    """A measure by trial and step, in one language or on average."""
    return np.array(
        [
            [
                (point["languages"][language] if language else point["average"])[measure]
                for point in trial[way]
            ]
            for trial in result["trials"]
        ]
    )


def needed_for(goal: float, sizes: Sequence[int], reached: Sequence[float]) -> float | None:
    """How many documents reach a goal, None where more are needed; between two steps quality grows evenly.

    >>> needed_for(0.4, [60, 90], [0.2, 0.6]), needed_for(0.4, [60, 90], [0.2, 0.3])
    (75.0, None)
    """
    if max(reached) < goal:
        return None
    step = next(step for step, value in enumerate(reached) if value >= goal)
    return float(np.interp(goal, reached[max(0, step - 1) : step + 1], sizes[max(0, step - 1) : step + 1]))


if __name__ == "__main__":
    run(main)
