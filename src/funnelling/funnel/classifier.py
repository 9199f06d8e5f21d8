"""`FunnellingClassifier`: the paper's method, in both variants."""

from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from funnelling.errors import InputError
from funnelling.funnel.foreign import EstimatorLearner
from funnelling.funnel.tier_one import Posteriors, TierOne, fit_tier_one
from funnelling.funnel.tier_two import aligned_scores
from funnelling.method import Method
from funnelling.progress import progress_bar
from funnelling.randomness import assign_folds
from funnelling.svm import SVM
from funnelling.svm.kernels import Floats, Matrix
from funnelling.svm.plan import check_solution_size, plan_rbf
from funnelling.training import FOLDS, Head, Scores, Training, fit_languages

VARIANTS = ("tat", "kfcv")
CALIBRATIONS = ("platt", "fixed", "none")


class FunnellingClassifier(Method):
    """Classify documents in many languages under one set of labels, every language teaching all.

    Tier 1 has base classifiers for each language in its own feature space; their calibrated posteriors,
    one a label, are a space that all languages share. Tier 2 is one meta-classifier that learns there
    from the documents of all languages (Esuli, Moreo and Sebastiani, TOIS 2019).

    Parameters
    ----------
    variant : "tat" or "kfcv"
        Where the posteriors that tier 2 learns from come from: classifiers that saw the documents
        (Fun(TAT), cheaper and better in the paper) or ``folds``-fold cross-validation (Fun(KFCV)).
    folds : int
        The folds of Fun(KFCV).
    calibration : "platt", "fixed" or "none"
        The paper's Calib, NoCalib and NoProb.
    base_C : float or None
        C of the base classifiers; None chooses it for each language like ``meta_C``.
    meta_C : float or None
        C of the meta-classifier; None chooses it from 0.1, 1, …, 10,000 by 5-fold cross-validation.
    meta_gamma : float or None
        Gamma of the meta-classifier's RBF kernel; None is 1 / labels.
    base_estimator, meta_estimator : scikit-learn classifier or None
        None is the built-in SVM. ``base_estimator`` may map languages to classifiers.
    vectorizer : scikit-learn transformer of texts, a mapping from languages to them, or None
        None is lemmas weighted by tf-idf.
    memory_limit : float
        The bytes that a kernel matrix may take. Past it tier 1 is solved over the vectors themselves, with
        the same result, and tier 2 over an approximation of the kernel; both are logged.
    n_jobs : int or None
        Threads; -1 is one a core. The results are the same to the bit.
    random_state : int or None
        Makes a fit repeatable to the bit.
    verbose : int
        Above 0 shows progress bars on a terminal.

    Examples
    --------
    >>> texts = ["the cat sleeps", "a dog barks", "il gatto dorme", "un cane abbaia"] * 5
    >>> labels = [["cat"], ["dog"], ["cat"], ["dog"]] * 5
    >>> model = FunnellingClassifier(random_state=0)
    >>> model.fit(texts, labels, languages=["en", "en", "it", "it"] * 5).classes_.tolist()
    ['cat', 'dog']
    >>> model.predict(["the cat barks not, it sleeps", "il cane"], languages=["en", "it"]).tolist()
    [[1, 0], [0, 1]]
    >>> model.predict(["le chat"], languages=["fr"])
    Traceback (most recent call last):
    funnelling.errors.InputError: The model does not know the language 'fr'. It knows en, it.
    """

    def __init__(
        self,
        variant: str = "tat",
        *,
        folds: int = 10,
        calibration: str = "platt",
        base_C: float | None = 1.0,
        meta_C: float | None = None,
        meta_gamma: float | None = None,
        base_estimator: Any = None,
        meta_estimator: Any = None,
        vectorizer: Any = None,
        memory_limit: float = 8e9,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.variant = variant
        self.folds = folds
        self.calibration = calibration
        self.base_C = base_C
        self.meta_C = meta_C
        self.meta_gamma = meta_gamma
        self.base_estimator = base_estimator
        self.meta_estimator = meta_estimator
        self.vectorizer = vectorizer
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _validate_parameters(self) -> None:
        super()._validate_parameters()
        _choose("variant", self.variant, VARIANTS)
        _choose("calibration", self.calibration, CALIBRATIONS)
        self._check_positive("base_C", "meta_C", "meta_gamma")
        if not isinstance(self.folds, Integral) or self.folds < 2:
            raise InputError(f"folds must be a whole number from 2 on, not {self.folds!r}.")

    def _fit(self, training: Training) -> None:
        documents = sum(map(len, training.targets.values()))
        if self.meta_estimator is None:  # before hours of tier 1
            plan_rbf(documents, self.memory_limit, "tier 2")
            check_solution_size(documents, training.labels, FOLDS + 1, self.memory_limit, "tier 2")
        learners = {language: self._base_learner(language, training) for language in training.vectors}
        rounds = 1 if self.variant == "tat" else 1 + self.folds
        total = rounds * sum(learner.problems_solved(training.labels, FOLDS) for learner in learners.values())
        with progress_bar("tier 1", total, bool(self.verbose), "problems") as advance:
            fitted = fit_languages(
                lambda language, learner: self._fit_tier_one(language, learner, training),
                {language: learner.reporting(advance) for language, learner in learners.items()},
                training,
            )
        self.base_ = {language: tier_one for language, (tier_one, _) in fitted.items()}
        posteriors = [posteriors for _, posteriors in fitted.values()]
        training_posteriors = np.vstack([part.training for part in posteriors])
        self._fit_meta(training, training_posteriors, np.vstack([part.held_out for part in posteriors]))

    def _fit_tier_one(
        self, language: str, learner: SVM | EstimatorLearner, training: Training
    ) -> tuple[TierOne, Posteriors]:
        return fit_tier_one(
            learner.problem(training.vectors[language], training.targets[language], f"language {language!r}"),
            training.folds[language],
            self.calibration,
            self._kfcv_folds(language, training),
            learner.n_jobs,
        )

    def _fit_meta(self, training: Training, posteriors: Floats, held_out: Floats) -> None:
        targets, folds = training.stacked_targets(), training.stacked_folds()
        learner = self._meta_learner(training, int(targets.any(axis=0).sum()))
        total = learner.problems_solved(training.labels, FOLDS)
        with progress_bar("tier 2", total, bool(self.verbose), "problems") as advance:
            fit = learner.reporting(advance).problem(posteriors, targets, "tier 2").fit(folds)
        self.meta_ = fit.scorer()
        self.meta_C_ = getattr(fit, "C", None)
        self.head_ = training.fit_head(aligned_scores(fit, folds, held_out, self.n_jobs), targets)

    def _scores(self, language: str, vectors: Matrix) -> Scores:
        return self.meta_.scores(self.base_[language].posteriors(vectors))

    def _head(self, language: str) -> Head:  # noqa: ARG002
        return self.head_

    def _kfcv_folds(self, language: str, training: Training) -> npt.NDArray[np.intp] | None:
        if self.variant == "tat":
            return None
        documents = len(training.targets[language])
        groups = training.groups[language]
        return assign_folds(self.folds, documents, training.seed, "kfcv", language=language, groups=groups)

    def _base_learner(self, language: str, training: Training) -> SVM | EstimatorLearner:
        estimator = self.base_estimator
        if isinstance(estimator, Mapping):
            estimator = estimator.get(language)
        if estimator is not None:
            return EstimatorLearner(estimator, (training.seed, language), self.n_jobs)
        return SVM(self.base_C, memory_limit=self.memory_limit, n_jobs=self.n_jobs)

    def _meta_learner(self, training: Training, labels: int) -> SVM | EstimatorLearner:
        if self.meta_estimator is not None:
            return EstimatorLearner(self.meta_estimator, (training.seed,), self.n_jobs)
        return SVM(
            self.meta_C,
            gamma=1 / labels if self.meta_gamma is None else self.meta_gamma,
            exclusive=training.exclusive,
            memory_limit=self.memory_limit,
            n_jobs=self.n_jobs,
        )


def _choose(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise InputError(f"{name} must be one of {', '.join(choices)}, not {value!r}.")
