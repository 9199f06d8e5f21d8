"""The views of tier 1, own and shared: how they are fitted, and how documents pass through them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from funnelling.errors import InputError
from funnelling.funnel.design import FunnelConfig, Learner, views_suffice
from funnelling.funnel.inheritance import WARM_START_TOL, WarmStart
from funnelling.funnel.tier_one import (
    BoundLearner,
    FitOnFolds,
    MetaSample,
    Posteriors,
    TierOne,
    ViewPosteriors,
    fit_own_words,
    fit_tier_one,
    kfcv_folds,
)
from funnelling.matrices import (
    Floats,
    Folds,
    Matrix,
    Rows,
    Targets,
    check_vectors,
    in_vocabulary_rows,
    is_sparse,
    length,
    stacked,
)
from funnelling.methods.svms import scores_after_learning
from funnelling.methods.training_set import TrainingSet
from funnelling.plain import clone
from funnelling.runtime.progress import progress_bar
from funnelling.runtime.spread import for_threads, is_local
from funnelling.runtime.threads import map_threads
from funnelling.spaces import OWN, AnySpace, Space, make_space
from funnelling.state import empty_row, expect
from funnelling.svm import SVM, CSetting, Scorer
from funnelling.svm.calibration import REJECTED
from funnelling.svm.learner import Problem as SVMProblem
from funnelling.text.characters import Vectorizer
from funnelling.text.tfidf import FeatureSpans, check_vectorizer, feature_names, feature_places

# C of base classifiers under an RBF kernel, where 1 is too small; like other base classifiers' it is not
# searched for. The best of 1, 10 and 100 over embeddings, on training documents of the Debian corpus.
DENSE_C = 10.0


@dataclass(frozen=True)
class SharedView:
    """A space, and one set of base classifiers in it, which learned from some ``languages``."""

    space: AnySpace
    tier: TierOne
    languages: list[str]

    def serves(self, language: str) -> bool:
        """Whether documents in a language can be seen."""
        return language in self.languages or self.space.serves(language)

    def check_view(self, features: int | None) -> int:
        """Refuse a state that could not see documents; how many labels there are."""
        return self.tier.check_tier(self.space.check_space(self.languages, features))


def fit_shared_view(
    design: FunnelConfig,
    space: Space,
    training: TrainingSet,
    learner: Learner,
    folds: Folds,
    what: str = "tier 1",
    dense_C: CSetting = DENSE_C,
) -> tuple[SharedView, dict[str, Posteriors]]:
    """Fit a space and its base classifiers, and give their posteriors of each language's documents.

    A space that learns from labels is fitted again without each fold: held-out posteriors owe nothing to
    the labels of their documents. Progress is shown as that of ``what``.
    """
    kfcv = kfcv_folds(design, training)
    all_kfcv = None if kfcv is None else np.concatenate(list(kfcv.values()))
    total = learner.problems_solved(training.columns, len(np.unique(folds)))
    problem: BoundLearner
    with progress_bar(what, total, bool(design.verbose), "problems") as advance:
        learner = replace(learner, advance=advance)
        if space.supervised:
            problem = RefittedProblem(space, training, learner, dense_C)
        else:
            problem = _problem(space, training, learner, dense_C)
        tier, posteriors = fit_tier_one(problem, folds, design.calibration, all_kfcv, learner.n_jobs)
    return SharedView(space, tier, list(training.targets)), posteriors.by_language(training.sizes)


def _refit_shared_view(
    name: str, space: Space, training: TrainingSet, learner: Learner, inherited: WarmStart
) -> tuple[SharedView, dict[str, Posteriors]] | None:
    """What `fit_shared_view` gives, from a view that is ``inherited`` and few changes; None if it cannot be.

    A label that had no positives, or only those, has no sigmoid to go on with.
    """
    view: SharedView | None = inherited.shared.get(name)
    if view is None or not inherited.is_small or space.supervised or not isinstance(learner, SVM):
        return None
    targets = training.stacked_targets()
    calibration = view.tier.calibration
    told_apart = targets.any(axis=0) & ~targets.all(axis=0)
    start = inherited.start(name, list(training.targets))
    if start is None or (told_apart == calibration.trivial).any():
        return None
    problem = _problem(space, training, learner, DENSE_C)
    if problem.learner.given_c is None:
        return None
    fit = problem.fit_whole(start=start, tolerance=WARM_START_TOL)
    posteriors = Posteriors(
        calibration(fit.scores).astype(np.float32),
        inherited.held_out_posteriors(name, training),
        fit.coefficients,
    )
    tier = TierOne(fit.scorer(), calibration)
    return SharedView(space, tier, list(training.targets)), posteriors.by_language(training.sizes)


def _problem(space: Space, training: TrainingSet, learner: Learner, dense_C: CSetting) -> Any:
    """The learner bound to the vectors of a space, which is fitted first."""
    X = check_vectors(stacked(space.fit(training.documents, training.targets))).astype(np.float32)
    if isinstance(learner, SVM) and not is_sparse(X):
        learner = replace(learner.over_dense(X), C=dense_C)
    return learner.problem(X, training.stacked_targets(), "tier 1")


@dataclass
class RefittedProblem:
    """Documents in a space that learns from labels: to hold some out, the space is fitted without them."""

    space: Space
    training: TrainingSet
    learner: Learner
    dense_C: CSetting

    @property
    def targets(self) -> Targets:
        return self.training.stacked_targets()

    def fit(self, folds: Folds, within: Rows | None = None, start: Any = None) -> "RefittedFit":
        """Fit on all documents, and on all but each fold; see `funnelling.svm.Problem.fit`."""
        everyone = np.ones(len(folds), dtype=bool) if within is None else within
        scores, scorer = self._fit_on(everyone, folds, self.space if within is None else clone(self.space))
        held_out = np.full(scores.shape, REJECTED, dtype=np.float32)  # where there is nothing to learn from
        for fold in np.unique(folds):
            others = everyone & (folds != fold)
            if others.any():
                rows = folds == fold
                held_out[rows] = self._fit_on(others, folds, clone(self.space))[0][rows]
        return RefittedFit(scores, held_out, scorer)

    def _fit_on(self, rows: Rows, folds: Folds, space: Space) -> tuple[Floats, Scorer]:
        """Scores of all documents after learning from some, and what gave them."""

        def fit(space: Space, learning: TrainingSet) -> FitOnFolds:
            problem = _problem(space, learning, self.learner, self.dense_C)
            chooses = isinstance(problem, SVMProblem) and problem.learner.given_c is None
            fitted: FitOnFolds = problem.fit(folds[rows]) if chooses else problem.fit_whole()
            return fitted

        return scores_after_learning(space, self.training, rows, fit)


@dataclass(frozen=True)
class RefittedFit:
    """A fitted `RefittedProblem`, with what tier 1 asks of a fit."""

    scores: Floats
    held_out: Floats
    everything: Scorer

    def scorer(self) -> Scorer:
        return self.everything


@dataclass(frozen=True)
class FittedViews:
    """The base classifiers of each view: ``own`` by language, ``shared`` by view.

    ``names`` has all views in the order in which tier 2 gets them. ``vectorizers`` make each language's own
    vectors; None where documents come as vectors.
    """

    names: Sequence[str]
    own: Mapping[str, TierOne]
    shared: Mapping[str, SharedView]
    vectorizers: Mapping[str, Vectorizer] | None

    def check_views(self, languages: Sequence[str], features: Mapping[str, int], combine: str) -> int:
        """Refuse a state that could not see documents in these languages; how many labels there are.

        ``features`` are the columns of each language's vectors, where documents come as such.
        """

        def example(tag: str) -> Matrix:
            if self.vectorizers is not None:
                return check_vectorizer(self.vectorizers[tag])
            return empty_row(features[tag], dense=True)  # which every classifier takes

        expect(len(set(self.names)) == len(self.names), "the views of a model")
        columns = next(iter(features.values())) if self.vectorizers is None else None
        labels = {tier.check_tier(example(tag)) for tag, tier in self.own.items()}
        labels |= {view.check_view(columns) for view in self.shared.values()}
        expect(len(labels) == 1, "the number of labels")
        expect(all(name == OWN or name in self.shared for name in self.names), "the views of a model")
        for tag in languages:
            seen = self.tiers(tag)
            expect(views_suffice(combine, [name in seen for name in self.names]), "what sees a language")
        return labels.pop()

    def tiers(self, language: str) -> dict[str, TierOne]:
        """The base classifiers that see a language's documents, by view."""
        tiers = {name: view.tier for name, view in self.shared.items() if view.serves(language)}
        if language in self.own:
            tiers[OWN] = self.own[language]
        return {name: tiers[name] for name in self.names if name in tiers}

    def vectors(self, view: str, language: str, documents: Any) -> Matrix:
        """Documents as a view sees them."""
        if view != OWN:
            return self.shared[view].space.vectors(language, documents)
        X: Matrix = documents if self.vectorizers is None else self.vectorizers[language].transform(documents)
        return X

    def feature_names(self, view: str, language: str) -> Sequence[str] | None:
        """What the columns of a view stand for, None where they have no names."""
        if view != OWN:
            return self.shared[view].space.feature_names()
        return feature_names((self.vectorizers or {}).get(language))

    def places(self, view: str, language: str, text: str) -> FeatureSpans | None:
        """Where a text has the features that a view sees, None where they stand nowhere in particular."""
        if view != OWN:
            return self.shared[view].space.places(language, text)
        return feature_places((self.vectorizers or {}).get(language), text)

    def posteriors_in(self, view: str, documents: Mapping[str, Any]) -> dict[str, Floats]:
        """One view's posteriors of documents in several languages that it sees."""
        if view == OWN:
            return {
                tag: self.own[tag].posteriors(self.vectors(OWN, tag, each)) for tag, each in documents.items()
            }
        shared = self.shared[view]
        return {tag: shared.tier.posteriors(X) for tag, X in shared.space.all_vectors(documents).items()}

    def posteriors_and_evidence(self, language: str, documents: Any) -> tuple[dict[str, Floats], Rows]:
        """Each view's posteriors of documents, and which documents are in the vocabulary of any view."""
        posteriors: dict[str, Floats] = {}
        evident = np.zeros(length(documents), dtype=bool)
        for view, tier in self.tiers(language).items():
            X = self.vectors(view, language, documents)
            posteriors[view] = tier.posteriors(X)
            evident |= in_vocabulary_rows(documents, X)
        return posteriors, evident


def fit_views(
    design: FunnelConfig,
    training: TrainingSet,
    vectorizers: Mapping[str, Any] | None,
    meta_sample: MetaSample | None = None,
    inherited: WarmStart | None = None,
) -> tuple[FittedViews, ViewPosteriors]:
    """Fit the base classifiers of each view, and give their posteriors of the meta sample.

    ``vectorizers`` made the training documents' own vectors. The fit takes what it can of what is
    ``inherited``.
    """
    own: dict[str, TierOne] = {}

    def fit(k: int) -> tuple[SharedView | None, Mapping[str, Posteriors]]:
        name = list(design.views)[k]
        if name != OWN:
            view, posteriors = _fit_shared(design, name, training, inherited)
            return view, {tag: each.of_meta_sample(meta_sample, tag) for tag, each in posteriors.items()}
        languages = list(training.targets)
        known = {} if inherited is None else inherited.own_words(languages)
        others = training.only([tag for tag in languages if tag not in known])
        fits = fit_own_words(design, others, meta_sample)
        fits |= {tag: (tier, each.of_meta_sample(meta_sample, tag)) for tag, (tier, each) in known.items()}
        own.update({tag: fits[tag][0] for tag in languages})
        return None, {tag: fits[tag][1] for tag in languages}

    # Here each view has all cores for its labels; on a cluster they go side by side.
    at_once = 1 if is_local() else len(design.views)
    results = map_threads(for_threads(fit), len(design.views), at_once)
    fits = dict(zip(design.views, results, strict=True))
    shared = {name: view for name, (view, _) in fits.items() if view is not None}
    views = FittedViews(list(design.views), own, shared, vectorizers)
    return views, {name: posteriors for name, (_, posteriors) in fits.items()}


def _fit_shared(
    design: FunnelConfig, name: str, training: TrainingSet, inherited: WarmStart | None
) -> tuple[SharedView, Mapping[str, Posteriors]]:
    space = make_space(design.views[name], design.resources, training.seed, name)
    training = training.only(usable_languages(f"The view {name!r}", space, training))
    learner = design.base_learner(name, training.seed)
    if inherited is not None:
        known = inherited.shared_view(name, list(training.targets))
        if known is None and design.variant == "tat":
            known = _refit_shared_view(name, space, training, learner, inherited)
        if known is not None:
            return known
    return fit_shared_view(design, space, training, learner, training.stacked_folds(), f"tier 1, {name}")


def usable_languages(what: str, space: Space, training: TrainingSet) -> list[str]:
    """The languages that a space can be fitted on; refused where there are none."""
    languages = space.usable(list(training.targets))
    if not languages:
        known = ", ".join(training.targets)
        raise InputError(f"{what} has nothing for the training documents' languages ({known}). Leave it out.")
    return languages


def views_serve(
    combine: str, names: Iterable[str], shared: Mapping[str, SharedView | Space], language: str
) -> bool:
    """Whether views of these names are enough for a language that was not learned; own words never are."""
    return views_suffice(combine, [name != OWN and shared[name].serves(language) for name in names])
