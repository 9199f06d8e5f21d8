"""A fitted funnel over a long label set: its probabilities for documents, and why.

Explained are a few labels of each document: all else stays sparse.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Self, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from funnelling.corpus.by_language import ByLanguage
from funnelling.corpus.labels import LabelSpace
from funnelling.errors import InputError
from funnelling.funnel.many.boosting import BoostedTrees
from funnelling.funnel.many.candidates import (
    CO_OCCURRENCE_COLUMN,
    MAX_RANK,
    N_COMMON_FEATURES,
    CandidateLabels,
    Seen,
    TextVectors,
    candidates_of,
    unit_rows,
)
from funnelling.funnel.many.one_against_rest import LabelWeights
from funnelling.matrices import Rows, Scored, Scores, canonical, in_vocabulary_rows, length, values_at
from funnelling.methods.algorithm import Fitted, Run
from funnelling.methods.explanation import (
    DEFAULT_LABELS_EXPLAINED,
    Attribution,
    Explainer,
    LabelDecisions,
    Row,
    TierOneAttribution,
)
from funnelling.methods.training_set import Calibrator
from funnelling.runtime.threads import map_threads
from funnelling.state import Between, expect, expect_by, numbers
from funnelling.svm.scorers import LinearScorer, Selection
from funnelling.text.languages import served_by
from funnelling.text.tfidf import FeatureSpans

ROWS_PER_BLOCK = 1_000  # documents that are judged at a time
ROWS_EXPLAINED = 256  # documents that are explained at a time
OWN, SHARED, NAMES = "own", "shared", "names"  # what views are called; no language is called so

T = TypeVar("T")
Columns = npt.NDArray[np.int32]
LabelColumns = npt.NDArray[np.intp]


@dataclass(frozen=True)
class ManyTierOne:
    """The classifiers of each language's own view, and of the one that languages share, if there are several.

    ``columns`` has for each language the columns of its own vectors in the shared view. Where labels have
    ``names``, these rank them, too, by how like they are to a document.
    """

    own: dict[str, LabelWeights]
    shared: LabelWeights | None
    columns: dict[str, Annotated[Columns, numbers(None, kinds="i", least=0)]]
    names: dict[str, LabelWeights]

    def candidates(self, language: str, X: Any, seen: Seen, n_jobs: int | None) -> CandidateLabels:
        """The labels that documents with the own vectors X might have: those that a view ranks highest."""
        ranked = [self.own[language].rank(X, MAX_RANK, n_jobs)]
        if self.shared is not None:
            shared = in_columns(X, self.columns[language], self.shared.weights.shape[0])
            ranked.append(self.shared.rank(shared, MAX_RANK, n_jobs))
        if self.names:
            ranked.append(self.names[language].rank(X, MAX_RANK, n_jobs))
        return candidates_of(ranked, X, seen, language)

    @property
    def views(self) -> list[str]:
        """What the views are called, in the order in which they rank."""
        return [OWN, *[SHARED] * (self.shared is not None), *[NAMES] * bool(self.names)]


@dataclass(frozen=True)
class ManyFunnel(Fitted):
    """A fitted funnel: how texts become vectors (None where vectors are given), tier 1, tier 2.

    Without ``trees``, where there was too little to learn them from, the first guess at probabilities stands.
    """

    vectors: dict[str, TextVectors] | None
    tier_one: ManyTierOne
    seen: Seen
    trees: BoostedTrees | None
    thresholds: dict[str, Annotated[float, Between(0, 1)]]

    def vectors_of(self, language: str, documents: Any) -> Any:
        """Documents in the own view of a language."""
        if self.vectors is None:
            return unit_rows(documents)
        return self.vectors[language](documents)

    def scores(self, language: str, documents: Any, run: Run) -> Scored:
        X = self.vectors_of(language, documents)
        return Scored(self.probabilities(language, X, run.n_jobs), in_vocabulary_rows(documents, X))

    def calibrator(self, language: str) -> Calibrator:
        raise NotImplementedError  # scores are probabilities

    def score_thresholds(self, language: str) -> float:
        return self.thresholds[served_by(language, self.thresholds)]

    def selecting(self, selection: Selection, labels: LabelSpace, archive: ByLanguage | None) -> Self:
        raise InputError(
            "fun-many cannot drop labels yet. Merge them with others, have a label set exclude them, or "
            "train it anew without them."
        )

    def probabilities(self, language: str, X: Any, n_jobs: int | None) -> Any:
        """The probabilities of each document's candidates, sparse (documents, labels)."""

        def judged(some: Any) -> Any:
            candidates = self.tier_one.candidates(language, some, self.seen, 1)
            return candidates.matrix(self.rerank(candidates), len(self.seen.documents))

        return sparse.csr_array(sparse.vstack(by_block(judged, X, n_jobs), format="csr"))

    def scores_and_posteriors(
        self, language: str, documents: Any, run: Run
    ) -> tuple[Scored, Mapping[str, Scores]]:
        raise InputError(
            "fun-many cannot tell yet what its views say of all labels. Use classify, or explain."
        )

    def explained(
        self, language: str, documents: Any, run: Run, archive: ByLanguage | None, explainer: Explainer
    ) -> Iterator[Row]:
        for start in range(0, length(documents), ROWS_EXPLAINED):
            batch = documents[start : start + ROWS_EXPLAINED]
            X = self.vectors_of(language, batch)
            evident = in_vocabulary_rows(batch, X)
            candidates = self.tier_one.candidates(language, X, self.seen, run.n_jobs)
            scores = candidates.matrix(self.rerank(candidates), len(self.seen.documents))
            decisions = explainer.decide(language, Scored(scores, evident))
            texts = None if self.vectors is None else batch
            yield from _explained(
                self, Ranked(language, texts, X, evident, candidates, scores), decisions, explainer
            )

    def check(
        self, documents: Mapping[str, int], features: Mapping[str, int] | None, labels: LabelSpace
    ) -> None:
        languages, columns = list(documents), labels.columns
        expect((self.vectors is None) == (features is not None), "the vectors of views")
        own = expect_by(self.tier_one.own, languages, "the classifiers of languages")
        widths = features
        if widths is None:
            views = expect_by(self.vectors, languages, "the vectors of views")
            widths = {tag: each.check() for tag, each in views.items()}
        for tag, each in own.items():
            each.check(widths[tag], columns)
        shared = self.tier_one.shared
        if shared is not None:
            width = shared.weights.shape[0]
            shared.check(width, columns)
            for tag, places in expect_by(self.tier_one.columns, languages, "the shared columns").items():
                expect(len(places) == widths[tag] and places.max(initial=0) < width, "the shared columns")
        if self.tier_one.names:
            for tag, each in expect_by(self.tier_one.names, languages, "the names of labels").items():
                each.check(widths[tag], columns)
        self.seen.check(languages, columns)
        if self.trees is not None:
            self.trees.check(2 * len(self.tier_one.views) + N_COMMON_FEATURES)
        expect_by(self.thresholds, languages, "the thresholds")

    def rerank(self, candidates: CandidateLabels) -> npt.NDArray[np.float64]:
        """How likely each candidate is a label of its document."""
        if self.trees is None:
            return candidates.prior.astype(np.float64)
        return self.trees.probabilities(candidates.features)


def by_block(work: Callable[[Any], T], X: Any, n_jobs: int | None) -> list[T]:
    """What ``work`` makes of rows of X, a block at a time; there is one block at least."""
    starts = range(0, max(1, X.shape[0]), ROWS_PER_BLOCK)
    blocks = map_threads(lambda k: work(X[starts[k] : starts[k] + ROWS_PER_BLOCK]), len(starts), n_jobs)
    return list(blocks)


def in_columns(X: Any, columns: Columns, width: int) -> Any:
    """Rows with other columns: column i of X becomes ``columns[i]``."""
    return sparse.csr_array((X.data, columns[X.indices], X.indptr), (X.shape[0], width))


@dataclass(frozen=True)
class Ranked:
    """Some documents of a language, their ``texts`` if they are such, and what a funnel said of them."""

    language: str
    texts: Sequence[str] | None
    X: Any
    in_vocabulary: Rows
    candidates: CandidateLabels
    scores: Any


def _explained(
    funnel: ManyFunnel, ranked: Ranked, decisions: LabelDecisions, explainer: Explainer
) -> Iterator[Row]:
    """For each document its labels, those asked for or those of most interest, as `Explainer` does."""
    scores, probabilities, assigned = map(
        canonical, (ranked.scores, decisions.probabilities, decisions.assigned)
    )
    labels = explainer.labels
    for i in range(len(ranked.in_vocabulary)):
        chosen = _most_interesting(assigned, probabilities, i) if explainer.asked is None else explainer.asked
        rows = np.full(len(chosen), i)
        evidence = Attribution(
            values_at(scores, rows, chosen)[None],
            ranked.in_vocabulary[[i]],
            _views(funnel, ranked, i, chosen) if len(chosen) else {},
            texts=None if ranked.texts is None else [ranked.texts[i]],
        )
        of_chosen = LabelDecisions(
            values_at(probabilities, rows, chosen)[None],
            values_at(assigned, rows, chosen).astype(bool)[None],
            decisions.thresholds[chosen],
        )
        few = labels.under(labels.classes[chosen])
        (row,) = Explainer(
            few, explainer.top, lambda *_, known=of_chosen: known, np.arange(len(chosen))
        ).explain(ranked.language, evidence)
        for column in chosen.tolist():
            row["labels"][str(labels.classes[column])].update(_seen(funnel, ranked, i, column))
        yield row


def _most_interesting(assigned: Any, probabilities: Any, i: int) -> LabelColumns:
    """The labels assigned to a document, the most probable first, or the most probable ones."""
    span = slice(probabilities.indptr[i], probabilities.indptr[i + 1])
    ranked = probabilities.indices[span][np.argsort(-probabilities.data[span], kind="stable")]
    given = assigned.indices[assigned.indptr[i] : assigned.indptr[i + 1]]
    chosen: LabelColumns = ranked[:DEFAULT_LABELS_EXPLAINED].astype(np.intp)
    if len(given):  # one that is given though it is no candidate comes last
        chosen = np.concatenate([ranked[np.isin(ranked, given)], np.setdiff1d(given, ranked)]).astype(np.intp)
    return chosen


def _views(funnel: ManyFunnel, ranked: Ranked, i: int, chosen: LabelColumns) -> dict[str, TierOneAttribution]:
    """What each view makes of the features of a document, as if there were no others and no other labels."""
    tier_one, language = funnel.tier_one, ranked.language
    span = slice(ranked.X.indptr[i], ranked.X.indptr[i + 1])
    order = np.argsort(ranked.X.indices[span])
    features, values = ranked.X.indices[span][order], ranked.X.data[span][order]
    names = _names(funnel, language, features)
    views = {OWN: (tier_one.own[language], features)}
    if tier_one.shared is not None:
        views[SHARED] = (tier_one.shared, tier_one.columns[language][features])
    if tier_one.names:
        views[NAMES] = (tier_one.names[language], features)

    def places(text: str) -> FeatureSpans | None:
        if funnel.vectors is None:
            return None
        found = funnel.vectors[language].places(text)
        at = np.searchsorted(features, found.columns)
        known = np.append(features, -1)[at] == found.columns
        return FeatureSpans(at[known], found.starts[known], found.ends[known])

    def evidence(view: LabelWeights, rows: Any) -> TierOneAttribution:
        scorer = LinearScorer(view.weights[rows][:, chosen].toarray(), view.offsets[chosen])
        vectors = values[None].astype(np.float32)
        return TierOneAttribution(
            scorer, names, vectors, scorer.scores(vectors), None, places, 1 / len(views)
        )

    return {name: evidence(*view) for name, view in views.items()}


def _names(funnel: ManyFunnel, language: str, features: Any) -> Sequence[str]:
    """What features of a language are called: words, and character n-grams."""
    if funnel.vectors is None:
        return [str(feature) for feature in features.tolist()]
    own = funnel.vectors[language]
    words, ngrams = own.words.vocabulary_, own.characters.vocabulary_
    return [words[each] if each < len(words) else ngrams[each - len(words)] for each in features.tolist()]


def _seen(funnel: ManyFunnel, ranked: Ranked, i: int, column: int) -> Row:
    """What tier 2 saw of a label, if it was a candidate of the document."""
    candidates, seen = ranked.candidates, funnel.seen
    start, end = candidates.starts[i : i + 2].tolist()
    found = np.flatnonzero(candidates.labels[start:end] == column)
    if not len(found):
        return {}
    place, views = int(found[0]), funnel.tier_one.views
    features = candidates.features[start + place].tolist()
    return {
        "candidate": {
            "rank": place + 1,
            "n_candidates": end - start,
            "scores": dict(zip(views, features, strict=False)),
            "co_occurrence": features[2 * len(views) + CO_OCCURRENCE_COLUMN],
            "documents": int(seen.documents[column]),
            "documents_in_language": int(seen.by_language[ranked.language][column]),
        }
    }
