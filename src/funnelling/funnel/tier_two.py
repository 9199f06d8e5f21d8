"""Tier 2: one meta-classifier for all languages, in the space of posteriors, and what it learns from."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from funnelling.corpus.by_language import INNER_FOLDS
from funnelling.corpus.labels import LabelSpace
from funnelling.evaluation.registry import counts_by_language, mean_measures, mean_of_four
from funnelling.funnel.design import FunnelConfig
from funnelling.funnel.learners import EstimatorScorer, PointScorer
from funnelling.funnel.ranking import LabelThresholdCurves
from funnelling.funnel.thresholds import tuned_for
from funnelling.funnel.tier_one import FitOnFolds, MetaSample, Posteriors, ViewPosteriors
from funnelling.matrices import Floats, Folds, Targets, by_language, one_blas_thread, sizes_of
from funnelling.methods.training_set import (
    Calibrator,
    ScoreThresholds,
    TrainingSet,
    calibrator_type,
)
from funnelling.randomness import stream
from funnelling.runtime.progress import progress_bar
from funnelling.runtime.threads import map_threads
from funnelling.state import Between, Count, HasShape, expect, expect_by, matrix, numbers
from funnelling.svm import Calibration, Scorer
from funnelling.svm.kernels import amount, check_solution_size, gram_bytes, largest_gram
from funnelling.svm.learner import Problem
from funnelling.svm.scorers import SelectedScorer, Selection, SVMScorer
from funnelling.svm.solver import Coefficients

TIER_TWO = ""  # in place of a view's name: no view has it
MAX_META_DOCUMENTS = 20_000  # where a kernel matrix of all documents would pass the memory limit
N_FIRST_POSITIVES = 20  # of a label, which are taken first

logger = logging.getLogger(__name__)


OfDocuments = Annotated[Floats, numbers(None, None)]  # (documents, labels)


class MetaFit(FitOnFolds, Protocol):
    """A fitted learner that can also score new documents without having seen a fold."""

    def scorer_without(self, fold: int) -> Scorer: ...


MetaScorer = SVMScorer | EstimatorScorer | PointScorer


@dataclass(frozen=True)
class TierTwo:
    """A fitted meta-classifier: its C, what makes probabilities of its scores, and where they mean yes.

    ``held_out`` counts, by language, how it decides of its training documents when it has not seen them.
    """

    scorer: Annotated[Scorer, MetaScorer | SelectedScorer[MetaScorer]]
    C: Annotated[float, Between(0)] | None
    calibrator: Calibrator
    thresholds: Annotated[npt.NDArray[np.float64], numbers("labels")] | float
    held_out: dict[str, Annotated[npt.NDArray[np.int64], numbers(4, None, kinds="i", least=0)]]

    @property
    def selection(self) -> Selection | None:
        """The labels that are left where others have been dropped."""
        return self.scorer.selection if isinstance(self.scorer, SelectedScorer) else None

    def selecting(self, selection: Selection, held_out: dict[str, npt.NDArray[np.int64]]) -> "TierTwo":
        """Tier 2 of some labels, with the same bits, and how it decides of them."""
        thresholds = self.thresholds
        return TierTwo(
            SelectedScorer.of(self.scorer, selection),
            self.C,
            self.calibrator.of_labels(selection.columns),
            thresholds[selection.columns] if isinstance(thresholds, np.ndarray) else thresholds,
            held_out,
        )

    def check_tier(self, example: HasShape, labels: int, space: LabelSpace) -> None:
        """Refuse a state that could not score these labels for points like the example.

        ``labels`` are those of tier 1, of which a selection may be left.
        """
        scorer, left, columns = self.scorer, labels, space.columns
        if isinstance(scorer, SelectedScorer):
            left = scorer.selection.check_columns(labels)
            scorer = scorer.scorer
        expect(scorer.check_scores(example) == labels and left == columns, "the labels of tier 2")
        expect(isinstance(self.calibrator, calibrator_type(space)), "the probabilities of tier 2")
        self.calibrator.check_labels(columns)
        if isinstance(self.thresholds, np.ndarray):
            expect(len(self.thresholds) == columns, "the thresholds of tier 2")
        for counts in self.held_out.values():
            expect(counts.shape[1] == columns, "the counts of tier 2")


class TierTwoFit(NamedTuple):
    """Tier 2 and what it made of its training documents, by language.

    ``scores`` are those of documents that it had not seen, ``coefficients`` what each document adds to it.
    """

    tier: TierTwo
    scores: dict[str, Floats]
    coefficients: dict[str, Coefficients]


@dataclass(frozen=True, kw_only=True)
class KeptPosteriors:
    """Posteriors and scores of each training document; not kept where tier 2 learned from a sample.

    ``training`` and ``held_out`` are posteriors, by view and language. ``scores`` are tier 2's, by language,
    of documents that neither tier had seen, and ``zero_shot_scores`` those of the tier 2 of other languages.
    ``coefficients`` are the solutions of the SVMs, by view, or `TIER_TWO`, and language: (documents, labels).
    So many documents have ``changed`` since all of this was fitted at once.
    """

    training: dict[str, dict[str, OfDocuments]]
    held_out: dict[str, dict[str, OfDocuments]]
    scores: dict[str, OfDocuments]
    coefficients: dict[str, dict[str, Annotated[Coefficients, matrix(None, None)]]]
    changed: Count = 0
    zero_shot_scores: dict[str, OfDocuments] = field(default_factory=dict)

    @classmethod
    def of_fit(cls, posteriors: ViewPosteriors, tier_two: TierTwoFit, changed: int = 0) -> "KeptPosteriors":
        """What is worth keeping of a fit."""
        coefficients = {
            view: {tag: each.coefficients for tag, each in by_tag.items() if each.coefficients is not None}
            for view, by_tag in posteriors.items()
        }
        views = posteriors.items()
        return cls(
            training={view: {tag: p.training for tag, p in each.items()} for view, each in views},
            held_out={view: {tag: p.held_out for tag, p in each.items()} for view, each in views},
            scores=tier_two.scores,
            coefficients={**coefficients, TIER_TWO: tier_two.coefficients},
            changed=changed,
        )

    def selecting(self, selection: Selection) -> "KeptPosteriors":
        """The same with scores of some labels only."""
        return replace(
            self,
            scores={tag: selection.of(rows) for tag, rows in self.scores.items()},
            zero_shot_scores={tag: selection.of(rows) for tag, rows in self.zero_shot_scores.items()},
        )

    def check(self, documents: Mapping[str, int], views: Sequence[str], labels: int, columns: int) -> None:
        """Refuse what cannot be of so many documents by language, by views for so many labels.

        Tier 2 has the ``columns`` of those labels that are left.
        """
        held_out = expect_by(self.held_out, views, "the posteriors of documents")
        for view, by_tag in expect_by(self.training, views, "the posteriors of documents").items():
            others = expect_by(held_out[view], by_tag, "the posteriors of documents")
            for tag, rows in by_tag.items():
                expect(
                    rows.shape == others[tag].shape == (documents[tag], labels), "the posteriors of documents"
                )
        seen = {tag for by_tag in self.training.values() for tag in by_tag}
        expect(seen == documents.keys(), "the posteriors of documents")
        for scores, languages in ((self.scores, documents), (self.zero_shot_scores, None)):
            for tag, rows in expect_by(scores, languages, "the scores of documents").items():
                expect(rows.shape == (documents[tag], columns), "the scores of documents")
        expect(self.coefficients.keys() <= {*views, TIER_TWO}, "the solutions of classifiers")
        for solutions in self.coefficients.values():
            for tag, solution in solutions.items():
                expect(solution.shape == (documents[tag], labels), "the solutions of classifiers")

    def posteriors(self, view: str, language: str) -> Posteriors | None:
        """A view's posteriors of a language's documents."""
        if language not in self.training.get(view, {}):
            return None
        return Posteriors(
            self.training[view][language],
            self.held_out[view][language],
            self.coefficients.get(view, {}).get(language),
        )


def fit_tier_two(
    design: FunnelConfig,
    training: TrainingSet,
    posteriors: Posteriors,
    folds: Folds,
    what: str = "tier 2",
) -> TierTwoFit:
    """Fit the meta-classifier on documents in the space of posteriors, the languages below each other."""
    targets = training.stacked_targets()
    learner = design.meta_learner(int(targets.any(axis=0).sum()), training.labels, training.seed)
    total = learner.problems_solved(training.columns, len(np.unique(folds)))
    with progress_bar(what, total, bool(design.verbose), "problems") as advance:
        points = tier_two_meta_features(design, posteriors)
        problem = replace(learner, advance=advance).problem(points, targets, what)

        def aligned(fit: Any) -> tuple[Any, Floats]:
            return fit, aligned_scores(fit, folds, posteriors.held_out, design.n_jobs)

        def quality(fit_and_scores: tuple[Any, Floats]) -> float:
            decided = training.labels.decide(fit_and_scores[1])
            return mean_of_four(mean_measures(training.targets, decided))

        if design.normalise and isinstance(problem, Problem) and problem.learner.given_c is None:
            # C is chosen by documents that neither tier saw.
            fit, scores = max(map(aligned, problem.path(folds)), key=quality)
        else:
            fit, scores = aligned(problem.fit(folds))
    return _settled(design, training, fit, scores, folds)


def refit_tier_two(
    design: FunnelConfig,
    training: TrainingSet,
    points: Floats,
    C: float,
    start: Coefficients | None,
    held_out: Floats,
) -> TierTwoFit:
    """The meta-classifier after few changes: its C stays, it starts from what documents added to it before.

    ``held_out`` is what was scored of documents that were held out.
    """
    targets = training.stacked_targets()
    learner = design.meta_svm(int(targets.any(axis=0).sum()), training.labels)
    with progress_bar("tier 2", training.columns, bool(design.verbose), "problems") as advance:
        problem = replace(learner, C=C, advance=advance).problem(points, targets, "tier 2")
        fit = problem.fit_whole(start=start)
    return _settled(design, training, fit, held_out, training.stacked_folds())


def _settled(
    design: FunnelConfig, training: TrainingSet, fit: Any, scores: Floats, folds: Folds
) -> TierTwoFit:
    """A fit with its calibrator and thresholds, and how good it is, all from out-of-fold scores."""
    targets = training.stacked_targets()
    calibrator = training.fit_calibrator(scores, targets)
    thresholds: ScoreThresholds = 0.0
    if design.goal is not None and isinstance(calibrator, Calibration):
        sizes = list(training.sizes.values())
        languages = np.repeat(np.arange(len(sizes)), sizes)
        tuned = tuned_for(LabelThresholdCurves(calibrator(scores), targets, folds), languages, design.goal)
        thresholds = tuned.in_scores(calibrator)
    elif design.calibrated and isinstance(calibrator, Calibration):
        thresholds = calibrator.even_scores
    held_out = counts_by_language(training.targets, training.labels.decide(scores - thresholds))
    coefficients = getattr(fit, "coefficients", None)
    return TierTwoFit(
        TierTwo(fit.scorer(), getattr(fit, "C", None), calibrator, thresholds, dict(held_out)),
        dict(by_language(scores, training.sizes)),
        {} if coefficients is None else dict(by_language(coefficients, training.sizes)),
    )


def tier_two_meta_features(design: FunnelConfig, posteriors: Posteriors) -> Floats:
    """What tier 2 learns from: odds are weighed where tier 1 has not seen the documents."""
    return posteriors.held_out if design.combine == "odds" else posteriors.training


def aligned_scores(fit: MetaFit, folds: Folds, held_out: Floats, n_jobs: int | None = None) -> Floats:
    """Tier 2's out-of-fold scores of its training documents.

    The posteriors of a fold come from base classifiers that did not see it (``held_out``), and are
    scored by a meta-classifier that did not see it either: the same folds in both tiers. Scores on the
    training posteriors themselves would be far too good, for tier 1 has seen those documents. What has seen
    the fold are the weights of views, of `stacked` and `odds`: one number for each view, from all documents.
    Offsets of `odds` come without the fold; see `Combination.fit`.
    """
    scores = np.empty((len(folds), fit.scores.shape[1]), dtype=np.float32)
    numbers = np.unique(folds)

    def score(k: int) -> None:
        rows = folds == numbers[k]
        scores[rows] = fit.scorer_without(int(numbers[k])).scores(held_out[rows])

    with one_blas_thread():
        for _ in map_threads(score, len(numbers), n_jobs):
            pass
    return scores


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

    Past that it learns from a sample: languages by their share, and rare labels before all others. With many
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
