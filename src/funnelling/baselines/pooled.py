"""Pooled: one vocabulary for all languages, so that shared names, numbers and loan words count once."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import clone

from funnelling.baselines.base import SVMBaseline
from funnelling.errors import InputError
from funnelling.progress import progress_bar
from funnelling.svm import Calibration
from funnelling.svm.kernels import Matrix, is_sparse
from funnelling.training import FOLDS, Head, Scores, Training


class PooledClassifier(SVMBaseline):
    """Classify all languages by one set of linear SVMs over one shared vocabulary.

    Not in the paper; a strong rival where languages share words. It says yes where the calibrated
    posterior is above .5: a C that is best for posteriors leaves most scores of rare labels below 0.
    The choice of C goes by the same decisions.

    Parameters
    ----------
    C : float or None
        None chooses it from 0.1, 1, …, 10,000 by 5-fold cross-validation.
    vectorizer, memory_limit, n_jobs, random_state, verbose
        As in `funnelling.FunnellingClassifier`, but one vectorizer for all languages.
    """

    def _fit_vectors(self, texts: dict[str, list[str]]) -> dict[str, Matrix]:
        everything = [text for part in texts.values() for text in part]
        if self.vectorizer is None:
            from funnelling.text.tfidf import TfidfVectorizer

            self.vectorizer_ = TfidfVectorizer()
            languages = [language for language, part in texts.items() for _ in part]
            X = self.vectorizer_.fit_transform(everything, languages=languages)
        else:
            self.vectorizer_ = clone(self.vectorizer)
            X = self.vectorizer_.fit_transform(everything)
        sizes = [len(part) for part in texts.values()]
        return {
            language: X[end - size : end]
            for language, size, end in zip(texts, sizes, np.cumsum(sizes), strict=True)
        }

    def _vectors(self, language: str, texts: list[str]) -> Matrix:
        if self.vectorizer is None:
            return self.vectorizer_.transform(texts, languages=[language] * len(texts))
        return self.vectorizer_.transform(texts)

    def _fit(self, training: Training) -> None:
        if len({X.shape[1] for X in training.vectors.values()}) > 1:
            raise InputError("pooled needs one feature space: the languages' matrices differ in columns.")
        parts = list(training.vectors.values())
        X = sparse.vstack(parts, format="csr") if any(map(is_sparse, parts)) else np.vstack(parts)
        targets = training.stacked_targets()
        learner = replace(self._learner(training), calibrated=True)
        total = learner.problems_solved(training.labels, FOLDS)
        with progress_bar("pooled", total, bool(self.verbose), "problems") as advance:
            fit = learner.reporting(advance).problem(X, targets, "pooled").fit(training.stacked_folds())
        self.C_ = fit.C
        self.scorer_ = fit.scorer()
        self.head_ = training.fit_head(fit.held_out, targets)

    def _scores(self, language: str, vectors: Matrix) -> Scores:  # noqa: ARG002
        return self.scorer_.scores(vectors)

    def _head(self, language: str) -> Head:  # noqa: ARG002
        return self.head_

    def _cuts(self, language: str) -> npt.NDArray[np.float64] | float:  # noqa: ARG002
        if isinstance(self.head_, Calibration):
            return -self.head_.offset / self.head_.slope
        return 0.0
