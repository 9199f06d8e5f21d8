"""How good labels are, wherever they come from: `measure`, for Python."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from funnelling.corpus.corpus import label_matrix, sparse_label_matrix
from funnelling.errors import InputError, did_you_mean
from funnelling.evaluation.labels import calibration_bins, calibration_error, reliability
from funnelling.evaluation.registry import MEASURES, measure_indicators, measure_languages
from funnelling.formats.frames import as_frame, as_values, one_hot
from funnelling.matrices import XMC_MIN_LABELS, filled_columns, is_sparse
from funnelling.randomness import is_missing

if TYPE_CHECKING:
    from pandas import DataFrame

COLLECTIONS = (list, tuple, set, frozenset)  # what the labels of one document may come in


@dataclass(frozen=True)
class Scores:
    """Metrics by name, as `measure` gives them.

    ``average`` is the plain mean over languages. ``by_language`` has the same of each language, and its
    number of ``documents``; it is empty where no languages were given. ``calibration`` has the expected
    calibration ``error`` and ``bins`` of the assigned labels by probability; None without probabilities.
    """

    average: dict[str, float]
    by_language: dict[str, dict[str, float]]
    calibration: dict[str, Any] | None = None

    def to_frame(self) -> "DataFrame":
        """A row per language, then the average; columns are metrics. It needs pandas."""
        rows = {**self.by_language, "average": self.average}
        frame = as_frame([{"language": name, **values} for name, values in rows.items()], ["language"])
        return frame.set_index("language")


def measure(y_true: Any, y_pred: Any, *, languages: Any = None, y_proba: Any = None) -> Scores:
    """Measure predicted labels on documents whose labels are known.

    Parameters
    ----------
    y_true, y_pred : label lists, one label per document, or indicator matrices
        Both alike. A prediction of one label each may be None, which is wrong. Matrices have one column per
        label; other labels are those that occur in either.
    languages : sequence of str or None
        The language of each document. Metrics are those of each language, and their mean.
    y_proba : array of shape (documents, labels), or a dict from label to probability per document
        For the calibration. The columns of an array are the labels in sorted order, or those of the matrices.

    Returns
    -------
    Scores

    Examples
    --------
    >>> scores = measure([["cat"], ["cat", "dog"]], [["cat"], ["dog"]], languages=["en", "it"])
    >>> scores.average["recall"], scores.by_language["it"]["recall"]
    (0.75, 0.5)
    >>> measure(["cat", "dog", "dog"], ["cat", "dog", None]).average["accuracy"]
    0.6666666666666666
    >>> measure(["cat"], ["cat"], y_proba=[{"cat": 0.95}]).calibration["bins"]
    [{'from': 0.9, 'to': 1.0, 'n_predicted': 1, 'n_correct': 1}]
    >>> measure(["cat"], [["cat"]])
    Traceback (most recent call last):
    funnelling.errors.InputError: y_true has one label per document, and y_pred label lists. Give both alike.
    """
    (kind, truth), (other, predicted) = _read(y_true, "y_true"), _read(y_pred, "y_pred")
    if kind != other:
        raise InputError(f"y_true has {kind}, and y_pred {other}. Give both alike.")
    classes: list[Any] | None = None
    if kind != MATRIX:
        classes = sorted({label for labels in (*truth, *predicted) for label in labels})
        encode = sparse_label_matrix if len(classes) > XMC_MIN_LABELS else label_matrix
        truth, predicted = encode(truth, classes), encode(predicted, classes)
    single = kind == ONE_EACH
    if languages is None:
        average, by_language = measure_indicators(truth, predicted, single), {}
    else:
        result = measure_languages(truth, predicted, as_values(languages, "languages"), single)
        average, by_language = result["average"], result["languages"]
    if y_proba is None:
        return Scores(average, by_language)
    chances = _probabilities(y_proba, classes, truth.shape)
    error = calibration_error(reliability(truth, chances))
    return Scores(average, by_language, {"error": error, "bins": calibration_bins(truth, predicted, chances)})


def make_scorer(metric: str) -> Callable[..., float]:
    """Make a scorer for scikit-learn's tools, which takes labels in any form that `fit` takes.

    Parameters
    ----------
    metric : "micro-f1", "macro-f1", "precision", "recall", "accuracy" or another one of `measure`

    Examples
    --------
    >>> make_scorer("macro_f1")  # doctest: +ELLIPSIS
    functools.partial(<function _score at ...>, 'macro_f1')
    >>> make_scorer("macro-f2")
    Traceback (most recent call last):
    funnelling.errors.InputError: no metric 'macro-f2'. Did you mean macro-f1?
    """
    name = metric.replace("-", "_")
    if name not in MEASURES:
        known = [each.replace("_", "-") for each in MEASURES]
        raise InputError(f"no metric {metric!r}{did_you_mean(metric, known, choose=True)}")
    return partial(_score, name)


def _score(metric: str, estimator: Any, X: Any, y: Any, **metadata: Any) -> float:
    """The metric of what an estimator predicts."""
    predicted = estimator.predict(X, **metadata)
    table = one_hot(y)
    truth = y if table is None else table.lists()
    if _read(truth, "y")[0] == LISTS:
        classes = np.asarray(estimator.classes_, dtype=object)
        rows = range(predicted.shape[0])
        predicted = [classes[filled_columns(predicted, row)].tolist() for row in rows]
    found = measure(truth, predicted).average
    if metric not in found:
        raise InputError(f"{metric} is no metric of such labels. Choose from {', '.join(found)}.")
    return found[metric]


MATRIX, LISTS, ONE_EACH = "an indicator matrix", "label lists", "one label per document"


def _read(y: Any, name: str) -> tuple[str, Any]:
    """What labels came in, and the labels: an indicator matrix, or those of each document."""
    table = one_hot(y)
    if table is not None:
        return MATRIX, table.matrix
    if is_sparse(y) or getattr(y, "ndim", 1) == 2:
        return MATRIX, y
    values = list(as_values(y, name))
    if not values:
        raise InputError(f"{name} is empty. Give the labels of at least one document.")
    if all(isinstance(labels, COLLECTIONS) for labels in values):
        return LISTS, [tuple(labels) for labels in values]
    if any(isinstance(labels, COLLECTIONS) for labels in values):
        raise InputError(f"{name} has label lists and single labels. Give a list for each document.")
    return ONE_EACH, [() if is_missing(label) else (label,) for label in values]


def _probabilities(y_proba: Any, classes: Sequence[Any] | None, shape: tuple[int, ...]) -> Any:
    """Probabilities as a matrix with the columns of the labels."""
    rows = y_proba if isinstance(y_proba, list) else ()
    if classes is not None and rows and all(isinstance(row, Mapping) for row in rows):
        y_proba = [[float(row.get(label, 0)) for label in classes] for row in rows]
    chances = y_proba if is_sparse(y_proba) else np.asarray(y_proba, dtype=float)
    if chances.shape != shape:
        raise InputError(
            f"y_proba has shape {chances.shape}, and the labels {shape}, documents by labels that occur. "
            "Give a dict from label to probability for each document, or indicator matrices for all three."
        )
    return chances
