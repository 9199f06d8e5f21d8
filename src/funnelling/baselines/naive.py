"""Naive: one classifier a language, no language helps another. The paper's lower bound."""

from funnelling.baselines.base import SVMBaseline
from funnelling.progress import progress_bar
from funnelling.svm import Scorer
from funnelling.svm.kernels import Matrix
from funnelling.training import FOLDS, Head, Scores, Training


class NaiveClassifier(SVMBaseline):
    """Classify each language by linear SVMs trained on that language alone.

    Parameters
    ----------
    C : float or None
        None chooses it for each language from 0.1, 1, …, 10,000 by 5-fold cross-validation.
    vectorizer, memory_limit, n_jobs, random_state, verbose
        As in `funnelling.FunnellingClassifier`.
    """

    def _fit(self, training: Training) -> None:
        self.C_: dict[str, float] = {}
        self.scorers_: dict[str, Scorer] = {}
        self.heads_: dict[str, Head] = {}
        learner = self._learner(training)
        total = len(training.vectors) * learner.problems_solved(training.labels, FOLDS)
        with progress_bar("naive", total, bool(self.verbose), "problems") as advance:
            for language, X in training.vectors.items():
                targets = training.targets[language]
                problem = learner.reporting(advance).problem(X, targets, f"language {language!r}")
                fit = problem.fit(training.folds[language])
                self.C_[language] = fit.C
                self.scorers_[language] = fit.scorer()
                self.heads_[language] = training.fit_head(fit.held_out, targets)

    def _scores(self, language: str, vectors: Matrix) -> Scores:
        return self.scorers_[language].scores(vectors)

    def _head(self, language: str) -> Head:
        return self.heads_[language]
