"""Why a document gets its labels, of thousands: what features added in each view, and what tier 2 saw.

Explained are a few labels of each document: all else stays sparse.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from funnelling.many.candidates import COMPANY, Candidates
from funnelling.many.funnel import NAMES, OWN, SHARED, ManyFunnel
from funnelling.many.one_against_rest import LabelWeights
from funnelling.matrices import Rows, canonical, values_at
from funnelling.methods.explanation import MOST_PROBABLE, Decisions, Evidence, Explainer, Row, WordEvidence
from funnelling.svm.scorers import LinearScorer
from funnelling.text.tfidf import Places

Columns = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Answered:
    """Some documents of a language, texts or vectors, and what a funnel said of them, all sparse.

    ``scores`` are tier 2's, ``probabilities`` what a label set made of them.
    """

    language: str
    documents: Any
    X: Any
    evident: Rows
    candidates: Candidates
    scores: Any
    probabilities: Any
    assigned: Any
    threshold: float


def explained(
    funnel: ManyFunnel, answered: Answered, classes: Any, columns: Columns | None, top: int
) -> Iterator[Row]:
    """For each document its labels, those of some columns or those of most interest, as `Explainer` does."""
    scores, probabilities = canonical(answered.scores), canonical(answered.probabilities)
    assigned = canonical(answered.assigned)
    for i in range(len(answered.evident)):
        chosen = _most_interesting(assigned, probabilities, i) if columns is None else columns
        rows = np.full(len(chosen), i)
        evidence = Evidence(
            values_at(scores, rows, chosen)[None],
            answered.evident[[i]],
            _views(funnel, answered, i, chosen) if len(chosen) else {},
            texts=[answered.documents[i]] if funnel.vectors is not None else None,
        )
        decisions = Decisions(
            values_at(probabilities, rows, chosen)[None],
            values_at(assigned, rows, chosen).astype(bool)[None],
            np.full(len(chosen), answered.threshold),
        )
        explainer = Explainer(classes[chosen], exclusive=False, top=top)
        (row,) = explainer.explain(evidence, decisions, np.arange(len(chosen)))
        for column in chosen.tolist():
            row["labels"][str(classes[column])].update(_seen(funnel, answered, i, column))
        yield row


def _most_interesting(assigned: Any, probabilities: Any, i: int) -> Columns:
    """The labels assigned to a document, the most probable first, or the most probable ones."""
    span = slice(probabilities.indptr[i], probabilities.indptr[i + 1])
    ranked = probabilities.indices[span][np.argsort(-probabilities.data[span], kind="stable")]
    given = assigned.indices[assigned.indptr[i] : assigned.indptr[i + 1]]
    chosen: Columns = ranked[:MOST_PROBABLE].astype(np.intp)
    if len(given):  # one that is given though it is no candidate comes last
        chosen = np.concatenate([ranked[np.isin(ranked, given)], np.setdiff1d(given, ranked)]).astype(np.intp)
    return chosen


def _views(funnel: ManyFunnel, answered: Answered, i: int, chosen: Columns) -> dict[str, WordEvidence]:
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

    def places(text: str) -> Places | None:
        if funnel.vectors is None:
            return None
        found = funnel.vectors[language].places(text)
        at = np.searchsorted(features, found.columns)
        known = np.append(features, -1)[at] == found.columns
        return Places(at[known], found.starts[known], found.ends[known])

    def evidence(view: LabelWeights, rows: Any) -> WordEvidence:
        scorer = LinearScorer(view.weights[rows][:, chosen].toarray(), view.offsets[chosen])
        vectors = values[None].astype(np.float32)
        return WordEvidence(scorer, names, vectors, scorer.scores(vectors), None, places, 1 / len(views))

    return {name: evidence(*view) for name, view in views.items()}


def _names(funnel: ManyFunnel, language: str, features: Any) -> Sequence[str]:
    """What features of a language are called: words, and runs of characters."""
    if funnel.vectors is None:
        return [str(feature) for feature in features.tolist()]
    own = funnel.vectors[language]
    words, runs = own.words.vocabulary_, own.characters.vocabulary_
    return [words[each] if each < len(words) else runs[each - len(words)] for each in features.tolist()]


def _seen(funnel: ManyFunnel, answered: Answered, i: int, column: int) -> Row:
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
            "company": features[2 * len(views) + COMPANY],
            "documents": int(seen.documents[column]),
            "documents_in_language": int(seen.by_language[answered.language][column]),
        }
    }
