"""How far probabilities can be trusted: what was expected beside what was found."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from funnelling.errors import InputError
from funnelling.evaluation.counts import FloatArray, Indicators, check_same_shape, indicators
from funnelling.matrices import canonical, dense, is_sparse, values_at

AT_ONCE = 256  # documents


def reliability(truth: Indicators, probabilities: ArrayLike | sparse.csr_array, bins: int = 10) -> FloatArray:
    """What a reliability diagram shows: for each bin its pairs, the positives expected and those found.

    In a sparse matrix of probabilities, what is not there is 0.

    >>> reliability([[1], [0]], [[0.75], [0.25]], bins=2)
    array([[1.  , 0.25, 0.  ],
           [1.  , 0.75, 1.  ]])
    """
    if bins < 1:
        raise InputError(f"bins must be at least 1, found {bins}.")
    actual = indicators(truth)
    if is_sparse(actual):
        return _sparse_reliability(actual, probabilities, bins)
    chance = dense(probabilities).astype(float, copy=False)
    check_same_shape(actual, chance)
    return _binned(chance.ravel(), actual.ravel(), bins)


def _sparse_reliability(truth: sparse.csr_array, probabilities: Any, bins: int) -> FloatArray:
    """The same of many labels: dense probabilities are looked at some documents at a time."""
    if not is_sparse(probabilities):
        probabilities = np.asarray(probabilities)
    check_same_shape(truth, probabilities)
    table = np.zeros((bins, 3))
    for start in range(0, truth.shape[0], AT_ONCE):
        chance = canonical(probabilities[start : start + AT_ONCE])
        rows, columns = chance.nonzero()
        positives = truth[start : start + AT_ONCE]
        table += _binned(chance.data, values_at(positives, rows, columns), bins)
        # All other pairs have the probability 0.
        found = int(values_at(chance, *positives.nonzero()).astype(bool).sum())
        table[0] += (chance.shape[0] * chance.shape[1] - chance.nnz, 0, positives.nnz - found)
    return table


def _binned(chance: FloatArray, actual: NDArray[np.bool_], bins: int) -> FloatArray:
    """The pairs of each bin, the sum of their probabilities, and how many are positive."""
    if not ((chance >= 0) & (chance <= 1)).all():
        raise InputError("probabilities must lie between 0 and 1. Give calibrated posteriors, not scores.")
    bin_of_pair = np.minimum((chance * bins).astype(int), bins - 1)
    columns = (None, chance, actual)
    return np.column_stack([np.bincount(bin_of_pair, weights, bins) for weights in columns]).astype(float)


def calibration_error(table: ArrayLike) -> float:
    """How far probabilities are from frequencies, from a table of `reliability`."""
    pairs, expected, positives = np.asarray(table, dtype=float).T
    return float(np.abs(expected - positives).sum() / pairs.sum())


def expected_calibration_error(
    truth: Indicators, probabilities: ArrayLike | sparse.csr_array, bins: int = 10
) -> float:
    """How far probabilities are from frequencies: the mean gap over all document-label pairs.

    Pairs fall into bins of equal width, [0, .1) to [.9, 1] for ten; a bin's gap between mean
    probability and frequency of positives weighs as much as it has pairs.

    >>> expected_calibration_error([[1], [0], [0], [0]], [[0.25], [0.25], [0.25], [0.25]])
    0.0
    >>> expected_calibration_error([[1], [0]], [[0.0], [1.0]])
    1.0
    """
    return calibration_error(reliability(truth, probabilities, bins))
