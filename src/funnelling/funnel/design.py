"""What a funnel is to be: its views, how tier 2 gets their posteriors, and what both tiers learn with.

A design is plain data. A fit reads it, a search tries others like it, and learning on goes by the one that
the model was fitted with.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from typing import Annotated, Any, Literal, get_args

from funnelling.corpus.labels import LabelSpace
from funnelling.corpus.reference import Reference
from funnelling.errors import InputError
from funnelling.funnel.learners import EstimatorLearner, PointLearner
from funnelling.funnel.thresholds import DEFAULT_GOAL, Goal, parse_goal
from funnelling.methods.algorithm import Parameters, Run
from funnelling.methods.parameters import c_setting, choice, flag, positive, whole
from funnelling.spaces import OWN, View, check_views, make_space, named_views
from funnelling.spaces.base import Resources
from funnelling.state import Foreign
from funnelling.svm import SVM
from funnelling.svm.learner import C_GRID, CSetting
from funnelling.text.characters import Template
from funnelling.text.languages import known_as

NORMALISED_C = (1.0, 10.0)  # between posteriors of length 1 more says the same, more slowly

AUTO = "auto"  # the views are to be chosen

Learner = SVM | EstimatorLearner
MetaLearner = Learner | PointLearner


def is_auto(views: Any) -> bool:
    """Whether the views are to be chosen; a list is never compared with a string."""
    return isinstance(views, str) and views == AUTO


FUNNEL_VARIANTS = ("tat", "kfcv")
CALIBRATIONS = ("platt", "fixed", "none")
Combine = Literal["mean", "concat", "stacked", "odds"]
COMBINATIONS: tuple[Combine, ...] = get_args(Combine)
ZERO_SHOT_SPACES = ("auto", "pooled", "embeddings", "mle", "clesa")


@dataclass(eq=False, repr=False)
class FunnelParameters(Parameters):
    """The parameters of a funnel; see `funnelling.FunnellingClassifier`."""

    variant: str = choice("tat", FUNNEL_VARIANTS)
    _: KW_ONLY
    views: Annotated[Any, list[View] | str | None] = AUTO
    combine: str = choice("mean", COMBINATIONS)
    normalise: bool = flag(True)
    folds: int = whole(10, least=2)
    calibration: str = choice("platt", CALIBRATIONS)
    base_C: CSetting = c_setting(1.0)
    meta_C: CSetting = c_setting(None)
    meta_gamma: float | None = positive(None)
    zero_shot: str | None = choice(None, ZERO_SHOT_SPACES)
    zero_shot_joint: bool = flag(False)
    embeddings: str | os.PathLike[str] | None = None
    reference: Reference | None = None
    encoder: str | os.PathLike[str] | None = None
    encoder_epochs: int = whole(0, least=0)
    base_estimator: Annotated[Any, Mapping[str, Foreign | None] | Foreign | None] = None
    meta_estimator: Annotated[Any, Foreign | None] = None
    optimise: str | None = None
    calibrated: bool = flag(False)
    vectorizer: Template = None

    @property
    def run(self) -> Run:
        return Run(self.n_jobs, self.encoder)

    def check(self) -> None:
        super().check()
        if self.combine == "odds":
            for name, value in (("calibration", "platt"), ("meta_estimator", None)):
                if getattr(self, name) != value:
                    raise InputError(f"combine='odds' is a tier 2 of its own. Leave {name} out.")
        if is_auto(self.views):
            if not self.normalise:
                raise InputError("views='auto' chooses whether to normalise. Leave normalise out.")
        elif self.views is not None:
            check_views(self.views)
        if self.zero_shot is not None and self.views is not None and not is_auto(self.views):
            raise InputError("Shared views serve unseen languages themselves. Leave zero_shot out.")
        if self.zero_shot_joint:
            if self.zero_shot is None or self.views is not None:
                raise InputError(
                    "zero_shot_joint needs a zero_shot space, such as 'auto', and views=None: fun-zero-shot."
                )
            if self.combine == "odds":
                raise InputError("combine='odds' has no joint form. Leave it out, or zero_shot_joint.")
        if self.optimise is not None:
            parse_goal(self.optimise)
            if self.calibrated:
                raise InputError("calibrated decides at .5 and optimise tunes thresholds. Leave one out.")


@dataclass(kw_only=True, eq=False, repr=False)
class FunnelConfig(FunnelParameters):
    """A funnel before it is fitted: its parameters, and what follows from them.

    ``views`` are by name. ``normalise`` is whether posteriors are scaled to length 1, which the paper's
    funnel, over own words alone, does not do. ``goal`` is what thresholds are tuned for; without one, with
    ``calibrated``, they are where the probability is .5. ``roughness`` is that of `funnelling.svm.SVM`.
    """

    views: Mapping[str, View]
    goal: Goal | None
    resources: Resources
    roughness: float = 0.0

    @classmethod
    def of(cls, parameters: FunnelParameters) -> "FunnelConfig":
        """What parameters ask for; where views are to be chosen, that is the paper's funnel until then."""
        given = {each.name: getattr(parameters, each.name) for each in fields(FunnelParameters)}
        views = parameters.views
        auto = is_auto(views)
        own = views is None or auto
        unasked = DEFAULT_GOAL if auto and not parameters.calibrated else None
        resources = Resources(
            parameters.embeddings,
            parameters.reference,
            parameters.encoder,
            parameters.encoder_epochs,
            {} if auto else None,  # the rounds of a search share what an encoder has read
            parameters.verbose,
            parameters.n_jobs,
        )
        given |= {
            "views": named_views([OWN] if own else views),
            "normalise": not own and bool(parameters.normalise),
            "goal": unasked if parameters.optimise is None else parse_goal(parameters.optimise),
            "resources": resources,
        }
        return cls(**given)

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

    def meta_learner(self, labels: int, space: LabelSpace, seed: int) -> MetaLearner:
        """What tier 2 learns with; ``labels`` are those that have positives."""
        if self.combine == "odds":
            return PointLearner()
        if self.meta_estimator is not None:
            return EstimatorLearner(self.meta_estimator, (seed,), self.n_jobs)
        return self.meta_svm(labels, space)

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

    def visible_languages(self, languages: Sequence[str]) -> list[str]:
        """Those of the languages of training documents that the views can see."""
        usable = [
            languages if name == OWN else make_space(view, self.resources).usable(languages)
            for name, view in self.views.items()
        ]
        return [tag for tag in languages if views_suffice(self.combine, (tag in each for each in usable))]


def views_suffice(combine: str, sees: Iterable[bool]) -> bool:
    """Whether views, each of which sees a language or not, are enough: all of them where set side by side.

    >>> views_suffice("mean", [True, False]), views_suffice("concat", [True, False])
    (True, False)
    """
    return all(sees) if combine == "concat" else any(sees)
