"""How good predictions are: measures, and which differences between methods mean something."""

from funnelling.evaluation.counts import Counts
from funnelling.evaluation.language_averages import LanguageMeasures, measure_languages
from funnelling.evaluation.measures.f1 import f1
from funnelling.evaluation.measures.k import k
from funnelling.evaluation.registry import measure
from funnelling.evaluation.reliability import expected_calibration_error
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
