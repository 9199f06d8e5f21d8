"""The names under which a fitted funnel is kept, and saved, by its estimator; and the way back.

Models are saved attribute by attribute, in the order in which these stand here.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from funnelling.funnel.design import Design
from funnelling.funnel.funnel import FittedFunnel
from funnelling.funnel.growing import Growth
from funnelling.funnel.tier_two import TierTwo
from funnelling.funnel.views.combination import Combination
from funnelling.funnel.views.fitting import FittedViews
from funnelling.funnel.views.shared import SharedView
from funnelling.spaces.registry import SHARED


def funnel_attributes(funnel: FittedFunnel) -> dict[str, Any]:
    """A funnel by attribute; one without an archive has no ``training_``."""
    tier_two = funnel.tier_two
    return {
        "base_": dict(funnel.views.own),
        "shared_views_": dict(funnel.views.shared),
        **({} if funnel.archive is None else {"training_": funnel.archive}),
        "weights_": funnel.combination.weights,
        "meta_": tier_two.scorer,
        "meta_C_": tier_two.C,
        "head_": tier_two.calibrator,
        "cuts_": tier_two.thresholds,
        "held_out_": tier_two.held_out,
    }


def growth_attributes(growth: Growth) -> dict[str, Any]:
    """All that changes of a model that learned on, by attribute."""
    vectorizers, training = growth.funnel.views.vectorizers, growth.training
    return {
        "classes_": np.array(growth.classes, dtype=object),
        "languages_": list(training.targets),
        **({} if vectorizers is None else {"vectorizers_": dict(vectorizers)}),
        "features_": {language: int(X.shape[1]) for language, X in training.vectors.items()},
        "documents_": training.sizes,
        **funnel_attributes(growth.funnel),
    }


def zero_shot_attributes(view: SharedView, tier_two: TierTwo) -> dict[str, Any]:
    """The funnel of languages without training documents by attribute."""
    return {
        "space_": view.space,
        "shared_": view.tier,
        "shared_meta_": tier_two.scorer,
        "shared_meta_C_": tier_two.C,
        "shared_head_": tier_two.calibrator,
        "shared_cuts_": tier_two.thresholds,
    }


def funnel_of(design: Design, attributes: Mapping[str, Any]) -> FittedFunnel:
    """The funnel that a model with these attributes has for the languages it learned."""
    vectorizers = attributes["vectorizers_"] if attributes["texts_"] else None
    return FittedFunnel(
        FittedViews(list(design.views), attributes["base_"], attributes["shared_views_"], vectorizers),
        Combination(design.combine, design.normalise, attributes["weights_"]),
        TierTwo(
            attributes["meta_"],
            attributes["meta_C_"],
            attributes["head_"],
            attributes["cuts_"],
            attributes["held_out_"],
        ),
        attributes.get("training_"),
    )


def zero_shot_funnel_of(design: Design, attributes: Mapping[str, Any]) -> FittedFunnel:
    """The funnel that a model with these attributes has for all other languages."""
    view = SharedView(attributes["space_"], attributes["shared_"], [])
    return FittedFunnel(
        FittedViews([SHARED], {}, {SHARED: view}, attributes["vectorizers_"]),
        Combination(design.combine, design.normalise),
        TierTwo(
            attributes["shared_meta_"],
            attributes["shared_meta_C_"],
            attributes["shared_head_"],
            attributes["shared_cuts_"],
            {},
        ),
        attributes.get("training_"),
    )
