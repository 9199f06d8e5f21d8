"""How far the probabilities of a method can be trusted: its expected calibration error on test rows.

    python benchmarks/calibration.py documents.jsonl.gz
    python benchmarks/calibration.py documents.jsonl.gz --methods fun-tat,fun-auto --redraws 1000

Learns from rows with split train and measures on rows with split test. An error is the mean gap between the
probability of a bin and its share of positives: over all document-label pairs, over those of a language or
over those of a label. Errors of languages and of labels are averaged plainly. Behind ± stands the standard
deviation over test groups redrawn with replacement: the noise of a test set of this size.
"""

import argparse
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from funnelling import Corpus, read_corpus
from funnelling.commands import options, values
from funnelling.evaluation.labels import expected_calibration_error
from funnelling.evaluation.measuring import supported_documents
from funnelling.evaluation.splits import settle, trial_split
from funnelling.methods.registry import make_method, parse_methods, title
from funnelling.randomness import stream
from funnelling.report.tables import Table
from funnelling.runtime.messages import say
from measuring import add_options, machine, run, short, show, timed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data", nargs="+", metavar="FILE")
    parser.add_argument("--methods", default="fun-auto", metavar="M,…", help="(%(default)s)")
    parser.add_argument("--redraws", type=values.count, default=200, help="of the test groups (200)")
    add_options(parser, options.Jobs, options.Seed, options.AsJson)
    arguments = parser.parse_args()
    result: dict[str, Any] = {"corpora": {}, "machine": machine()}
    tables = []
    for path in arguments.data:
        (trial,), _ = settle([trial_split(read_corpus(path).labelled(), 0, arguments.seed)])
        measured = {}
        for name in parse_methods(arguments.methods):
            method = make_method(name, seed=arguments.seed, jobs=arguments.jobs)
            seconds, model = timed(partial(method.fit, trial.train))
            test = trial.test.select(supported_documents(trial.test, model))
            measured[name] = {**errors(model, test, arguments), "fit_seconds": seconds}
            say(" ".join([Path(path).name, *row(name, measured[name])]))
        result["corpora"][Path(path).name] = measured
        heads = ["", "all pairs", "mean over languages", "mean over labels", "fit s"]
        tables.append((Path(path).name, Table(heads, [row(*item) for item in measured.items()])))
    show(result, tables, arguments.json)


def errors(model: Any, test: Corpus, arguments: argparse.Namespace) -> dict[str, dict[str, float]]:
    """The calibration errors of a model on test documents, each with its noise."""
    _, probabilities = model.classify(test.texts, languages=test.languages)
    truth = test.label_matrix([str(label) for label in model.labels.classes])
    tags = np.array(test.languages)
    measured = averages(truth, probabilities, tags)
    drawn = redraws(test, arguments.redraws, arguments.seed)
    again = [averages(truth[rows], probabilities[rows], tags[rows]) for rows in drawn]
    return {
        kind: {"error": error, "noise": float(np.std([each[kind] for each in again]))}
        for kind, error in measured.items()
    }


def averages(truth: Any, probabilities: Any, tags: Any) -> dict[str, float]:
    """The calibration error over all document-label pairs, its mean over languages and over labels."""
    error = expected_calibration_error
    by_language = [error(truth[tags == tag], probabilities[tags == tag]) for tag in np.unique(tags)]
    by_label = [error(truth[:, [label]], probabilities[:, [label]]) for label in range(truth.shape[1])]
    return {
        "pairs": error(truth, probabilities),
        "languages": float(np.mean(by_language)),
        "labels": float(np.mean(by_label)),
    }


def redraws(test: Corpus, times: int, seed: int) -> Iterator[Any]:
    """The rows of as many groups as there are, drawn with replacement so many times."""
    members: dict[str, list[int]] = {}
    for place, (group, name) in enumerate(zip(test.groups, test.ids, strict=True)):
        members.setdefault(group or name, []).append(place)
    groups, random = list(members.values()), stream(seed, "calibration")
    for _ in range(times):
        drawn = random.integers(len(groups), size=len(groups))
        yield np.concatenate([groups[k] for k in drawn])


def row(name: str, measured: dict[str, Any]) -> list[str]:
    found = (measured[kind] for kind in ("pairs", "languages", "labels"))
    shown = [f"{each['error']:.4f} ± {each['noise']:.4f}" for each in found]
    return [title(name), *shown, short(measured["fit_seconds"])]


if __name__ == "__main__":
    run(main)
