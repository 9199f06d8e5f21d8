"""Which views, and which settings of tier 2: decided on outer folds over the training documents alone.

In each round everything is refitted without a fifth of the documents, vocabulary, base classifiers and
calibration, and each candidate is measured on that fifth. A view is fitted once per round, however many
candidates it takes part in, and a candidate costs one small fit of tier 2 for each C. Work is bounded,
not time: the same seed chooses the same.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from funnelling.evaluation.language_averages import mean_measures, mean_of_four
from funnelling.evaluation.registry import PAPER_MEASURES
from funnelling.funnel.design import Design
from funnelling.funnel.views.combination import Combination
from funnelling.funnel.views.fitting import fit_views
from funnelling.matrices import Floats, Rows
from funnelling.method.training_set import TrainingSet
from funnelling.randomness import assign_folds
from funnelling.spaces.registry import OWN, named_views
from funnelling.svm.learner import Problem, decide
from funnelling.text.vocabularies import fit_own
from funnelling.work.progress import progress_bar

ROUNDS = 2
FOLDS = 5  # a round holds one of so many out
FEWEST = 50  # documents; with fewer, candidates cannot be compared
MOST_WORK = 3e6  # documents times labels of a round; of a larger corpus a sample is taken
MOST_DOCUMENTS = 20_000  # of a round: tier 2 takes the square of them


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

    def applied_to(self, design: Design) -> Design:
        """The design with this candidate's views and their combination."""
        return replace(design, views=named_views(self.views), combine=self.combine, normalise=self.normalise)


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

    @property
    def candidate(self) -> Candidate:
        return Candidate(tuple(self.views), self.normalise, self.combine, self.variant)

    def applied_to(self, design: Design) -> Design:
        """The design with what was chosen; a C that the user gave stays."""
        return replace(
            self.candidate.applied_to(design), meta_C=self.C if design.meta_C is None else design.meta_C
        )

    def summary(self) -> str:
        """The choice and its reason, in one line."""
        name = str(self.candidate)
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


def candidates(design: Design, texts: bool, languages: Sequence[str]) -> list[Candidate]:
    """What may be chosen, the simplest first, for of equals the first is taken."""
    own = [Candidate((OWN,), normalise=False, variant=design.variant), Candidate((OWN,))]
    if not texts:
        return own

    def visible(views: Sequence[str]) -> list[str]:
        return replace(design, views=named_views(views)).visible_languages(languages)

    needed = len(languages) if design.combine == "concat" else 1
    resources = design.resources
    further = [
        view
        for view, resource in (("embeddings", resources.embeddings), ("encoder", resources.encoder))
        if resource is not None and len(visible([view])) >= needed
    ]
    shared: list[tuple[str, ...]] = [("pooled",), ("characters",), ("pooled", "characters")]
    for view in further:
        shared += [(view,), ("pooled", "characters", view)]
    if len(further) > 1:
        shared.append(("pooled", "characters", *further))
    shared.append((OWN, "pooled", "characters", *further))
    combined = [
        Candidate(views, combine=design.combine) for views in shared if len(visible(views)) == len(languages)
    ]
    if design.combine == "mean":
        combined.append(Candidate(shared[-1], combine="stacked"))
    return own + combined


def choose(design: Design, training: TrainingSet) -> Choice:
    """The candidate with the highest mean of the paper's four measures over the rounds."""
    pool = candidates(design, training.texts, list(training.targets))
    training = _sample(training)
    splits = list(_splits(training))
    if not splits:
        return _choice(pool[0], None)
    results: dict[tuple[Candidate, float | None], list[dict[str, float]]] = {}
    with progress_bar("choosing", len(splits) * len(pool), design.shows_progress, "candidates") as advance:
        for learning in splits:
            round_ = Round(design, training, learning)
            for candidate in pool:
                for C, measures in round_.measure(candidate):
                    results.setdefault((candidate, C), []).append(measures)
                advance(1)
    means = {
        key: {measure: float(np.mean([each[measure] for each in rows])) for measure in PAPER_MEASURES}
        for key, rows in results.items()
    }
    quality = {key: mean_of_four(measures) for key, measures in means.items()}
    rows = []
    for candidate in pool:
        C = max((C for other, C in quality if other == candidate), key=lambda C: quality[candidate, C])
        rows.append({"name": str(candidate), "C": C, **means[candidate, C]})
    best, C = max(quality, key=lambda key: quality[key])
    return _choice(best, C, rows)


def _choice(chosen: Candidate, C: float | None, tried: Sequence[dict[str, Any]] = ()) -> Choice:
    return Choice(list(chosen.views), chosen.normalise, C, list(tried), chosen.combine, chosen.variant)


def _sample(training: TrainingSet) -> TrainingSet:
    """The training documents, or so many that a round stays within its work; groups stay whole."""
    documents = training.size
    shares = int(np.ceil(max(documents * training.labels / MOST_WORK, documents / MOST_DOCUMENTS)))
    if shares < 2:
        return training
    return training.select({tag: share == 0 for tag, share in _assigned(training, shares, "sample").items()})


def _splits(training: TrainingSet) -> Iterator[dict[str, Rows]]:
    """Which documents each round learns from; none where there is too little to hold out."""
    if training.size < FEWEST:
        return
    folds = _assigned(training, FOLDS, "choice")
    for number in range(ROUNDS):
        learning = {language: fold != number for language, fold in folds.items()}
        for rows in learning.values():
            if not rows.any():  # a language of which nothing would be left stays whole
                rows[:] = True
        if any((~rows).any() for rows in learning.values()):
            yield learning


def _assigned(training: TrainingSet, k: int, purpose: str) -> dict[str, Any]:
    return {
        language: assign_folds(
            k, size, training.seed, purpose, language=language, groups=training.groups[language]
        )
        for language, size in training.sizes.items()
    }


class Round:
    """One split: views fitted on one side, as they are asked for, and what they say of both."""

    def __init__(self, design: Design, training: TrainingSet, learning: Mapping[str, Rows]) -> None:
        self.design = replace(design, verbose=0, resources=replace(design.resources, verbose=0))
        self.training = training.select(learning)
        self.held_out = training.select({language: ~rows for language, rows in learning.items()})
        self.vectorizers: dict[str, Any] | None = None
        vectors = self.training.documents
        if training.texts:
            self.vectorizers, vectors = fit_own(self.training.documents, design.vectorizer)
        self.training.vectors = vectors
        self._posteriors: dict[str, Any] = {}
        self._held_out_posteriors: dict[str, dict[str, Floats]] = {}

    def measure(self, candidate: Candidate) -> Iterator[tuple[float | None, dict[str, float]]]:
        """The measures of a candidate for each C that is tried; None is that of an estimator."""
        for view in candidate.views:
            self._fit(view)
        design = candidate.applied_to(self.design)
        posteriors = {view: self._posteriors[view] for view in candidate.views}
        combination = Combination.fit(design, self.training.targets, posteriors)
        learning = [
            combination.points({view: each[tag].training for view, each in posteriors.items() if tag in each})
            for tag in self.training.targets
        ]
        held_out = {view: self._held_out_posteriors[view] for view in candidate.views}
        asking = np.vstack([combination.points_in(tag, held_out) for tag in self.held_out.targets])
        targets = self.training.stacked_targets()
        learner = design.meta_learner(int(targets.any(axis=0).sum()), self.training)
        problem = learner.problem(np.asfortranarray(np.vstack(learning)), targets)
        fits: Sequence[Any]
        if isinstance(problem, Problem) and problem.learner.C is None:
            fits = problem.path()
        else:
            fits = [problem.fit_whole()]
        for fit in fits:
            decided = decide(fit.scorer().scores(asking), self.training.exclusive)
            yield getattr(fit, "C", None), mean_measures(self.held_out.targets, decided)

    def _fit(self, view: str) -> None:
        """Fit a view, if it is not yet: what it says of the documents learned from, and of those held out."""
        if view in self._posteriors:
            return
        views, posteriors = fit_views(
            replace(self.design, views=named_views([view])), self.training, self.vectorizers
        )
        self._posteriors[view] = posteriors[view]
        self._held_out_posteriors[view] = {
            language: views.posteriors(language, documents)[view]
            for language, documents in self.held_out.documents.items()
            if language in posteriors[view]
        }
