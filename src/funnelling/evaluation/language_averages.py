"""Measures language by language, and their mean: plain, so that a small language counts as much as a large
one, and weighted by documents, so that one with a handful of them does not decide.
"""

from collections.abc import Iterable, Mapping
from typing import TypedDict

import numpy as np

from funnelling.errors import InputError
from funnelling.evaluation.counts import ALL, Columns, Counts, Indicators, IntArray, both_indicators
from funnelling.evaluation.ranking import Shares
from funnelling.evaluation.registry import MEASURES, PAPER_MEASURES, measure_counts
from funnelling.matrices import Targets, by_language, sizes_of

ONE_BY_ONE = 8  # numbers; fewer are added up in their order, whatever stands beside them: to the same bits


class LanguageMeasures(TypedDict):
    """The measures of each language, with its number of documents, and their means.

    ``average`` is the plain one, ``weighted`` that in which each language weighs as much as it has documents.
    """

    average: dict[str, float]
    weighted: dict[str, float]
    languages: dict[str, dict[str, float]]


def measure_languages(
    truth: Indicators,
    predicted: Indicators,
    languages: Iterable[str | None],
    one_label: bool = False,
    labels: Columns = ALL,
    ranked: Mapping[str, Shares] | None = None,
) -> LanguageMeasures:
    """The measures of each language's documents, and their plain mean over languages.

    ``one_label`` and ``labels`` are those of `measure_counts`, ``ranked`` what `measure_ranked` gives: its
    measures come first.

    >>> result = measure_languages([[1], [1], [1]], [[1], [1], [0]], ["it", "it", "en"])
    >>> result["average"]["micro_f1"], result["languages"]["it"]["documents"]
    (0.5, 2)
    """
    actual, guess = both_indicators(truth, predicted)
    tags = list(languages)
    if len(tags) != actual.shape[0]:
        raise InputError(f"{actual.shape[0]} documents have {len(tags)} languages: they must be alike.")
    if None in tags:
        raise InputError(f"row {tags.index(None)} has no language. Add or detect it.")
    column = np.array(tags, dtype=object)
    measures: dict[str, dict[str, float]] = {}
    for language in sorted(tag for tag in set(tags) if tag is not None):
        rows = column == language
        counts = Counts.of(actual[rows], guess[rows])
        measures[language] = {
            **{name: shares.of(rows) for name, shares in (ranked or {}).items()},
            **measure_counts(counts, one_label, labels),
            "documents": int(rows.sum()),
        }
    return averaged(measures)


def averaged(languages: dict[str, dict[str, float]]) -> LanguageMeasures:
    """Measures by language, with their means beside them."""
    return {"average": plain_mean(languages), "weighted": weighted_mean(languages), "languages": languages}


def plain_mean(languages: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """The mean of each measure, in which all languages count alike."""
    return {
        name: float(np.mean([each[name] for each in languages.values()])) for name in _measures(languages)
    }


def weighted_mean(languages: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """The mean of each measure, in which a language weighs as much as it has documents.

    >>> weighted_mean({"en": {"micro_f1": 0.5, "documents": 30}, "it": {"micro_f1": 1.0, "documents": 10}})
    {'micro_f1': 0.625}
    """
    weights = [each["documents"] for each in languages.values()]
    return {
        name: float(np.average([each[name] for each in languages.values()], weights=weights))
        for name in _measures(languages)
    }


def _measures(languages: Mapping[str, Mapping[str, float]]) -> list[str]:
    return [name for name in next(iter(languages.values())) if name != "documents"]


def counts_by_language(targets: Mapping[str, Targets], decisions: Targets) -> dict[str, IntArray]:
    """The counts of each language, as tables; ``decisions`` has the languages below each other."""
    own = by_language(decisions, sizes_of(targets))
    return {language: Counts.of(truth, own[language]).table() for language, truth in targets.items()}


def mean_measures(
    targets: Mapping[str, Targets], decisions: Targets, one_label: bool = False
) -> dict[str, float]:
    """The measures averaged over languages; ``decisions`` has the languages below each other.

    ``one_label`` adds accuracy and scikit-learn's macro-F1. One column stands for two classes then.
    """
    tables = list(counts_by_language(targets, decisions).values())
    few = tables[0].shape[1] < ONE_BY_ONE
    together = [np.stack(tables, axis=-1)] if few else tables
    counted = [Counts.from_table(table) for table in together]
    if one_label and tables[0].shape[1] == 1:
        counted = [counts.of_both() for counts in counted]
    return {
        name: float(np.mean([each.of(counts) for counts in counted]))
        for name, each in MEASURES.items()
        if one_label or not each.one_label
    }


def mean_of_four(measures: Mapping[str, float]) -> float:
    """One number to choose by: the mean of the paper's four measures."""
    return float(np.mean([measures[name] for name in PAPER_MEASURES]))
