"""How good predictions are: measures, and which differences between methods mean something."""

from funnelling.evaluation.labels import expected_calibration_error
from funnelling.evaluation.measures import Counts, f1, k
from funnelling.evaluation.registry import LanguageMeasures, measure_indicators, measure_languages
from funnelling.evaluation.significance import Significance, dagger, significance

__all__ = [
    "Counts",
    "LanguageMeasures",
    "Significance",
    "dagger",
    "expected_calibration_error",
    "f1",
    "k",
    "measure_indicators",
    "measure_languages",
    "significance",
]
