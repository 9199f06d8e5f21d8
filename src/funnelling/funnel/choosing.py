"""Which views, and which settings of tier 2: decided on outer folds over the training documents alone.

In each round everything is refitted without a fifth of the documents, vocabulary, base classifiers and
calibration, and each candidate is measured on that fifth. Each view is fitted once a round, however many
candidates it takes part in, and a candidate costs one small fit of tier 2 for each C. Work is bounded,
documents times labels, not time: the same seed chooses the same.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from funnelling.evaluation.measures import MEASURES, mean_measures, mean_of_four
from funnelling.funnel.tier_two import grid
from funnelling.funnel.views import OWN
from funnelling.funnel.views.combination import combined
from funnelling.progress import progress_bar
from funnelling.randomness import assign_folds
from funnelling.svm.kernels import Floats
from funnelling.svm.learner import Problem, decide
from funnelling.training import Training

if TYPE_CHECKING:
    from funnelling.funnel.classifier import FunnellingClassifier

AUTO = "auto"
ROUNDS = 2
PARTS = 5  # a round holds one of so many parts out
FEWEST = 50  # documents, under which nothing can be told apart
MOST_WORK = 3e6  # documents times labels of a round; of a larger corpus a sample is taken

Rows = dict[str, npt.NDArray[np.bool_]]


@dataclass(frozen=True)
class Candidate:
    """Views and a way to combine them."""

    views: tuple[str, ...]
    normalise: bool

    @property
    def grid(self) -> Sequence[float]:
        """The Cs that are tried."""
        return grid(self.normalise)

    def __str__(self) -> str:
        return " + ".join(self.views) if self.normalise else "fun-tat"


@dataclass(frozen=True)
class Choice:
    """What was chosen, and the measures of all that was tried, the best C of each candidate.

    ``C`` is None where nothing could be tried; the usual search finds it then.
    """

    views: list[str]
    normalise: bool
    C: float | None
    tried: list[dict[str, Any]] = field(default_factory=list)

    def told(self) -> str:
        """The choice and its reason, in one line."""
        name = str(Candidate(tuple(self.views), self.normalise))
        if not self.tried:
            return f"Chose {name}: there are too few documents to try others."
        by_name = {row["name"]: row for row in self.tried}
        scores = {
            key: " ".join(f"{by_name[key][measure]:.3f}" for measure in MEASURES) for key in (name, "fun-tat")
        }
        against = "" if name == "fun-tat" else f"; fun-tat: {scores['fun-tat']}"
        return (
            f"Chose {name}, C = {self.C:g}, of {len(self.tried)} candidates by outer folds over the training "
            f"documents (micro-F1, macro-F1, micro-K, macro-K: {scores[name]}{against})."
        )


def candidates(model: "FunnellingClassifier", texts: bool) -> list[Candidate]:
    """What may be chosen, the simplest first, for of equals the first is taken."""
    paper = Candidate((OWN,), normalise=False)
    if not texts:
        return [paper, Candidate((OWN,), normalise=True)]
    shared = [("pooled",), ("characters",), ("pooled", "characters")]
    given = [
        view
        for view, there in (("embeddings", model.embeddings), ("encoder", model.encoder))
        if there is not None
    ]
    for view in given:
        shared += [(view,), ("pooled", "characters", view)]
    if len(given) > 1:
        shared.append(("pooled", "characters", *given))
    shared.append((OWN, "pooled", "characters", *given))
    return [paper, Candidate((OWN,), normalise=True), *(Candidate(views, normalise=True) for views in shared)]


def choose(model: "FunnellingClassifier", training: Training) -> Choice:
    """The candidate with the highest mean of the paper's four measures over the rounds."""
    texts = all(isinstance(part, list) for part in training.documents.values())
    tried = candidates(model, texts)
    training = _sampled(training)
    rounds = list(_rounds(training))
    if not rounds:
        return Choice(list(tried[0].views), tried[0].normalise, None)
    found: dict[tuple[Candidate, float], list[dict[str, float]]] = {}
    with progress_bar("choosing", len(rounds) * len(tried), bool(model.verbose), "candidates") as advance:
        for learned in rounds:
            trial = _Round(model, training, learned, texts)
            for candidate in tried:
                for C, measures in trial.measured(candidate):
                    found.setdefault((candidate, C), []).append(measures)
                advance(1)
    means = {
        key: {measure: float(np.mean([each[measure] for each in rows])) for measure in MEASURES}
        for key, rows in found.items()
    }
    quality = {key: mean_of_four(measures) for key, measures in means.items()}
    rows = []
    for candidate in tried:
        C = max(candidate.grid, key=lambda C: quality[candidate, C])
        rows.append({"name": str(candidate), "C": C, **means[candidate, C]})
    best, C = max(quality, key=lambda key: quality[key])
    return Choice(list(best.views), best.normalise, C, rows)


def _sampled(training: Training) -> Training:
    """The training documents, or so many that a round stays within its work; groups stay whole."""
    documents = sum(map(len, training.targets.values()))
    parts = int(np.ceil(documents * training.labels / MOST_WORK))
    if parts < 2:
        return training
    rows = {
        language: assign_folds(
            parts, len(found), training.seed, "sample", language=language, groups=training.groups[language]
        )
        == 0
        for language, found in training.targets.items()
    }
    return training.select(rows)


def _rounds(training: Training) -> Iterator[Rows]:
    """Which documents each round learns from; none where there is too little to hold out."""
    if sum(map(len, training.targets.values())) < FEWEST:
        return
    parts = {
        language: assign_folds(
            PARTS, len(found), training.seed, "choice", language=language, groups=training.groups[language]
        )
        for language, found in training.targets.items()
    }
    for number in range(ROUNDS):
        learned = {language: part != number for language, part in parts.items()}
        if all(rows.any() for rows in learned.values()) and any((~rows).any() for rows in learned.values()):
            yield learned


class _Round:
    """One split: the views fitted on one side, as they are asked for, and what they say of both."""

    def __init__(self, model: "FunnellingClassifier", training: Training, learned: Rows, texts: bool) -> None:
        self._model: FunnellingClassifier = clone(model).set_params(views=None, verbose=0)
        self._training = training.select(learned)
        self._model.texts_ = texts
        self._model.languages_ = list(self._training.targets)
        self._held_out = training.select({language: ~rows for language, rows in learned.items()})
        self._training.vectors = self._model._fit_vectors(
            self._training.documents, self._training.targets, training.seed
        )
        self._points: dict[tuple[str, bool], tuple[Floats, Floats]] = {}

    def measured(self, candidate: Candidate) -> Iterator[tuple[float, dict[str, float]]]:
        """The measures of a candidate for each of its Cs."""
        points = [self._seen(view, candidate.normalise) for view in candidate.views]
        learned, asked = (combined(parts, "mean", normalise=False) for parts in zip(*points, strict=True))
        targets = self._training.stacked_targets()
        labels = int(targets.any(axis=0).sum())
        learner = self._model.meta_learner(self._training, labels, candidate.normalise)
        problem = learner.problem(np.asfortranarray(learned), targets)
        if not isinstance(problem, Problem):  # an estimator of the user's has no C
            scores = problem.fit(self._training.stacked_folds()).scorer().scores(asked)
            yield from ((C, self._measures(scores)) for C in candidate.grid)
            return
        for fit in problem.path():
            yield fit.C, self._measures(fit.scorer().scores(asked))

    def _measures(self, scores: Floats) -> dict[str, float]:
        return mean_measures(self._held_out.targets, decide(scores, self._training.exclusive))

    def _seen(self, view: str, normalise: bool) -> tuple[Floats, Floats]:
        """A view's posteriors of the documents learned from and of those held out."""
        if (view, normalise) not in self._points:
            if (view, False) not in self._points:
                self._points[view, False] = self._fitted(view)
            learned, asked = self._points[view, False]
            self._points[view, normalise] = (
                combined([learned], "mean", normalise),
                combined([asked], "mean", normalise),
            )
        return self._points[view, normalise]

    def _fitted(self, view: str) -> tuple[Floats, Floats]:
        model = self._model.set_params(views=[view])
        seen = model.fit_views(self._training)[view]
        nothing = np.zeros((1, self._training.labels), dtype=np.float32)  # of a language it cannot see
        learned = [
            seen[language].training if language in seen else np.repeat(nothing, len(rows), axis=0)
            for language, rows in self._training.targets.items()
        ]
        asked = [
            model.posteriors(language, model._vectors(language, documents))[view]
            if language in seen
            else np.repeat(nothing, len(self._held_out.targets[language]), axis=0)
            for language, documents in self._held_out.documents.items()
        ]
        return np.vstack(learned), np.vstack(asked)
