"""Learning curves: the measures at shares of the training documents, and what twice as many may add."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from funnelling.corpus import Corpus
from funnelling.evaluation.comparison import (
    Comparison,
    best_first,
    decision_matrix,
    summarise_methods,
    summarise_trials,
)
from funnelling.evaluation.measuring import truth_of
from funnelling.evaluation.pieces import Result
from funnelling.evaluation.registry import (
    are_ranked,
    is_of_one_label,
    main_measures,
    measure_languages,
)
from funnelling.evaluation.significance import rivals_of
from funnelling.evaluation.splits import shares_of
from funnelling.matrices import match_format
from funnelling.runtime.messages import Reporter

MIN_POINTS = 3  # of a curve that is extrapolated
MIN_DOUBLINGS = 0.9  # from its least to its largest number of documents
FLATTEST = 0.5  # of the slope of a curve so far, which the next doubling has at least

Curve = dict[str, Result]  # by share of the training documents


def run_comparison(comparison: Comparison, shares: Sequence[float] = ()) -> Result:
    """Fit and evaluate methods, best first; with ``shares`` of the training documents, too.

    A method has its curve under ``fractions``, and under ``doubling`` what twice as many documents may add.
    """
    results, dummies, tests = comparison.results()
    result = summarise_methods(results, dummies, tests, comparison.seed)
    if shares:
        for name, curve in _curves(comparison, results, tests, shares).items():
            result["methods"][name] |= {"fractions": curve, "doubling": doubling(curve)}
    return {"command": "compare", **best_first(result)}


def _curves(
    comparison: Comparison,
    whole: Mapping[str, Sequence[Result]],
    tests: Sequence[Corpus],
    shares: Sequence[float],
) -> dict[str, Curve]:
    """The measures of each method, trained on shares of the training documents.

    ``whole`` are the results of all training documents on ``tests``. Every share is measured over the labels
    of all training documents: one that a share lacks is never assigned.
    """
    names = rivals_of(whole)
    smaller = [share for share in sorted(shares) if share < 1]
    drawn = [
        shares_of(trial, smaller, comparison.seed + number) for number, trial in enumerate(comparison.trials)
    ]
    curves: dict[str, Curve] = {name: {} for name in names}
    for share in (*smaller, 1.0):
        results, trials, measured_on = whole, comparison.trials, tests
        if share < 1:
            trials = [each[share] for each in drawn]
            part = replace(
                comparison,
                trials=trials,
                makers={name: comparison.makers[name] for name in names},
                report=partial(_report, comparison.report, f"{100 * share:g} % of the documents, "),
            )
            results, _, measured_on = part.results()
        documents = round(float(np.mean([len(trial.train) for trial in trials])))
        for name in set(names).intersection(results):
            labels = [trial.train.label_set() for trial in comparison.trials]
            summary = summarise_trials(
                [
                    {**result, **_measured_over(own, result, test)}
                    for result, test, own in zip(results[name], measured_on, labels, strict=True)
                ]
            )
            kept = {key: summary[key] for key in ("average", "deviation", "languages", "fit_seconds")}
            curves[name][f"{share:g}"] = {"documents": documents, **kept}
    return curves


def _report(report: Reporter, start: str, line: str) -> None:
    report(f"{start}{line}")


def _measured_over(labels: Sequence[str], result: Result, test: Corpus) -> Result:
    """The measures of decisions over some labels, those that the method does not know among them.

    Where each document has one label, or labels are ranked, unknown ones count as they are.
    """
    if is_of_one_label(result["average"]) or are_ranked(result["average"]):
        return {}
    truth = truth_of(test, labels)
    decisions = decision_matrix(result["decisions"], labels)
    return dict(measure_languages(truth, match_format(truth, decisions), test.languages))


def doubling(curve: Curve) -> dict[str, tuple[float, float]]:
    """What twice as many documents may add to the macro-F1 of a curve, from and to; nothing for a short one.

    A doubling adds as much as those before it, or less: `FLATTEST` of the mean slope over languages to all of
    it, and its standard error on either side.

    >>> def point(documents, *scores):
    ...     languages = {str(i): {"macro_f1": score} for i, score in enumerate(scores)}
    ...     return {"documents": documents, "average": {"macro_f1": 0}, "languages": languages}
    >>> doubling({"0.25": point(25, 0.1, 0.2), "0.5": point(50, 0.2, 0.3), "1": point(100, 0.3, 0.4)})
    {'macro_f1': (0.05, 0.1)}
    """
    points = list(curve.values())
    documents = np.log2([point["documents"] for point in points])
    if len(points) < MIN_POINTS or np.ptp(documents) < MIN_DOUBLINGS:
        return {}
    average = points[0]["average"]
    measure = main_measures(average)[0] if are_ranked(average) else "macro_f1"
    tags = set.intersection(*(set(point["languages"]) for point in points))
    scores = np.array([[point["languages"][tag][measure] for tag in sorted(tags)] for point in points])
    (slopes, _), residuals, *_ = np.polyfit(documents, scores, 1, full=True)
    slope = slopes.mean()
    if len(tags) > 1:
        error = slopes.std(ddof=1) / np.sqrt(len(tags))
    else:
        spread = ((documents - documents.mean()) ** 2).sum()
        error = np.sqrt(residuals.sum() / (len(points) - 2) / spread)
    low, high = sorted((FLATTEST * slope, slope))
    return {measure: (round(float(low - error), 4), round(float(high + error), 4))}
