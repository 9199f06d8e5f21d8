"""How far probabilities can be trusted: what was expected beside what was found."""

import numpy as np
from numpy.typing import ArrayLike

from funnelling.errors import InputError
from funnelling.evaluation.counts import FloatArray, check_same_shape, indicators


def reliability(truth: ArrayLike, probabilities: ArrayLike, bins: int = 10) -> FloatArray:
    """What a reliability diagram shows: for each bin its pairs, the positives expected and those found.

    >>> reliability([[1], [0]], [[0.75], [0.25]], bins=2)
    array([[1.  , 0.25, 0.  ],
           [1.  , 0.75, 1.  ]])
    """
    if bins < 1:
        raise InputError(f"bins must be at least 1, found {bins}.")
    actual, chance = indicators(truth), np.asarray(probabilities, dtype=float)
    check_same_shape(actual, chance)
    if not ((chance >= 0) & (chance <= 1)).all():
        raise InputError("probabilities must lie between 0 and 1. Give calibrated posteriors, not scores.")
    bin_of_pair = np.minimum((chance * bins).astype(int), bins - 1).ravel()
    columns = (None, chance.ravel(), actual.ravel())
    return np.column_stack([np.bincount(bin_of_pair, weights, bins) for weights in columns]).astype(float)


def calibration_error(table: ArrayLike) -> float:
    """How far probabilities are from frequencies, from a table of `reliability`."""
    pairs, expected, positives = np.asarray(table, dtype=float).T
    return float(np.abs(expected - positives).sum() / pairs.sum())


def expected_calibration_error(truth: ArrayLike, probabilities: ArrayLike, bins: int = 10) -> float:
    """How far probabilities are from frequencies: the mean gap over all document-label pairs.

    Pairs fall into bins of equal width, [0, .1) to [.9, 1] for ten; a bin's gap between mean
    probability and frequency of positives weighs as much as it has pairs.

    >>> expected_calibration_error([[1], [0], [0], [0]], [[0.25], [0.25], [0.25], [0.25]])
    0.0
    >>> expected_calibration_error([[1], [0]], [[0.0], [1.0]])
    1.0
    """
    return calibration_error(reliability(truth, probabilities, bins))
