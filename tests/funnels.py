"""Funnels under any parameters, also those that only commands set."""

from typing import Any, cast

from funnelling.funnel.design import FunnelParameters
from funnelling.funnel.estimator import FunnelEstimator
from funnelling.funnel.learning import FUNNEL
from funnelling.methods.registry import estimator_type


def any_funnel(variant: str = "tat", **parameters: Any) -> FunnelEstimator:
    """The unfitted estimator of a funnel with these parameters."""
    given = FunnelParameters(variant, **parameters)
    return cast("type[FunnelEstimator]", estimator_type(FUNNEL, given)).under(given)
