"""Languages without training documents: their space and their tier 2.

The paper adds one base classifier in a space that all languages share, and feeds its posteriors to tier 2
along with those of the languages' own classifiers: `fit_joint`. It suspects that the two kinds interfere, for
languages with training documents do not gain from each other there. `fit_zero_shot` gives each kind a
meta-classifier of its own: languages with training documents get what they get without it, to the bit.

The folds of its shared classifiers are languages instead of documents. Sigmoids are fitted to scores of
languages that the classifier had not seen, which is what it will be asked about, and C is chosen by them.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from funnelling.funnel.combination import Combination
from funnelling.funnel.design import FunnelConfig
from funnelling.funnel.fitted import Funnel
from funnelling.funnel.tier_one import MetaSample, Posteriors
from funnelling.funnel.tier_two import KeptPosteriors, TierTwoFit, fit_tier_two
from funnelling.funnel.views import (
    DENSE_C,
    SharedView,
    fit_shared_view,
    fit_views,
    usable_languages,
    views_serve,
)
from funnelling.matrices import Folds
from funnelling.methods.training_set import TrainingSet
from funnelling.spaces import OWN, SHARED, Space, make_space
from funnelling.spaces.embedded import EmbeddedSpace
from funnelling.spaces.reference import CLESASpace
from funnelling.text.languages import primary


def fit_zero_shot(design: FunnelConfig, training: TrainingSet) -> tuple[SharedView, TierTwoFit]:
    """Both tiers for languages without training documents, over a space that all languages share."""
    design = replace(design, combine="mean")  # there is one view, whose posteriors are tier 2's points
    shared, folds, view, posteriors = _fit_shared_tier(design, training, language_folds)
    points = Posteriors.stacked(list(posteriors.values()))
    return view, fit_tier_two(design, shared, points, folds, "shared tier 2")


def fit_joint(
    design: FunnelConfig,
    training: TrainingSet,
    vectorizers: Mapping[str, Any] | None,
    meta_sample: MetaSample | None,
) -> tuple[Funnel, SharedView, KeptPosteriors]:
    """The paper's Fun-MLE: one tier 2 that learns from two vectors of posteriors for every document.

    One is from the classifiers of its language, the other from the shared ones, which have the same C and are
    calibrated on the same folds of documents. Both vectors are in the same fold when tier 2's C is chosen.
    """
    views, posteriors = fit_views(design, training, vectorizers, meta_sample)
    seen, _, view, shared = _fit_shared_tier(design, training, TrainingSet.stacked_folds)
    taught = training if meta_sample is None else training.select(meta_sample)
    points = {tag: posteriors[OWN][tag] for tag in taught.targets}
    twice = {f"{SHARED} {tag}": tag for tag in seen.targets if tag in taught.targets}
    points |= {name: shared[tag].of_meta_sample(meta_sample, tag) for name, tag in twice.items()}
    both = replace(
        taught,
        blocks=taught.blocks | {name: taught.blocks[tag] for name, tag in twice.items()},
        dealt={**taught.folds, **{name: taught.folds[tag] for name, tag in twice.items()}},
    )
    fit = fit_tier_two(design, both, Posteriors.stacked(list(points.values())), both.stacked_folds())
    tier_two = replace(fit.tier, held_out={tag: fit.tier.held_out[tag] for tag in taught.targets})
    funnel = Funnel(views, Combination("mean", normalise=False), tier_two)
    scores = {tag: fit.scores[tag] for tag in taught.targets}
    # Each document has two solutions, and none is kept.
    return funnel, view, KeptPosteriors.of_fit(posteriors, TierTwoFit(tier_two, scores, {}))


def _fit_shared_tier(
    design: FunnelConfig, training: TrainingSet, folds_of: Callable[[TrainingSet], Folds]
) -> tuple[TrainingSet, Folds, SharedView, dict[str, Posteriors]]:
    """The shared space and its base classifiers, their posteriors, and the documents it can be fitted on."""
    space = unseen_space(design, training.seed)
    training = training.only(usable_languages(f"zero_shot={design.zero_shot!r}", space, training))
    folds, dense_C = folds_of(training), design.base_C if design.zero_shot_joint else DENSE_C
    learner = design.base_svm()
    fitted = fit_shared_view(design, space, training, learner, folds, "shared tier 1", dense_C)
    return training, folds, *fitted


def unseen_space(design: FunnelConfig, seed: int = 0) -> Space:
    """The shared space that a design asks for, not yet fitted.

    "auto" is embeddings where those are given (with one tier 2 for both kinds of posteriors, as the paper has
    them: MLE's), else the pooled vocabulary.
    """
    name, resources = str(design.zero_shot), design.resources
    if name == "auto":
        embedded = "mle" if design.zero_shot_joint else "embeddings"
        name = "pooled" if resources.embeddings is None else embedded
    if name == "clesa":
        return CLESASpace(resources.reference, random_state=seed, verbose=resources.verbose)
    if name == "mle":
        return EmbeddedSpace(resources.embeddings, resources.reference, verbose=resources.verbose)
    return make_space(name, resources, seed)


def language_folds(training: TrainingSet) -> Folds:
    """One fold per language, its regional variants with it; those of documents where there is only one."""
    languages = [primary(language) for language in training.targets]
    if len(set(languages)) < 2:
        return training.stacked_folds()
    numbers = {language: number for number, language in enumerate(sorted(set(languages)))}
    return np.repeat([numbers[language] for language in languages], list(training.sizes.values()))


def would_serve(design: FunnelConfig, language: str) -> bool:
    """Whether a funnel of this design could label documents in a language without training documents."""
    if design.zero_shot is not None:
        return unseen_space(design).serves(language)
    shared = {name: make_space(view, design.resources) for name, view in design.views.items() if name != OWN}
    return views_serve(design.combine, design.views, shared, language)
