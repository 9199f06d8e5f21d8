"""Measures of fitted methods on labelled documents."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from funnelling.corpus import Corpus
from funnelling.evaluation.counts import Counts
from funnelling.evaluation.language_averages import measure_languages
from funnelling.evaluation.reliability import calibration_error, reliability
from funnelling.matrices import Rows, Targets
from funnelling.trials.pieces import Result

if TYPE_CHECKING:
    from funnelling.method.base import Method


def servable(corpus: Corpus, method: "Method") -> Rows:
    """Which documents are in a language that a fitted method can label."""
    serves = {language: method.serves(language) for language in corpus.by_language()}
    return np.array([serves[str(language)] for language in corpus.languages], dtype=bool)


def measure_method(method: "Method", test: Corpus, classes: Sequence[str] | None = None) -> Result:
    """The measures of a fitted method on labelled documents, by language and averaged.

    Macro averages run over ``classes``, or the labels the method was trained on; what test documents have
    beside them is dropped, and counted as ``unknown_labels``.
    """
    decisions = _indicators(method, method.predict(test.texts, languages=test.languages))
    known = [str(label) for label in method.classes_]
    if classes is None:
        return _measure_decisions(test, decisions, known)
    return _measure_decisions(test, decisions[:, [known.index(label) for label in classes]], classes)


def measure_in_full(method: "Method", test: Corpus) -> Result:
    """What `measure_method` gives, and what diagrams show: reliability bins, and the counts of each label."""
    labels, probabilities = method.classify(test.texts, languages=test.languages)
    classes = [str(label) for label in method.classes_]
    return measure_decisions_in_full(test, _indicators(method, labels), probabilities, classes)


def measure_decisions_in_full(
    test: Corpus, decisions: Any, probabilities: Any, classes: Sequence[str]
) -> Result:
    """What `measure_in_full` gives, of decisions and probabilities with one column per class."""
    truth = test.label_matrix(classes)
    counts = Counts.of(truth, decisions)
    return {
        **_measure_decisions(test, decisions, classes),
        "reliability": reliability(truth, probabilities).tolist(),
        "counts": [column.tolist() for column in (counts.tp, counts.fp, counts.fn)],
    }


def measure_rejector(train: Corpus, test: Corpus) -> Result:
    """What a classifier scores that never assigns a label: the floor of macro averages."""
    classes = train.label_set()
    return _measure_decisions(test, np.zeros((len(test), len(classes)), dtype=bool), classes)


def model_scores(result: Result) -> Result:
    """What a model keeps of a full result: the measures, the calibration error and the recall."""
    right, _, missed = (sum(column) for column in result["counts"])
    return {
        **{key: result[key] for key in ("average", "languages", "unknown_labels")},
        "calibration_error": calibration_error(result["reliability"]),
        "recall": right / max(1, right + missed),
    }


def _measure_decisions(test: Corpus, decisions: Targets, classes: Sequence[str]) -> Result:
    result: Result = dict(measure_languages(test.label_matrix(classes), decisions, test.languages))
    result["unknown_labels"] = len(set(test.label_set()) - set(classes))
    return result


def _indicators(method: "Method", labels: Any) -> Any:
    """What a method predicts as a matrix with one column per class, even if it gives one label each."""
    return labels[:, None] == method.classes_ if method.exclusive_ else labels
