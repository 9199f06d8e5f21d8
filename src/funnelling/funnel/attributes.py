"""The names under which a fitted funnel is kept, and saved, by its estimator; and the way back.

Models are saved attribute by attribute, in the order in which these stand here.
"""

from collections.abc import Mapping
from typing import Any

from funnelling.funnel.design import Design
from funnelling.funnel.funnel import FittedFunnel
from funnelling.funnel.tier_two import TierTwo
from funnelling.funnel.views.combination import Combination
from funnelling.funnel.views.fitting import FittedViews
from funnelling.funnel.views.shared import SharedView
from funnelling.spaces.registry import SHARED

ZERO_SHOT = "shared_"  # before the names of tier 2 for languages without training documents


def funnel_attributes(funnel: FittedFunnel) -> dict[str, Any]:
    """A funnel by attribute; one without an archive has no ``training_``."""
    return {
        "base_": dict(funnel.views.own),
        "shared_views_": dict(funnel.views.shared),
        **({} if funnel.archive is None else {"training_": funnel.archive}),
        "weights_": funnel.combination.weights,
        "offsets_": funnel.combination.offsets,
        **_tier_two_attributes(funnel.tier_two),
        "held_out_": funnel.tier_two.held_out,
    }


def zero_shot_attributes(
    view: SharedView, tier_two: TierTwo | None = None, *, keeps: bool = False
) -> dict[str, Any]:
    """The funnel of languages without training documents by attribute, its tier 2 unless all share one.

    A model that ``keeps`` its documents keeps that tier's honest scores of them, too.
    """
    above = {} if tier_two is None else _tier_two_attributes(tier_two, ZERO_SHOT)
    kept = {f"{ZERO_SHOT}scores_": dict(tier_two.scores)} if keeps and tier_two is not None else {}
    return {"space_": view.space, "shared_": view.tier, **above, **kept}


def funnel_of(design: Design, attributes: Mapping[str, Any]) -> FittedFunnel:
    """The funnel that a model with these attributes has for the languages it learned."""
    vectorizers = attributes.get("vectorizers_", {}) if attributes["texts_"] else None
    return FittedFunnel(
        FittedViews(list(design.views), attributes["base_"], attributes["shared_views_"], vectorizers),
        Combination(design.combine, design.normalise, attributes["weights_"], attributes.get("offsets_")),
        _tier_two_of(attributes),
        attributes.get("training_"),
    )


def is_joint(attributes: Mapping[str, Any]) -> bool:
    """Whether a model has one tier 2 for languages with and without training documents."""
    return "space_" in attributes and f"{ZERO_SHOT}meta_" not in attributes


def zero_shot_funnel_of(attributes: Mapping[str, Any]) -> FittedFunnel:
    """The funnel that a model with these attributes has for all other languages."""
    view = SharedView(attributes["space_"], attributes["shared_"], [])
    return FittedFunnel(
        FittedViews([SHARED], {}, {SHARED: view}, {}),
        Combination("mean", normalise=False),  # of one view, whatever was chosen for the languages learned
        _tier_two_of(attributes, "" if is_joint(attributes) else ZERO_SHOT),
        attributes.get("training_"),
    )


def _tier_two_attributes(tier_two: TierTwo, prefix: str = "") -> dict[str, Any]:
    return {
        f"{prefix}meta_": tier_two.scorer,
        f"{prefix}meta_C_": tier_two.C,
        f"{prefix}head_": tier_two.calibrator,
        f"{prefix}cuts_": tier_two.thresholds,
    }


def _tier_two_of(attributes: Mapping[str, Any], prefix: str = "") -> TierTwo:
    return TierTwo(
        attributes[f"{prefix}meta_"],
        attributes[f"{prefix}meta_C_"],
        attributes[f"{prefix}head_"],
        attributes.get(f"{prefix}cuts_", 0.0),  # models of earlier versions have none
        attributes.get("held_out_", {}) if not prefix else {},
    )
