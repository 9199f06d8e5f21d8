"""A fitted funnel: scores in learned and in other languages, and the selection of labels."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from funnelling.corpus.by_language import ByLanguage
from funnelling.corpus.labels import LabelSpace
from funnelling.evaluation.measures import ALL_LABELS, Columns, Counts
from funnelling.evaluation.registry import measure_counts
from funnelling.funnel.choice import Choice
from funnelling.funnel.combination import Combination
from funnelling.funnel.tier_two import KeptPosteriors, TierTwo
from funnelling.funnel.views import FittedViews, SharedView, views_serve
from funnelling.matrices import AnyTargets, Floats, Scored, Scores, in_vocabulary_rows
from funnelling.methods.algorithm import Fitted, Run
from funnelling.methods.explanation import Attribution, TierOneAttribution, TierTwoAttribution, mean_posterior
from funnelling.methods.learning import Relabelling
from funnelling.methods.training_set import Calibrator, ScoreThresholds
from funnelling.plain import without_caches
from funnelling.spaces import SHARED, Space
from funnelling.state import expect
from funnelling.svm import LinearScorer
from funnelling.svm.scorers import Selection, alone

NEIGHBOURS = 5  # training documents that are named beside a document
ENCODER = "encoder"  # the view whose model may have moved since the fit

Neighbours = Callable[[Floats, Sequence[str]], list[dict[str, Any]]]


@dataclass(frozen=True)
class Funnel:
    """Both tiers."""

    views: FittedViews
    combination: Combination
    tier_two: TierTwo

    def check_funnel(self, languages: Sequence[str], features: Mapping[str, int], space: LabelSpace) -> int:
        """Refuse a state that could not label documents in these languages; how many labels tier 1 has."""
        labels = self.views.check_views(languages, features, self.combination.how)
        point = self.combination.check_combination(self.views.names, labels)
        self.tier_two.check_tier(point, labels, space)
        return labels

    def scores_and_posteriors(self, language: str, documents: Any) -> tuple[Scored, dict[str, Floats]]:
        """Tier 2's scores of one language's documents, and each view's posteriors of them in tier 1.

        A document is in vocabulary if it has a known feature in any view.
        """
        posteriors, evident = self.views.posteriors_and_evidence(language, documents)
        points = self.combination.meta_features(language, posteriors)
        scored = Scored(self.tier_two.scorer.scores(points), evident)
        if (selection := self.tier_two.selection) is not None:
            posteriors = {view: selection.of_posteriors(each) for view, each in posteriors.items()}
        return scored, posteriors

    def evidence(self, language: str, documents: Any, neighbours: Neighbours) -> Attribution:
        """Scores of one language's documents, and what each tier makes of them on the way."""
        tiers = self.views.tiers(language)
        vectors = {view: self.views.vectors(view, language, documents) for view in tiers}
        evident = np.logical_or.reduce([in_vocabulary_rows(documents, X) for X in vectors.values()])
        posteriors = {view: tier.posteriors(vectors[view]) for view, tier in tiers.items()}
        points = self.combination.meta_features(language, posteriors)
        texts = documents if isinstance(documents, list) else None
        shares = self.combination.shares(list(tiers))

        scorer, selection = self.tier_two.scorer, self.tier_two.selection
        apart = {view: alone(tier.scorer, selection) for view, tier in tiers.items()}
        linear = {view: each for view, each in apart.items() if isinstance(each, LinearScorer)}
        scores = {view: tiers[view].scorer.scores(vectors[view]) for view in linear}
        classes: list[int | None] | None = None
        if selection is not None:
            classes = [None] * next(iter(posteriors.values())).shape[1]
            for place, column in enumerate(selection.columns.tolist()):
                classes[column] = place
            scores = {view: selection.of(each) for view, each in scores.items()}
            posteriors = {view: selection.of_posteriors(each) for view, each in posteriors.items()}
        words = {
            view: TierOneAttribution(
                each,
                self.views.feature_names(view, language),
                vectors[view],
                scores[view],
                posteriors[view],
                partial(self.views.places, view, language),
                shares[view],
            )
            for view, each in linear.items()
        }
        above = TierTwoAttribution(points, alone(scorer), list(tiers), neighbours, classes)
        return Attribution(scorer.scores(points), evident, words, above, texts)


@dataclass(frozen=True)
class ZeroShot:
    """What labels documents in languages without training documents: a space, and tier 2.

    Without a tier 2 of its own it has that of the languages learned.
    """

    view: SharedView
    tier_two: TierTwo | None


@dataclass(frozen=True)
class FittedFunnel(Fitted):
    """The funnel of the ``languages`` learned, and what labels others where ``zero_shot`` asks for it.

    ``choice`` says what was chosen where views were. ``kept`` is what was made of the training documents.
    """

    learned: Funnel
    languages: list[str]
    zero_shot: ZeroShot | None = None
    choice: Choice | None = None
    kept: KeptPosteriors | None = None

    def funnel(self, language: str) -> Funnel:
        """The funnel that a language passes."""
        return self.learned if self.zero_shot is None or language in self.languages else self._other

    @cached_property
    def _other(self) -> Funnel:
        """The funnel of languages without training documents."""
        assert self.zero_shot is not None
        return Funnel(
            FittedViews([SHARED], {}, {SHARED: self.zero_shot.view}, {}),
            Combination("mean", normalise=False),  # of one view, whatever was chosen for other languages
            self.learned.tier_two if self.zero_shot.tier_two is None else self.zero_shot.tier_two,
        )

    def _found(self, language: str, run: Run) -> Funnel:
        """The funnel that a language passes, its encoder where that is now."""
        funnel = self.funnel(language)
        if run.encoder is not None and ENCODER in funnel.views.shared:
            space: Any = funnel.views.shared[ENCODER].space
            space.found_at(run.encoder)
        return funnel

    def scores(self, language: str, documents: Any, run: Run) -> Scored:
        return self.scores_and_posteriors(language, documents, run)[0]

    def scores_and_posteriors(
        self, language: str, documents: Any, run: Run
    ) -> tuple[Scored, Mapping[str, Floats]]:
        return self._found(language, run).scores_and_posteriors(language, documents)

    def evidence(
        self, language: str, documents: Any, run: Run, archive: ByLanguage | None = None
    ) -> Attribution:
        funnel = self._found(language, run)

        def neighbours(point: Floats, names: Sequence[str]) -> list[dict[str, Any]]:
            points = {} if archive is None else self._training_points(funnel)
            return [] if archive is None else _nearest(archive, point, points, names)

        return funnel.evidence(language, documents, neighbours)

    def _training_points(self, funnel: Funnel) -> dict[str, Floats]:
        """Training documents in the space of a funnel's tier 2."""
        learned = funnel is self.learned
        if learned not in self._points and self.kept is not None:
            posteriors = self.kept.training
            seen = list(dict.fromkeys(tag for by_tag in posteriors.values() for tag in by_tag))
            self._points[learned] = {tag: funnel.combination.points_in(tag, posteriors) for tag in seen}
        return self._points.get(learned, {})

    @cached_property
    def _points(self) -> dict[bool, dict[str, Floats]]:
        return {}

    def calibrator(self, language: str) -> Calibrator:
        return self.funnel(language).tier_two.calibrator

    def score_thresholds(self, language: str) -> ScoreThresholds:
        return self.funnel(language).tier_two.thresholds

    def held_out_measures(
        self, labels: LabelSpace, columns: Columns = ALL_LABELS
    ) -> dict[str, dict[str, float]]:
        """How good it is on training documents that were held out from both tiers.

        Vocabularies, and thresholds that were tuned, saw those documents.
        """
        measures: dict[str, dict[str, float]] = {}
        for language, table in self.learned.tier_two.held_out.items():
            counts = Counts.from_table(table)
            if table.shape[1] < len(labels.classes):  # one column stands for two classes
                counts = counts.of_both()
            measures[language] = _measured(counts, labels, columns)
        return measures

    def measures_under(
        self, relabelling: Relabelling, labels: LabelSpace, archive: ByLanguage | None
    ) -> dict[str, dict[str, float]]:
        """What `held_out_measures` are where labels that are to be merged are taken for one.

        Nothing, where its scores of documents that were held out have not been kept.
        """
        if self.kept is None or archive is None:
            return {}
        thresholds = self.learned.tier_two.thresholds
        counted = counts_under(relabelling, archive.targets, self.kept.scores, thresholds, labels)
        return {language: _measured(counts, labels) for language, counts in counted.items()}

    def held_out_posteriors(self, labels: LabelSpace) -> dict[str, npt.NDArray[np.float64]]:
        """The mean posterior that views gave training documents which they had not seen, by language.

        Nothing, where what it made of them has not been kept.
        """
        if self.kept is None:
            return {}
        views, selection = list(self.kept.held_out.values()), self.learned.tier_two.selection

        def shown(posteriors: Scores) -> npt.NDArray[np.float64]:
            return labels.probabilities(
                posteriors if selection is None else selection.of_posteriors(posteriors)
            )

        found = {tag: [shown(view[tag]) for view in views if tag in view] for tag in self.languages}
        return {tag: mean_posterior(each) for tag, each in found.items() if each}

    def serves(self, language: str) -> bool:
        if self.zero_shot is not None:
            return self.zero_shot.view.space.serves(language)
        views = self.learned.views
        return views_serve(self.learned.combination.how, views.names, views.shared, language)

    @property
    def spaces(self) -> list[Space]:
        further = [] if self.zero_shot is None else [self.zero_shot.view]
        return [view.space for view in (*self.learned.views.shared.values(), *further)]

    @property
    def chosen(self) -> Choice | None:
        return self.choice

    @property
    def final_c(self) -> float | None:
        return self.learned.tier_two.C

    def selecting(self, selection: Selection, labels: LabelSpace, archive: ByLanguage | None) -> Self:
        tier_two, unseen, kept = self.learned.tier_two, self.zero_shot, self.kept
        counts = selected_counts(tier_two.held_out, selection, labels, archive, kept)
        if unseen is not None and unseen.tier_two is not None:
            unseen = replace(unseen, tier_two=unseen.tier_two.selecting(selection, {}))
        return replace(
            self,
            learned=replace(self.learned, tier_two=tier_two.selecting(selection, counts)),
            zero_shot=unseen,
            kept=None if kept is None else kept.selecting(selection),
        )

    def compact(self) -> Self:
        return replace(self, kept=None)

    def check(
        self, documents: Mapping[str, int], features: Mapping[str, int] | None, labels: LabelSpace
    ) -> None:
        expect(self.languages == list(documents), "the languages of a funnel")
        vectorizers, held_out = self.learned.views.vectorizers, self.learned.tier_two.held_out
        expect((vectorizers is None) == (features is not None), "the vocabularies of a funnel")
        known = self.learned.check_funnel(self.languages, features or {}, labels)
        expect(held_out.keys() <= documents.keys(), "the counts of tier 2")
        if self.zero_shot is not None:
            self._other.check_funnel([], features or {}, labels)
        if self.choice is not None:
            self.choice.check_choice()
        if self.kept is not None:
            self.kept.check(documents, self.learned.views.names, known, labels.columns)

    __getstate__ = without_caches


def _measured(counts: Counts, labels: LabelSpace, columns: Columns = ALL_LABELS) -> dict[str, float]:
    """Measures of decisions that were counted, and of how many documents they are."""
    by_name = measure_counts(counts, labels.single_label, columns)
    return {**by_name, "documents": int(counts.documents)}


def _nearest(
    archive: ByLanguage, point: Floats, points: Mapping[str, Floats], names: Sequence[str]
) -> list[dict[str, Any]]:
    """The training documents nearest to a point of tier 2's space, from any language.

    ``points`` are the training documents there, ``names`` those of the columns of labels.
    """
    neighbours = []
    for language, rows in points.items():
        block = archive.blocks[language]
        distances = np.sqrt(((rows.astype(np.float64) - point) ** 2).sum(axis=1))
        for row in np.argsort(distances, kind="stable")[:NEIGHBOURS].tolist():
            text = block.beginnings[row] if block.beginnings else ""
            neighbours.append(
                {
                    "id": block.ids[row],
                    "language": language,
                    "labels": [names[k] for k in np.flatnonzero(block.targets[row]).tolist()],
                    "distance": float(distances[row]),
                    **({"text": text} if text else {}),
                }
            )
    return sorted(neighbours, key=lambda neighbour: neighbour["distance"])[:NEIGHBOURS]


def selected_counts(
    held_out: Mapping[str, npt.NDArray[np.int64]],
    selection: Selection,
    labels: LabelSpace,
    archive: ByLanguage | None,
    kept: KeptPosteriors | None,
) -> dict[str, npt.NDArray[np.int64]]:
    """How the funnel decides of documents that were held out, of the labels that are left.

    Single-label documents get the best of the rest, and those of a dropped label do not count: that takes
    their scores. Nothing where these are not known.
    """
    if labels.has_thresholds:
        return {language: table[:, selection.columns] for language, table in held_out.items()}
    if archive is None or kept is None:
        return {}
    counted = {}
    for language in held_out:
        truth = archive.targets[language][:, selection.columns]
        rows = truth.any(axis=1)
        if rows.any():
            decisions = labels.decide(selection.of(kept.scores[language])[rows])
            truth = truth[rows, 1:] if selection.margin else truth[rows]
            counted[language] = Counts.of(truth, decisions).table()
    return counted


def counts_under(
    relabelling: Relabelling,
    targets: Mapping[str, AnyTargets],
    scores: Mapping[str, Floats],
    thresholds: Any,
    labels: LabelSpace,
) -> dict[str, Counts]:
    """How the funnel decides of documents that were held out, under labels that stand for several of its own.

    One of these is given where any of the old ones is. Documents without their only label do not count.
    """
    counts = {}
    decided = {tag: labels.decide(rows - thresholds) for tag, rows in scores.items()}
    truth_by, decided_by = map(labels.by_class, (targets, decided))
    for language in decided:
        truth, decisions = (relabelling.of_targets(each[language]) for each in (truth_by, decided_by))
        rows = labels.learnable(truth)
        if len(rows):
            counts[language] = Counts.of(truth[rows], decisions[rows])
    return counts
