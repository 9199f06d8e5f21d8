"""Pooled: one vocabulary for all languages, so that shared names, numbers and loan words count once."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import clone

from funnelling.errors import InputError
from funnelling.method import FOLDS, Head, Method, Scores, Training
from funnelling.progress import progress_bar
from funnelling.svm import SVM, Calibration
from funnelling.svm.gram import Matrix, is_sparse


class PooledClassifier(Method):
    """Classify all languages by one set of linear SVMs over one shared vocabulary.

    Not in the paper; a strong rival where languages share words. It says yes where the calibrated
    posterior is above .5, for one sigmoid has to serve languages of different score ranges.

    Parameters
    ----------
    C : float or None
        None chooses it from 0.1, 1, …, 10,000 by 5-fold cross-validation.
    vectorizer, memory_limit, n_jobs, random_state, verbose
        As in `funnelling.FunnellingClassifier`, but one vectorizer for all languages.
    """

    def __init__(
        self,
        C: float | None = None,
        *,
        vectorizer: Any = None,
        memory_limit: float = 8e9,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.vectorizer = vectorizer
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

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
        X = sparse.vstack(parts, format="csr") if is_sparse(parts[0]) else np.vstack(parts)
        targets = training.stacked_targets()
        learner = SVM(
            self.C, exclusive=training.exclusive, memory_limit=self.memory_limit, n_jobs=self.n_jobs
        )
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
