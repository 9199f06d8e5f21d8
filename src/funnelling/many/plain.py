"""What ``native/labels.c`` does, in plain Python: for where there is no compiler, and to test it by."""

from typing import Any

import numpy as np
import numpy.typing as npt

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
    for row in range(first, last):
        sums: dict[int, np.float32] = {}
        for at in range(starts[row], starts[row + 1]):
            for b in range(weight_starts[columns[at]], weight_starts[columns[at] + 1]):
                label = int(weight_labels[b])
                sums[label] = sums.get(label, np.float32(0)) + values[at] * weight_values[b]
        best = sorted((-(total + offsets[label]), label) for label, total in sums.items() if total)[:k]
        labels[row - first], scores[row - first] = -1, 0
        labels[row - first, : len(best)] = [label for _, label in best]
        scores[row - first, : len(best)] = [-score for score, _ in best]


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
