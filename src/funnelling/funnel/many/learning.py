"""Both tiers of a funnel over a long label set.

Tier 1 has up to three views: a language's own words and characters; the same of all languages together, where
those that two languages share meet; and the names of labels. Each ranks the labels of a document; see
`one_against_rest`. Tier 2 is one model of all labels and languages, which judges the labels that any view
ranks high; see `candidates`. It learns from documents that tier 1 has not seen: a fold of all languages is
held out, ranked by classifiers of the others, and then classifiers are learned from all documents.
"""

import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from funnelling.funnel.many.boosting import BoostedTrees, fit_cross_calibrated
from funnelling.funnel.many.candidates import CandidateLabels, Seen, TextVectors, unit_rows
from funnelling.funnel.many.fitted import SHARED, Columns, ManyFunnel, ManyTierOne, by_block, in_columns
from funnelling.funnel.many.one_against_rest import LabelNameDocuments, LabelWeights, fit_labels
from funnelling.matrices import Folds, Rows, one_each
from funnelling.methods.algorithm import Algorithm, Parameters
from funnelling.methods.training_set import TrainingSet
from funnelling.randomness import stream
from funnelling.runtime.progress import progress_bar
from funnelling.runtime.spread import is_local
from funnelling.svm.kernels import native
from funnelling.svm.solver import INSTALL_COMPILER

MAX_META_DOCUMENTS = 40_000  # documents that it learns from at most
# The share of named labels without documents, in each language and in all, while it learns
NAME_ONLY_SHARE = 0.05
DEFAULT_THRESHOLD = 0.5

logger = logging.getLogger(__name__)


class ManyLabels(Algorithm[Parameters]):
    """Both tiers over a long label set."""

    fitted = ManyFunnel

    learns_names = True
    sparse_labels = True

    def vectors(self, parameters: Parameters, training: TrainingSet) -> tuple[None, dict[str, Any]]:
        return None, dict.fromkeys(training.documents) if training.texts else training.documents

    def fit(self, parameters: Parameters, training: TrainingSet) -> ManyFunnel:
        if not is_local():
            logger.warning("fun-many works in this process only: a cluster does not help it yet.")
        if native is None:
            logger.warning(
                "The compiled part is missing, and fun-many takes hundreds of times as long without it. %s",
                INSTALL_COMPILER,
            )
        verbose = bool(parameters.verbose)
        vectors, X, called = _vectors(training, _names_of_labels(training), verbose)
        columns = _shared_columns(vectors)
        held_out = _held_out(training.folds)
        others = {tag: ~rows for tag, rows in held_out.items()}
        left = sum(int(rows.sum()) for rows in others.values())
        hidden = _hidden(called, training)
        known = sum(each.X.shape[0] for each in called.values())
        work = 2 * (1 + bool(columns)) * (training.size + left + 2 * known)
        with progress_bar("labels", work, verbose, "documents") as advance:
            targets = {tag: _less(training.targets[tag][rows], hidden[tag]) for tag, rows in others.items()}
            shown = {tag: X[tag][rows] for tag, rows in others.items()}
            tier_one = _fit_tier_one(shown, targets, columns, called, training, advance)
            seen = Seen.of(targets, max(1, left) / training.size)
            advance.doing("tier 2")
            trees, thresholds = _fit_tier_two(tier_one, X, seen, held_out, hidden, training)
            del tier_one, seen, shown, targets  # the next ones are as large
            advance.doing("all documents")
            tier_one = _fit_tier_one(X, training.targets, columns, called, training, advance)
        return ManyFunnel(vectors, tier_one, Seen.of(training.targets), trees, thresholds)


MANY_LABELS = ManyLabels(name="fun-many", parameters=Parameters)


def _names_of_labels(training: TrainingSet) -> dict[str, list[str]]:
    """What labels are called in each language, "" for one without a name; nothing where none has one."""
    label_set = training.label_set
    if label_set is None:
        return {}
    names = {tag: label_set.texts(map(str, training.labels.classes), tag) for tag in training.targets}
    return names if any(map(any, names.values())) else {}


def _held_out(folds: Mapping[str, Folds]) -> dict[str, Rows]:
    """The documents that tier 2 learns from: the first fold that there is, if there are others."""
    there = np.unique(np.concatenate(list(folds.values())))
    return {tag: (own == there[0]) & (len(there) > 1) for tag, own in folds.items()}


def _vectors(
    training: TrainingSet, names: Mapping[str, list[str]], verbose: bool
) -> tuple[dict[str, TextVectors] | None, dict[str, Any], dict[str, LabelNameDocuments]]:
    """How each language's texts become vectors, and the vectors of all documents and of names of labels."""
    if not training.texts:
        return None, {tag: unit_rows(X) for tag, X in training.documents.items()}, {}
    vectors, X, called = {}, {}, {}
    with progress_bar("words and characters", training.size, verbose, "documents") as advance:
        for tag, texts in training.documents.items():
            own = {label: name for label, name in enumerate(names.get(tag, ())) if name}
            vectors[tag], every = TextVectors.fitted([*texts, *own.values()], tag)
            X[tag] = every[: len(texts)] if own else every
            if names:
                called[tag] = LabelNameDocuments(
                    every[len(texts) :], one_each(np.array(list(own)), training.columns)
                )
            advance(len(texts))
    return vectors, X, called


def _shared_columns(vectors: Mapping[str, TextVectors] | None) -> dict[str, Columns]:
    """Where each language has its features in one vocabulary of all; none where that would be of no use."""
    if vectors is None or len(vectors) == 1:
        return {}
    places: dict[str, int] = {}
    return {
        tag: np.array([places.setdefault(name, len(places)) for name in each.names()], dtype=np.int32)
        for tag, each in vectors.items()
    }


def _hidden(called: Mapping[str, LabelNameDocuments], training: TrainingSet) -> dict[str, Rows]:
    """Named labels whose documents are kept from tier 1 while tier 2 learns, by language.

    So tier 2 sees what a name alone is worth: of one share of labels in all languages, of another in each.
    """
    if not called:
        return {tag: np.zeros(training.columns, dtype=bool) for tag in training.targets}
    everywhere = stream(training.seed, "hidden").random(training.columns) < NAME_ONLY_SHARE
    hidden = {}
    for tag, names in called.items():
        here = stream(training.seed, "hidden", tag).random(training.columns) < NAME_ONLY_SHARE
        named = np.bincount(names.Y.indices, minlength=training.columns) > 0
        hidden[tag] = (everywhere | here) & named
    return hidden


def _less(Y: Any, hidden: Rows) -> Any:
    """Labels of documents, sparse, without those that are hidden."""
    if not hidden.any():
        return Y
    less: Any = Y.copy()
    less.data[hidden[less.indices]] = False
    less.eliminate_zeros()
    return less


def _fit_tier_one(
    X: Mapping[str, Any],
    Y: Mapping[str, Any],
    columns: dict[str, Columns],
    names: Mapping[str, LabelNameDocuments],
    training: TrainingSet,
    advance: Callable[[int], None],
) -> ManyTierOne:
    """The classifiers of all views, from documents of each language and their labels, and from names."""

    def fit(vectors: Any, targets: Any, view: str, called: LabelNameDocuments | None) -> LabelWeights:
        return fit_labels(vectors, targets, training.seed, view, training.n_jobs, advance, called)

    own = {tag: fit(X[tag], Y[tag], tag, names.get(tag)) for tag in X}
    by_name = {tag: each.weights() for tag, each in names.items()}
    if not columns:
        return ManyTierOne(own, None, columns, by_name)
    width = 1 + max(int(each.max(initial=-1)) for each in columns.values())

    def together(vectors: Mapping[str, Any]) -> Any:
        return sparse.vstack([in_columns(vectors[tag], columns[tag], width) for tag in X], format="csr")

    every = sparse.vstack([Y[tag] for tag in X], format="csr")
    called = None
    if names:
        labels = sparse.vstack([names[tag].Y for tag in X], format="csr")
        called = LabelNameDocuments(together({tag: each.X for tag, each in names.items()}), labels)
    return ManyTierOne(own, fit(together(X), every, SHARED, called), columns, by_name)


def _fit_tier_two(
    tier_one: ManyTierOne,
    X: Mapping[str, Any],
    seen: Seen,
    held_out: Mapping[str, Rows],
    hidden: Mapping[str, Rows],
    training: TrainingSet,
) -> tuple[BoostedTrees | None, dict[str, float]]:
    """What judges candidates, and the probability above which each language's labels are assigned.

    Thresholds are chosen on labels that were not hidden: in the end, none is.
    """
    share = min(1.0, MAX_META_DOCUMENTS / max(1, sum(int(rows.sum()) for rows in held_out.values())))
    sides = training.folds_for("halves", 2)
    found, right, wanted, halves = {}, {}, {}, []
    for tag, rows in held_out.items():
        places = np.flatnonzero(rows)
        number = round(share * len(places))
        places = np.sort(stream(training.seed, "teachers", tag).permutation(places)[:number])
        candidates = partial(tier_one.candidates, tag, seen=seen, n_jobs=1)
        found[tag] = CandidateLabels.joined(by_block(candidates, X[tag][places], training.n_jobs))
        Y = training.targets[tag][places]
        right[tag], wanted[tag] = found[tag].are_right(Y), _less(Y, hidden[tag]).nnz
        halves.append(sides[tag][places][found[tag].documents()])
    y = np.concatenate(list(right.values()))
    if not y.any() or y.all():
        return None, dict.fromkeys(X, DEFAULT_THRESHOLD)
    features = np.concatenate([each.features for each in found.values()])
    trees, probabilities = fit_cross_calibrated(
        features, y, np.concatenate(halves), training.seed, training.n_jobs
    )
    ends = np.cumsum([len(each) for each in right.values()])[:-1]
    thresholds = {}
    for tag, some in zip(found, np.split(probabilities, ends), strict=True):
        shown = ~hidden[tag][found[tag].labels]
        thresholds[tag] = _threshold(some[shown], right[tag][shown], wanted[tag])
    return trees, thresholds


def _threshold(probabilities: npt.NDArray[np.float64], right: npt.NDArray[np.bool_], wanted: int) -> float:
    """The probability above which labels are to be assigned, for the highest micro-F1.

    >>> _threshold(np.array([0.9, 0.75, 0.25, 0.2]), np.array([True, True, False, False]), 3)
    0.5
    """
    if not right.any():
        return DEFAULT_THRESHOLD
    order = np.argsort(-probabilities, kind="stable")
    sorted_ = probabilities[order]
    f1 = 2 * np.cumsum(right[order]) / (np.arange(1, len(order) + 1) + wanted)
    f1[:-1][sorted_[:-1] == sorted_[1:]] = 0  # there is no threshold between two that are equal
    best = int(f1.argmax())
    below = sorted_[best + 1] if best + 1 < len(order) else 0.0
    return float((sorted_[best] + below) / 2)
