"""Pooled: one vocabulary for all languages, so that shared names, numbers and loan words count once."""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from funnelling.baselines.base import SharedSpaceBaseline
from funnelling.method.parameters import check_flag
from funnelling.method.training_set import TrainingSet
from funnelling.spaces.words import PooledSpace
from funnelling.svm import SVM, Calibration, CSetting


class PooledClassifier(SharedSpaceBaseline):
    """Classify all languages by one set of linear SVMs over one shared vocabulary.

    Not in the paper; a strong rival where languages share words. It says yes where the calibrated
    posterior is above .5: a C that is best for posteriors leaves most scores of rare labels below 0.
    The choice of C goes by the same decisions.

    Parameters
    ----------
    C : float, "grid" or None
        None chooses it from 0.1, 1, …, 10,000 by 5-fold cross-validation, going up until two
        were worse than the best; "grid" tries them all.
    calibrated : bool
        False says yes where the score is above 0, as the paper's methods do here.
    vectorizer, memory_limit, n_jobs, random_state, verbose
        As in `funnelling.FunnellingClassifier`, but one vectorizer for all languages.
    """

    def __init__(
        self,
        C: CSetting = None,
        *,
        calibrated: bool = True,
        vectorizer: Any = None,
        memory_limit: float = 8e9,
        compact: bool = False,
        keep_texts: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            C,
            vectorizer=vectorizer,
            memory_limit=memory_limit,
            compact=compact,
            keep_texts=keep_texts,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.calibrated = calibrated

    def _validate_parameters(self) -> None:
        super()._validate_parameters()
        check_flag(self, "calibrated")

    def _space(self, seed: int) -> PooledSpace:  # noqa: ARG002
        return PooledSpace(vectorizer=self.vectorizer, verbose=self.verbose)

    def _learner(self, training: TrainingSet) -> SVM:
        return replace(super()._learner(training), calibrated=self.calibrated)

    def _score_thresholds(self, language: str) -> npt.NDArray[np.float64] | float:  # noqa: ARG002
        if self.calibrated and isinstance(self.head_, Calibration):
            return self.head_.even_scores
        return 0.0
