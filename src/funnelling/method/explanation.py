"""Why this label? What words and what other labels added to a score, and which training documents are near.

Tier 1 is linear: what a word adds to a label's score is its weight times its tf-idf, and with the bias
the words are the score. Tier 2 is not: its score is divided among the posteriors of tier 1 by integrated
gradients from a document of which tier 1 says nothing, all posteriors 0 (`funnelling.svm.decomposition`).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from funnelling.errors import InputError
from funnelling.funnel.classifier import FunnellingClassifier
from funnelling.matrices import Matrix
from funnelling.method.base import Method
from funnelling.svm.decomposition import KernelDecomposition, linear_contributions
from funnelling.svm.scorers import KernelScorer, LinearScorer

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
    chosen = None if labels is None else label_columns(model, labels)
    inputs = model._read(texts, languages)
    if inputs.positions is None:
        raise InputError("Give texts as one list, with their languages beside it.")
    rows: list[Row] = [{} for _ in texts]
    for language, part in inputs.parts.items():
        explainer = _Explainer(model, language, top)
        found = explainer.explain(model._vectors(language, part), chosen)
        for position, row in zip(inputs.positions[language], found, strict=True):
            rows[position] = row
    return rows


def label_columns(model: Method, labels: Sequence[str]) -> npt.NDArray[np.intp]:
    """Where a model has these labels; one that it does not have is refused."""
    known = {str(label): column for column, label in enumerate(model.classes_)}
    for label in labels:
        if label not in known:
            raise InputError(f"The model has no label {label!r}. See `funnelling inspect` for those it has.")
    return np.array([known[label] for label in labels], dtype=np.intp)


class _View(NamedTuple):
    """One view of some documents: their vectors, and what its base classifiers say of them."""

    scorer: LinearScorer
    words: Sequence[str] | None
    vectors: Matrix
    scores: Any  # a column a class
    posteriors: Any


class _Explainer:
    """Explains documents of one language.

    Two classes that exclude each other share one column of scores, the second's; what speaks for the second
    speaks against the first.
    """

    def __init__(self, model: Method, language: str, top: int) -> None:
        self._model = model
        self._language = language
        self._top = top
        self._classes = [str(label) for label in model.classes_]
        self._two = bool(model.exclusive_) and len(self._classes) == 2
        self._thresholds = model.thresholds(language)
        self._meta: KernelDecomposition | None = None
        if isinstance(model, FunnellingClassifier):
            meta = model.tier_two(language)
            self._meta = KernelDecomposition(meta) if isinstance(meta, KernelScorer) else None

    def explain(self, vectors: Any, labels: npt.NDArray[np.intp] | None) -> list[Row]:
        model = self._model
        found = model._scores(self._language, vectors)
        probabilities = model._probabilities(self._language, found)
        decided = model._labels(found - model._cuts(self._language))
        assigned = decided[:, None] == model.classes_ if model.exclusive_ else decided.astype(bool)
        scores = self._by_class(found)
        views, points = self._views(vectors, scores, probabilities)
        rows = []
        for i in range(len(scores)):
            chosen = labels if labels is not None else _chosen(assigned[i], probabilities[i])
            above = [{} for _ in chosen] if points is None else self._tier_two(points[i], chosen, scores[i])
            told = {
                self._classes[label]: {
                    "probability": float(probabilities[i, label]),
                    "score": float(scores[i, label]),
                    **({} if model.exclusive_ else {"threshold": float(self._thresholds[label])}),
                    "assigned": bool(assigned[i, label]),
                    **self._tier_one(views, i, label),
                    **part,
                }
                for label, part in zip(chosen, above, strict=True)
            }
            near = [] if points is None else self._neighbours(points[i])
            rows.append({"language": self._language, "labels": told, "neighbours": near})
        return rows

    def _views(self, vectors: Any, scores: Any, probabilities: Any) -> tuple[dict[str, _View], Any]:
        """The views whose scores are sums over words, and the documents in tier 2's space if there is one."""
        model = self._model
        if not isinstance(model, FunnellingClassifier):
            scorer = model.linear(self._language)
            if not isinstance(scorer, LinearScorer):
                return {}, None
            words = model.feature_names(self._language)
            return {"": _View(scorer, words, vectors, scores, probabilities)}, None
        posteriors = model.posteriors(self._language, vectors)
        views = {
            name: _View(
                tier.scorer,
                model.view_feature_names(name, self._language),
                vectors[name],
                self._by_class(tier.scorer.scores(vectors[name])),
                self._by_class(posteriors[name], 1),
            )
            for name, tier in model.tier_one(self._language).items()
            if isinstance(tier.scorer, LinearScorer)
        }
        return views, model.points(posteriors)

    def _by_class(self, values: Any, whole: float = 0) -> Any:
        """A column a class: the first of two has what is left of the ``whole``."""
        return np.hstack([whole - values, values]) if self._two else values

    def _tier_one(self, views: dict[str, _View], i: int, label: int) -> Row:
        """What the first view's words added, and what those of the others did."""
        told = {name: self._words(view, i, label) for name, view in views.items()}
        if not told:
            return {}
        first, *others = told
        if not others:
            return {"tier_one": told[first]}
        return {
            "tier_one": {"view": first, **told[first]},
            "other_views": {name: told[name] for name in others},
        }

    def _words(self, view: _View, i: int, label: int) -> Row:
        column, sign = (0, 1 if label else -1) if self._two else (label, 1)
        features, contributions = linear_contributions(view.scorer, view.vectors[[i]], column)
        names = [view.words[feature] if view.words is not None else str(feature) for feature in features]
        told, other = _largest(names, sign * contributions, self._top)
        return {
            "score": float(view.scores[i, label]),
            "posterior": float(view.posteriors[i, label]),
            "bias": sign * float(view.scorer.bias[column]),
            "words": told,
            "other_words": other,
        }

    def _tier_two(self, point: Any, labels: npt.NDArray[np.intp], scores: Any) -> list[Row]:
        if self._meta is None:
            return [{} for _ in labels]
        columns = np.zeros(len(labels), dtype=np.intp) if self._two else labels
        _, contributions = self._meta.contributions(point, columns)
        names = self._dimensions(len(point))
        rows = []
        for label, found in zip(labels, contributions, strict=True):
            parts = -found if self._two and not label else found
            told, other = _largest(names, parts, self._top)
            # The score at the origin, and what single precision rounded.
            base = float(scores[label]) - float(parts.sum())
            rows.append({"tier_two": {"base": base, "labels": told, "other_labels": other}})
        return rows

    def _dimensions(self, width: int) -> list[str]:
        """What the dimensions of tier 2's space stand for: labels, once for all views or once for each."""
        columns = self._classes[1:] if self._two else self._classes
        if width == len(columns):
            return columns
        assert isinstance(self._model, FunnellingClassifier)
        views = self._model.tier_one(self._language)
        return [f"{label} ({view})" for view in views for label in columns]

    def _neighbours(self, point: Any) -> list[Row]:
        model = self._model
        if not isinstance(model, FunnellingClassifier) or not hasattr(model, "training_"):
            return []
        return model.training_.nearest(point, model.training_points(), self._dimensions(model._columns()))


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
