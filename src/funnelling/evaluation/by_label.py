"""How good the answers are label by label, the worst first, and in which languages each label fails."""

from collections.abc import Iterator, Sequence
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from funnelling.evaluation.counts import Counts, FloatArray, Indicators, IntArray, both_indicators
from funnelling.evaluation.measures.f1 import f1


class _Counted(TypedDict):
    documents: int
    given: int
    right: int
    f1: float


class FailingLanguage(_Counted):
    """A language in which a label was missed or given wrongly: its counts and F1 there."""

    language: str


class LabelMeasures(TypedDict):
    """How good the answers about one label are.

    ``documents`` have the label, to so many it was ``given``, and so many of those are ``right``. What does
    not exist is None: the precision of a label that was never given, the recall of one that no document has,
    the F1 where both are so. ``threshold`` is the lowest and the highest probability above which it is given,
    over languages; None where labels exclude each other. ``languages`` are those with mistakes, worst first.
    """

    label: str
    documents: int
    given: int
    right: int
    precision: float | None
    recall: float | None
    f1: float | None
    threshold: list[float] | None
    languages: list[FailingLanguage]


def measure_labels(
    truth: Indicators,
    predicted: Indicators,
    languages: Sequence[str | None],
    labels: Sequence[str],
    thresholds: FloatArray | None = None,
) -> list[LabelMeasures]:
    """The measures of each label, from the worst F1 to the best; labels that do not occur come last.

    Of labels with the same F1, that of more documents comes first. ``thresholds`` has one column per label,
    and as many rows as there are languages, or models; nan where one of them does not know the label.

    >>> truth, predicted = [[1, 1], [1, 0], [1, 0]], [[1, 1], [1, 1], [0, 0]]
    >>> worst, best = measure_labels(truth, predicted, ["en", "it", "it"], ["cat", "dog"])
    >>> {key: worst[key] for key in ("label", "documents", "given", "right", "precision", "recall")}
    {'label': 'dog', 'documents': 1, 'given': 2, 'right': 1, 'precision': 0.5, 'recall': 1.0}
    >>> best["languages"]
    [{'language': 'it', 'documents': 2, 'given': 1, 'right': 1, 'f1': 0.6666666666666666}]
    """
    actual, guess = both_indicators(truth, predicted)
    column = np.array([str(language) for language in languages], dtype=object)
    tags = sorted(set(column))
    # Kinds of counts × languages × labels
    table = np.stack([Counts.of(actual[column == tag], guess[column == tag]).table() for tag in tags], axis=1)
    in_all = _rows(table.sum(axis=1))
    failing: list[list[FailingLanguage]] = [[] for _ in labels]
    for place, tag in enumerate(tags):
        counts = table[:, place]
        for label, row in _rows(counts, counts[1] + counts[2] > 0).items():
            failing[label].append({"language": tag, **row})
    ranges = [None] * len(labels) if thresholds is None else list(_ranges(thresholds))
    measured = [
        _measured(str(label), in_all[position], ranges[position], failing[position])
        for position, label in enumerate(labels)
    ]
    return sorted(measured, key=_worst_first)


def _rows(table: IntArray, where: NDArray[np.bool_] | None = None) -> dict[int, _Counted]:
    """The counts and the F1 of some labels, or of all, by their positions."""
    positions = np.arange(table.shape[1]) if where is None else np.flatnonzero(where)
    right, wrong, missed, _ = table[:, positions]
    columns = (positions, right + missed, right + wrong, right, f1(right, wrong, missed))
    return {
        position: {"documents": documents, "given": given, "right": hits, "f1": score}
        for position, documents, given, hits, score in zip(*(each.tolist() for each in columns), strict=True)
    }


def _measured(
    label: str, counted: _Counted, threshold: list[float] | None, failing: list[FailingLanguage]
) -> LabelMeasures:
    documents, given, right = counted["documents"], counted["given"], counted["right"]
    return {
        "label": label,
        "documents": documents,
        "given": given,
        "right": right,
        "precision": right / given if given else None,
        "recall": right / documents if documents else None,
        "f1": counted["f1"] if documents or given else None,
        "threshold": threshold,
        "languages": sorted(failing, key=lambda each: each["f1"]),
    }


def _worst_first(row: LabelMeasures) -> tuple[bool, float, int, str]:
    score = row["f1"]
    return score is None, score or 0.0, -row["documents"], row["label"]


def _ranges(thresholds: FloatArray) -> Iterator[list[float] | None]:
    """The lowest and the highest threshold of each label, None for one that has none."""
    for column in np.asarray(thresholds, dtype=float).T:
        known = column[~np.isnan(column)]
        yield [float(known.min()), float(known.max())] if len(known) else None
