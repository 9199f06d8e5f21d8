"""Funnels under any parameters, also those that only commands set."""

from typing import Any, cast

from funnelling.funnel.design import FunnelParameters
from funnelling.funnel.estimator import FunnelEstimator
from funnelling.funnel.learning import FUNNEL
from funnelling.funnel.thresholds import PER_LABEL, ThresholdTuning
from funnelling.methods.registry import estimator_type


def any_funnel(variant: str = "tat", **parameters: Any) -> FunnelEstimator:
    """The unfitted estimator of a funnel with these parameters."""
    if parameters.get("thresholds") not in ("auto", None, 0.5):  # as `tune` remembers a goal
        goal = parameters["thresholds"]
        per_label = goal.endswith(PER_LABEL)
        tuning = ThresholdTuning(goal.removesuffix(PER_LABEL), per_label=per_label, min_threshold=0.0)
        parameters["thresholds"] = tuning
    if parameters.get("combine") == "odds":
        parameters["final_estimator"] = parameters.pop("combine")
    given = FunnelParameters(variant, **parameters)
    return cast("type[FunnelEstimator]", estimator_type(FUNNEL, given))._under(given)
