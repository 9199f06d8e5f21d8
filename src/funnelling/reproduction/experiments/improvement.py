"""Improvements over a baseline in per cent, which do not exist over nothing."""

from collections.abc import Sequence

import numpy as np


def improvement(value: float, baseline: float) -> float | None:
    """In per cent of the baseline; None where that is nothing.

    >>> improvement(0.75, 0.5), improvement(0.5, 0)
    (50.0, None)
    """
    return 100 * (value - baseline) / baseline if baseline > 0 else None


def mean_of_known(values: Sequence[float | None]) -> float | None:
    """The mean of the values that exist; None where none does.

    >>> mean_of_known([1.0, None, 3.0]), mean_of_known([None])
    (2.0, None)
    """
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None
