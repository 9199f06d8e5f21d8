"""Languages without training documents: the space they are served through, and the folds that mimic them.

The paper adds one base classifier in a space that all languages share, and feeds its posteriors to tier 2
along with those of the languages' own classifiers. It saw the two kinds interfere: languages with training
documents no longer gained from each other. Here each kind has a meta-classifier of its own, so nothing is
left of that: languages with training documents get what they get without it, to the bit.

The shared classifiers' folds are languages instead of documents. Sigmoids are fitted to scores of languages
that the classifier had not seen, which is what it will be asked about, and C is chosen by them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from funnelling.funnel.design import Design, views_suffice
from funnelling.funnel.tier_one import Posteriors
from funnelling.funnel.tier_two import TierTwo, fit_tier_two
from funnelling.funnel.views.fitting import usable_languages
from funnelling.funnel.views.shared import SharedView, fit_shared_view
from funnelling.matrices import Folds
from funnelling.method.training_set import TrainingSet
from funnelling.spaces import Space
from funnelling.spaces.base import Resources
from funnelling.spaces.clesa import CLESASpace
from funnelling.spaces.registry import OWN, make_space
from funnelling.text.languages import primary
from funnelling.work.progress import progress_bar

SPACES = ("auto", "pooled", "embeddings", "clesa")


def fit_zero_shot(design: Design, training: TrainingSet) -> tuple[SharedView, TierTwo]:
    """Both tiers for languages without training documents, over a space that all languages share."""
    name = str(design.zero_shot)
    design = replace(design, combine="mean")  # there is one view, whose posteriors are tier 2's points
    space = unseen_space(name, design.resources, training.seed)
    shared = training.only(usable_languages(f"zero_shot={name!r}", space, training))
    learner = design.base_svm()
    folds = language_folds(shared)
    total = learner.problems_solved(training.labels, len(np.unique(folds)))
    with progress_bar("shared tier 1", total, design.shows_progress, "problems") as advance:
        view, posteriors = fit_shared_view(
            space, shared, learner.reporting(advance), folds, design.calibration
        )
    points = Posteriors.stacked(list(posteriors.values()))
    return view, fit_tier_two(design, shared, points, folds, "shared tier 2")


def unseen_space(name: str, resources: Resources, seed: int = 0) -> Space:
    """The shared space of a name; "auto" is embeddings where those are given, else the pooled vocabulary."""
    if name == "clesa":
        return CLESASpace(resources.reference, random_state=seed, verbose=resources.verbose)
    if name == "auto":
        name = "pooled" if resources.embeddings is None else "embeddings"
    return make_space(name, resources, seed)


def language_folds(training: TrainingSet) -> Folds:
    """One fold per language, its regional variants with it; those of documents where there is only one."""
    languages = [primary(language) for language in training.targets]
    if len(set(languages)) < 2:
        return training.stacked_folds()
    numbers = {language: number for number, language in enumerate(sorted(set(languages)))}
    return np.repeat([numbers[language] for language in languages], list(training.sizes.values()))


def views_serve(
    combine: str, names: Iterable[str], shared: Mapping[str, SharedView | Space], language: str
) -> bool:
    """Whether views of these names are enough for a language that was not learned; own words never are."""
    return views_suffice(combine, [name != OWN and shared[name].serves(language) for name in names])


def would_serve(design: Design, language: str) -> bool:
    """Whether a funnel of this design could label documents in a language without training documents."""
    if design.zero_shot is not None:
        return unseen_space(design.zero_shot, design.resources).serves(language)
    shared = {name: make_space(view, design.resources) for name, view in design.views.items() if name != OWN}
    return views_serve(design.combine, design.views, shared, language)
