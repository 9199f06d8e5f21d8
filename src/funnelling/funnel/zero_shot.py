"""Languages without training documents: their space and their tier 2; and what tier 2 learns from.

The paper adds one base classifier in a space that all languages share, and feeds its posteriors to tier 2
along with those of the languages' own classifiers: `fit_joint`. It suspects that the two kinds interfere, for
languages with training documents do not gain from each other there. `fit_zero_shot` gives each kind a
meta-classifier of its own: languages with training documents get what they get without it, to the bit.

The folds of its shared classifiers are languages instead of documents. Sigmoids are fitted to scores of
languages that the classifier had not seen, which is what it will be asked about, and C is chosen by them.
"""

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from funnelling.funnel.combination import Combination
from funnelling.funnel.design import FunnelConfig
from funnelling.funnel.fitted import Funnel
from funnelling.funnel.inheritance import KeptPosteriors
from funnelling.funnel.tier_one import MetaSample, Posteriors
from funnelling.funnel.tier_two import TierTwoFit, fit_tier_two
from funnelling.funnel.views import (
    DENSE_C,
    SharedView,
    fit_shared_view,
    fit_views,
    usable_languages,
    views_serve,
)
from funnelling.matrices import Folds, Targets, by_language, sizes_of
from funnelling.methods.training_set import INNER_FOLDS, TrainingSet
from funnelling.randomness import stream
from funnelling.runtime.progress import progress_bar
from funnelling.spaces import Space
from funnelling.spaces.embedded import EmbeddedSpace
from funnelling.spaces.reference import CLESASpace
from funnelling.spaces.registry import OWN, SHARED, make_space
from funnelling.svm.kernels import amount, check_solution_size, gram_bytes, largest_gram
from funnelling.text.languages import primary


def fit_zero_shot(design: FunnelConfig, training: TrainingSet) -> tuple[SharedView, TierTwoFit]:
    """Both tiers for languages without training documents, over a space that all languages share."""
    design = replace(design, combine="mean")  # there is one view, whose posteriors are tier 2's points
    space, shared = _space_and_documents(design, training)
    folds = language_folds(shared)
    view, posteriors = _fit_shared_tier(design, space, shared, folds)
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
    space, seen = _space_and_documents(design, training)
    view, shared = _fit_shared_tier(design, space, seen, seen.stacked_folds())
    taught = training if meta_sample is None else training.select(meta_sample)
    points = {tag: posteriors[OWN][tag] for tag in taught.targets}
    twice = {f"{SHARED} {tag}": tag for tag in seen.targets if tag in taught.targets}
    points |= {name: shared[tag].of_meta_sample(meta_sample, tag) for name, tag in twice.items()}
    both = replace(
        taught,
        targets=taught.targets | {name: taught.targets[tag] for name, tag in twice.items()},
        folds=taught.folds | {name: taught.folds[tag] for name, tag in twice.items()},
    )
    fit = fit_tier_two(design, both, Posteriors.stacked(list(points.values())), both.stacked_folds())
    tier_two = replace(fit.tier, held_out={tag: fit.tier.held_out[tag] for tag in taught.targets})
    funnel = Funnel(views, Combination("mean", normalise=False), tier_two)
    scores = {tag: fit.scores[tag] for tag in taught.targets}
    # Each document has two solutions, and none is kept.
    return funnel, view, KeptPosteriors.of_fit(posteriors, TierTwoFit(tier_two, scores, {}))


def _space_and_documents(design: FunnelConfig, training: TrainingSet) -> tuple[Space, TrainingSet]:
    """The shared space, not yet fitted, and the documents that can be brought into it."""
    space = unseen_space(design, training.seed)
    return space, training.only(usable_languages(f"zero_shot={design.zero_shot!r}", space, training))


def _fit_shared_tier(
    design: FunnelConfig, space: Space, training: TrainingSet, folds: Folds
) -> tuple[SharedView, dict[str, Posteriors]]:
    """Base classifiers over the shared space, and their posteriors of the training documents."""
    learner = design.base_svm()
    total = learner.problems_solved(training.columns, len(np.unique(folds)))
    kfcv = design.kfcv_folds(training)
    with progress_bar("shared tier 1", total, design.shows_progress, "problems") as advance:
        return fit_shared_view(
            space,
            training,
            learner.reporting(advance),
            folds,
            design.calibration,
            None if kfcv is None else np.concatenate(list(kfcv.values())),
            design.base_C if design.zero_shot_joint else DENSE_C,
        )


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


MAX_META_DOCUMENTS = 20_000  # where a kernel matrix of all documents would pass the memory limit
N_FIRST_POSITIVES = 20  # of a label, which are taken first

logger = logging.getLogger(__name__)


def sample_meta_documents(design: FunnelConfig, training: TrainingSet) -> MetaSample | None:
    """The documents that teach tier 2, None for all; refused where even those would not fit into memory.

    Asked before tier 1, which may take hours.
    """
    if design.meta_estimator is not None:
        return None
    vectors = 2 if design.zero_shot_joint else 1
    meta_sample = draw_meta_sample(training.targets, training.seed, design.memory_limit, vectors)
    number = training.size if meta_sample is None else sum(int(rows.sum()) for rows in meta_sample.values())
    check_solution_size(vectors * number, training.columns, INNER_FOLDS + 1, design.memory_limit, "tier 2")
    if meta_sample is not None:
        logger.warning(
            "Tier 2 learns from %s of %s documents, for a kernel matrix of all would pass the "
            "memory_limit of %s.",
            f"{number:,}",
            f"{training.size:,}",
            amount(design.memory_limit),
        )
    return meta_sample


def draw_meta_sample(
    targets: Mapping[str, Targets], seed: int, memory_limit: float, vectors: int = 1
) -> MetaSample | None:
    """The documents that tier 2 learns from: None means all, as in the paper, while their kernel matrix fits.

    ``vectors`` is how many of each document it learns from.

    Past that a sample teaches it: languages by their share, and rare labels before all others. With many
    documents tier 1 decides how good a model is, and an exact fit on a sample beats an approximate one
    on all of them, in quality and in time.
    """
    documents = sum(map(len, targets.values()))
    if gram_bytes(vectors * documents) <= memory_limit:
        return None
    size = min(MAX_META_DOCUMENTS, largest_gram(memory_limit)) // vectors
    turns = {
        language: (stream(seed, "tier 2", language).permutation(len(rows)) + 0.5) / max(len(rows), 1)
        for language, rows in targets.items()
    }
    turn, labels = np.concatenate(list(turns.values())), np.vstack(list(targets.values()))
    order = np.argsort(turn, kind="stable")
    first = max(1, min(N_FIRST_POSITIVES, size // (2 * labels.shape[1])))
    rare = labels[order] & (np.cumsum(labels[order], axis=0) <= first)
    preferred = np.argsort(~rare.any(axis=1), kind="stable")
    chosen = np.zeros(documents, dtype=bool)
    chosen[order[preferred[:size]]] = True
    return by_language(chosen, sizes_of(targets))
