"""What ``native/labels.c`` does, in plain Python: for where there is no compiler, and to test it by."""

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

Ints = npt.NDArray[Any]
Floats = npt.NDArray[np.float32]


def rank_labels(
    first: int,
    last: int,
    values: Floats,
    columns: Ints,
    starts: Ints,
    weight_values: Floats,
    weight_labels: Ints,
    weight_starts: Ints,
    offsets: Floats,
    k: int,
    labels: Ints,
    scores: Floats,
) -> None:
    """Fill the k labels of the highest scores of the rows first to last, and these scores."""
    some = slice(starts[first], starts[last])
    rows = sparse.csr_array(
        (values[some], columns[some], starts[first : last + 1] - starts[first]),
        (last - first, len(weight_starts) - 1),
    )
    by_feature = (weight_values, weight_labels, weight_starts)
    sums = rows @ sparse.csr_array(by_feature, (len(weight_starts) - 1, len(offsets)))
    sums.eliminate_zeros()
    labels[:], scores[:] = -1, 0
    for row, (start, end) in enumerate(pairwise(sums.indptr.tolist())):
        found = sums.indices[start:end]
        own = sums.data[start:end] + offsets[found]
        best = np.lexsort((found, -own))[:k]
        labels[row, : len(best)], scores[row, : len(best)] = found[best], own[best]


def solve_labels(
    first: int,
    last: int,
    width: int,
    values: Floats,
    columns: Ints,
    starts: Ints,
    norms: Floats,
    prototype_values: Floats,
    prototype_columns: Ints,
    prototype_starts: Ints,
    biases: Floats,
    documents: Ints,
    signs: Ints,
    problem_starts: Ints,
    C: float,
    tolerance: float,
    rounds: int,
    least: float,
    seed: int,
    out_columns: Ints,
    out_values: Floats,
    ends: Ints,
) -> None:
    """Solve the problems of the labels first to last, and fill their weights and biases.

    The order of documents is another one than in compiled code, and no document is left out for a while:
    results are as close as the tolerance makes them.
    """
    used, diagonal = 0, 0.5 / C
    for label in range(first, last):
        weights = np.zeros(width, dtype=np.float32)
        span = slice(prototype_starts[label], prototype_starts[label + 1])
        weights[prototype_columns[span]] = prototype_values[span]
        problem = slice(problem_starts[label], problem_starts[label + 1])
        rows, ys = documents[problem], signs[problem]
        alphas, bias = np.zeros(len(rows)), float(biases[label])
        random = np.random.default_rng([seed, label])
        for _ in range(rounds):
            worst = 0.0
            for i in random.permutation(len(rows)):
                row = slice(starts[rows[i]], starts[rows[i] + 1])
                score = float(weights[columns[row]] @ values[row]) + bias
                gradient = ys[i] * score - 1 + diagonal * alphas[i]
                if alphas[i] <= 0 and gradient >= 0:
                    continue
                worst = max(worst, abs(gradient))
                moved = max(0.0, alphas[i] - gradient / (norms[rows[i]] + 1 + diagonal))
                change = (moved - alphas[i]) * ys[i]
                alphas[i] = moved
                weights[columns[row]] += np.float32(change) * values[row]
                bias += change
            if worst <= tolerance:
                break
        kept = np.flatnonzero((np.abs(weights) >= least) & (weights != 0))
        out_columns[used : used + len(kept)], out_values[used : used + len(kept)] = kept, weights[kept]
        used += len(kept)
        ends[label - first], biases[label] = used, bias
