"""Why this label? What words and what other labels added to a score, and which training documents are near.

Tier 1 is linear: what a word adds to a label's score is its weight times its tf-idf, and with the bias
the words are the score. Tier 2 is not: its score is divided among the posteriors of tier 1 by integrated
gradients from a document of which tier 1 says nothing, all posteriors 0 (`funnelling.svm.decomposition`).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from funnelling.errors import InputError
from funnelling.funnel.classifier import FunnellingClassifier
from funnelling.funnel.tier_one import TierOne
from funnelling.method import Method
from funnelling.svm.decomposition import kernel_contributions, linear_contributions
from funnelling.svm.kernels import Matrix
from funnelling.svm.scorers import KernelScorer, LinearScorer, Scorer

TOP = 10
MOST_PROBABLE = 3  # labels that are explained where none is assigned

Row = dict[str, Any]


def explain_documents(
    model: Method,
    texts: Sequence[str],
    languages: Sequence[str | None] | None = None,
    labels: Sequence[str] | None = None,
    top: int = TOP,
) -> list[Row]:
    """An explanation of each document: for each label its score and what it is made of.

    ``labels`` are explained, or those assigned, or the most probable ones where none is. The ``top``
    contributions by size are told, the others as one sum. What a method cannot tell is not there.
    """
    columns = None if labels is None else _columns(model, labels)
    inputs = model._read(texts, languages)
    rows: list[Row] = [{} for _ in texts]
    assert inputs.positions is not None
    for language, part in inputs.parts.items():
        explainer = _Explainer(model, language, top)
        found = explainer.explain(model._vectors(language, part), columns)
        for position, row in zip(inputs.positions[language], found, strict=True):
            rows[position] = row
    return rows


def _columns(model: Method, labels: Sequence[str]) -> npt.NDArray[np.intp]:
    known = {str(label): column for column, label in enumerate(model.classes_)}
    for label in labels:
        if label not in known:
            raise InputError(f"The model has no label {label!r}. See `funnelling inspect` for those it has.")
    return np.array([known[label] for label in labels], dtype=np.intp)


class _Explainer:
    """Explains documents of one language."""

    def __init__(self, model: Method, language: str, top: int) -> None:
        self._model = model
        self._language = language
        self._top = top
        self._names = [str(label) for label in model.classes_]
        self._thresholds = model.thresholds(language)
        self._base: TierOne | None = None
        self._meta: Scorer | None = None
        if isinstance(model, FunnellingClassifier):
            self._base, self._meta = model.tiers(language)
        scorer = model.linear(language) if self._base is None else self._base.scorer
        self._linear = scorer if isinstance(scorer, LinearScorer) else None
        self._words = model.feature_names(language) if self._linear is not None else None

    def explain(self, vectors: Matrix, columns: npt.NDArray[np.intp] | None) -> list[Row]:
        model = self._model
        scores = model._scores(self._language, vectors)
        probabilities = model._head(self._language)(scores)
        assigned = scores > model._cuts(self._language)
        posteriors = None if self._base is None else self._base.posteriors(vectors)
        base_scores = None if self._base is None else self._base.scorer.scores(vectors)
        rows = []
        for i in range(len(scores)):
            chosen = columns if columns is not None else _chosen(assigned[i], probabilities[i])
            parts = [] if posteriors is None else self._tier_two(posteriors[i], chosen, scores[i, chosen])
            told = {}
            for place, column in enumerate(chosen):
                told[self._names[column]] = {
                    "probability": float(probabilities[i, column]),
                    "score": float(scores[i, column]),
                    "threshold": float(self._thresholds[column]),
                    "assigned": bool(assigned[i, column]),
                    **self._tier_one(
                        vectors[[i]],
                        column,
                        scores[i, column] if base_scores is None else base_scores[i, column],
                        probabilities[i, column] if posteriors is None else posteriors[i, column],
                    ),
                    **(parts[place] if parts else {}),
                }
            near = self._neighbours(posteriors[i]) if posteriors is not None else []
            rows.append({"language": self._language, "labels": told, "neighbours": near})
        return rows

    def _tier_one(self, row: Matrix, column: int, score: float, posterior: float) -> Row:
        if self._linear is None:
            return {}
        features, contributions = linear_contributions(self._linear, row, column)
        names = [self._words[feature] if self._words is not None else str(feature) for feature in features]
        told, other = _largest(names, contributions, self._top)
        return {
            "tier_one": {
                "score": float(score),
                "posterior": float(posterior),
                "bias": float(self._linear.bias[column]),
                "words": told,
                "other_words": other,
            }
        }

    def _tier_two(self, posteriors: Any, columns: npt.NDArray[np.intp], scores: Any) -> list[Row]:
        if not isinstance(self._meta, KernelScorer):
            return []
        _, contributions = kernel_contributions(self._meta, posteriors, columns)
        rows = []
        for score, parts in zip(scores, contributions, strict=True):
            told, other = _largest(self._names, parts, self._top)
            # The score at the origin, and what single precision rounded.
            base = float(score) - float(parts.sum())
            rows.append({"tier_two": {"base": base, "labels": told, "other_labels": other}})
        return rows

    def _neighbours(self, posteriors: Any) -> list[Row]:
        model = self._model
        kept = getattr(model, "training_", None)
        return [] if kept is None else kept.nearest(posteriors, self._names)


def _chosen(assigned: Any, probabilities: Any) -> npt.NDArray[np.intp]:
    """The labels assigned, the most probable first, or the most probable ones."""
    order = np.argsort(-probabilities, kind="stable")
    chosen: npt.NDArray[np.intp] = order[assigned[order]] if assigned.any() else order[:MOST_PROBABLE]
    return chosen


def _largest(names: Sequence[str], values: Any, top: int) -> tuple[list[list[Any]], float]:
    """The largest values with their names, and the sum of the others."""
    order = np.argsort(-np.abs(values), kind="stable")
    told = [[names[place], float(values[place])] for place in order[:top] if values[place]]
    return told, float(np.sum(values[order[top:]]))
