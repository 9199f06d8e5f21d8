"""Fun(many): the funnel for thousands of labels, as an estimator, and why a document gets its labels.

Explained are a few labels of each document: all else stays sparse.
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import numpy.typing as npt
from scipy import sparse

from funnelling.corpus.label_rules import LabelRules, rules_of
from funnelling.corpus.labels import LabelSpace
from funnelling.errors import InputError
from funnelling.funnel.many.candidates import CO_OCCURRENCE_COLUMN, CandidateLabels
from funnelling.funnel.many.funnel import NAMES, OWN, SHARED, ManyFunnel, ManyLabels
from funnelling.funnel.many.one_against_rest import LabelWeights
from funnelling.matrices import Rows, Scored, canonical, in_vocabulary_rows, length, values_at
from funnelling.methods.answering import ByLanguage, Languages, Margins
from funnelling.methods.estimator import Method
from funnelling.methods.explanation import (
    DEFAULT_LABELS_EXPLAINED,
    Attribution,
    Explainer,
    LabelDecisions,
    Row,
    TierOneAttribution,
    ViewPredictions,
)
from funnelling.plain import check_fitted
from funnelling.svm.scorers import LinearScorer
from funnelling.text.tfidf import FeatureSpans

Columns = npt.NDArray[np.intp]


@dataclass(frozen=True)
class PredictionBatch:
    """Some documents of a language, texts or vectors, and what a funnel said of them, all sparse.

    ``scores`` are tier 2's, ``probabilities`` what a label set made of them.
    """

    language: str
    documents: Any
    X: Any
    in_vocabulary: Rows
    candidates: CandidateLabels
    scores: Any
    probabilities: Any
    assigned: Any
    threshold: float


def explained(
    funnel: ManyFunnel, answered: PredictionBatch, labels: LabelSpace, columns: Columns | None, top: int
) -> Iterator[Row]:
    """For each document its labels, those of some columns or those of most interest, as `Explainer` does."""
    scores, probabilities = canonical(answered.scores), canonical(answered.probabilities)
    assigned = canonical(answered.assigned)
    for i in range(len(answered.in_vocabulary)):
        chosen = _most_interesting(assigned, probabilities, i) if columns is None else columns
        rows = np.full(len(chosen), i)
        evidence = Attribution(
            values_at(scores, rows, chosen)[None],
            answered.in_vocabulary[[i]],
            _views(funnel, answered, i, chosen) if len(chosen) else {},
            texts=[answered.documents[i]] if funnel.vectors is not None else None,
        )
        decisions = LabelDecisions(
            values_at(probabilities, rows, chosen)[None],
            values_at(assigned, rows, chosen).astype(bool)[None],
            np.full(len(chosen), answered.threshold),
        )
        explainer = Explainer(labels.under(labels.classes[chosen]), top)
        (row,) = explainer.explain(evidence, decisions, np.arange(len(chosen)))
        for column in chosen.tolist():
            row["labels"][str(labels.classes[column])].update(_seen(funnel, answered, i, column))
        yield row


def _most_interesting(assigned: Any, probabilities: Any, i: int) -> Columns:
    """The labels assigned to a document, the most probable first, or the most probable ones."""
    span = slice(probabilities.indptr[i], probabilities.indptr[i + 1])
    ranked = probabilities.indices[span][np.argsort(-probabilities.data[span], kind="stable")]
    given = assigned.indices[assigned.indptr[i] : assigned.indptr[i + 1]]
    chosen: Columns = ranked[:DEFAULT_LABELS_EXPLAINED].astype(np.intp)
    if len(given):  # one that is given though it is no candidate comes last
        chosen = np.concatenate([ranked[np.isin(ranked, given)], np.setdiff1d(given, ranked)]).astype(np.intp)
    return chosen


def _views(
    funnel: ManyFunnel, answered: PredictionBatch, i: int, chosen: Columns
) -> dict[str, TierOneAttribution]:
    """What each view makes of the features of a document, as if there were no others and no other labels."""
    tier_one, language = funnel.tier_one, answered.language
    span = slice(answered.X.indptr[i], answered.X.indptr[i + 1])
    order = np.argsort(answered.X.indices[span])
    features, values = answered.X.indices[span][order], answered.X.data[span][order]
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
    """What features of a language are called: words, and runs of characters."""
    if funnel.vectors is None:
        return [str(feature) for feature in features.tolist()]
    own = funnel.vectors[language]
    words, runs = own.words.vocabulary_, own.characters.vocabulary_
    return [words[each] if each < len(words) else runs[each - len(words)] for each in features.tolist()]


def _seen(funnel: ManyFunnel, answered: PredictionBatch, i: int, column: int) -> Row:
    """What tier 2 saw of a label, if it was a candidate of the document."""
    candidates, seen = answered.candidates, funnel.seen
    start, end = candidates.starts[i : i + 2].tolist()
    found = np.flatnonzero(candidates.labels[start:end] == column)
    if not len(found):
        return {}
    place, views = int(found[0]), funnel.tier_one.views
    features = candidates.features[start + place].tolist()
    return {
        "candidate": {
            "place": place + 1,
            "of": end - start,
            "scores": dict(zip(views, features, strict=False)),
            "company": features[2 * len(views) + CO_OCCURRENCE_COLUMN],
            "documents": int(seen.documents[column]),
            "documents_in_language": int(seen.by_language[answered.language][column]),
        }
    }


logger = logging.getLogger(__name__)

ROWS_PER_BLOCK = 256  # documents that are explained at a time


class ManyLabelsClassifier(Method):
    """A funnel for label sets of thousands, of which each document has a few: subject headings, EuroVoc.

    Everything is sparse: labels, classifiers and answers. `predict` and `predict_proba` give scipy's
    ``csr_array`` with the columns of ``classes_``. Probabilities are those of each document's candidates,
    some forty; all others are as good as 0. A label is assigned where its probability is above a threshold
    that makes the most of micro-F1 in its language.

    Parameters
    ----------
    memory_limit : bytes, for all methods alike; this one needs far less
    compact, keep_texts : what a model keeps of its documents
    n_jobs, random_state, verbose : as in all methods

    Examples
    --------
    >>> texts = ["the cat sleeps", "a dog barks", "il gatto dorme", "un cane abbaia"] * 5
    >>> labels, languages = [["cat"], ["dog"], ["cat"], ["dog"]] * 5, ["en", "en", "it", "it"] * 5
    >>> model = ManyLabelsClassifier(random_state=0).fit(texts, labels, languages)
    >>> model.predict(["the dog", "il gatto"], ["en", "it"]).toarray().tolist()
    [[0, 1], [1, 0]]
    """

    algorithm = ManyLabels(name="fun-many")

    @property
    def _funnel(self) -> ManyFunnel:
        """What the fit left of both tiers."""
        fitted = self.model_.fitted
        assert isinstance(fitted, ManyFunnel)
        return fitted

    def _explained(
        self, language: str, documents: Any, columns: npt.NDArray[np.intp] | None, top: int
    ) -> Iterator[dict[str, Any]]:
        for start in range(0, length(documents), ROWS_PER_BLOCK):
            answered = self._answered(language, documents[start : start + ROWS_PER_BLOCK])
            yield from explained(self._funnel, answered, self.label_space, columns, top)

    def _answered(self, language: str, documents: Any) -> PredictionBatch:
        """Some documents, and what is said of them on the way to their labels."""
        funnel = self._funnel
        X = funnel.vectors_of(language, documents)
        evident = in_vocabulary_rows(documents, X)
        candidates = funnel.candidates(language, X, self.n_jobs)
        scores = candidates.matrix(funnel.rerank(candidates), len(self.classes_))
        labels, probabilities = self._answers(language, Scored(scores, evident))
        assigned = sparse.csr_array(self.label_space.indicators(labels).multiply(evident[:, None]))
        threshold = funnel.score_thresholds(language)
        return PredictionBatch(
            language, documents, X, evident, candidates, scores, probabilities, assigned, threshold
        )

    def opinions(self, X: Any, languages: Languages = None) -> dict[str, ViewPredictions]:
        raise InputError(
            "fun-many cannot tell yet what its views say of all labels. Use classify, or explain."
        )

    def label_counts(self) -> npt.NDArray[np.int64]:
        return self._funnel.seen.documents

    # --- answers, all sparse --------------------------------------------------------------------

    def thresholds(self, language: str) -> npt.NDArray[np.float64]:
        check_fitted(self, "model_")
        return np.full(len(self.classes_), self._fitted(language).score_thresholds(language))

    @overload
    def decision_function(self, X: ByLanguage, languages: None = None) -> dict[str, Margins]: ...
    @overload
    def decision_function(self, X: Any, languages: Languages = None) -> Margins: ...
    def decision_function(self, X: Any, languages: Languages = None) -> Any:
        """What tier 2 says of candidates: how likely each is, before a ``label_set_`` changes that.

        Labels that are no candidates have 0, the lowest score there is. So a label is assigned not above 0
        but above the threshold of its language: see `thresholds`. Of two classes both have a column.
        """
        inputs = self._read(X, languages)
        return inputs.gather({tag: each.scores for tag, each in self._scored(inputs)})

    def _probabilities(self, language: str, scores: Any) -> Any:
        return scores

    def _assigned(self, language: str, scored: Scored) -> Any:
        return self._answers(language, scored)[0]

    def _answers(self, language: str, scored: Scored) -> tuple[Any, Any]:
        """The labels of documents and the probabilities of their candidates, as a label set has them."""
        probabilities, threshold = scored.scores, self._fitted(language).score_thresholds(language)
        rules = rules_of(self)
        if rules is not None:
            probabilities = _under(rules, probabilities, self.label_space)
        if self.label_space.single_label:
            return self.classes_[self._best(probabilities, rules)], _summing_to_one(probabilities)
        labels: Any = probabilities.copy()
        labels.data = (labels.data > threshold).astype(int)
        labels.eliminate_zeros()
        return labels, probabilities

    def _best(self, probabilities: Any, rules: LabelRules | None) -> npt.NDArray[np.intp]:
        """The column of each document's most probable label; without any that of the most frequent."""
        seen = self._funnel.seen.documents
        usual = int(np.where(rules.excluded, -1, seen).argmax() if rules is not None else seen.argmax())
        best = np.full(probabilities.shape[0], usual, dtype=np.intp)
        rows = np.repeat(np.arange(len(best)), np.diff(probabilities.indptr))
        order = np.lexsort((-probabilities.indices, probabilities.data, rows))  # the best comes last
        best[rows[order]] = probabilities.indices[order]
        return best


def _summing_to_one(probabilities: Any) -> Any:
    """Probabilities of labels of which each document has one; a document without candidates has none."""
    sizes = np.diff(probabilities.indptr)
    rows = np.repeat(np.arange(len(sizes)), sizes)
    sums = np.bincount(rows, probabilities.data, minlength=len(sizes))
    shares: Any = probabilities.copy()
    shares.data /= sums[rows]
    return shares


def _under(rules: LabelRules, probabilities: Any, labels: LabelSpace) -> Any:
    """Probabilities as a label set has them: excluded labels have none, parents at least as much."""
    kept = _less_excluded(rules, probabilities)
    if not labels.brings_parents(rules):
        return kept
    return _less_excluded(rules, rules.hierarchy.raised(kept)[:, : len(rules.excluded)])


def _less_excluded(rules: LabelRules, probabilities: Any) -> Any:
    kept: Any = probabilities.copy()
    kept.data[rules.excluded[kept.indices]] = 0
    kept.eliminate_zeros()
    return kept
