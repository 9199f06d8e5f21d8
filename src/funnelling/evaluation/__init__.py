"""How good predictions are: measures, and which differences between methods mean something."""

from funnelling.evaluation.measures import (
    Counts,
    LanguageMeasures,
    expected_calibration_error,
    f1,
    k,
    measure,
    measure_languages,
)
from funnelling.evaluation.significance import Significance, dagger, significance

__all__ = [
    "Counts",
    "LanguageMeasures",
    "Significance",
    "dagger",
    "expected_calibration_error",
    "f1",
    "k",
    "measure",
    "measure_languages",
    "significance",
]
