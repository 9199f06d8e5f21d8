"""Why this label? What words and what other labels added to a score, and which training documents are near.

A method hands out `Evidence`: its scores, and what they are made of. Where base classifiers are linear,
what a word adds to a label's score is its weight times its tf-idf, and the words and the bias together are
the score. Tier 2 is not linear: its score is divided among the posteriors of tier 1 by integrated gradients
from a document of which tier 1 says nothing, all posteriors 0 (`funnelling.svm.decomposition`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from funnelling.errors import InputError
from funnelling.matrices import Floats, Rows, Scores
from funnelling.svm.decomposition import KernelDecomposition, linear_contributions
from funnelling.svm.scorers import KernelScorer, LinearScorer, Scorer

MOST_PROBABLE = 3  # labels that are explained where none is assigned

Row = dict[str, Any]


@dataclass(frozen=True)
class WordEvidence:
    """Linear classifiers, the vectors of some documents, and what the classifiers say of them.

    ``words`` are the names of the columns, None where they have none.
    """

    scorer: LinearScorer
    words: Sequence[str] | None
    vectors: Any
    scores: Scores
    posteriors: Scores


@dataclass(frozen=True)
class TierTwoEvidence:
    """Some documents in the space of tier 2, and what classifies them there.

    ``neighbours`` gives the training documents nearest to a point, under names for the columns of labels.
    """

    points: Floats
    scorer: Scorer
    views: Sequence[str]
    neighbours: Callable[[Floats, Sequence[str]], list[Row]] = lambda _point, _names: []


@dataclass(frozen=True)
class Evidence:
    """A method's scores of some documents in one language, and what they are made of, as far as it knows.

    Of documents that are not ``evident`` nothing is known: their scores speak of other documents.
    """

    scores: Scores
    evident: Rows
    views: Mapping[str, WordEvidence] = field(default_factory=dict)
    tier_two: TierTwoEvidence | None = None


@dataclass(frozen=True)
class Decisions:
    """What a method made of its scores: one row per document, one column per class."""

    probabilities: Scores
    assigned: npt.NDArray[np.bool_]
    thresholds: npt.NDArray[np.float64]  # one per class


def label_columns(classes: Iterable[Any], labels: Sequence[str]) -> npt.NDArray[np.intp]:
    """Where a model has these labels; one that it does not have is refused."""
    known = {str(label): column for column, label in enumerate(classes)}
    for label in labels:
        if label not in known:
            raise InputError(f"The model has no label {label!r}. See `funnelling inspect` for those it has.")
    return np.array([known[label] for label in labels], dtype=np.intp)


class Explainer:
    """Explains evidence under a method's classes.

    Two classes that exclude each other share one column of scores, the second's; what speaks for the second
    speaks against the first.
    """

    def __init__(self, classes: Iterable[Any], exclusive: bool, top: int) -> None:
        self._classes = [str(label) for label in classes]
        self._exclusive = exclusive
        self._two = exclusive and len(self._classes) == 2
        self._columns = self._classes[1:] if self._two else self._classes
        self._top = top

    def explain(
        self, evidence: Evidence, decisions: Decisions, labels: npt.NDArray[np.intp] | None
    ) -> Iterator[Row]:
        """For each document its labels, those asked for or those of most interest, and its neighbours."""
        scores = self._by_class(evidence.scores)
        tier_two = None if evidence.tier_two is None else _TierTwo(evidence.tier_two, self._columns)
        for i in range(len(scores)):
            chosen = labels if labels is not None else _most_interesting(decisions, i)
            above = self._tier_two(tier_two, i, chosen, scores[i])
            explained = {
                self._classes[label]: {
                    "probability": float(decisions.probabilities[i, label]),
                    "score": float(scores[i, label]),
                    **({} if self._exclusive else {"threshold": float(decisions.thresholds[label])}),
                    "assigned": bool(decisions.assigned[i, label]),
                    **self._tier_one(evidence.views, i, label),
                    **contributions,
                }
                for label, contributions in zip(chosen, above, strict=True)
            }
            yield {
                "labels": explained,
                "neighbours": [] if tier_two is None else tier_two.neighbours(i),
                **({} if evidence.evident[i] else {"evidence": False}),
            }

    def _by_class(self, values: Any, whole: float = 0) -> Any:
        """One column per class: the first of two has what is left of the ``whole``."""
        return np.hstack([whole - values, values]) if self._two else values

    def _tier_one(self, views: Mapping[str, WordEvidence], i: int, label: int) -> Row:
        """What the first view's words added, and what those of the others did."""
        by_view = {name: self._words(view, i, label) for name, view in views.items()}
        if not by_view:
            return {}
        first, *others = by_view
        if not others:
            return {"tier_one": by_view[first]}
        return {
            "tier_one": {"view": first, **by_view[first]},
            "other_views": {name: by_view[name] for name in others},
        }

    def _words(self, view: WordEvidence, i: int, label: int) -> Row:
        column, sign = (0, 1 if label else -1) if self._two else (label, 1)
        features, contributions = linear_contributions(view.scorer, view.vectors[[i]], column)
        names = [view.words[feature] if view.words is not None else str(feature) for feature in features]
        largest, rest = _largest(names, sign * contributions, self._top)
        return {
            "score": float(self._by_class(view.scores[[i]])[0, label]),
            "posterior": float(self._by_class(view.posteriors[[i]], 1)[0, label]),
            "bias": sign * float(view.scorer.bias[column]),
            "words": largest,
            "other_words": rest,
        }

    def _tier_two(
        self, tier_two: "_TierTwo | None", i: int, labels: npt.NDArray[np.intp], scores: Any
    ) -> list[Row]:
        if tier_two is None or tier_two.decomposition is None:
            return [{} for _ in labels]
        point = tier_two.evidence.points[i]
        columns = np.zeros(len(labels), dtype=np.intp) if self._two else labels
        _, by_label = tier_two.decomposition.contributions(point, columns)
        rows = []
        for label, contributions in zip(labels, by_label, strict=True):
            signed = -contributions if self._two and not label else contributions
            largest, rest = _largest(tier_two.dimensions, signed, self._top)
            # The score at the origin, and what single precision rounded.
            base = float(scores[label]) - float(signed.sum())
            rows.append({"tier_two": {"base": base, "labels": largest, "other_labels": rest}})
        return rows


class _TierTwo:
    """Tier 2's evidence, with names for its dimensions and its scorer ready to be taken apart."""

    def __init__(self, evidence: TierTwoEvidence, columns: Sequence[str]) -> None:
        self.evidence = evidence
        self.columns = columns
        scorer = evidence.scorer
        self.decomposition = KernelDecomposition(scorer) if isinstance(scorer, KernelScorer) else None

    @cached_property
    def dimensions(self) -> Sequence[str]:
        """What the dimensions stand for: labels, once for all views or once for each."""
        if self.evidence.points.shape[1] == len(self.columns):
            return self.columns
        return [f"{label} ({view})" for view in self.evidence.views for label in self.columns]

    def neighbours(self, i: int) -> list[Row]:
        return self.evidence.neighbours(self.evidence.points[i], self.columns)


def _most_interesting(decisions: Decisions, i: int) -> npt.NDArray[np.intp]:
    """The labels assigned to a document, the most probable first, or the most probable ones."""
    order = np.argsort(-decisions.probabilities[i], kind="stable")
    assigned = decisions.assigned[i]
    chosen: npt.NDArray[np.intp] = order[assigned[order]] if assigned.any() else order[:MOST_PROBABLE]
    return chosen


def _largest(names: Sequence[str], values: Any, top: int) -> tuple[list[list[Any]], float]:
    """The largest values with their names, and the sum of the others."""
    order = np.argsort(-np.abs(values), kind="stable")
    largest = [[names[place], float(values[place])] for place in order[:top] if values[place]]
    return largest, float(np.sum(values[order[top:]]))
