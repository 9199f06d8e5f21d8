"""Naive: one classifier per language, no language helps another. The paper's lower bound."""

from functools import partial

from funnelling.baselines.base import SVMBaseline
from funnelling.method.by_language import fit_languages
from funnelling.method.training_set import FOLDS, Calibrator, TrainingSet
from funnelling.runtime.progress import progress_bar
from funnelling.state import expect_by
from funnelling.svm import SVM, Scorer
from funnelling.svm.scorers import SelectedScorer, Selection


class NaiveClassifier(SVMBaseline):
    """Classify each language by linear SVMs trained on that language alone.

    Parameters
    ----------
    C : float, "grid" or None
        None chooses it for each language from 0.1, 1, …, 10,000 by 5-fold cross-validation, going up
        until two were worse than the best; "grid" tries them all.
    vectorizer, memory_limit, n_jobs, random_state, verbose
        As in `funnelling.FunnellingClassifier`.
    """

    def _fit(self, training: TrainingSet) -> None:
        learner = self._learner(training)
        total = len(training.vectors) * learner.problems_solved(training.labels, FOLDS)
        with progress_bar("naive", total, bool(self.verbose), "problems") as advance:
            learners = dict.fromkeys(training.vectors, learner.reporting(advance))
            fits = fit_languages(partial(self._fit_language, training), learners, training)
        self.C_ = {language: C for language, (C, _, _) in fits.items()}
        self.scorers_: dict[str, Scorer] = {language: scorer for language, (_, scorer, _) in fits.items()}
        self.heads_ = {language: calibrator for language, (_, _, calibrator) in fits.items()}

    def _fit_language(
        self, training: TrainingSet, language: str, learner: SVM
    ) -> tuple[float, Scorer, Calibrator]:
        targets = training.targets[language]
        problem = learner.problem(training.vectors[language], targets, f"language {language!r}")
        fit = problem.fit(training.folds[language])
        return fit.C, fit.scorer(), training.fit_calibrator(fit.held_out, targets)

    def _select_labels(self, selection: Selection) -> None:
        self.scorers_ = {tag: SelectedScorer.of(scorer, selection) for tag, scorer in self.scorers_.items()}
        self.heads_ = {tag: head.of_labels(selection.columns) for tag, head in self.heads_.items()}

    def _check_fitted(self, columns: int) -> None:
        heads = expect_by(self.heads_, self.languages_, "the probabilities of languages")
        costs = expect_by(self.C_, self.languages_, "the C of languages")
        for tag, scorer in expect_by(self.scorers_, self.languages_, "the classifiers of languages").items():
            self._check_scorer(scorer, costs[tag], heads[tag], self._example(tag), columns)

    def _scorer(self, language: str) -> Scorer:
        return self.scorers_[language]

    def _calibrator(self, language: str) -> Calibrator:
        return self.heads_[language]
