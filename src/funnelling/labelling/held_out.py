"""What methods say of documents that they did not learn from: by outer folds, or as a model has kept it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from funnelling.corpus import Corpus
from funnelling.errors import InputError
from funnelling.evaluation.measuring import supported_documents
from funnelling.evaluation.splits import check_labels_differ, learnable, outer_folds, with_copies
from funnelling.formats import Document
from funnelling.funnel.fitted import FittedFunnel
from funnelling.matrices import Folds, Rows
from funnelling.methods.learning import Method, check_extensible
from funnelling.runtime.progress import timed, watched

if TYPE_CHECKING:
    from funnelling.methods.algorithm import Algorithm
    from funnelling.methods.model import Model

OUTER_FOLDS = 5
MAX_CELLS = 100_000_000  # of documents and labels: some 4 GB in all that is made of them


class OutOfFoldPredictions(NamedTuple):
    """Labelled documents, their probabilities of ``classes``, their folds, and what can explain them.

    ``judges`` are models, ``judge_of`` the place of each document's own among them. Of a model's
    documents ``beginnings`` are all that may be shown where it has not kept their texts as written.
    """

    corpus: Corpus
    classes: list[str]
    probabilities: NDArray[np.float64]
    folds: Folds
    judges: "Sequence[Model]"
    judge_of: NDArray[np.intp]
    beginnings: list[str] | None = None

    def explain(self, row: int, labels: Sequence[str]) -> dict[str, Any]:
        """What spoke for labels of a document, and against them, to a method that explains it."""
        judge = self.judges[int(self.judge_of[row])]
        known = {str(label): label for label in judge.labels.classes.tolist()}
        asked = [known[label] for label in labels if label in known]
        if not asked:
            return {}
        (told,) = judge.explain([self.corpus.texts[row]], [self.corpus.languages[row]], labels=asked)
        return {str(label): reason for label, reason in told["labels"].items()}


def check_judges(algorithm: "Algorithm[Any]") -> None:
    """Refuse a method that gives no probability to every label."""
    if algorithm.sparse_labels:
        raise InputError(
            f"{algorithm.name} cannot look for wrong labels yet. Let the usual method do it: "
            "funnelling audit DATA."
        )


def held_out(method: Method, corpus: Corpus, seed: int = 0, verbose: int = 0) -> OutOfFoldPredictions:
    """The probabilities of documents by methods that did not learn from them, groups and copies together.

    One fit of a funnel gives them, for it holds documents out from both tiers to calibrate itself. Other
    methods are fitted by outer folds, and so are funnels of which a sample taught tier 2.
    """
    check_labels_differ(corpus)
    _check_size(len(corpus), len(corpus.label_set()))
    check_judges(method.algorithm)
    if method.algorithm.fitted is not FittedFunnel:
        return held_out_by_folds(method, corpus, seed, verbose)
    together = replace(corpus, groups=with_copies(corpus))
    with timed("fitting", bool(verbose)):
        model = method.fit(together)
    kept = model.fitted.held_out_posteriors(model.labels)
    languages = corpus.by_language()
    if {tag: len(rows) for tag, rows in kept.items()} != {tag: len(rows) for tag, rows in languages.items()}:
        return held_out_by_folds(method, corpus, seed, verbose)
    probabilities = np.empty((len(corpus), len(model.labels.classes)))
    for tag, rows in languages.items():
        probabilities[rows] = kept[tag]
    return OutOfFoldPredictions(
        corpus,
        [str(label) for label in model.labels.classes],
        probabilities,
        outer_folds(corpus, OUTER_FOLDS, seed, verbose),
        [model],
        np.zeros(len(corpus), dtype=np.intp),
    )


def held_out_by_folds(
    method: Method, corpus: Corpus, seed: int = 0, verbose: int = 0, beginnings: list[str] | None = None
) -> OutOfFoldPredictions:
    """The probabilities of documents by methods fitted without their fold, groups and copies kept together.

    Documents in a language that no other fold teaches are left out.
    """
    classes = corpus.label_set()
    place_of = {label: place for place, label in enumerate(classes)}
    folds = outer_folds(corpus, OUTER_FOLDS, seed, verbose)
    probabilities = np.zeros((len(corpus), len(classes)))
    judge_of = np.full(len(corpus), -1, dtype=np.intp)
    judges: list[Model] = []
    for fold in watched(np.unique(folds).tolist(), "outer folds", bool(verbose), "folds"):
        train = corpus.select(folds != fold)
        if not len(train) or not learnable(train):
            continue
        model = method.fit(train)
        rows = np.flatnonzero(folds == fold)
        rows = rows[supported_documents(corpus.select(rows), model)]
        if not len(rows):
            continue
        test = corpus.select(rows)
        columns = np.array([place_of[str(label)] for label in model.labels.classes])
        probabilities[np.ix_(rows, columns)] = model.classify(test.texts, languages=test.languages)[1]
        judge_of[rows] = len(judges)
        judges.append(model)
    judged = judge_of >= 0
    if not judged.any():
        raise InputError("too few documents to hold any out. Add documents.")
    return OutOfFoldPredictions(
        corpus.select(judged),
        classes,
        probabilities[judged],
        folds[judged],
        judges,
        judge_of[judged],
        _some(beginnings, judged),
    )


def held_out_of(model: "Model", verbose: int = 0) -> OutOfFoldPredictions:
    """The probabilities of a model's training documents, by the folds of its views where they are kept.

    Other models are fitted anew by outer folds over what they have kept of their documents.
    """
    check_judges(model.algorithm)
    if model.archive is None or not model.archive.texts:
        raise InputError(
            "The model keeps no training documents to look at: it is compact, or of vectors, or of too many "
            "documents. Give the file of the documents instead."
        )
    archive = model.archive
    classes = [str(label) for label in model.labels.classes]
    _check_size(sum(archive.sizes.values()), len(classes))
    targets = model.labels.by_class(archive.targets)
    documents, beginnings = [], []
    for tag, rows in targets.items():
        block = archive.blocks[tag]
        for row, (name, text, group) in enumerate(
            zip(block.names, block.documents, block.groups, strict=True)
        ):
            labels = tuple(classes[column] for column in np.flatnonzero(rows[row]).tolist())
            documents.append(Document(name, text, tag, labels, group=group or None))
        beginnings += block.beginnings or [""] * len(block)
    corpus = Corpus.from_documents(documents, model.labels.single_label)
    whole: Rows = np.asarray(np.vstack(list(targets.values())).any(axis=1))
    whole |= not corpus.one_label
    shown = None if archive.kind == "as written" else _some(beginnings, whole)
    kept = model.fitted.held_out_posteriors(model.labels)
    if not kept:
        check_extensible(model)
        method = Method(model.algorithm, model.fit_parameters)
        return held_out_by_folds(method, corpus.select(whole), archive.seed, verbose, shown)
    return OutOfFoldPredictions(
        corpus.select(whole),
        classes,
        np.vstack([kept[tag] for tag in targets])[whole],
        outer_folds(corpus, OUTER_FOLDS, archive.seed, verbose)[whole],
        [model],
        np.zeros(int(whole.sum()), dtype=np.intp),
        shown,
    )


def _some(texts: list[str] | None, rows: Rows) -> list[str] | None:
    """The texts of some rows, where there are texts."""
    return None if texts is None else [texts[row] for row in np.flatnonzero(rows).tolist()]


def _check_size(documents: int, labels: int) -> None:
    if documents * labels > MAX_CELLS:
        raise InputError(
            f"{documents:,} documents with {labels:,} labels are more than can be looked at together "
            f"({MAX_CELLS:,} in the product). Give them in parts, such as one language at a time."
        )
