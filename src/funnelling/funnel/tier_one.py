"""Base classifiers, of a language or of a shared view, calibrated, and their posteriors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Protocol

import numpy as np
import numpy.typing as npt

from funnelling.corpus.by_language import INNER_FOLDS
from funnelling.funnel.design import FunnelConfig, Learner
from funnelling.funnel.learners import EstimatorScorer
from funnelling.matrices import Floats, Folds, Matrix, Rows, Targets, by_language
from funnelling.methods.svms import fit_languages
from funnelling.methods.training_set import TrainingSet
from funnelling.runtime.progress import progress_bar
from funnelling.state import HasShape
from funnelling.svm import SVM, Calibration, Scorer
from funnelling.svm.calibration import fit_calibration
from funnelling.svm.kernels import labels_at_once
from funnelling.svm.scorers import LinearScorer, SVMScorer
from funnelling.svm.solver import Coefficients


class FitOnFolds(Protocol):
    """A learner fitted on everything, with held-out scores from folds; `funnelling.svm.Fit` is one."""

    @property
    def scores(self) -> Floats: ...
    @property
    def held_out(self) -> Floats: ...
    def scorer(self) -> Scorer: ...


class BoundLearner(Protocol):
    """A learner bound to documents and labels; `funnelling.svm.Problem` is one."""

    @property
    def targets(self) -> Targets: ...
    def fit(self, folds: Folds, within: Rows | None = None, start: Any = None) -> FitOnFolds: ...


@dataclass(frozen=True)
class TierOne:
    """One language's base classifiers."""

    scorer: Annotated[Scorer, SVMScorer | EstimatorScorer]
    calibration: Calibration

    def posteriors(self, X: Matrix) -> Floats:
        """Documents as tier 2 sees them: one posterior per label."""
        return self.calibration(self.scorer.scores(X)).astype(np.float32)

    def check_tier(self, example: HasShape | None) -> int:
        """Refuse a state that could not see vectors like the example; how many labels there are."""
        labels = self.scorer.check_scores(example)
        self.calibration.check_labels(labels)
        return labels

    @classmethod
    def beside(cls, tiers: Sequence["TierOne"]) -> "TierOne":
        """The base classifiers of several sets of labels as one."""
        if len(tiers) == 1:
            return tiers[0]
        scorers = [tier.scorer for tier in tiers]
        weights = np.hstack([scorer.weights for scorer in scorers if isinstance(scorer, LinearScorer)])
        bias = np.concatenate([scorer.bias for scorer in scorers if isinstance(scorer, LinearScorer)])
        calibrations = [tier.calibration for tier in tiers]
        slope, offset, constant = (
            np.concatenate([getattr(calibration, name) for calibration in calibrations])
            for name in ("slope", "offset", "constant")
        )
        return cls(LinearScorer(weights, bias), Calibration(calibrations[0].kind, slope, offset, constant))


@dataclass(frozen=True)
class Posteriors:
    """The training documents as tier 2 sees them.

    ``training`` is what tier 2 learns from. ``held_out`` comes from base classifiers that did not see
    the document's fold, as an unbiased estimate of tier 2 needs. ``coefficients`` are what each
    document adds to the base classifiers, where these are SVMs: a later fit may start from them.
    """

    training: Floats
    held_out: Floats
    coefficients: Coefficients | None = None

    def of_meta_sample(self, meta_sample: "MetaSample | None", language: str) -> "Posteriors":
        """Those of the documents that teach tier 2; None means all."""
        if meta_sample is None:
            return self
        return Posteriors(self.training[meta_sample[language]], self.held_out[meta_sample[language]])

    def by_language(self, sizes: Mapping[str, int]) -> dict[str, "Posteriors"]:
        """Those of each language's documents, which stand below each other."""
        training, held_out = by_language(self.training, sizes), by_language(self.held_out, sizes)
        coefficients: Mapping[str, Any] = {}
        if self.coefficients is not None:
            coefficients = by_language(self.coefficients, sizes)
        return {tag: Posteriors(training[tag], held_out[tag], coefficients.get(tag)) for tag in training}

    @classmethod
    def beside(cls, blocks: Sequence["Posteriors"]) -> "Posteriors":
        """The posteriors of several sets of labels, side by side."""
        if len(blocks) == 1:
            return blocks[0]
        return cls(np.hstack([p.training for p in blocks]), np.hstack([p.held_out for p in blocks]))

    @classmethod
    def stacked(cls, blocks: Sequence["Posteriors"]) -> "Posteriors":
        """The posteriors of several languages, below each other."""
        # In one order of memory, whether just computed or read from an archive: else products round
        # differently.
        return cls(
            np.asfortranarray(np.vstack([p.training for p in blocks])),
            np.ascontiguousarray(np.vstack([p.held_out for p in blocks])),
        )


MetaSample = Mapping[str, Rows]  # by language, the documents that teach tier 2
ViewPosteriors = Mapping[str, Mapping[str, Posteriors]]  # by view and language


def fit_tier_one(
    problem: BoundLearner,
    folds: Folds,
    calibration: str,
    kfcv: Folds | None = None,
    n_jobs: int | None = None,
) -> tuple[TierOne, Posteriors]:
    """Fit one language's base classifiers; ``kfcv`` are the folds of Fun(KFCV), None is Fun(TAT)."""
    fit = problem.fit(folds)
    calibrate = fit_calibration(calibration, fit.held_out, problem.targets, n_jobs)
    training = calibrate(fit.scores)
    if kfcv is not None:
        training = _cross_validated(problem, folds, calibration, kfcv, fit, training)
    return TierOne(fit.scorer(), calibrate), Posteriors(
        training.astype(np.float32),
        calibrate(fit.held_out).astype(np.float32),
        getattr(fit, "coefficients", None),
    )


def _cross_validated(
    problem: BoundLearner,
    folds: Folds,
    calibration: str,
    kfcv: Folds,
    fit_on_all: FitOnFolds,
    trained_on_all: npt.NDArray[np.float64],
) -> npt.NDArray[np.float64]:
    """Posteriors of each fold from classifiers trained, and calibrated, on the other folds.

    A label without positives in the other folds keeps the posteriors of the classifier trained on
    everything, the paper's repair of empty folds.
    """
    posteriors = trained_on_all.copy()
    for fold in np.unique(kfcv):
        inside = kfcv != fold
        if not inside.any():
            continue
        targets = problem.targets[inside]
        fit = problem.fit(folds, within=inside, start=fit_on_all)
        calibrate = fit_calibration(calibration, fit.held_out[inside], targets)
        learnable = targets.any(axis=0)
        rows = np.flatnonzero(~inside)
        posteriors[np.ix_(rows, learnable)] = calibrate(fit.scores[rows])[:, learnable]
    return posteriors


def fit_own_words(
    design: FunnelConfig, training: TrainingSet, meta_sample: MetaSample | None = None
) -> dict[str, tuple[TierOne, Posteriors]]:
    """The base classifiers of each language over its own vectors, and their posteriors of the meta sample."""
    if not training.targets:
        return {}
    learners = {language: design.base_learner(language, training.seed) for language in training.vectors}
    kfcv = kfcv_folds(design, training)
    rounds = 1 if kfcv is None else 1 + design.folds
    total = rounds * sum(
        learner.problems_solved(training.columns, INNER_FOLDS) for learner in learners.values()
    )

    def fit(language: str, learner: Learner) -> tuple[TierOne, Posteriors]:
        X, targets, folds = training.vectors[language], training.targets[language], training.folds[language]
        at_once = labels = targets.shape[1]
        if meta_sample is not None and isinstance(learner, SVM):  # set after set of labels: none is refused
            at_once = min(labels, labels_at_once(len(folds), len(np.unique(folds)) + 1, design.memory_limit))
        own_kfcv = None if kfcv is None else kfcv[language]
        tiers, blocks = [], []
        for first in range(0, labels, at_once):
            problem = learner.problem(X, targets[:, first : first + at_once], f"language {language!r}")
            tier, posteriors = fit_tier_one(problem, folds, design.calibration, own_kfcv, learner.n_jobs)
            tiers.append(tier)
            blocks.append(posteriors.of_meta_sample(meta_sample, language))
        return TierOne.beside(tiers), Posteriors.beside(blocks)

    with progress_bar("tier 1", total, bool(design.verbose), "problems") as advance:
        reporting = {language: replace(learner, advance=advance) for language, learner in learners.items()}
        return fit_languages(fit, reporting, training)


def kfcv_folds(design: FunnelConfig, training: TrainingSet) -> dict[str, Folds] | None:
    """The folds of Fun(KFCV) by language; None for Fun(TAT), which has none."""
    return None if design.variant == "tat" else training.folds_for("kfcv", design.folds)
