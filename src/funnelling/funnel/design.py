"""What a funnel is to be: its views, how tier 2 gets their posteriors, and what both tiers learn with.

A design is plain data. A fit reads it, a search tries others like it, and learning on goes by the one that
the model was fitted with.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from numbers import Real
from typing import Annotated, Any, Literal, TypeVar, get_args

from funnelling.corpus.labels import LabelSpace
from funnelling.corpus.reference import Reference
from funnelling.errors import InputError
from funnelling.funnel.learners import EstimatorLearner, PointLearner
from funnelling.funnel.thresholds import DEFAULT_GOAL, Goal, ThresholdTuning, parse_goal
from funnelling.methods.algorithm import Parameters, Run
from funnelling.methods.parameters import c_setting, checked, choice, flag, positive, whole
from funnelling.spaces import OWN, View, check_views, make_space, named_views
from funnelling.spaces.base import Embeddings, Encoder, Resources
from funnelling.state import Foreign
from funnelling.svm import SVM
from funnelling.svm.learner import C_GRID, CSetting
from funnelling.text.characters import Template
from funnelling.text.languages import known_as, normalise_tag

NORMALISED_C = (1.0, 10.0)  # between posteriors of length 1 more says the same, more slowly

AUTO = "auto"  # the views are to be chosen

R = TypeVar("R", Encoder, Embeddings)
Learner = SVM | EstimatorLearner
MetaLearner = Learner | PointLearner


def is_auto(views: Any) -> bool:
    """Whether the views are to be chosen; a list, which may name resources, is not compared with a string."""
    each = [views] if isinstance(views, str) or not isinstance(views, Sequence) else views
    return any(isinstance(view, str) and view == AUTO for view in each)


FUNNEL_VARIANTS = ("tat", "kfcv")
CALIBRATIONS = ("platt", "fixed", "none")
Combine = Literal["mean", "concat", "stacked", "odds"]
ODDS = "odds"  # combines views by itself
COMBINATIONS = tuple(each for each in get_args(Combine) if each != ODDS)
FINAL_ESTIMATORS = (AUTO, "svm", ODDS)
ZERO_SHOT_SPACES = ("auto", "pooled", "embeddings", "mle", "clesa")


def _check_final_estimator(name: str, value: Any) -> None:
    known = value in FINAL_ESTIMATORS if isinstance(value, str) else hasattr(value, "fit")
    if not known or isinstance(value, type):
        choices = ", ".join(FINAL_ESTIMATORS)
        raise InputError(f"{name} must be one of {choices}, or a classifier, not {value!r}.")


def _check_tags(name: str, value: Any) -> None:
    if value is not None and (isinstance(value, str) or not value):
        raise InputError(f"{name} must be a list of languages or None, not {value!r}.")
    for tag in value or ():
        normalise_tag(tag)


def _check_thresholds(name: str, value: Any) -> None:
    if isinstance(value, ThresholdTuning):
        value.parsed()
    elif isinstance(value, str) and value != AUTO:
        parse_goal(value)
    elif value not in (AUTO, None, 0.5):
        raise InputError(f"{name} must be 'auto', None, .5 or a ThresholdTuning, not {value!r}.")


@dataclass(eq=False, repr=False)
class FunnelParameters(Parameters):
    """All parameters of a funnel, those of `FunnellingClassifier` and of `PaperFunnelClassifier` among them.

    ``combine`` ("mean", "concat" or "stacked": how the final SVM gets the views' posteriors) and
    ``normalise`` (whether each view's posteriors are scaled to length 1 before that) are for experiments, by
    ``--set``. So is a goal in place of the `ThresholdTuning`, which then has no least threshold.
    """

    variant: str = choice("tat", FUNNEL_VARIANTS)
    _: KW_ONLY
    views: Annotated[Any, list[View] | str | None] = AUTO
    final_estimator: Annotated[Any, str | Foreign] = checked(AUTO, _check_final_estimator)
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
    thresholds: Annotated[Any, ThresholdTuning | str | float | None] = checked(AUTO, _check_thresholds)
    vectorizer: Template = None
    detect_among: list[str] | None = checked(None, _check_tags)
    unknown_language: str = choice("prior", ("prior", "error"))

    @property
    def run(self) -> Run:
        return Run(self.n_jobs, self.encoder_resource.model)

    @property
    def tuned_for(self) -> str | None:
        """The goal that thresholds are tuned for, in words, if one is given."""
        given = self.thresholds.goal if isinstance(self.thresholds, ThresholdTuning) else self.thresholds
        return given if isinstance(given, str) and given != AUTO else None

    @property
    def encoder_resource(self) -> Encoder:
        """The encoder, given as a view or by its folder."""
        return _resource(self.views, Encoder) or Encoder(self.encoder, epochs=self.encoder_epochs)

    @property
    def embeddings_resource(self) -> Embeddings:
        """The word vectors, given as a view or by their folder."""
        given = _resource(self.views, Embeddings) or Embeddings(self.embeddings)
        return Embeddings(given.model, reference=given.reference or self.reference)

    def check(self) -> None:
        super().check()
        odds = isinstance(self.final_estimator, str) and self.final_estimator == ODDS
        for name, value in (("calibration", "platt"), ("combine", "mean")) if odds else ():
            if getattr(self, name) != value:
                raise InputError(f"final_estimator='odds' is a tier 2 of its own. Leave {name} out.")
        if is_auto(self.views):
            if not self.normalise:
                raise InputError("views='auto' chooses whether to normalise. Leave normalise out.")
            beside = [view for view in self.views if not is_auto(view)] if self.views != AUTO else []
            for view in beside:
                if not isinstance(view, Encoder | Embeddings):
                    raise InputError(
                        f"views: only an Encoder or Embeddings can stand beside 'auto', not {view!r}."
                    )
            if beside:
                check_views(beside)
        elif self.views is not None:
            check_views(self.views)
        if self.zero_shot is not None and self.views is not None and not is_auto(self.views):
            raise InputError("Shared views serve unseen languages themselves. Leave zero_shot out.")
        if self.zero_shot_joint:
            if self.zero_shot is None or self.views is not None:
                raise InputError(
                    "zero_shot_joint needs a zero_shot space, such as 'auto', and views=None: fun-zero-shot."
                )
            if odds:
                raise InputError("final_estimator='odds' has no joint form. Leave it or zero_shot_joint out.")


def _resource(views: Any, kind: type[R]) -> R | None:
    """The resource of a kind that is among the views."""
    given = views if isinstance(views, Sequence) else ()
    return next((view for view in given if isinstance(view, kind)), None)


@dataclass(kw_only=True, eq=False, repr=False)
class FunnelConfig(FunnelParameters):
    """A funnel before it is fitted: its parameters, and what follows from them.

    ``views`` are by name; odds are a way to ``combine`` them. ``normalise`` is whether posteriors are scaled
    to length 1, which the paper's funnel, over own words alone, does not do. ``goal`` is what thresholds are
    tuned for; without one, where it is ``calibrated``, they are where the probability is .5. ``roughness`` is
    that of `funnelling.svm.SVM`.
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
        encoder, embeddings = parameters.encoder_resource, parameters.embeddings_resource
        resources = Resources(
            embeddings.model,
            embeddings.reference,
            encoder.model,
            encoder.epochs,
            {} if auto else None,  # the rounds of a search share what an encoder has read
            parameters.verbose,
            parameters.n_jobs,
        )
        given |= {
            "views": named_views([OWN] if own else views),
            "normalise": not own and bool(parameters.normalise),
            "goal": _goal(parameters.thresholds, auto),
            "resources": resources,
        }
        if isinstance(parameters.final_estimator, str) and parameters.final_estimator == ODDS:
            given["combine"] = ODDS
        return cls(**given)

    @property
    def calibrated(self) -> bool:
        """Whether labels are assigned where their probability is above .5."""
        return isinstance(self.thresholds, Real)

    @property
    def meta_estimator(self) -> Any:
        """The classifier given for tier 2, None where it is ours."""
        return None if isinstance(self.final_estimator, str) else self.final_estimator

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
        if self.combine == ODDS:
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


def _goal(thresholds: Any, auto: bool) -> Goal | None:
    """What thresholds are tuned for, if anything."""
    if isinstance(thresholds, ThresholdTuning):
        return thresholds.parsed()
    if not isinstance(thresholds, str):
        return None
    if thresholds == AUTO:
        return DEFAULT_GOAL if auto else None
    return parse_goal(thresholds)


def views_suffice(combine: str, sees: Iterable[bool]) -> bool:
    """Whether views, each of which sees a language or not, are enough: all of them where set side by side.

    >>> views_suffice("mean", [True, False]), views_suffice("concat", [True, False])
    (True, False)
    """
    return all(sees) if combine == "concat" else any(sees)
