"""A whole funnel: its fit, how documents pass through it, its saved attributes, and fewer labels.

Models are saved attribute by attribute, in the order in which these stand here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from funnelling.corpus.labels import LabelSpace
from funnelling.evaluation.measures import Counts
from funnelling.funnel.combination import Combination
from funnelling.funnel.design import FunnelConfig
from funnelling.funnel.inheritance import COLD_START, FunnelArchive, WarmStart
from funnelling.funnel.tier_one import MetaSample, Posteriors, ViewPosteriors
from funnelling.funnel.tier_two import TierTwo, fit_tier_two, refit_tier_two, tier_two_meta_features
from funnelling.funnel.views import FittedViews, SharedView, fit_views
from funnelling.matrices import Floats, Scored, in_vocabulary_rows
from funnelling.methods.explanation import Attribution, TierOneAttribution, TierTwoAttribution
from funnelling.methods.learning import Relabelling
from funnelling.methods.training_set import TrainingSet
from funnelling.spaces.registry import SHARED
from funnelling.svm import LinearScorer
from funnelling.svm.scorers import SelectedScorer, Selection, alone


@dataclass(frozen=True)
class FittedFunnel:
    """Both tiers, and an archive of the training documents unless the funnel is compact."""

    views: FittedViews
    combination: Combination
    tier_two: TierTwo
    archive: FunnelArchive | None = None

    def check_funnel(self, languages: Sequence[str], features: Mapping[str, int], space: LabelSpace) -> int:
        """Refuse a state that could not label documents in these languages; how many labels tier 1 has."""
        labels = self.views.check_views(languages, features, self.combination.how)
        point = self.combination.check_combination(self.views.names, labels)
        self.tier_two.check_tier(point, labels, space)
        return labels

    def scores(self, language: str, documents: Any) -> Scored:
        """Scores of one language's documents, which pass tier 1, then tier 2.

        A document is in vocabulary if it has a known feature in any view.
        """
        return self.scores_and_posteriors(language, documents)[0]

    def scores_and_posteriors(self, language: str, documents: Any) -> tuple[Scored, dict[str, Floats]]:
        """What tier 2 says of one language's documents, and what each view said of them in tier 1."""
        posteriors, evident = self.views.posteriors_and_evidence(language, documents)
        points = self.combination.meta_features(language, posteriors)
        scorer = self.tier_two.scorer
        scored = Scored(scorer.scores(points), evident)
        if isinstance(scorer, SelectedScorer):
            posteriors = {view: scorer.selection.of_posteriors(each) for view, each in posteriors.items()}
        return scored, posteriors

    def evidence(self, language: str, documents: Any) -> Attribution:
        """Scores of one language's documents, and what each tier makes of them on the way."""
        tiers = self.views.tiers(language)
        vectors = {view: self.views.vectors(view, language, documents) for view in tiers}
        evident = np.logical_or.reduce([in_vocabulary_rows(documents, X) for X in vectors.values()])
        posteriors = {view: tier.posteriors(vectors[view]) for view, tier in tiers.items()}
        points = self.combination.meta_features(language, posteriors)
        texts = documents if isinstance(documents, list) else None
        shares = self.combination.shares(list(tiers))

        scorer = self.tier_two.scorer
        selection = scorer.selection if isinstance(scorer, SelectedScorer) else None
        words = {
            view: TierOneAttribution(
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
        above = TierTwoAttribution(points, alone(scorer), list(tiers), self._neighbours, classes)
        return Attribution(scorer.scores(points), evident, words, above, texts)

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
    design: FunnelConfig,
    training: TrainingSet,
    vectorizers: Mapping[str, Any] | None,
    meta_sample: MetaSample | None,
    inherited: WarmStart = COLD_START,
) -> FittedFunnel:
    """Fit both tiers; ``vectorizers`` made the own vectors, ``meta_sample`` are the documents of tier 2."""
    views, posteriors = fit_views(design, training, vectorizers, meta_sample, inherited)
    design.resources.begun.clear()  # tier 2 needs the memory
    return fit_over_views(design, training, views, posteriors, meta_sample, inherited)


def fit_over_views(
    design: FunnelConfig,
    training: TrainingSet,
    views: FittedViews,
    posteriors: ViewPosteriors,
    meta_sample: MetaSample | None,
    inherited: WarmStart = COLD_START,
) -> FittedFunnel:
    """Fit tier 2 over views that are fitted."""
    taught = training if meta_sample is None else training.select(meta_sample)
    combination = Combination.fit(design, taught.targets, posteriors, taught.labels, taught.folds)
    points = [
        combination.training_meta_features(posteriors, tag, folds) for tag, folds in taught.folds.items()
    ]
    stacked = Posteriors.stacked(points)
    supervised = any(view.space.supervised for view in views.shared.values())
    small = inherited.is_small and meta_sample is None and design.variant == "tat" and not supervised
    if small and design.combine != "odds" and design.meta_estimator is None:
        held_out, C = inherited.held_out_scores(training), inherited.meta_C
        start = inherited.start_of_tier_two(training)
        tier_two = refit_tier_two(design, taught, tier_two_meta_features(design, stacked), C, start, held_out)
    else:
        tier_two = fit_tier_two(design, taught, stacked, taught.stacked_folds())
    archive = archived(design, training, posteriors, tier_two, meta_sample, inherited.changed if small else 0)
    return FittedFunnel(views, combination, tier_two, archive)


def archived(
    design: FunnelConfig,
    training: TrainingSet,
    posteriors: ViewPosteriors,
    tier_two: TierTwo,
    meta_sample: MetaSample | None,
    changed: int = 0,
) -> FunnelArchive | None:
    """What is kept of a fit; where a sample taught tier 2, the documents alone."""
    if design.compact:
        return None
    if meta_sample is not None:
        return FunnelArchive.of(training, design.keep_texts)
    return FunnelArchive.of_fit(training, design.keep_texts, posteriors, tier_two, changed)


ZERO_SHOT = "shared_"  # before the names of tier 2 for languages without training documents


def funnel_attributes(funnel: FittedFunnel) -> dict[str, Any]:
    """A funnel by attribute; one without an archive has no ``training_``."""
    return {
        "base_": dict(funnel.views.own),
        "shared_views_": dict(funnel.views.shared),
        **({} if funnel.archive is None else {"training_": funnel.archive}),
        "weights_": funnel.combination.weights,
        "offsets_": funnel.combination.offsets,
        **_tier_two_attributes(funnel.tier_two),
        "held_out_": funnel.tier_two.held_out,
    }


def zero_shot_attributes(
    view: SharedView, tier_two: TierTwo | None = None, *, keeps: bool = False
) -> dict[str, Any]:
    """The funnel of languages without training documents by attribute, its tier 2 unless all share one.

    A model that ``keeps`` its documents keeps that tier's honest scores of them, too.
    """
    above = {} if tier_two is None else _tier_two_attributes(tier_two, ZERO_SHOT)
    kept = {f"{ZERO_SHOT}scores_": dict(tier_two.scores)} if keeps and tier_two is not None else {}
    return {"space_": view.space, "shared_": view.tier, **above, **kept}


def funnel_of(design: FunnelConfig, attributes: Mapping[str, Any]) -> FittedFunnel:
    """The funnel that a model with these attributes has for the languages it learned."""
    vectorizers = attributes.get("vectorizers_", {}) if attributes["texts_"] else None
    return FittedFunnel(
        FittedViews(list(design.views), attributes["base_"], attributes["shared_views_"], vectorizers),
        Combination(design.combine, design.normalise, attributes["weights_"], attributes.get("offsets_")),
        _tier_two_of(attributes),
        attributes.get("training_"),
    )


def is_joint(attributes: Mapping[str, Any]) -> bool:
    """Whether a model has one tier 2 for languages with and without training documents."""
    return "space_" in attributes and f"{ZERO_SHOT}meta_" not in attributes


def zero_shot_funnel_of(attributes: Mapping[str, Any]) -> FittedFunnel:
    """The funnel that a model with these attributes has for all other languages."""
    view = SharedView(attributes["space_"], attributes["shared_"], [])
    return FittedFunnel(
        FittedViews([SHARED], {}, {SHARED: view}, {}),
        Combination("mean", normalise=False),  # of one view, whatever was chosen for the languages learned
        _tier_two_of(attributes, "" if is_joint(attributes) else ZERO_SHOT),
        attributes.get("training_"),
    )


def _tier_two_attributes(tier_two: TierTwo, prefix: str = "") -> dict[str, Any]:
    return {
        f"{prefix}meta_": tier_two.scorer,
        f"{prefix}meta_C_": tier_two.C,
        f"{prefix}head_": tier_two.calibrator,
        f"{prefix}cuts_": tier_two.thresholds,
    }


def _tier_two_of(attributes: Mapping[str, Any], prefix: str = "") -> TierTwo:
    return TierTwo(
        attributes[f"{prefix}meta_"],
        attributes[f"{prefix}meta_C_"],
        attributes[f"{prefix}head_"],
        attributes.get(f"{prefix}cuts_", 0.0),  # models of earlier versions have none
        attributes.get("held_out_", {}) if not prefix else {},
    )


def selected_tiers(attributes: Mapping[str, Any], selection: Selection) -> dict[str, Any]:
    """What gives the labels that are left, by attribute: tier 2, its probabilities, thresholds and scores."""
    selected: dict[str, Any] = {}
    for prefix in ("", ZERO_SHOT):
        if f"{prefix}meta_" in attributes:
            cuts = attributes.get(f"{prefix}cuts_", 0.0)
            selected[f"{prefix}meta_"] = SelectedScorer.of(attributes[f"{prefix}meta_"], selection)
            selected[f"{prefix}head_"] = attributes[f"{prefix}head_"].of_labels(selection.columns)
            selected[f"{prefix}cuts_"] = cuts[selection.columns] if isinstance(cuts, np.ndarray) else cuts
    if scores := attributes.get(f"{ZERO_SHOT}scores_"):
        selected[f"{ZERO_SHOT}scores_"] = {tag: selection.of(rows) for tag, rows in scores.items()}
    return selected


def selected_counts(
    held_out: Mapping[str, npt.NDArray[np.int64]],
    selection: Selection,
    labels: LabelSpace,
    archive: FunnelArchive | None,
) -> dict[str, npt.NDArray[np.int64]] | None:
    """How the funnel decides of documents that were held out, of the labels that are left.

    Single-label documents get the best of the rest, and those of a dropped label do not count: that takes
    their scores. None where these are not known.
    """
    if not labels.single_label:
        return {language: table[:, selection.columns] for language, table in held_out.items()}
    if archive is None or not archive.scores:
        return None
    counted = {}
    for language in held_out:
        truth = archive.targets[language][:, selection.columns]
        rows = truth.any(axis=1)
        if rows.any():
            decisions = labels.decide(selection.of(archive.scores[language])[rows])
            truth = truth[rows, 1:] if selection.margin else truth[rows]
            counted[language] = Counts.of(truth, decisions).table()
    return counted


def counts_under(
    relabelling: Relabelling, archive: FunnelArchive, thresholds: Any, labels: LabelSpace
) -> dict[str, Counts]:
    """How the funnel decides of documents that were held out, under labels that stand for several of its own.

    One of these is given where any of the old ones is. Documents without their only label do not count.
    """
    counts = {}
    decided = {tag: labels.decide(scores - thresholds) for tag, scores in archive.scores.items()}
    truth_by, decided_by = map(labels.by_class, (archive.targets, decided))
    for language in decided:
        truth, decisions = (relabelling.of_targets(each[language]) for each in (truth_by, decided_by))
        rows = labels.learnable(truth)
        if len(rows):
            counts[language] = Counts.of(truth[rows], decisions[rows])
    return counts
