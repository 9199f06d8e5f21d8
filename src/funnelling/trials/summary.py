"""Results of several trials and methods in one: means, deviations, significance."""

from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise

import numpy as np

from funnelling.corpus import Corpus
from funnelling.evaluation.confusion import added
from funnelling.evaluation.language_averages import weighted_mean
from funnelling.evaluation.measures.f1 import f1
from funnelling.evaluation.registry import is_of_one_label, measures_to_test_by
from funnelling.evaluation.significance import paired_p, rivals_of, significance
from funnelling.trials.decisions import p_over_groups
from funnelling.trials.pieces import Result

EXAMPLES = (1, 3, 10, 30, 100, 300, 1_000)  # where the ranges of numbers of training documents begin


def summarise_methods(
    methods: Mapping[str, Sequence[Result]],
    floor: Sequence[Result],
    tests: Sequence[Corpus] = (),
    seed: int = 0,
) -> Result:
    """The results of several methods, and of `measure_floor`, over the same trials: what `compare` prints.

    ``tests`` are the documents that rivals were measured on, trial by trial. The ``p_groups`` of a pair,
    which ``seed`` draws for, is None without them, and where results hold no decisions, as older ones do not.
    """
    averages = [result["average"] for results in (floor, *methods.values()) for result in results]
    measures = measures_to_test_by(set.intersection(*map(set, averages)))
    summaries = {name: summarise_trials(results) for name, results in methods.items()}
    scores = {
        measure: {name: _paired_scores(results, measure) for name, results in methods.items()}
        for measure in measures
    }
    rivals = rivals_of(methods)
    over_groups = p_over_groups({name: methods[name] for name in rivals}, tests, measures, seed)
    floor_name = "most_frequent" if is_of_one_label(measures) else "rejector"
    return {
        "methods": summaries,
        "significance": {measure: significance(scores[measure]) for measure in measures},
        "pairs": {
            measure: [
                {
                    "a": a,
                    "b": b,
                    "difference": summaries[a]["average"][measure] - summaries[b]["average"][measure],
                    "p": paired_p(scores[measure][a], scores[measure][b]),
                    "p_groups": over_groups[measure].get((a, b)),
                }
                for a, b in combinations(rivals, 2)
            ]
            for measure in measures
        },
        floor_name: {key: summarise_trials(floor)[key] for key in ("average", "weighted")},
        "unknown_labels": floor[0]["unknown_labels"],
    }


def summarise_trials(results: Sequence[Result]) -> Result:
    """The results of one method over trials: means, and two deviations, of the measures that all trials have.

    ``average`` is the plain mean over languages, ``weighted`` that by their numbers of documents.
    ``deviation`` is that of the mean over languages, from trial to trial, None for one trial;
    ``language_deviation`` is that of the mean over trials, from language to language.
    """
    measures = [m for m in results[0]["average"] if all(m in result["average"] for result in results)]
    averages = {m: np.array([result["average"][m] for result in results]) for m in measures}
    weighted = [weighted_mean(result["languages"]) for result in results]
    by_language: dict[str, list[dict[str, float]]] = {}
    for result in results:
        for language, values in result["languages"].items():
            by_language.setdefault(language, []).append(values)
    languages: dict[str, dict[str, float]] = {
        language: {
            key: float(np.mean([values[key] for values in trials])) for key in (*measures, "documents")
        }
        for language, trials in sorted(by_language.items())
    }
    for values in languages.values():
        values["documents"] = round(values["documents"])
    summary: Result = {
        "average": {measure: float(values.mean()) for measure, values in averages.items()},
        "weighted": {m: float(np.mean([values[m] for values in weighted])) for m in measures},
        "deviation": {m: float(v.std(ddof=1)) for m, v in averages.items()} if len(results) > 1 else None,
        "language_deviation": {
            measure: float(np.std([values[measure] for values in languages.values()], ddof=1))
            if len(languages) > 1
            else None
            for measure in averages
        },
        "languages": languages,
        "runs": len(results),
    }
    for seconds in ("fit_seconds", "predict_seconds"):
        if seconds in results[0]:
            summary[seconds] = float(np.mean([result[seconds] for result in results]))
    if "counts" in results[0]:
        summary["reliability"] = _mean_reliability([result["reliability"] for result in results])
        summary["f1_by_examples"] = _f1_by_examples(results)
    if "confusion" in results[0]:
        summary["confusion"] = added(result["confusion"] for result in results)
    return summary


def _mean_reliability(trials: Sequence[Sequence[Sequence[float]]]) -> list[list[float]]:
    """The bins of all trials: pairs, mean probability and share of positives of those that have any."""
    pairs, expected, positives = np.array(trials, dtype=float).sum(axis=0).T
    bins = np.column_stack([pairs, expected / pairs.clip(1), positives / pairs.clip(1)])
    table: list[list[float]] = bins[pairs > 0].tolist()
    return table


def _f1_by_examples(results: Sequence[Result]) -> list[list[float]]:
    """Mean F1 of the labels by their number of training documents: from, labels, mean number, mean F1."""
    examples = np.concatenate([result["examples"] for result in results])
    counts = np.concatenate([np.array(result["counts"]).T for result in results])
    in_test = counts[:, 0] + counts[:, 2] > 0
    scores = f1(*counts.T)
    rows = []
    for start, end in pairwise((*EXAMPLES, np.inf)):
        inside = in_test & (examples >= start) & (examples < end)
        if inside.any():
            rows.append(
                [start, int(inside.sum()), float(examples[inside].mean()), float(scores[inside].mean())]
            )
    return rows


def _paired_scores(results: Sequence[Result], measure: str) -> list[float]:
    """A measure of each language in each trial, in an order that methods share: the t-test pairs them."""
    return [values[measure] for result in results for _, values in sorted(result["languages"].items())]
