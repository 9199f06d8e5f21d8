"""What a user of scikit-learn would write in place of funnelling, as good as scikit-learn allows."""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

Mapping = dict[str, Any]  # from language to matrix

META_C = 100.0  # of tier 2 where it is not searched
GRID = [0.1, 1.0, 10.0, 100.0, 1_000.0, 10_000.0]


class Recipe:
    """Fun(TAT) by hand: per language, linear SVCs with Platt's posteriors; then RBF SVCs over all of them.

    `meta_C` None searches the grid that `FunnellingClassifier` searches, by as many folds.
    """

    def __init__(self, meta_C: float | None, jobs: int, seed: int) -> None:
        self.meta_C = meta_C
        self.jobs = jobs
        self.seed = seed

    def fit(self, X: Mapping, y: Mapping) -> Self:
        """Train both tiers."""
        # SVC's probability is deprecated, and a label may be missing in a language. scikit-learn carries
        # these filters into its worker processes.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.base = {language: self._base().fit(X[language], y[language]) for language in X}
            posteriors = np.vstack([self.base[language].predict_proba(X[language]) for language in X])
            targets = np.vstack([y[language] for language in X])
            self.meta = self._meta(targets.shape[1]).fit(posteriors, targets)
        return self

    @property
    def final_c(self) -> float:
        """The C of tier 2, given or found."""
        return self.meta_C or self.meta.best_params_["estimator__C"]

    def predict(self, X: Mapping) -> Mapping:
        """The labels of documents as indicator matrices."""
        return {language: self.meta.predict(self.base[language].predict_proba(X[language])) for language in X}

    def scores(self, X: Mapping) -> Mapping:
        """How far above 0 tier 2 puts each label, to name the one that is most likely."""
        return {
            language: self.meta.decision_function(self.base[language].predict_proba(X[language]))
            for language in X
        }

    def _base(self) -> OneVsRestClassifier:
        svc = SVC(kernel="linear", probability=True, random_state=self.seed)
        return OneVsRestClassifier(svc, n_jobs=self.jobs)

    def _meta(self, labels: int) -> OneVsRestClassifier | GridSearchCV:
        svc = SVC(kernel="rbf", gamma=1 / labels, C=self.meta_C or 1.0)
        one_vs_rest = OneVsRestClassifier(svc, n_jobs=self.jobs)
        if self.meta_C is not None:
            return one_vs_rest
        # Shuffled, because the documents come language by language.
        folds = KFold(5, shuffle=True, random_state=self.seed)
        return GridSearchCV(
            one_vs_rest, {"estimator__C": GRID}, scoring="f1_micro", cv=folds, n_jobs=self.jobs
        )
