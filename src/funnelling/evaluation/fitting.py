"""Fitting methods on the documents of a corpus, and measuring them on documents that they did not see."""

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from funnelling.corpus import Corpus
from funnelling.corpus.label_set import LabelSet
from funnelling.evaluation.errors import WorstError, worst_errors, worst_of
from funnelling.evaluation.measures import FloatArray
from funnelling.evaluation.measuring import (
    as_indicators,
    measure_answers,
    measure_decisions_in_full,
    supported_documents,
    thresholds_of,
)
from funnelling.evaluation.pieces import Result
from funnelling.evaluation.splits import Trial, examples_in, learnable, outer_folds
from funnelling.matrices import XMC_MIN_LABELS, canonical, is_sparse, stacked
from funnelling.runtime.progress import watched
from funnelling.text.words import analyser

if TYPE_CHECKING:
    from funnelling.methods.learning import Method
    from funnelling.methods.model import Model


def training_documents(method: "Method", trial: Trial) -> Corpus:
    """A trial's training documents, with their further versions where a method may read those."""
    if not method.algorithm.reads_parallel:
        return trial.train
    return trial.train.followed_by(trial.parallel)


def fit_and_measure(method: "Method", trial: Trial, test: Corpus) -> tuple["Model", Result]:
    """The model of a trial's training documents, and how good it is on test documents; both are clocked."""
    train = training_documents(method, trial)
    # Words are reduced to lemmas once per process: the first method must not be clocked for all.
    for corpus in (train, test):
        for text, language in zip(corpus.texts, corpus.languages, strict=True):
            analyser(language)(text)
    reference = getattr(method.parameters, "reference", None)
    if reference is not None:
        for language, texts in reference.texts.items():
            for text in texts:
                analyser(language)(text)
    start = time.perf_counter()
    model = method.fit(train)
    after_fit = time.perf_counter()
    answers = model.classify(test.texts, languages=test.languages)
    after_predict = time.perf_counter()
    examples = examples_in(trial.train, [str(label) for label in model.labels.classes])
    result = measure_answers(model, test, *answers, examples)
    result["examples"] = examples.of_labels.tolist()
    result["C"] = model.fitted.final_c
    seconds = {"fit_seconds": after_fit - start, "predict_seconds": after_predict - after_fit}
    return model, {**result, **seconds}


def cross_validate(
    method: "Method",
    corpus: Corpus,
    folds: int = 5,
    seed: int = 0,
    errors: int = 0,
    verbose: int = 0,
    label_set: LabelSet | None = None,
) -> Result | None:
    """Honest measures without test documents: each fold is predicted by a method that never saw it.

    Everything is refitted on the other folds: vocabulary, base classifiers, calibration, tier 2. Documents
    whose language that method cannot label are left out. None where there are too few documents for any fold.
    It is what `measure_decisions_in_full` gives, and so many of the worst ``errors``, each explained by the
    method that made it. The methods follow a ``label_set``.
    """
    fold_of_document = outer_folds(corpus, folds, seed, verbose)
    answers: list[tuple[list[str], Any, Any, FloatArray | None]] = []
    measured: list[NDArray[np.intp]] = []
    worst: list[WorstError] = []
    for fold in watched(np.unique(fold_of_document).tolist(), "outer folds", bool(verbose), "folds"):
        train = corpus.select(fold_of_document != fold)
        if not learnable(train):
            continue
        model = method.fit(train, label_set)
        rows = np.flatnonzero(fold_of_document == fold)
        rows = rows[supported_documents(corpus.select(rows), model)]
        if not len(rows):
            continue
        test = corpus.select(rows)
        labels, chances = model.classify(test.texts, languages=test.languages)
        given = as_indicators(model, labels)
        limits = None if corpus.one_label else thresholds_of(model, test)
        answers.append(([str(label) for label in model.labels.classes], given, chances, limits))
        measured.append(rows)
        if errors:
            worst += worst_errors(model, test, given, chances, errors)
    if not measured:
        return None
    rows = np.concatenate(measured)
    order = np.argsort(rows)
    # A label set may name some that no document has, and a fold may lack some that others have.
    classes = sorted(set(corpus.label_set()).union(*(own for own, *_ in answers)))
    place = {label: column for column, label in enumerate(classes)}
    decisions, probabilities, thresholds = [], [], []
    for own, given, chances, limits in answers:
        columns = np.array([place[label] for label in own])
        decisions.append(_widened(given, columns, len(classes)))
        probabilities.append(_widened(chances, columns, len(classes)))
        if limits is not None:
            thresholds.append(np.full((len(limits), len(classes)), np.nan))
            thresholds[-1][:, columns] = limits
    result = measure_decisions_in_full(
        corpus.select(rows[order]),
        _stacked(decisions)[order],
        _stacked(probabilities)[order],
        classes,
        corpus.one_label,
        np.vstack(thresholds) if thresholds else None,
        label_set,
        examples_in(corpus, classes),
    )
    return {**result, "errors": worst_of(worst, errors)} if errors else result


def _widened(matrix: Any, columns: NDArray[np.intp], width: int) -> Any:
    """A matrix of some of the columns with all of them, the others empty; of many columns it is sparse."""
    if width <= XMC_MIN_LABELS and not is_sparse(matrix):
        wide = np.zeros((len(matrix), width), dtype=matrix.dtype)
        wide[:, columns] = matrix
        return wide
    ours = canonical(matrix)
    return canonical(
        sparse.csr_array((ours.data, columns[ours.indices], ours.indptr), (ours.shape[0], width))
    )


def _stacked(folds: list[Any]) -> Any:
    return stacked({str(fold): rows for fold, rows in enumerate(folds)})
