"""A whole funnel, fitted: views, their combination, tier 2, and how documents pass through all of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from funnelling.funnel.archive import FunnelArchive
from funnelling.funnel.design import Design
from funnelling.funnel.inheritance import NOTHING, Inheritance
from funnelling.funnel.tier_one import Posteriors, Teachers, ViewPosteriors
from funnelling.funnel.tier_two import TierTwo, fit_tier_two, refit_tier_two, tier_two_points
from funnelling.funnel.views.combination import Combination
from funnelling.funnel.views.fitting import FittedViews, fit_views
from funnelling.matrices import Floats, Scored, evident_rows
from funnelling.methods.explanation import Evidence, TierTwoEvidence, WordEvidence
from funnelling.methods.training_set import TrainingSet
from funnelling.svm import LinearScorer
from funnelling.svm.scorers import SelectedScorer, Selection, alone


@dataclass(frozen=True)
class FittedFunnel:
    """Both tiers, and an archive of the training documents unless the funnel is compact."""

    views: FittedViews
    combination: Combination
    tier_two: TierTwo
    archive: FunnelArchive | None = None

    def check_funnel(
        self, languages: Sequence[str], features: Mapping[str, int], columns: int, exclusive: bool
    ) -> int:
        """Refuse a state that could not label documents in these languages; how many labels tier 1 has."""
        labels = self.views.check_views(languages, features, self.combination.how)
        point = self.combination.check_combination(self.views.names, labels)
        self.tier_two.check_tier(point, labels, columns, exclusive)
        return labels

    def scores(self, language: str, documents: Any) -> Scored:
        """Scores of one language's documents, which pass tier 1, then tier 2.

        A document is evident if any view knows something in it.
        """
        return self.scores_and_posteriors(language, documents)[0]

    def scores_and_posteriors(self, language: str, documents: Any) -> tuple[Scored, dict[str, Floats]]:
        """What tier 2 says of one language's documents, and what each view said of them in tier 1."""
        posteriors, evident = self.views.posteriors_and_evidence(language, documents)
        points = self.combination.points(language, posteriors)
        scorer = self.tier_two.scorer
        scored = Scored(scorer.scores(points), evident)
        if isinstance(scorer, SelectedScorer):
            posteriors = {view: scorer.selection.of_posteriors(each) for view, each in posteriors.items()}
        return scored, posteriors

    def evidence(self, language: str, documents: Any) -> Evidence:
        """Scores of one language's documents, and what each tier makes of them on the way."""
        tiers = self.views.tiers(language)
        vectors = {view: self.views.vectors(view, language, documents) for view in tiers}
        evident = np.logical_or.reduce([evident_rows(documents, X) for X in vectors.values()])
        posteriors = {view: tier.posteriors(vectors[view]) for view, tier in tiers.items()}
        points = self.combination.points(language, posteriors)
        texts = documents if isinstance(documents, list) else None
        shares = self.combination.shares(list(tiers))

        scorer = self.tier_two.scorer
        selection = scorer.selection if isinstance(scorer, SelectedScorer) else None
        words = {
            view: WordEvidence(
                linear,
                self.views.feature_names(view, language),
                vectors[view],
                _selected(selection, tier.scorer.scores(vectors[view])),
                posteriors[view] if selection is None else selection.of_posteriors(posteriors[view]),
                partial(self.views.places, view, language),
                shares[view],
            )
            for view, tier in tiers.items()
            if isinstance(linear := alone(tier.scorer, selection), LinearScorer)
        }
        classes: list[int | None] | None = None
        if selection is not None:
            classes = [None] * next(iter(posteriors.values())).shape[1]
            for place, column in enumerate(selection.columns.tolist()):
                classes[column] = place
        above = TierTwoEvidence(points, alone(scorer), list(tiers), self._neighbours, classes)
        return Evidence(scorer.scores(points), evident, words, above, texts)

    @cached_property
    def _training_points(self) -> dict[str, Floats]:
        assert self.archive is not None
        posteriors = self.archive.training
        languages = self.archive.targets if posteriors else ()
        return {language: self.combination.points_in(language, posteriors) for language in languages}

    def _neighbours(self, point: Floats, names: Sequence[str]) -> list[dict[str, Any]]:
        if self.archive is None:
            return []
        return self.archive.nearest(point, self._training_points, names)


def _selected(selection: Selection | None, scores: Floats) -> Floats:
    selected: Floats = scores if selection is None else selection.of(scores)
    return selected


def fit_funnel(
    design: Design,
    training: TrainingSet,
    vectorizers: Mapping[str, Any] | None,
    teachers: Teachers | None,
    inherited: Inheritance = NOTHING,
) -> FittedFunnel:
    """Fit both tiers; ``vectorizers`` made the own vectors, ``teachers`` are the documents of tier 2."""
    views, posteriors = fit_views(design, training, vectorizers, teachers, inherited)
    design.resources.begun.clear()  # tier 2 needs the memory
    return fit_over_views(design, training, views, posteriors, teachers, inherited)


def fit_over_views(
    design: Design,
    training: TrainingSet,
    views: FittedViews,
    posteriors: ViewPosteriors,
    teachers: Teachers | None,
    inherited: Inheritance = NOTHING,
) -> FittedFunnel:
    """Fit tier 2 over views that are fitted."""
    taught = training if teachers is None else training.select(teachers)
    combination = Combination.fit(design, taught.targets, posteriors, taught.exclusive, taught.folds)
    points = [combination.training_points(posteriors, tag, folds) for tag, folds in taught.folds.items()]
    stacked = Posteriors.stacked(points)
    supervised = any(view.space.supervised for view in views.shared.values())
    small = inherited.is_small and teachers is None and design.variant == "tat" and not supervised
    if small and design.combine != "odds" and design.meta_estimator is None:
        held_out, C = inherited.held_out_scores(training), inherited.meta_C
        start = inherited.start_of_tier_two(training)
        tier_two = refit_tier_two(design, taught, tier_two_points(design, stacked), C, start, held_out)
    else:
        tier_two = fit_tier_two(design, taught, stacked, taught.stacked_folds())
    archive = archived(design, training, posteriors, tier_two, teachers, inherited.changed if small else 0)
    return FittedFunnel(views, combination, tier_two, archive)


def archived(
    design: Design,
    training: TrainingSet,
    posteriors: ViewPosteriors,
    tier_two: TierTwo,
    teachers: Teachers | None,
    changed: int = 0,
) -> FunnelArchive | None:
    """What is kept of a fit; where a sample taught tier 2, the documents alone."""
    if design.compact:
        return None
    if teachers is not None:
        return FunnelArchive.of(training, design.keep_texts)
    return FunnelArchive.of_fit(training, design.keep_texts, posteriors, tier_two, changed)
