"""The funnel as an algorithm: documents and parameters in, a fitted tree out."""

import logging
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

from funnelling.errors import InputError
from funnelling.funnel.choice import Choice
from funnelling.funnel.choosing import MAX_DOCUMENTS, choose
from funnelling.funnel.combination import Combination
from funnelling.funnel.design import AUTO, FunnelConfig, FunnelParameters, is_auto
from funnelling.funnel.fitted import FittedFunnel, Funnel, ZeroShot
from funnelling.funnel.inheritance import WarmStart
from funnelling.funnel.tier_one import MetaSample, ViewPosteriors
from funnelling.funnel.tier_two import (
    TIER_TWO,
    KeptPosteriors,
    fit_tier_two,
    refit_tier_two,
    sample_meta_documents,
    tier_two_meta_features,
)
from funnelling.funnel.views import FittedViews, fit_views
from funnelling.funnel.zero_shot import fit_joint, fit_zero_shot, would_serve
from funnelling.methods.algorithm import NOTHING, Algorithm
from funnelling.methods.svms import own_vectors
from funnelling.methods.training_set import TrainingSet
from funnelling.spaces import OWN, check_views, make_space, named_views
from funnelling.spaces.words import PooledSpace
from funnelling.text.counts import counted_once, forget_counts
from funnelling.text.tfidf import TfidfVectorizer

logger = logging.getLogger(__name__)


class FunnelLearning(Algorithm[FunnelParameters]):
    """Both tiers, over views that are given or chosen first."""

    fitted = FittedFunnel

    built_of = ("views", "final_estimator", "combine", "normalise", "zero_shot", "zero_shot_joint")
    tuned_by = ("thresholds",)

    def vectors(
        self, parameters: FunnelParameters, training: TrainingSet
    ) -> tuple[dict[str, Any] | None, dict[str, Any]]:
        """Vectors in each language's own words, where a view looks at them or may be chosen to."""
        design = _design(parameters, chosen_by(training))
        if training.texts and OWN not in design.views:
            return {}, dict.fromkeys(training.documents)
        return own_vectors(parameters, training)

    def fit(self, parameters: FunnelParameters, training: TrainingSet) -> FittedFunnel:
        """Choose views, where that is asked for, and fit both tiers over them."""
        _check_suits(parameters, training)
        inherited = WarmStart.of(training.previous)
        roughness = 0.0 if inherited is None else inherited.roughness
        asked = replace(FunnelConfig.of(parameters), roughness=roughness)
        meta_sample = sample_meta_documents(asked, training)
        choice, design = self._chosen(parameters, asked, training)
        # Own words that are not among the views were there to be tried.
        vectorizers = {} if training.made_by is not None and OWN not in design.views else training.made_by
        unseen: ZeroShot | None = None
        if parameters.zero_shot_joint:
            funnel, view, kept = fit_joint(design, training, vectorizers, meta_sample)
            unseen = ZeroShot(view, None)
        else:
            views, posteriors = fit_views(design, training, vectorizers, meta_sample, inherited)
            design.resources.begun.clear()  # tier 2 needs the memory
            funnel, kept = fit_over_views(design, training, views, posteriors, meta_sample, inherited)
            if parameters.zero_shot is not None:
                view, fit = fit_zero_shot(asked, training)
                unseen = ZeroShot(view, replace(fit.tier, held_out={}))
                kept = replace(kept, zero_shot_scores=fit.scores)
        if design.resources.encodings is not None:
            design.resources.encodings.clear()  # the encoder's space still has them at hand
        keeps = parameters.keep != NOTHING and meta_sample is None
        return FittedFunnel(funnel, list(training.targets), unseen, choice, kept if keeps else None)

    def _chosen(
        self, parameters: FunnelParameters, asked: FunnelConfig, training: TrainingSet
    ) -> tuple[Choice | None, FunnelConfig]:
        """The choice of views, if there is one, and the design that follows."""
        if not is_auto(parameters.views):
            for name in ("embeddings", "encoder") if parameters.views is not None else ():
                if getattr(asked.resources, name) is not None and name not in asked.views:
                    logger.warning(
                        "No view reads the %s given: add %r to views, or leave it out.", name, name
                    )
            return None, asked
        choice = chosen_by(training)
        if choice is not None:
            return choice, choice.applied_to(asked)
        choice = choose(asked, training)
        design = choice.applied_to(asked)
        # What views share is made while counts of texts are kept; kernel matrices need that memory later.
        if training.texts and not {"mixed", "own-mixed"}.isdisjoint(design.views):
            make_space("mixed", design.resources, training.seed).fit(training.documents, training.targets)
        forget_counts()
        return choice, design

    def usable(
        self, parameters: FunnelParameters, languages: Sequence[str], chosen: Choice | None = None
    ) -> list[str]:
        """Those that a view sees."""
        parameters.check()
        return _design(parameters, chosen).visible_languages(languages)

    def serves_unseen(self, parameters: FunnelParameters, language: str) -> bool:
        if parameters.views is None and parameters.zero_shot is None:
            return False
        parameters.check()
        return would_serve(FunnelConfig.of(parameters), language)

    def learns_own_words(self, parameters: FunnelParameters) -> bool:
        own = parameters.views is None or is_auto(parameters.views)
        return parameters.vectorizer is None and own and parameters.zero_shot is None

    def check_built(self, parameters: FunnelParameters) -> None:
        if parameters.views is not None and not is_auto(parameters.views):
            check_views(parameters.views)

    def languages_at_once(self, parameters: FunnelParameters, chosen: Choice | None = None) -> int | None:
        """As many as there are threads; an encoder and what is not ours take one after the other."""
        ours = parameters.base_estimator is None and isinstance(parameters.final_estimator, str)
        return parameters.n_jobs if ours and not self.reads_in_order(parameters, chosen) else 1

    def counting(self, parameters: FunnelParameters, training: TrainingSet) -> AbstractContextManager[None]:
        """Counts of texts that a choice of views needs again and again."""
        chooses = training.texts and is_auto(parameters.views)
        return (
            counted_once(training.documents) if chooses and training.size <= MAX_DOCUMENTS else nullcontext()
        )

    def reads_in_order(self, parameters: FunnelParameters, chosen: Choice | None = None) -> str | None:
        given = [OWN] if parameters.views is None or is_auto(parameters.views) else parameters.views
        views = named_views(given if chosen is None else chosen.views)
        if "encoder" in views:
            return "An encoder"
        foreign = [
            name for name, view in views.items() if not isinstance(view, str | PooledSpace | TfidfVectorizer)
        ]
        return f"The view {foreign[0]!r}" if foreign else super().reads_in_order(parameters)


FUNNEL = FunnelLearning(name="funnelling", parameters=FunnelParameters)


def chosen_by(training: TrainingSet) -> Choice | None:
    """The views that were chosen for the model that is updated."""
    choice: Choice | None = None if training.previous is None else training.previous.model.fitted.chosen
    return choice


def _design(parameters: FunnelParameters, choice: Choice | None) -> FunnelConfig:
    """What parameters ask for, with what was chosen where the views are to be."""
    asked = FunnelConfig.of(parameters)
    return asked if choice is None or not is_auto(parameters.views) else choice.applied_to(asked)


def _check_suits(parameters: FunnelParameters, training: TrainingSet) -> None:
    """Refuse parameters that do not suit the documents."""
    if not training.labels.has_thresholds and parameters.thresholds not in (AUTO, None):
        raise InputError(
            "thresholds are for several labels per document, and here each document has one. Leave it out."
        )
    if parameters.zero_shot is not None and not training.texts:
        raise InputError(
            "zero_shot needs texts, for vectors of a new language would mean nothing. Leave it out."
        )


def fit_over_views(
    design: FunnelConfig,
    training: TrainingSet,
    views: FittedViews,
    posteriors: ViewPosteriors,
    meta_sample: MetaSample | None,
    inherited: WarmStart | None,
) -> tuple[Funnel, KeptPosteriors]:
    """Fit tier 2 over views that are fitted, and say what it makes of the documents."""
    taught = training if meta_sample is None else training.select(meta_sample)
    combination, points = Combination.fit(design, taught.targets, posteriors, taught.labels, taught.folds)
    supervised = any(view.space.supervised for view in views.shared.values())
    small = inherited if inherited is not None and inherited.is_small else None
    if meta_sample is not None or supervised or design.variant != "tat":
        small = None
    if small is not None and design.combine != "odds" and design.meta_estimator is None:
        held_out = small.held_out_scores(training, design.run)
        C, start = small.previous.model.fitted.final_c, small.start(TIER_TWO, list(training.targets))
        fit = refit_tier_two(design, taught, tier_two_meta_features(design, points), C, start, held_out)
    else:
        fit = fit_tier_two(design, taught, points, taught.stacked_folds())
    kept = KeptPosteriors.of_fit(posteriors, fit, 0 if small is None else small.changed)
    return Funnel(views, combination, fit.tier), kept
