"""Measures of fitted methods on labelled documents, and their decisions in a form to be kept."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from funnelling.corpus import Corpus
from funnelling.corpus.corpus import label_matrix, sparse_label_matrix
from funnelling.corpus.label_set import LabelSet
from funnelling.evaluation.labels import (
    Confusion,
    LabelMeasures,
    calibration_bins,
    calibration_error,
    confusion,
    given_instead,
    measure_labels,
    missed_together,
    most_confused,
    reliability,
)
from funnelling.evaluation.measures import Counts, FloatArray
from funnelling.evaluation.pieces import Result
from funnelling.evaluation.ranking import MAX_RANKED_LABELS, LabelFrequencies, RankedHits, Shares, rank
from funnelling.evaluation.registry import (
    LanguageMeasures,
    main_measures,
    measure_languages,
    measure_ranked,
    shown_measures,
)
from funnelling.evaluation.splits import examples_in, examples_of
from funnelling.matrices import (
    XMC_MIN_LABELS,
    AnyTargets,
    Rows,
    canonical,
    dense,
    is_sparse,
    match_format,
    one_each,
)
from funnelling.text.languages import served_by

if TYPE_CHECKING:
    from funnelling.methods.model import Model


def truth_of(test: Corpus, classes: Sequence[str]) -> AnyTargets:
    """Which document has which of the classes; sparse if they are many."""
    return test.sparse_label_matrix(classes) if len(classes) > XMC_MIN_LABELS else test.label_matrix(classes)


def as_indicators(model: "Model", labels: Any) -> AnyTargets:
    """What a method predicts as a matrix with one column per class, even if it gives one label each.

    Of many classes it is sparse.
    """
    return replace(model.labels, sparse=len(model.labels.classes) > XMC_MIN_LABELS).indicators(labels)


def spread(matrix: Any, places: NDArray[np.bool_]) -> Any:
    """The rows of a matrix at the places that are true, in their order, and rows of zeros between them.

    >>> spread(np.array([[1, 2]]), np.array([False, True])).tolist()
    [[0, 0], [1, 2]]
    """
    if not is_sparse(matrix):
        rows = np.zeros((len(places), matrix.shape[1]), dtype=matrix.dtype)
        rows[places] = matrix
        return rows
    ours = sparse.csr_array(matrix)
    sizes = np.zeros(len(places), dtype=np.int64)
    sizes[places] = np.diff(ours.indptr)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return sparse.csr_array((ours.data, ours.indices, starts), (len(places), ours.shape[1]))


KeptShares = dict[str, list[list[float]]]  # by measure, the values and the weights of `Shares`


class StoredDecisions(TypedDict):
    """The labels a method chose from, and the positions among them of those each test document was given.

    The documents are those it was measured on, in their order; a trial's test corpus knows all else of them.
    """

    classes: list[str]
    given: list[list[int]]


def keep_decisions(decisions: AnyTargets, classes: Sequence[str]) -> StoredDecisions:
    """Decisions with one column per class, in a form that JSON holds in little space.

    >>> keep_decisions(np.array([[True, False], [False, False], [True, True]]), ["cat", "dog"])
    {'classes': ['cat', 'dog'], 'given': [[0], [], [0, 1]]}
    """
    ours = canonical(decisions)
    columns, starts = ours.indices.tolist(), ours.indptr.tolist()
    return {"classes": list(classes), "given": [columns[start:end] for start, end in pairwise(starts)]}


def keep_shares(ranked: Mapping[str, Shares]) -> KeptShares:
    """What each document adds to the main measures of ranked labels, and what it weighs there."""
    return {
        name: [ranked[name].values.tolist(), ranked[name].weights.tolist()] for name in main_measures(ranked)
    }


MAX_WORST_LABELS = 20  # labels that a model keeps the measures of
MAX_CONFUSED_PAIRS = 20  # pairs of labels that a model keeps
MAX_MISSED_LABELS = 3
MAX_PAIRS_IN_RESULT = 1_000  # that a full result keeps: of many labels there may be millions


def supported_documents(corpus: Corpus, model: "Model") -> Rows:
    """Which documents are in a language that a model can label."""
    serves = {language: model.serves(language) for language in corpus.by_language()}
    return np.array([serves[str(language)] for language in corpus.languages], dtype=bool)


def evaluate_classifier(model: "Model", test: Corpus, classes: Sequence[str] | None = None) -> Result:
    """The measures of a model on labelled documents, by language and averaged.

    Macro averages run over ``classes``, or the labels the method was trained on, and those known by name that
    test documents have; what these have beside them is dropped, and counted as ``unknown_labels``. A method
    that gives one label per document is wrong about a document whose label it does not know. A document
    without evidence counts like any other: as one without labels, or as one with the class that
    `Model.predict` gives it where each has one label.

    Of many labels there are measures of the most probable ones, too, which run over all that are known.
    """
    known = [str(label) for label in model.labels.classes]
    if classes is None and model.algorithm.learns_names:
        classes = _averaged(test, known, examples_of(model))
    if len(known) <= XMC_MIN_LABELS:
        labels, ranked = model.predict(test.texts, languages=test.languages), None
    else:
        labels, probabilities = model.classify(test.texts, languages=test.languages)
        ranked = _ranked(truth_of(test, known), probabilities, examples_of(model))
    decisions = as_indicators(model, labels)
    return _measure_decisions(test, decisions, known, model.labels.single_label, classes, ranked)


def evaluate_in_detail(model: "Model", test: Corpus) -> Result:
    """What `evaluate_classifier` gives, and what answers the next question: what goes wrong, and where.

    ``by_label`` has the `measure_labels` of all labels, ``confused`` the pairs of labels that are taken for
    each other, and ``co_missed`` those missed in the same document, where it may have several. There
    are reliability bins and counts of labels for diagrams, and the decisions on each document for tests
    between methods.
    """
    return measure_answers(model, test, *model.classify(test.texts, languages=test.languages))


def measure_answers(
    model: "Model", test: Corpus, labels: Any, probabilities: Any, examples: LabelFrequencies | None = None
) -> Result:
    """What `evaluate_in_detail` gives, of what a method has answered.

    ``examples`` are those of each class that it was trained on; None for what it keeps of them.
    """
    classes = [str(label) for label in model.labels.classes]
    decisions = as_indicators(model, labels)
    one_label = model.labels.single_label
    limits = None if one_label else thresholds_of(model, test)
    if examples is None and (len(classes) > XMC_MIN_LABELS or model.algorithm.learns_names):
        examples = examples_of(model)
    result = measure_decisions_in_full(
        test, decisions, probabilities, classes, one_label, limits, model.label_set, examples
    )
    return {**result, "decisions": keep_decisions(decisions, classes)}


def measure_decisions_in_full(
    test: Corpus,
    decisions: Any,
    probabilities: Any,
    classes: Sequence[str],
    one_label: bool = False,
    thresholds: FloatArray | None = None,
    label_set: LabelSet | None = None,
    examples: LabelFrequencies | None = None,
) -> Result:
    """All of `evaluate_in_detail` but the decisions, from decisions and probabilities of each class.

    Of many classes it has what each document adds to the main measures of ``ranked`` labels, and what it
    weighs there, for tests between methods; ``examples`` are those of each class in training, for PSP@k.

    With ``one_label`` per document it has the whole confusion of labels, too. ``thresholds`` are those of
    `measure_labels`. Labels that a ``label_set`` excludes count as unknown ones, but are told apart from them
    as ``excluded_labels``; where it has parents the result has what `measure_rolled_up` gives.
    """
    rolled_up, excluded = None, 0
    if label_set is not None:
        kept = ~label_set.rules(classes).excluded
        names = np.array(classes, dtype=object)
        excluded = len({*names[~kept]} & {*test.label_set()})
        classes = names[kept].tolist()
        decisions, probabilities = decisions[:, kept], probabilities[:, kept]
        examples = None if examples is None else examples._replace(of_labels=examples.of_labels[kept])
        thresholds = None if thresholds is None else thresholds[:, kept]
        rolled_up = measure_rolled_up(test, decisions, classes, label_set)
    truth = truth_of(test, classes)
    decisions = match_format(truth, decisions)
    ranked = _ranked(truth, probabilities, examples) if is_sparse(truth) else {}
    if not is_sparse(truth):
        probabilities = match_format(truth, probabilities)
    counts = Counts.of(truth, decisions)
    if one_label:
        cells = _confusion(test, decisions, classes)
        pairs = {"confused": most_confused(cells, MAX_PAIRS_IN_RESULT), "confusion": cells}
    else:
        pairs = {
            "confused": given_instead(truth, decisions, classes, MAX_PAIRS_IN_RESULT),
            "co_missed": missed_together(truth, decisions, classes, MAX_PAIRS_IN_RESULT),
        }
    averaged = _averaged(test, classes, examples)
    measured = _measure_decisions(test, decisions, classes, one_label, averaged, ranked)
    if excluded:
        measured |= {"unknown_labels": measured["unknown_labels"] - excluded, "excluded_labels": excluded}
    return {
        **measured,
        "reliability": reliability(truth, probabilities).tolist(),
        "calibration": calibration_bins(truth, decisions, probabilities),
        "counts": [column.tolist() for column in (counts.tp, counts.fp, counts.fn)],
        "by_label": measure_labels(truth, decisions, test.languages, classes, thresholds),
        **pairs,
        **({} if rolled_up is None else {"rolled_up": rolled_up}),
        **({"ranked": keep_shares(ranked)} if ranked else {}),
    }


def measure_rolled_up(
    test: Corpus, decisions: Any, classes: Sequence[str], label_set: LabelSet
) -> LanguageMeasures | None:
    """The measures of decisions and truth that both have all labels above theirs; None where there are none.

    To take a label for one beside it is half right then: they share what is above them.
    """
    hierarchy = label_set.rules(classes).hierarchy
    if not hierarchy.levels:
        return None
    closed = [label_set.closed(labels) for labels in test.label_lists()]
    if len(classes) <= XMC_MIN_LABELS:
        truth, given = label_matrix(closed, hierarchy.labels), hierarchy.raised(dense(decisions).astype(bool))
        return measure_languages(truth, given, test.languages)
    many = sparse_label_matrix(closed, hierarchy.labels)
    return measure_languages(many, hierarchy.raised(canonical(decisions).astype(bool)), test.languages)


def thresholds_of(model: "Model", test: Corpus) -> FloatArray:
    """The probabilities above which a method assigns labels, one row per language of the documents."""
    return np.array([model.thresholds(served_by(tag, model.languages)) for tag in test.by_language()])


def evaluate_dummies(train: Corpus, test: Corpus) -> Result:
    """What a classifier scores that looks at no document: the floor of all averages.

    It never assigns a label, or always the most frequent one where each document has one. Of many labels it
    takes the more frequent ones for the more probable.
    """
    classes = train.label_set()
    return _evaluate_constant(test, classes, examples_in(train, classes), train.one_label)


def evaluate_majority(model: "Model", test: Corpus) -> dict[str, float]:
    """The majority baseline of the documents that a model can label: the first measure that tables show.

    Where each document has one label, it is the most frequent one of the training documents. Else it is the
    labels that more than half of these have, often none; of many labels, the more frequent ones rank higher.
    """
    classes, examples = [str(label) for label in model.labels.classes], examples_of(model)
    frequent = np.flatnonzero(examples.of_labels > examples.documents / 2)
    test = test.select(supported_documents(test, model))
    average = _evaluate_constant(test, classes, examples, model.labels.single_label, frequent)["average"]
    first = shown_measures(average)[0]
    return {first: average[first]}


def _evaluate_constant(
    test: Corpus,
    classes: Sequence[str],
    examples: LabelFrequencies,
    one_label: bool,
    assigned: Sequence[int] | NDArray[np.intp] = (),
) -> Result:
    """What a classifier scores that gives every document the same labels, or the most frequent one."""
    if one_label:
        decisions: Any = one_each(np.full(len(test), examples.of_labels.argmax()), len(classes))
    else:
        row = np.zeros((1, len(classes)), dtype=bool)
        row[:, assigned] = True
        decisions = sparse.csr_array(np.ones((len(test), 1), dtype=bool)) @ sparse.csr_array(row)
    if len(classes) <= XMC_MIN_LABELS:
        return _measure_decisions(test, decisions.toarray(), classes, one_label)
    frequent = np.broadcast_to(rank(examples.of_labels[None]), (len(test), MAX_RANKED_LABELS))
    ranked = measure_ranked(RankedHits.of(truth_of(test, classes), frequent, examples))
    return _measure_decisions(test, decisions, classes, one_label, ranked=ranked)


def model_scores(
    result: Result, labels: int | None = MAX_WORST_LABELS, pairs: int | None = MAX_CONFUSED_PAIRS
) -> Result:
    """What a model keeps of a full result: the measures, and how far probabilities can be trusted.

    Of what goes wrong it keeps the worst ``labels`` and the first ``pairs`` of labels that are confused, or
    missed together where a document may have several; None for all.
    """
    return {
        **{key: result[key] for key in ("average", "languages", "unknown_labels")},
        "calibration_error": calibration_error(result["reliability"]),
        "calibration": result["calibration"],
        "most_missed": _most_missed(result["by_label"]),
        "by_label": result["by_label"][:labels],
        **{key: result[key][:pairs] for key in ("confused", "co_missed") if key in result},
        **{key: result[key] for key in ("excluded_labels", "rolled_up") if key in result},
    }


def _most_missed(by_label: Sequence[LabelMeasures]) -> list[dict[str, Any]]:
    """The labels that were not assigned to most documents which have them."""
    missed = sorted(by_label, key=lambda row: row["n_correct"] - row["support"])[:MAX_MISSED_LABELS]
    return [
        {"label": row["label"], "n_missed": row["support"] - row["n_correct"], "support": row["support"]}
        for row in missed
        if row["n_correct"] < row["support"]
    ]


def _ranked(truth: AnyTargets, probabilities: Any, examples: LabelFrequencies | None) -> dict[str, Shares]:
    """What each document adds to the measures of ranked labels."""
    return measure_ranked(RankedHits.of(truth, rank(probabilities), examples))


def _measure_decisions(
    test: Corpus,
    decisions: AnyTargets,
    known: Sequence[str],
    one_label: bool,
    classes: Sequence[str] | None = None,
    ranked: Mapping[str, Shares] | None = None,
) -> Result:
    """The measures of decisions on ``known`` labels, over some of them or all."""
    classes = known if classes is None else classes
    present = set(test.label_set())
    place = {label: column for column, label in enumerate(known)}
    columns = [place[label] for label in classes]
    if one_label:  # whoever gives one label is wrong about those that are unknown
        unknown = sorted(present - set(known))
        none = sparse.csr_array((len(test), len(unknown)), dtype=bool)
        decisions = (
            sparse.hstack([decisions, none], format="csr")
            if is_sparse(decisions)
            else np.hstack([decisions, none.toarray()])
        )
        known = [*known, *unknown]
    truth = test.sparse_label_matrix(known) if is_sparse(decisions) else test.label_matrix(known)
    measured = measure_languages(truth, decisions, test.languages, one_label, columns, ranked)
    result: Result = dict(measured)
    result["unknown_labels"] = len(present - set(classes))
    return result


def _averaged(test: Corpus, classes: Sequence[str], examples: LabelFrequencies | None) -> Sequence[str]:
    """The classes that macro averages run over: not those known by name alone that no document has."""
    if examples is None or examples.of_labels.all():
        return classes
    present = set(test.label_set())
    seen = examples.of_labels.tolist()
    averaged = [label for label, number in zip(classes, seen, strict=True) if number or label in present]
    return averaged or classes


def _confusion(test: Corpus, decisions: AnyTargets, classes: Sequence[str]) -> Confusion:
    rows = np.flatnonzero(test.has_one_label())
    labels = test.label_lists()
    given = decisions.argmax(axis=1)
    return confusion([labels[row][0] for row in rows], [classes[given[row]] for row in rows])
