"""Which views, and which settings of tier 2: decided on outer folds over the training documents alone.

In each round everything is refitted without a fifth of the documents, vocabulary, base classifiers and
calibration, and each candidate is measured on that fifth. Each view is fitted once a round, however many
candidates it takes part in, and a candidate costs one small fit of tier 2 for each C. Work is bounded,
not time: the same seed chooses the same.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from funnelling.evaluation.language_averages import mean_measures, mean_of_four
from funnelling.evaluation.registry import PAPER_MEASURES
from funnelling.funnel.tier_one import Posteriors
from funnelling.funnel.views import OWN, seen_by_views, view_names
from funnelling.matrices import Floats
from funnelling.method.training_set import Training
from funnelling.randomness import assign_folds
from funnelling.svm.learner import Problem, decide
from funnelling.work.progress import progress_bar

if TYPE_CHECKING:
    from funnelling.funnel.classifier import FunnellingClassifier

AUTO = "auto"
ROUNDS = 2
PARTS = 5  # a round holds one of so many parts out
FEWEST = 50  # documents, under which nothing can be told apart
MOST_WORK = 3e6  # documents times labels of a round; of a larger corpus a sample is taken
MOST_DOCUMENTS = 20_000  # of a round: tier 2 takes the square of them

Rows = dict[str, npt.NDArray[np.bool_]]


@dataclass(frozen=True)
class Candidate:
    """Views and a way to combine them; own words that are not normalised are the paper's funnel."""

    views: tuple[str, ...]
    normalise: bool = True
    combine: str = "mean"
    variant: str = "tat"

    def __str__(self) -> str:
        if not self.normalise:
            return f"fun-{self.variant}"
        alone = self.combine == "mean" or len(self.views) == 1
        return " + ".join(self.views) + ("" if alone else f", {self.combine}")


@dataclass(frozen=True)
class Choice:
    """What was chosen, and the measures of all that was tried, the best C of each candidate.

    ``C`` is None where nothing could be tried; the usual search finds it then.
    """

    views: list[str]
    normalise: bool
    C: float | None
    tried: list[dict[str, Any]] = field(default_factory=list)
    combine: str = "mean"
    variant: str = "tat"

    def told(self) -> str:
        """The choice and its reason, in one line."""
        name = str(Candidate(tuple(self.views), self.normalise, self.combine, self.variant))
        if not self.tried:
            return f"Chose {name}: there are too few documents or groups to try others."
        paper = self.tried[0]["name"]
        by_name = {row["name"]: row for row in self.tried}
        scores = {
            key: " ".join(f"{by_name[key][measure]:.3f}" for measure in PAPER_MEASURES)
            for key in (name, paper)
        }
        against = "" if name == paper else f"; {paper}: {scores[paper]}"
        C = "" if self.C is None else f", C = {self.C:g}"
        return (
            f"Chose {name}{C}, of {len(self.tried)} candidates by outer folds over the training documents "
            f"(micro-F1, macro-F1, micro-K, macro-K: {scores[name]}{against})."
        )


def candidates(model: "FunnellingClassifier", texts: bool, languages: Sequence[str]) -> list[Candidate]:
    """What may be chosen, the simplest first, for of equals the first is taken."""
    own = [Candidate((OWN,), normalise=False, variant=model.variant), Candidate((OWN,))]
    if not texts:
        return own
    shared = [("pooled",), ("characters",), ("pooled", "characters")]

    def sees(views: Sequence[str]) -> list[str]:
        return seen_by_views(view_names(views), model._given(0), model.combine, languages)

    needed = len(languages) if model.combine == "concat" else 1
    given = [
        view
        for view, there in (("embeddings", model.embeddings), ("encoder", model.encoder))
        if there is not None and len(sees([view])) >= needed
    ]
    for view in given:
        shared += [(view,), ("pooled", "characters", view)]
    if len(given) > 1:
        shared.append(("pooled", "characters", *given))
    shared.append((OWN, "pooled", "characters", *given))
    combined = [
        Candidate(views, combine=model.combine) for views in shared if len(sees(views)) == len(languages)
    ]
    if model.combine == "mean":
        combined.append(Candidate(shared[-1], combine="stacked"))
    return own + combined


def choose(model: "FunnellingClassifier", training: Training) -> Choice:
    """The candidate with the highest mean of the paper's four measures over the rounds."""
    texts = all(isinstance(part, list) for part in training.documents.values())
    tried = candidates(model, texts, list(training.targets))
    training = _sampled(training)
    rounds = list(_rounds(training))
    if not rounds:
        return _choice(tried[0], None)
    found: dict[tuple[Candidate, float | None], list[dict[str, float]]] = {}
    with progress_bar("choosing", len(rounds) * len(tried), bool(model.verbose), "candidates") as advance:
        for learned in rounds:
            trial = _Round(model, training, learned, texts)
            for candidate in tried:
                for C, measures in trial.measured(candidate):
                    found.setdefault((candidate, C), []).append(measures)
                advance(1)
    means = {
        key: {measure: float(np.mean([each[measure] for each in rows])) for measure in PAPER_MEASURES}
        for key, rows in found.items()
    }
    quality = {key: mean_of_four(measures) for key, measures in means.items()}
    rows = []
    for candidate in tried:
        C = max((C for tested, C in quality if tested == candidate), key=lambda C: quality[candidate, C])
        rows.append({"name": str(candidate), "C": C, **means[candidate, C]})
    best, C = max(quality, key=lambda key: quality[key])
    return _choice(best, C, rows)


def _choice(chosen: Candidate, C: float | None, tried: Sequence[dict[str, Any]] = ()) -> Choice:
    return Choice(list(chosen.views), chosen.normalise, C, list(tried), chosen.combine, chosen.variant)


def _sampled(training: Training) -> Training:
    """The training documents, or so many that a round stays within its work; groups stay whole."""
    documents = sum(map(len, training.targets.values()))
    parts = int(np.ceil(max(documents * training.labels / MOST_WORK, documents / MOST_DOCUMENTS)))
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
        for rows in learned.values():
            if not rows.any():  # a language of which nothing would be left stays whole
                rows[:] = True
        if any((~rows).any() for rows in learned.values()):
            yield learned


class _Round:
    """One split: the views fitted on one side, as they are asked for, and what they say of both."""

    def __init__(self, model: "FunnellingClassifier", training: Training, learned: Rows, texts: bool) -> None:
        self._model: FunnellingClassifier = clone(model).set_params(views=None, verbose=0)
        self._training = training.select(learned)
        self._model.texts_ = texts
        self._model.languages_ = list(self._training.targets)
        self._model._encoded = model._encoded
        self._held_out = training.select({language: ~rows for language, rows in learned.items()})
        self._training.vectors = self._model._fit_vectors(
            self._training.documents, self._training.targets, training.seed
        )
        self._learned: dict[str, dict[str, Posteriors]] = {}
        self._asked: dict[str, dict[str, Floats]] = {}

    def measured(self, candidate: Candidate) -> Iterator[tuple[float | None, dict[str, float]]]:
        """The measures of a candidate for each C that is tried; None is that of an estimator."""
        for view in candidate.views:
            self._see(view)
        model = self._model.set_params(
            views=list(candidate.views), combine=candidate.combine, normalise=candidate.normalise
        )
        seen = {view: self._learned[view] for view in candidate.views}
        model.weights_ = model.stacked_by(self._training, seen)
        learned = [
            model.points({view: parts[tag].training for view, parts in seen.items() if tag in parts})
            for tag in self._training.targets
        ]
        asked = np.vstack(
            [
                model.points({view: self._asked[view][tag] for view, parts in seen.items() if tag in parts})
                for tag in self._held_out.targets
            ]
        )
        targets = self._training.stacked_targets()
        labels = int(targets.any(axis=0).sum())
        learner = model.meta_learner(self._training, labels, candidate.normalise)
        problem = learner.problem(np.asfortranarray(np.vstack(learned)), targets)
        whole = not isinstance(problem, Problem) or problem.learner.C is not None
        for fit in [problem.fit_whole()] if whole else problem.path():
            yield getattr(fit, "C", None), self._measures(fit.scorer().scores(asked))

    def _measures(self, scores: Floats) -> dict[str, float]:
        return mean_measures(self._held_out.targets, decide(scores, self._training.exclusive))

    def _see(self, view: str) -> None:
        """Fit a view, if it is not yet: what it says of the documents learned from, and of those held out."""
        if view in self._learned:
            return
        model = self._model.set_params(views=[view])
        self._learned[view] = model.fit_views(self._training)[view]
        self._asked[view] = {
            language: model.posteriors(language, model._vectors(language, documents))[view]
            for language, documents in self._held_out.documents.items()
            if language in self._learned[view]
        }
