"""Both tiers of a funnel over a long label set.

Tier 1 has two views: a language's own words and characters, and the same of all languages together, where
those that two languages share meet. Each ranks the labels of a document; see `one_against_rest`. Tier 2 is
one model of all labels and languages, which judges the labels that either view ranks high; see `candidates`.
It learns from documents that tier 1 has not seen: a fold of all languages is held out, ranked by classifiers
of the others, and then classifiers are learned from all documents.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from funnelling.fitted import expect, expect_by, expect_number, expect_numbers
from funnelling.many.boosting import BoostedTrees, fit_honestly
from funnelling.many.candidates import DEEPEST, FURTHER, Candidates, Seen, candidates_of
from funnelling.many.one_against_rest import LabelWeights, fit_labels
from funnelling.many.ranking import Ranked
from funnelling.many.vectors import TextVectors, unit_rows
from funnelling.matrices import Rows
from funnelling.method.training_set import TrainingSet
from funnelling.randomness import stream
from funnelling.work.progress import progress_bar, quietly
from funnelling.work.threads import in_threads

HELD_OUT = 0  # the fold that tier 2 learns from
TEACHERS = 40_000  # documents that it learns from at most
BLOCK = 1_000  # documents that are judged at a time
HALF = 0.5
SHARED = "shared"  # what the view of all languages is called; no language is called so

Columns = npt.NDArray[np.int32]


@dataclass(frozen=True)
class TierOne:
    """The classifiers of each language's own view, and of the one that languages share, if there are several.

    ``columns`` has for each language the columns of its own vectors in the shared view.
    """

    own: dict[str, LabelWeights]
    shared: LabelWeights | None
    columns: dict[str, Columns]

    def rank(
        self, language: str, X: Any, n_jobs: int | None, advance: Callable[[int], None] = quietly
    ) -> list[Ranked]:
        """What each view ranks highest for documents whose own vectors are X."""
        ranked = [self.own[language].rank(X, DEEPEST, n_jobs, advance)]
        if self.shared is not None:
            shared = in_columns(X, self.columns[language], self.shared.weights.shape[0])
            ranked.append(self.shared.rank(shared, DEEPEST, n_jobs, advance))
        return ranked

    def candidates(self, language: str, X: Any, seen: Seen, n_jobs: int | None) -> Candidates:
        """The labels that documents with the own vectors X might have."""
        return candidates_of(self.rank(language, X, n_jobs), X, seen, language)

    @property
    def views(self) -> int:
        return 1 if self.shared is None else 2


@dataclass(frozen=True)
class ManyFunnel:
    """A fitted funnel: how texts become vectors (None where vectors are given), tier 1, tier 2.

    Without ``trees``, where there was too little to learn them from, the first guess at probabilities stands.
    """

    vectors: dict[str, TextVectors] | None
    tier_one: TierOne
    seen: Seen
    trees: BoostedTrees | None
    thresholds: dict[str, float]

    def vectors_of(self, language: str, documents: Any) -> Any:
        """Documents in the own view of a language."""
        if self.vectors is None:
            return unit_rows(documents)
        return self.vectors[language](documents)

    def candidates(self, language: str, X: Any, n_jobs: int | None) -> Candidates:
        """The labels that some documents of a language might have."""
        return self.tier_one.candidates(language, X, self.seen, n_jobs)

    def probabilities(self, language: str, X: Any, n_jobs: int | None) -> Any:
        """The probabilities of each document's candidates, sparse (documents, labels)."""
        labels = len(self.seen.documents)

        def judged(number: int) -> Any:
            candidates = self.candidates(language, X[number * BLOCK : (number + 1) * BLOCK], 1)
            return candidates.matrix(self.judge(candidates), labels)

        blocks = list(in_threads(judged, -(-X.shape[0] // BLOCK), n_jobs))
        return sparse.csr_array(sparse.vstack(blocks, format="csr") if blocks else (0, labels))

    def check(self, languages: Sequence[str], labels: int, features: Mapping[str, int] | None) -> None:
        """Refuse a state that could not judge the documents of these languages.

        ``features`` are the columns of each language's vectors, None where documents are texts.
        """
        expect((self.vectors is None) == (features is not None), "the vectors of views")
        expect(isinstance(self.tier_one, TierOne) and isinstance(self.seen, Seen), "the tiers of a model")
        own = expect_by(self.tier_one.own, languages, "the classifiers of languages")
        widths = features
        if widths is None:
            views = expect_by(self.vectors, languages, "the vectors of views")
            widths = {tag: each.check() for tag, each in views.items()}
        for tag, each in own.items():
            each.check(widths[tag], labels)
        shared = self.tier_one.shared
        if shared is not None:
            width = shared.weights.shape[0]
            shared.check(width, labels)
            for tag, columns in expect_by(self.tier_one.columns, languages, "the shared columns").items():
                expect_numbers(columns, (widths[tag],), "the shared columns", "i", 0, width - 1)
        self.seen.check(languages, labels)
        if self.trees is not None:
            self.trees.check(2 * self.tier_one.views + FURTHER)
        for threshold in expect_by(self.thresholds, languages, "the thresholds").values():
            expect_number(threshold, "a threshold", 0, 1)

    def judge(self, candidates: Candidates) -> npt.NDArray[np.float64]:
        """How likely each candidate is a label of its document."""
        if self.trees is None:
            return candidates.guess.astype(np.float64)
        return self.trees.probabilities(candidates.features)


def fit_funnel(training: TrainingSet, verbose: bool) -> ManyFunnel:
    """Both tiers, from documents whose labels are sparse."""
    languages = list(training.documents)
    vectors, X = _vectors(training, verbose)
    columns = _shared_columns(vectors)
    held_out = {tag: folds == HELD_OUT for tag, folds in training.folds.items()}
    others = {tag: ~rows for tag, rows in held_out.items()}
    left = sum(int(rows.sum()) for rows in others.values())
    work = 2 * (1 + bool(columns)) * (training.size + left)
    with progress_bar("labels", work, verbose, "documents") as advance:
        tier_one = _fit_tier_one(X, others, columns, training, advance)
        seen = Seen.of(
            {tag: training.targets[tag][others[tag]] for tag in languages}, max(1, left) / training.size
        )
        advance.doing("tier 2")
        trees, thresholds = _fit_tier_two(tier_one, X, seen, held_out, training)
        del tier_one, seen  # the next ones are as large
        advance.doing("all documents")
        every = {tag: np.ones(len(rows), dtype=bool) for tag, rows in held_out.items()}
        tier_one = _fit_tier_one(X, every, columns, training, advance)
    return ManyFunnel(vectors, tier_one, Seen.of(training.targets), trees, thresholds)


def in_columns(X: Any, columns: Columns, width: int) -> Any:
    """Rows with other columns: column i of X becomes ``columns[i]``."""
    return sparse.csr_array((X.data, columns[X.indices], X.indptr), (X.shape[0], width))


def _vectors(training: TrainingSet, verbose: bool) -> tuple[dict[str, TextVectors] | None, dict[str, Any]]:
    """How each language's texts become vectors, and the vectors of all documents."""
    if not training.texts:
        return None, {tag: unit_rows(X) for tag, X in training.documents.items()}
    vectors, X = {}, {}
    with progress_bar("words and characters", training.size, verbose, "documents") as advance:
        for tag, texts in training.documents.items():
            vectors[tag], X[tag] = TextVectors.fitted(texts, tag)
            advance(len(texts))
    return vectors, X


def _shared_columns(vectors: Mapping[str, TextVectors] | None) -> dict[str, Columns]:
    """Where each language has its features in one vocabulary of all; none where that would be of no use."""
    if vectors is None or len(vectors) == 1:
        return {}
    places: dict[str, int] = {}
    return {
        tag: np.array([places.setdefault(name, len(places)) for name in each.names()], dtype=np.int32)
        for tag, each in vectors.items()
    }


def _fit_tier_one(
    X: Mapping[str, Any],
    rows: Mapping[str, Rows],
    columns: dict[str, Columns],
    training: TrainingSet,
    advance: Callable[[int], None],
) -> TierOne:
    """The classifiers of both views, from some documents of each language."""
    targets = {tag: training.targets[tag][rows[tag]] for tag in X}

    def fit(some: Any, Y: Any, name: str) -> LabelWeights:
        return fit_labels(some, Y, training.seed, name, training.n_jobs, advance)

    own = {tag: fit(X[tag][rows[tag]], targets[tag], tag) for tag in X}
    if not columns:
        return TierOne(own, None, columns)
    width = 1 + max(int(each.max(initial=-1)) for each in columns.values())
    shared = [in_columns(X[tag][rows[tag]], columns[tag], width) for tag in X]
    every = sparse.vstack(list(targets.values()), format="csr")
    return TierOne(own, fit(sparse.vstack(shared, format="csr"), every, SHARED), columns)


def _fit_tier_two(
    tier_one: TierOne, X: Mapping[str, Any], seen: Seen, held_out: Mapping[str, Rows], training: TrainingSet
) -> tuple[BoostedTrees | None, dict[str, float]]:
    """What judges candidates, and the probability above which each language's labels are assigned."""
    share = min(1.0, TEACHERS / max(1, sum(int(rows.sum()) for rows in held_out.values())))
    found, right, wanted = {}, {}, {}
    for tag, rows in held_out.items():
        places = np.flatnonzero(rows)
        number = round(share * len(places))
        places = np.sort(stream(training.seed, "teachers", tag).permutation(places)[:number])
        found[tag] = _candidates(tier_one, tag, X[tag][places], seen, training.n_jobs)
        Y = training.targets[tag][places]
        right[tag], wanted[tag] = found[tag].are_right(Y), Y.nnz
    y = np.concatenate(list(right.values()))
    if not y.any() or y.all():
        return None, dict.fromkeys(X, HALF)
    features = np.concatenate([each.features for each in found.values()])
    halves = np.concatenate([each.documents() % 2 for each in found.values()])
    trees, probabilities = fit_honestly(features, y, halves, training.seed, training.n_jobs)
    ends = np.cumsum([len(each) for each in right.values()])[:-1]
    return trees, {
        tag: _threshold(some, right[tag], wanted[tag])
        for tag, some in zip(found, np.split(probabilities, ends), strict=True)
    }


def _candidates(tier_one: TierOne, language: str, X: Any, seen: Seen, n_jobs: int | None) -> Candidates:
    """The candidates of a language's documents, found a block at a time."""

    def of_block(number: int) -> Candidates:
        return tier_one.candidates(language, X[number * BLOCK : (number + 1) * BLOCK], seen, 1)

    return Candidates.joined(list(in_threads(of_block, max(1, -(-X.shape[0] // BLOCK)), n_jobs)))


def _threshold(probabilities: npt.NDArray[np.float64], right: npt.NDArray[np.bool_], wanted: int) -> float:
    """The probability above which labels are to be assigned, for the highest micro-F1.

    >>> _threshold(np.array([0.9, 0.75, 0.25, 0.2]), np.array([True, True, False, False]), 3)
    0.5
    """
    if not right.any():
        return HALF
    order = np.argsort(-probabilities, kind="stable")
    sorted_ = probabilities[order]
    f1 = 2 * np.cumsum(right[order]) / (np.arange(1, len(order) + 1) + wanted)
    f1[:-1][sorted_[:-1] == sorted_[1:]] = 0  # there is no threshold between two that are equal
    best = int(f1.argmax())
    below = sorted_[best + 1] if best + 1 < len(order) else 0.0
    return float((sorted_[best] + below) / 2)
