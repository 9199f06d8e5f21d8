"""The measures by name, taken all at once, language by language, and averaged over languages.

A new measure is a function of `Counts` in `funnelling.evaluation.measures`, and one line here. It then
appears wherever results do: in `measure`, in what commands print as JSON, and in tables. One of ranked
labels, where there are more than `matrices.XMC_MIN_LABELS`, is a function of `RankedHits`, and a line of
`RANKED_MEASURES`.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from functools import partial
from typing import NamedTuple, TypedDict

import numpy as np

from funnelling.errors import InputError
from funnelling.evaluation.measures import (
    ALL_LABELS,
    Columns,
    Counts,
    FloatArray,
    Indicators,
    IntArray,
    accuracy,
    both_indicators,
    f1_of_labels,
    k_of_labels,
    macro,
    macro_present,
    micro,
    precision,
    recall,
)
from funnelling.evaluation.ranking import RankedHits, Shares, f1_at, ndcg_at, precision_at, psp_at, recall_at
from funnelling.matrices import Targets, by_language, sizes_of


class Measure(NamedTuple):
    """A measure: its title in tables, and its value for decisions that were counted, the higher the better.

    It is 1 where all decisions are right, so a loss is registered as 1 minus the loss. It goes along the
    first axis of the counts alone, so that tests between methods can measure many decisions at once.

    Tables show measures in the order of the registry: those ``of_one_model`` only where one model is shown,
    those that are ``paper_only`` only with ``--paper``.
    """

    title: str
    of: Callable[[Counts], FloatArray]
    of_one_model: bool = False
    paper_only: bool = False


class RankedMeasure(NamedTuple):
    """A measure of ranked labels: its title, and what documents add to it; None where that cannot be told."""

    title: str
    of: Callable[[RankedHits], Shares | None]


# Before the titles of averages over all labels, absent ones that are left alone counted as right.
PAPER_PREFIX = "paper's "
MEASURES = {
    "accuracy": Measure("accuracy", accuracy),
    "micro_f1": Measure("micro-F1", micro(f1_of_labels)),
    "macro_f1": Measure("macro-F1", macro_present(f1_of_labels)),
    "precision": Measure("precision", micro(precision), of_one_model=True),
    "recall": Measure("recall", micro(recall), of_one_model=True),
    "micro_k": Measure("micro-K", micro(k_of_labels), paper_only=True),
    "macro_k": Measure("macro-K", macro_present(k_of_labels), paper_only=True),
    "macro_f1_paper": Measure(f"{PAPER_PREFIX}macro-F1", macro(f1_of_labels), paper_only=True),
    "macro_k_paper": Measure(f"{PAPER_PREFIX}macro-K", macro(k_of_labels), paper_only=True),
}
RANKED_MEASURES = {
    f"{name}_at_{k}": RankedMeasure(f"{title}@{k}", partial(of, k=k))
    for name, title, of, places in (
        ("p", "P", precision_at, (1, 3, 5)),
        ("r", "R", recall_at, (1, 3, 5, 10)),
        ("ndcg", "nDCG", ndcg_at, (1, 3, 5)),
        ("f1", "F1", f1_at, (1, 3, 5)),
        ("psp", "PSP", psp_at, (1, 3, 5)),
    )
    for k in places
}
MEASURE_TITLES = {name: measure.title for name, measure in (RANKED_MEASURES | MEASURES).items()}
# Of documents with one label each; these run over all labels of the documents, unknown ones included
SINGLE_LABEL_MEASURES = ("accuracy", "macro_f1")
PAPER_MEASURES = ("micro_f1", "macro_f1_paper", "micro_k", "macro_k_paper")
_MAIN = ("micro_f1", "macro_f1", "micro_k", "macro_k")
_MAIN_OF_MANY = ("p_at_1", "p_at_3", "p_at_5", "ndcg_at_5", "psp_at_5", "micro_f1")
_REPEAT_ACCURACY = ("micro_f1", "precision", "recall")  # of documents with one label each


def shown_measures(measured: Container[str], paper: bool = False, one_model: bool = False) -> list[str]:
    """The measures that tables show, of those that were measured; ``paper`` adds the paper's.

    Of documents with one label each, accuracy stands for what it equals. Of many labels they are those of
    ranked ones, and micro-F1.

    >>> shown_measures(measure_indicators([[1]], [[1]]), one_model=True)
    ['micro_f1', 'macro_f1', 'precision', 'recall']
    >>> shown_measures(measure_indicators([[1]], [[1]], one_label=True))
    ['accuracy', 'macro_f1']
    """
    if are_ranked(measured):
        return main_measures(measured)
    left_out = _REPEAT_ACCURACY if is_of_one_label(measured) else ()
    return [
        name
        for name, each in MEASURES.items()
        if name in measured
        and name not in left_out
        and (one_model or not each.of_one_model)
        and (paper or not each.paper_only)
    ]


def main_measures(measured: Container[str]) -> list[str]:
    """The measures that a change is judged by, of those that were measured.

    Their macro averages run over the labels that occur. Of many labels they are those of ranked ones, and
    micro-F1.

    >>> main_measures(measure_indicators([[1]], [[1]]))
    ['micro_f1', 'macro_f1', 'micro_k', 'macro_k']
    """
    names = _MAIN_OF_MANY if are_ranked(measured) else ("accuracy", *_MAIN)
    return [name for name in names if name in measured]


def paper_measures(measured: Container[str]) -> list[str]:
    """The measures of the paper, after those of documents with one label each, of those that were measured.

    >>> paper_measures(measure_indicators([[1]], [[1]]))
    ['micro_f1', 'macro_f1_paper', 'micro_k', 'macro_k_paper']
    """
    first = SINGLE_LABEL_MEASURES if is_of_one_label(measured) else ()
    return [name for name in (*first, *PAPER_MEASURES) if name in measured]


def measures_to_test_by(measured: Container[str]) -> list[str]:
    """The measures that methods are tested by: the main ones, then the others of the paper.

    Of many labels they are the main ones alone.

    >>> measures_to_test_by(measure_indicators([[1]], [[1]]))[4:]
    ['macro_f1_paper', 'macro_k_paper']
    """
    others = [] if are_ranked(measured) else paper_measures(measured)
    return list(dict.fromkeys([*main_measures(measured), *others]))


def is_of_one_label(measured: Container[str]) -> bool:
    """Whether these are measures of documents with one label each."""
    return "accuracy" in measured


def are_ranked(measured: Container[str]) -> bool:
    """Whether these are measures of many labels, which are ranked."""
    return "p_at_1" in measured


def measure_indicators(truth: Indicators, predicted: Indicators, one_label: bool = False) -> dict[str, float]:
    """Every measure, by name.

    Macro averages run over the labels that occur in truth, those that end in ``_paper`` over all. Precision
    and recall are those of all labels together, as micro-F1 is.

    ``one_label`` says that each document has one label and is given one: accuracy comes first then.

    >>> measures = measure_indicators([[1, 0], [1, 0], [0, 0]], [[1, 0], [0, 0], [0, 0]])
    >>> {name: round(measures[name], 3) for name in ("micro_f1", "macro_f1", "micro_k", "macro_k")}
    {'micro_f1': 0.667, 'macro_f1': 0.667, 'micro_k': 0.5, 'macro_k': 0.5}
    >>> {name: round(measures[name], 3) for name in ("macro_f1_paper", "macro_k_paper")}
    {'macro_f1_paper': 0.833, 'macro_k_paper': 0.75}
    >>> measures["precision"], measures["recall"]
    (1.0, 0.5)
    >>> measures = measure_indicators([[1, 0], [1, 0], [0, 1]], [[1, 0], [0, 1], [0, 1]], one_label=True)
    >>> {name: round(measures[name], 3) for name in ("accuracy", "macro_f1")}
    {'accuracy': 0.667, 'macro_f1': 0.667}
    >>> measure_indicators([[1, 0]], [[1]])
    Traceback (most recent call last):
    funnelling.errors.InputError: truth has shape (1, 2) and prediction (1, 1): they must be alike.
    """
    return measure_counts(Counts.of(truth, predicted), one_label)


def measure_counts(counts: Counts, one_label: bool = False, labels: Columns = ALL_LABELS) -> dict[str, float]:
    """Every measure of decisions that were counted, by name.

    They run over ``labels``; with ``one_label`` each, accuracy and macro-F1 run over all that documents have.
    """
    some = counts if labels is ALL_LABELS else counts.of_labels(labels)
    whole = SINGLE_LABEL_MEASURES if one_label else ()
    return {name: float(each.of(counts if name in whole else some)) for name, each in _measures_of(one_label)}


def _measures_of(one_label: bool) -> Iterator[tuple[str, Measure]]:
    """The measures there are of documents with one label each, or with several."""
    return ((name, each) for name, each in MEASURES.items() if one_label or name != "accuracy")


def measure_ranked(hits: RankedHits) -> dict[str, Shares]:
    """Every measure of ranked labels that can be told, by name."""
    shares = {name: each.of(hits) for name, each in RANKED_MEASURES.items()}
    return {name: each for name, each in shares.items() if each is not None}


ONE_BY_ONE = 8  # numbers; fewer are added up in their order, whatever stands beside them: to the same bits


class LanguageMeasures(TypedDict):
    """The measures of each language, with its number of documents, and their plain means."""

    average: dict[str, float]
    languages: dict[str, dict[str, float]]


def measure_languages(
    truth: Indicators,
    predicted: Indicators,
    languages: Iterable[str | None],
    one_label: bool = False,
    labels: Columns = ALL_LABELS,
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
    return {"average": plain_mean(languages), "languages": languages}


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

    ``one_label`` adds accuracy. One column stands for two classes then.
    """
    tables = list(counts_by_language(targets, decisions).values())
    few = tables[0].shape[1] < ONE_BY_ONE
    together = [np.stack(tables, axis=-1)] if few else tables
    counted = [Counts.from_table(table) for table in together]
    if one_label and tables[0].shape[1] == 1:
        counted = [counts.of_both() for counts in counted]
    return {
        name: float(np.mean([each.of(counts) for counts in counted]))
        for name, each in _measures_of(one_label)
    }


def mean_of_four(measures: Mapping[str, float]) -> float:
    """One number to choose by: the mean of the paper's four measures."""
    return float(np.mean([measures[name] for name in PAPER_MEASURES]))
