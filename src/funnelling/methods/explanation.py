"""Why this label? What words and other labels added to a score, and which training documents are near.

A method hands out `Attribution`: its scores, and what they are made of. Where base classifiers are linear,
what a word adds to a label's score is its weight times its tf-idf, and the words and the bias together are
the score. Tier 2 is not linear: its score is divided among the posteriors of tier 1 by integrated gradients
from a document of which tier 1 says nothing, all posteriors 0 (`funnelling.svm.scorers`).

Where features are words or character n-grams, what they added is also laid back onto the text:
``spans`` are ``[start, end, amount]``. Of several views a span has the sum, each view weighted by its
``share`` in what tier 2 gets, so that all spans and what is ``outside_text`` sum to what the views' features
added, biases left out, weighted alike: of one view, to what its words added.
Amounts are laid onto the beginning of a long text, `MAX_EXPLAINED_BYTES`; what stands only beyond is
outside.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from funnelling.corpus.labels import LabelSpace
from funnelling.matrices import Floats, Rows, Scored, Scores
from funnelling.runtime.threads import raise_if_cancelled
from funnelling.svm.scorers import (
    KernelDecomposition,
    KernelScorer,
    LinearScorer,
    Scorer,
    linear_contributions,
)
from funnelling.text.excerpts import start_within
from funnelling.text.tfidf import FeatureSpans
from funnelling.text.tokens import units

OUT_OF_VOCABULARY = "out-of-vocabulary"  # why a document without a known feature gets no label

Array = npt.NDArray[np.float64]
Passage = list[Any]  # start and end in the text, and what the words there added: as JSON has it


class LaidText:
    """A text, cut into words, and the features of its views laid onto them.

    ``views`` have the columns of the text's vector that are not zero, where these stand, if anywhere, and
    what the view counts. A feature is divided evenly over its occurrences in the text, and an occurrence over
    the words that it touches, by their characters within it: no more and no less than the feature itself is
    handed on. Of a script without blanks each character is a word, and so are the signs between two words.
    """

    def __init__(
        self, text: str, views: Sequence[tuple[npt.NDArray[np.intp], FeatureSpans | None, float]]
    ) -> None:
        starts, ends = np.array(units(text), dtype=np.intp).reshape(-1, 2).T
        self._starts: npt.NDArray[np.intp] = starts
        self._ends: npt.NDArray[np.intp] = ends
        self._views = []
        for features, places, share in views:
            shares = self._shares(features, places)
            self._views.append((share, shares, np.diff(shares.tocsc().indptr) == 0))

    def passages(self, contributions: Sequence[Array]) -> tuple[list[Passage], float]:
        """The words to which the views' features added something, and what has no place in the text."""
        amounts, unplaced = np.zeros(len(self._starts)), 0.0
        for (share, shares, has_no_place), each in zip(self._views, contributions, strict=True):
            amounts = amounts + share * (shares @ each)
            unplaced += share * float(each[has_no_place].sum())
        words = np.flatnonzero(amounts)
        columns = (self._starts[words].tolist(), self._ends[words].tolist(), amounts[words].tolist())
        return list(map(list, zip(*columns, strict=True))), unplaced

    def _shares(
        self, features: npt.NDArray[np.intp], places: FeatureSpans | None
    ) -> sparse.csr_array[np.float64]:
        """The share of each feature, a column, that each word, a row, gets; all add up to 1, or to 0."""
        shape = (len(self._starts), len(features))
        if places is None:
            return sparse.csr_array(shape, dtype=np.float64)
        order = np.argsort(features, kind="stable")
        at = np.searchsorted(features[order], places.columns)
        first = np.searchsorted(self._ends, places.starts, side="right")
        beyond = np.searchsorted(self._starts, places.ends, side="left")
        stand = (beyond > first) & (places.ends > places.starts) & np.isin(places.columns, features)
        if not stand.any():
            return sparse.csr_array(shape, dtype=np.float64)
        numbers, first, touched = order[at[stand]], first[stand], (beyond - first)[stand]
        occurrence = np.repeat(np.arange(len(touched)), touched)
        words = (
            np.arange(len(occurrence)) - np.repeat(np.cumsum(touched) - touched, touched) + first[occurrence]
        )
        characters = np.minimum(self._ends[words], places.ends[stand][occurrence]) - np.maximum(
            self._starts[words], places.starts[stand][occurrence]
        )
        of_occurrence = np.bincount(occurrence, characters, minlength=len(touched))
        occurrences = np.bincount(numbers, minlength=len(features))
        values = characters / of_occurrence[occurrence] / occurrences[numbers][occurrence]
        return sparse.csr_array((values, (words, numbers[occurrence])), shape, dtype=np.float64)


DROPPED = "(dropped label)"  # what a label of tier 1 is called that the model does not give any more
MAX_EXPLAINED_BYTES = 60_000  # of a text, as UTF-8, onto which amounts are laid: some 20 pages
DEFAULT_LABELS_EXPLAINED = 3  # labels that are explained where none is assigned

Row = dict[str, Any]


@dataclass(frozen=True)
class TierOneAttribution:
    """Linear classifiers, the vectors of some documents, and what the classifiers say of them.

    ``words`` are the names of the columns, None where they have none, and ``posteriors`` where scores are not
    calibrated. ``places`` says where a text has the columns, if they stand anywhere. ``share`` is what the
    view counts among all views.
    """

    scorer: LinearScorer
    words: Sequence[str] | None
    vectors: Any
    scores: Scores
    posteriors: Scores | None
    places: Callable[[str], FeatureSpans | None] = lambda _text: None
    share: float = 1.0


@dataclass(frozen=True)
class TierTwoAttribution:
    """Some documents in the space of tier 2, and what classifies them there.

    ``neighbours`` gives the training documents nearest to a point, under names for the columns of labels.
    ``classes`` is there where labels have been dropped: for each label of tier 1 its class, None for a
    dropped one, which tier 2 goes on to take into account.
    """

    points: Floats
    scorer: Scorer
    views: Sequence[str]
    neighbours: Callable[[Floats, Sequence[str]], list[Row]] = lambda _point, _names: []
    classes: Sequence[int | None] | None = None


@dataclass(frozen=True)
class Attribution:
    """A method's scores of some documents in one language, and what they are made of, as far as it knows.

    Of documents that are not ``in_vocabulary`` nothing is known: their scores speak of other documents.
    ``texts`` are the documents, where they are texts.
    """

    scores: Scores
    in_vocabulary: Rows
    views: Mapping[str, TierOneAttribution] = field(default_factory=dict)
    tier_two: TierTwoAttribution | None = None
    texts: Sequence[str] | None = None


@dataclass(frozen=True)
class LabelDecisions:
    """What a method made of its scores: one row per document, one column per class."""

    probabilities: Scores
    assigned: Any
    thresholds: npt.NDArray[np.float64]  # one per class


@dataclass(frozen=True)
class ViewPredictions:
    """What a method says of some documents in one language: in the end, and in tier 1, where it has tiers.

    ``views`` have each view's posteriors, one column per class, as the decisions have.
    """

    decisions: LabelDecisions
    in_vocabulary: Rows
    views: Mapping[str, Array]

    @property
    def mean_posterior(self) -> Array:
        """The views' mean posterior, or the probabilities in the end where there are no tiers."""
        return mean_posterior([*self.views.values()] or [self.decisions.probabilities])


def mean_posterior(views: Sequence[Scores]) -> Array:
    """What views believe together.

    Where one wants to know what a model does not know it is better than tier 2's probability: tier 2 is made
    to decide, and errs hardly more where it is unsure than elsewhere.
    """
    mean: Array = np.mean(views, axis=0)
    return mean


@dataclass(frozen=True)
class Explainer:
    """Explains evidence under a method's ``labels``: those ``asked`` for, by their ``top`` contributions.

    ``decide`` gives what the method makes of a language's scores.
    Where one column of scores stands for two labels, what speaks for the second speaks against the first.
    """

    labels: LabelSpace
    top: int
    decide: Callable[[str, Scored], LabelDecisions]
    asked: npt.NDArray[np.intp] | None = None

    @cached_property
    def _classes(self) -> list[str]:
        return [str(label) for label in self.labels.classes]

    @cached_property
    def _two(self) -> bool:
        return self.labels.has_one_column

    def explain(self, language: str, evidence: Attribution) -> Iterator[Row]:
        """For each document its labels, those asked for or those of most interest, and its neighbours."""
        decisions = self.decide(language, Scored(evidence.scores, evidence.in_vocabulary))
        scores = self._by_class(evidence.scores)
        tier_two = None if evidence.tier_two is None else self._above(evidence.tier_two)
        for i in range(len(scores)):
            chosen = self.asked if self.asked is not None else _most_interesting(decisions, i)
            above = self._tier_two(tier_two, i, chosen, scores[i])
            below = self._tier_one(evidence, i, chosen)
            explained = {
                self._classes[label]: {
                    "probability": float(decisions.probabilities[i, label]),
                    "score": float(scores[i, label]),
                    **(
                        {"threshold": float(decisions.thresholds[label])}
                        if self.labels.has_thresholds
                        else {}
                    ),
                    "assigned": bool(decisions.assigned[i, label]),
                    **of_words,
                    **of_labels,
                }
                for label, of_words, of_labels in zip(chosen, below, above, strict=True)
            }
            is_known = bool(evidence.in_vocabulary[i])
            yield {
                "labels": explained,
                "neighbours": tier_two.neighbours(i) if tier_two is not None and is_known else [],
                "abstained": None if is_known else OUT_OF_VOCABULARY,
            }

    def _above(self, evidence: TierTwoAttribution) -> "_TierTwo":
        if evidence.classes is None:
            columns = self._classes[1:] if self._two else self._classes
            return _TierTwo(evidence, columns, columns)
        dimensions = [DROPPED if place is None else self._classes[place] for place in evidence.classes]
        return _TierTwo(evidence, dimensions, self._classes)

    def _by_class(self, values: Any, whole: float = 0) -> Any:
        """One column per class: the first of two has what is left of the ``whole``."""
        return np.hstack([whole - values, values]) if self._two else values

    def _tier_one(self, evidence: Attribution, i: int, labels: npt.NDArray[np.intp]) -> list[Row]:
        """For each label what the first view's words added, what those of the others did, and where."""
        views = [_DocumentView(name, view, i) for name, view in evidence.views.items()]
        if not views:
            return [{} for _ in labels]
        laid = _laid(evidence.texts[i], views) if evidence.texts is not None else None
        rows = []
        for label in labels:
            raise_if_cancelled()
            column, sign = self._column(label)
            contributions = [sign * view.contributions(column) for view in views]
            told = {
                view.name: self._words(view, i, label, each)
                for view, each in zip(views, contributions, strict=True)
            }
            row: Row = {"tier_one": told[views[0].name]}
            if len(views) > 1:
                told = {view.name: {"share": view.evidence.share, **told[view.name]} for view in views}
                first = views[0].name
                row = {"tier_one": {"view": first, **told.pop(first)}, "other_views": told}
            if laid is not None:
                passages, unplaced = laid.passages(contributions)
                row |= {"spans": passages, **({"outside_text": unplaced} if unplaced else {})}
            rows.append(row)
        return rows

    def _column(self, label: int) -> tuple[int, int]:
        """The column of scores that stands for a label, and the sign of what speaks for the label there."""
        return (0, 1 if label else -1) if self._two else (label, 1)

    def _words(self, view: "_DocumentView", i: int, label: int, contributions: Array) -> Row:
        column, sign = self._column(label)
        evidence = view.evidence
        largest, rest = _largest(view.names, contributions, self.top)
        posterior: Row = {}
        if evidence.posteriors is not None:
            posterior = {"posterior": float(self._by_class(evidence.posteriors[[i]], 1)[0, label])}
        return {
            "score": float(self._by_class(evidence.scores[[i]])[0, label]),
            **posterior,
            "bias": sign * float(evidence.scorer.bias[column]),
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
            largest, rest = _largest(tier_two.dimensions, signed, self.top)
            # The score at the origin, and what single precision rounded.
            base = float(scores[label]) - float(signed.sum())
            rows.append({"tier_two": {"base": base, "labels": largest, "other_labels": rest}})
        return rows


class _DocumentView:
    """One document as a view sees it: its features, and what they add to a label."""

    def __init__(self, name: str, evidence: TierOneAttribution, i: int) -> None:
        self.name = name
        self.evidence = evidence
        self._row = evidence.vectors[[i]]
        self.features, _ = linear_contributions(evidence.scorer, self._row, 0)

    @cached_property
    def names(self) -> list[str]:
        words = self.evidence.words
        return [str(feature) if words is None else words[feature] for feature in self.features.tolist()]

    def contributions(self, column: int) -> Array:
        return linear_contributions(self.evidence.scorer, self._row, column)[1]


class _TierTwo:
    """Tier 2's evidence, with names for its dimensions and its scorer ready to be taken apart."""

    def __init__(self, evidence: TierTwoAttribution, labels: Sequence[str], columns: Sequence[str]) -> None:
        self.evidence = evidence
        self.labels = labels  # of tier 1
        self.columns = columns  # of the training documents' labels
        scorer = evidence.scorer
        self.decomposition = KernelDecomposition(scorer) if isinstance(scorer, KernelScorer) else None

    @cached_property
    def dimensions(self) -> Sequence[str]:
        """What the dimensions stand for: labels, once for all views or once for each."""
        if self.evidence.points.shape[1] == len(self.labels):
            return self.labels
        return [f"{label} ({view})" for view in self.evidence.views for label in self.labels]

    def neighbours(self, i: int) -> list[Row]:
        return self.evidence.neighbours(self.evidence.points[i], self.columns)


def _laid(text: str, views: Sequence[_DocumentView]) -> LaidText | None:
    """The beginning of a text with the views' features laid onto it; None where none stands in a text."""
    text = start_within(text, MAX_EXPLAINED_BYTES)
    laid = [(view.features, view.evidence.places(text), view.evidence.share) for view in views]
    return None if all(places is None for _, places, _ in laid) else LaidText(text, laid)


def _most_interesting(decisions: LabelDecisions, i: int) -> npt.NDArray[np.intp]:
    """The labels assigned to a document, the most probable first, or the most probable ones."""
    order = np.argsort(-decisions.probabilities[i], kind="stable")
    assigned = decisions.assigned[i]
    chosen: npt.NDArray[np.intp] = (
        order[assigned[order]] if assigned.any() else order[:DEFAULT_LABELS_EXPLAINED]
    )
    return chosen


def _largest(names: Sequence[str], values: Any, top: int) -> tuple[list[list[Any]], float]:
    """The largest values with their names, and the sum of the others."""
    order = np.argsort(-np.abs(values), kind="stable")
    largest = [[names[place], float(values[place])] for place in order[:top] if values[place]]
    return largest, float(np.sum(values[order[top:]]))
