"""What a funnel is to be: its views, how tier 2 gets their posteriors, and what both tiers learn with.

A design is plain data. A fit reads it, a search tries others like it, and learning on goes by the one that
the model was fitted with.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from funnelling.corpus.labels import LabelSpace
from funnelling.funnel.learners import EstimatorLearner, PointLearner
from funnelling.funnel.thresholds import DEFAULT_GOAL, Goal, parse_goal
from funnelling.matrices import Folds
from funnelling.methods.training_set import TrainingSet
from funnelling.randomness import assign_folds
from funnelling.spaces.base import Resources
from funnelling.spaces.registry import OWN, View, make_space, named_views
from funnelling.svm import SVM
from funnelling.svm.learner import C_GRID, CSetting
from funnelling.text.languages import known_as

NORMALISED_C = (1.0, 10.0)  # between posteriors of length 1 more says the same, more slowly

AUTO = "auto"  # the views are to be chosen

Learner = SVM | EstimatorLearner
MetaLearner = Learner | PointLearner


def is_auto(views: Any) -> bool:
    """Whether the views are to be chosen; a list is never compared with a string."""
    return isinstance(views, str) and views == AUTO


@dataclass(frozen=True, kw_only=True)
class FunnelConfig:
    """A funnel before it is fitted; for the parameters see `funnelling.FunnellingClassifier`.

    ``views`` are by name. ``normalise`` is whether posteriors are scaled to length 1, which the paper's
    funnel, over own words alone, does not do. ``goal`` is what thresholds are tuned for; without one, with
    ``calibrated``, they are where the probability is .5. ``roughness`` is that of `funnelling.svm.SVM`.
    """

    views: Mapping[str, View]
    combine: str
    normalise: bool
    variant: str
    folds: int
    calibration: str
    base_C: CSetting
    meta_C: CSetting
    meta_gamma: float | None
    base_estimator: Any
    meta_estimator: Any
    vectorizer: Any
    zero_shot: str | None
    zero_shot_joint: bool
    compact: bool
    keep_texts: bool
    goal: Goal | None
    calibrated: bool
    resources: Resources
    memory_limit: float
    n_jobs: int | None
    verbose: int
    roughness: float = 0.0

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> "FunnelConfig":
        """What the parameters of `funnelling.FunnellingClassifier` ask for.

        ``views="auto"`` is the paper's funnel until something is chosen.
        """
        views = parameters["views"]
        auto = is_auto(views)
        own = views is None or auto
        alike = {each.name for each in fields(cls)} & parameters.keys() - {"views", "normalise"}
        return cls(
            **{name: parameters[name] for name in alike},
            views=named_views([OWN] if own else views),
            normalise=not own and bool(parameters["normalise"]),
            goal=_goal(parameters["optimise"], auto and not parameters["calibrated"]),
            resources=Resources(
                parameters["embeddings"],
                parameters["reference"],
                parameters["encoder"],
                parameters["encoder_epochs"],
                {} if auto else None,  # the rounds of a search share what an encoder has read
                parameters["verbose"],
                parameters["n_jobs"],
            ),
        )

    @property
    def shows_progress(self) -> bool:
        return bool(self.verbose)

    def base_learner(self, name: str, seed: int) -> Learner:
        """What base classifiers learn with: those of a language, or of a view that all languages share."""
        estimator = self.base_estimator
        if isinstance(estimator, Mapping):
            estimator = estimator.get(known_as(name, estimator))
        if estimator is not None:
            return EstimatorLearner(estimator, (seed, name), self.n_jobs)
        return self.base_svm()

    def base_svm(self) -> SVM:
        """The built-in base classifier."""
        return SVM(
            self.base_C,
            memory_limit=self.memory_limit,
            roughness=self.roughness,
            n_jobs=self.n_jobs,
        )

    def meta_learner(self, labels: int, training: TrainingSet) -> MetaLearner:
        """What tier 2 learns with; ``labels`` are those that have positives."""
        if self.combine == "odds":
            return PointLearner()
        if self.meta_estimator is not None:
            return EstimatorLearner(self.meta_estimator, (training.seed,), self.n_jobs)
        return self.meta_svm(labels, training.labels)

    def meta_svm(self, labels: int, space: LabelSpace) -> SVM:
        """The built-in meta-classifier."""
        return SVM(
            self.meta_C,
            gamma=self._gamma(labels),
            grid=NORMALISED_C if self.normalise else C_GRID,
            labels=space,
            memory_limit=self.memory_limit,
            roughness=self.roughness,
            n_jobs=self.n_jobs,
        )

    def _gamma(self, labels: int) -> float:
        if self.meta_gamma is not None:
            return float(self.meta_gamma)
        if not self.normalise:
            return 1 / max(labels, 1)  # a cut of the documents may have no positive at all
        return 1 / len(self.views) if self.combine == "concat" else 1.0

    def kfcv_folds(self, training: TrainingSet) -> dict[str, Folds] | None:
        """The folds of Fun(KFCV) by language; None for Fun(TAT), which has none."""
        if self.variant == "tat":
            return None
        return {
            language: assign_folds(
                self.folds, size, training.seed, "kfcv", language=language, groups=training.groups[language]
            )
            for language, size in training.sizes.items()
        }

    def visible_languages(self, languages: Sequence[str]) -> list[str]:
        """Those of the languages of training documents that the views can see."""
        usable = [
            languages if name == OWN else make_space(view, self.resources).usable(languages)
            for name, view in self.views.items()
        ]
        return [tag for tag in languages if views_suffice(self.combine, (tag in each for each in usable))]


def _goal(optimise: str | None, tunes_unasked: bool) -> Goal | None:
    """What thresholds are tuned for, if for anything."""
    if optimise is not None:
        return parse_goal(optimise)
    return DEFAULT_GOAL if tunes_unasked else None


def views_suffice(combine: str, sees: Iterable[bool]) -> bool:
    """Whether views, each of which sees a language or not, are enough: all of them where set side by side.

    >>> views_suffice("mean", [True, False]), views_suffice("concat", [True, False])
    (True, False)
    """
    return all(sees) if combine == "concat" else any(sees)
