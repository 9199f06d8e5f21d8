"""Measures language by language, and their plain mean: a small language counts as much as a large one."""

from collections.abc import Iterable, Mapping
from typing import TypedDict

import numpy as np
from numpy.typing import ArrayLike

from funnelling.errors import InputError
from funnelling.evaluation.counts import Counts, IntArray, check_same_shape, indicators
from funnelling.evaluation.registry import PAPER_MEASURES, measure, measure_counts
from funnelling.matrices import Targets, by_language, sizes_of


class LanguageMeasures(TypedDict):
    """The measures of each language, with its number of documents, and their plain mean."""

    average: dict[str, float]
    languages: dict[str, dict[str, float]]


def measure_languages(
    truth: ArrayLike, predicted: ArrayLike, languages: Iterable[str | None]
) -> LanguageMeasures:
    """The measures of each language's documents, and their plain mean over languages.

    >>> result = measure_languages([[1], [1], [1]], [[1], [1], [0]], ["it", "it", "en"])
    >>> result["average"]["micro_f1"], result["languages"]["it"]["documents"]
    (0.5, 2)
    """
    actual, guess = indicators(truth), indicators(predicted)
    check_same_shape(actual, guess)
    tags = list(languages)
    if len(tags) != len(actual):
        raise InputError(f"{len(actual)} documents have {len(tags)} languages: they must be alike.")
    if None in tags:
        raise InputError(f"row {tags.index(None)} has no language. Add or detect it.")
    column = np.array(tags, dtype=object)
    measures: dict[str, dict[str, float]] = {}
    for language in sorted(tag for tag in set(tags) if tag is not None):
        rows = column == language
        measures[language] = {**measure(actual[rows], guess[rows]), "documents": int(rows.sum())}
    return averaged(measures)


def averaged(languages: dict[str, dict[str, float]]) -> LanguageMeasures:
    """Measures by language, with their plain mean beside them."""
    names = [name for name in next(iter(languages.values())) if name != "documents"]
    average = {name: float(np.mean([each[name] for each in languages.values()])) for name in names}
    return {"average": average, "languages": languages}


def counts_by_language(targets: Mapping[str, Targets], decisions: Targets) -> dict[str, IntArray]:
    """The counts of each language, as tables; ``decisions`` has the languages below each other."""
    own = by_language(decisions, sizes_of(targets))
    return {language: Counts.of(truth, own[language]).table() for language, truth in targets.items()}


def mean_measures(targets: Mapping[str, Targets], decisions: Targets) -> dict[str, float]:
    """The measures averaged over languages; ``decisions`` has the languages below each other."""
    tables = counts_by_language(targets, decisions)
    measures = {language: measure_counts(Counts.from_table(table)) for language, table in tables.items()}
    return averaged(measures)["average"]


def mean_of_four(measures: Mapping[str, float]) -> float:
    """One number to choose by: the mean of the paper's four measures."""
    return float(np.mean([measures[name] for name in PAPER_MEASURES]))
