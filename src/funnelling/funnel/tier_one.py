"""Tier 1: one language's base classifiers, calibrated, and the posteriors they give."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from funnelling.errors import InputError
from funnelling.matrices import Floats, Folds, Matrix, Rows, Targets
from funnelling.svm import Calibration, Scorer
from funnelling.svm.calibration import ABSENT, REJECTED, fit_calibration
from funnelling.svm.scorers import KernelScorer, LinearScorer


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

    scorer: Scorer
    calibration: Calibration

    def posteriors(self, X: Matrix) -> Floats:
        """Documents as tier 2 sees them: one posterior per label."""
        return self.calibration(self.scorer.scores(X)).astype(np.float32)

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

    def with_labels(self, columns: npt.NDArray[np.intp], labels: int) -> "TierOne":
        """These under more labels: the old ones go to ``columns``, the new ones are always rejected."""
        old = self.calibration
        scorer = self._built_in().with_labels(columns, labels, REJECTED)
        spread = {
            "slope": np.ones(labels),
            "offset": np.zeros(labels),
            "constant": np.full(labels, ABSENT),
        }
        for name, values in spread.items():
            values[columns] = getattr(old, name)
        return TierOne(scorer, Calibration(old.kind, **spread))

    def of_both(self) -> "TierOne":
        """These for two classes that exclude each other, from those of the second."""
        kind, slope, offset = self.calibration.kind, self.calibration.slope, self.calibration.offset
        constant = both_posteriors(self.calibration.constant[None], kind)[0]
        calibration = Calibration(kind, np.repeat(slope, 2), np.concatenate([-offset, offset]), constant)
        return TierOne(self._built_in().of_both(), calibration)

    def _built_in(self) -> LinearScorer | KernelScorer:
        if not isinstance(self.scorer, LinearScorer | KernelScorer):
            raise InputError("base estimators of your own cannot take new labels. Train the model anew.")
        return self.scorer


def both_posteriors(second: Any, calibration: str) -> Any:
    """The posteriors of two classes that exclude each other, from those of the second.

    Scores are mirrored at 0; what stands for a class that none or all documents have is 0 or 1, no score.
    """
    scores = calibration == "none" and not np.isin(second, (ABSENT, 1.0)).all()
    return np.hstack([-second if scores else 1 - second, second])


@dataclass(frozen=True)
class Posteriors:
    """The training documents as tier 2 sees them.

    ``training`` is what tier 2 learns from. ``held_out`` comes from base classifiers that did not see
    the document's fold, and is what an honest estimate of tier 2 needs.
    """

    training: Floats
    held_out: Floats

    def of_teachers(self, teachers: "Teachers | None", language: str) -> "Posteriors":
        """Those of the documents that teach tier 2; None means all."""
        if teachers is None:
            return self
        return Posteriors(self.training[teachers[language]], self.held_out[teachers[language]])

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


Teachers = Mapping[str, Rows]  # by language, the documents that teach tier 2
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
        training.astype(np.float32), calibrate(fit.held_out).astype(np.float32)
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
