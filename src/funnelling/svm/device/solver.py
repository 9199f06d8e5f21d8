"""The problems of all labels and folds, solved round by round, as `funnelling.svm.device` describes."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from funnelling.errors import InputError
from funnelling.matrices import Folds, Targets
from funnelling.svm.device.gram import DeviceGram, Tensor, on_device, on_host
from funnelling.svm.device.interior import Subproblems
from funnelling.svm.device.starts import (
    balanced_start,
    bounds_of,
    fresh_start,
    settled_start,
    stretched_start,
)
from funnelling.svm.path import SparseSolution, warn_of_unfinished
from funnelling.svm.solver import TOLERANCE, UNUSABLE_FEATURES
from funnelling.work.progress import Advance, quietly

BATCH_SHARE = 0.3  # of the memory, for a batch of problems
BATCH_BYTES = 120  # of a batch, per problem and document
ROUND_SHARE = 0.08  # of the memory, for the kernel values of a round, which are held three times

# When a problem is solved, as in native/rule.c.
LARGE_C, GAP, NEAR, ROUNDING = 10.0, 8e-4, 0.3, 1e-12
TIGHTER, TIMES = 8.0, 12
MOST_ROUNDS = 300  # it takes 2 to 10
FIRST_C = 10.0  # up to here a problem without a start is solved directly, above by way of smaller Cs

# The documents of a round.
STEP = 128  # their number is a multiple of this
MOST_VIOLATORS = 1024  # at most so many documents, violators included
MOST = 1536  # or so many, where that many are between their bounds
VIOLATOR_SHARE = 0.6  # of the worst violation, from which on a violator counts
SPARE = 32  # documents beyond those that count
ALONE = 1e11  # multiplications saved from which on it pays to solve problems of another size by themselves
FREE_FIRST = 1e9  # above any gradient: documents between their bounds come first
INNER = 0.05  # the share of a violation that a round may leave over its documents


def solve_path_on_device(
    gram: DeviceGram,
    targets: Targets,
    active: Targets,
    Cs: Sequence[float],
    *,
    folds: Folds | None = None,
    start: SparseSolution | None = None,
    advance: Advance = quietly,
) -> list[SparseSolution]:
    """Solve the problems of all labels for each C, with the arguments of `funnelling.svm.path.solve_path`.

    Only the scores and coefficients that a `SparseSolution` holds leave the device.
    """
    problems, documents = active.shape
    own = None if folds is None else on_device(1 + np.unique(folds, return_inverse=True)[1], gram.device)
    blocks_by_c: list[list[SparseSolution]] = [[] for _ in Cs]
    for block, sides in _label_blocks(gram, targets, active):
        beta = None
        if start is not None:
            rows = start.support[block.start * problems : block.stop * problems]
            beta = on_device(rows.toarray(), gram.device)
        for C, blocks in zip(Cs, blocks_by_c, strict=True):
            results = _solve(gram, sides, beta, C, advance)
            beta = results.beta
            scores = results.scores.view(-1, problems, documents)
            held_out = None
            if own is not None:
                held_out = on_host(scores.gather(1, own.expand(len(scores), 1, -1))[:, 0])
            blocks.append(
                SparseSolution(
                    problems,
                    _to_sparse(beta),
                    on_host(results.bias).reshape(-1, problems),
                    on_host(scores[:, 0]),
                    held_out,
                    on_host(results.unfinished).reshape(-1, problems).any(axis=1),
                )
            )
    solutions = [SparseSolution.joined(blocks) for blocks in blocks_by_c]
    for C, solution in zip(Cs, solutions, strict=True):
        warn_of_unfinished(C, solution.unfinished)
    return solutions


def _to_sparse(beta: Tensor) -> "sparse.csr_array[np.float64]":
    non_zero = beta != 0
    starts = np.concatenate([[0], on_host(non_zero.sum(dim=1).cumsum(dim=0))])
    columns = on_host(non_zero.nonzero()[:, 1].int())
    return sparse.csr_array((on_host(beta[non_zero]), columns, starts.astype(np.int32)), tuple(beta.shape))


def _label_blocks(gram: DeviceGram, targets: Targets, active: Targets) -> Iterator[tuple[slice, Tensor]]:
    """Blocks of labels whose problems fit into memory together, and the `_Batch.sides` of their documents."""
    if not bool(gram.values.diagonal().isfinite().all()):
        raise InputError(UNUSABLE_FEATURES)
    labels, (folds, documents) = targets.shape[1], active.shape
    signs = on_device(np.where(targets.T, 1, -1).astype(np.int8), gram.device)
    trained_on = on_device(active, gram.device)
    size = max(1, int(BATCH_SHARE * gram.memory / (BATCH_BYTES * folds * documents)))
    for first in range(0, labels, size):
        block = slice(first, min(first + size, labels))
        yield block, (signs[block, None] * trained_on).view(-1, documents)


@dataclass
class _Results:
    """The results of a batch of problems, one row per problem."""

    beta: Tensor
    bias: Tensor
    scores: Tensor
    unfinished: Tensor


@dataclass
class _Batch:
    """Problems that are solved side by side, one row per problem."""

    numbers: Tensor  # their rows in the results
    sides: Tensor  # of documents: 1 for coefficients from 0 to C, -1 for -C to 0, 0 for those held out
    beta: Tensor
    tolerance: Tensor
    tightened: Tensor  # how often the tolerance was tightened

    def only(self, rows: Tensor) -> "_Batch":
        return _Batch(*(values[rows] for values in vars(self).values()))


@dataclass
class _Look:
    """What a look at the problems of a batch finds."""

    sums: Tensor  # K beta
    gradient: Tensor  # less the bias
    free: Tensor  # documents that may both rise and fall
    rising: Tensor  # documents that can only rise, or should
    falling: Tensor  # documents that can only fall, or should
    bias: Tensor
    violation: Tensor

    def only(self, rows: Tensor) -> "_Look":
        return _Look(*(values[rows] for values in vars(self).values()))


def _solve(gram: DeviceGram, sides: Tensor, beta: Tensor | None, C: float, advance: Advance) -> _Results:
    """Solve the problems of a batch, from the coefficients ``beta`` or from nothing."""
    import torch

    positive, negative = (sides > 0).any(dim=1), (sides < 0).any(dim=1)
    constant = torch.where(positive, 1.0, -1.0).double()  # the score where a class is missing, libsvm's rule
    results = _Results(
        torch.zeros(sides.shape, dtype=torch.float64, device=gram.device),
        constant,
        constant.float()[:, None].repeat(1, gram.documents),
        torch.zeros_like(positive),
    )
    numbers = (positive & negative).nonzero()[:, 0]
    if len(numbers) < len(sides):
        advance(len(sides) - len(numbers))
    if not len(numbers):
        return results
    sides = sides[numbers]
    if beta is not None:
        beta = stretched_start(gram, balanced_start(beta[numbers], sides, C), sides, C)
    else:
        path = [C]
        while path[0] > FIRST_C:
            path.insert(0, path[0] / 10)
        beta = fresh_start(gram, sides, path[0])
        for smaller, larger in itertools.pairwise(path):
            _walk(gram, numbers, sides, beta, smaller, results)
            beta = stretched_start(gram, results.beta[numbers], sides, larger)
    _walk(gram, numbers, sides, beta, C, results, advance)
    return results


def _walk(
    gram: DeviceGram,
    numbers: Tensor,
    sides: Tensor,
    beta: Tensor,
    C: float,
    results: _Results,
    advance: Advance = quietly,
) -> None:
    """Go from a start through rounds until all problems are solved."""
    import torch

    tolerance = min(TOLERANCE, 0.8 * GAP) if C > LARGE_C else TOLERANCE
    batch = _Batch(
        numbers,
        sides,
        settled_start(gram, beta, sides, C),
        beta.new_full((len(beta),), tolerance),
        torch.zeros_like(numbers),
    )
    for turn in range(MOST_ROUNDS + 1):
        look = _look(gram, batch, C)
        if not bool(look.violation.isfinite().all()):
            raise InputError(UNUSABLE_FEATURES)
        is_solved = _check_rule(batch, look, C)
        leaves = torch.ones_like(is_solved) if turn == MOST_ROUNDS else is_solved
        leaving, staying = leaves.nonzero()[:, 0], (~leaves).nonzero()[:, 0]
        if len(leaving):
            to = batch.numbers[leaving]
            results.beta[to] = batch.beta[leaving]
            results.bias[to] = look.bias[leaving]
            results.scores[to] = (look.sums[leaving] + look.bias[leaving, None]).float()
            results.unfinished[to] = ~is_solved[leaving]
            advance(len(leaving))
            if not len(staying):
                return
            batch, look = batch.only(staying), look.only(staying)
        _improve(gram, batch, look, C)


def _look(gram: DeviceGram, batch: _Batch, C: float) -> _Look:
    """Gradients, violations and biases, by the rules of native/rule.h."""
    import torch

    sums = gram.times(batch.beta)
    gradient = batch.sides - sums
    lower, upper = bounds_of(batch.sides, C)
    rises, falls = batch.beta < upper, batch.beta > lower
    top, bottom = _ends(gradient, rises, falls)
    free = rises & falls
    mean = gradient.masked_fill(~free, 0).sum(dim=1) / free.sum(dim=1).clamp(min=1)
    may_rise, may_fall = batch.beta < upper - ROUNDING * C, batch.beta > lower + ROUNDING * C
    bias = mean.where((may_rise & may_fall).any(dim=1), sum(_ends(gradient, may_rise, may_fall)) / 2)
    violation = (top - bottom).where(sums.isfinite().all(dim=1), torch.nan)
    gradient -= bias[:, None]
    rising = rises & ((gradient >= 0) | ~falls)
    return _Look(sums, gradient, free, rising, falls & ~rising, bias, violation)


def _ends(gradient: Tensor, rises: Tensor, falls: Tensor) -> tuple[Tensor, Tensor]:
    """The largest gradient of the documents that may rise, and the smallest of those that may fall."""
    import torch

    return (
        gradient.masked_fill(~rises, -torch.inf).amax(dim=1),
        gradient.masked_fill(~falls, torch.inf).amin(dim=1),
    )


def _check_rule(batch: _Batch, look: _Look, C: float) -> Tensor:
    """Which problems are solved; where a large C asks for more than the tolerance, that is tightened."""
    within = look.violation < batch.tolerance
    if C <= LARGE_C:
        return within
    linear = (batch.sides * batch.beta).sum(dim=1)
    quadratic = (batch.beta * look.sums).sum(dim=1)
    hinge = (1 - batch.sides * (look.sums + look.bias[:, None])).clamp_(min=0) * batch.sides.abs()
    primal = quadratic / 2 + C * hinge.sum(dim=1)
    gap = (primal - linear + quadratic / 2) / primal.clamp(min=np.finfo(float).tiny)
    is_solved = (look.violation < NEAR) & (gap < GAP)
    too_wide = within & ~is_solved
    batch.tightened += too_wide
    batch.tolerance[too_wide] /= TIGHTER
    return is_solved | (batch.tightened > TIMES)  # as near as the arithmetic gets


def _improve(gram: DeviceGram, batch: _Batch, look: _Look, C: float) -> None:
    """Solve each problem over the documents that matter most."""
    import torch

    keys = look.gradient.where(look.rising, -look.gradient)
    violators = keys > VIOLATOR_SHARE * look.violation[:, None]

    def sizes_for(documents: Tensor, most: int) -> npt.NDArray[np.int_]:
        """The size that each problem needs for these documents, half of it for each side."""
        sides = [(documents & side).sum(dim=1) for side in (look.rising, look.falling)]
        wide: npt.NDArray[np.int_] = 2 * on_host(torch.maximum(*sides)) + SPARE
        return np.minimum(-(-wide // STEP) * STEP, most)

    sizes = np.maximum(sizes_for(look.free | violators, MOST_VIOLATORS), sizes_for(look.free, MOST))
    for size in _merge_sizes(sizes):
        alike = np.flatnonzero(sizes == size)
        together = max(1, int(ROUND_SHARE * gram.memory / (8 * size**2)))
        for first in range(0, len(alike), together):
            rows = on_device(alike[first : first + together], gram.device)
            ranks = keys[rows] + FREE_FIRST * look.free[rows]
            half = min(size // 2, gram.documents)
            best = [
                ranks.masked_fill(~side[rows], -torch.inf).topk(half, dim=1)
                for side in (look.rising, look.falling)
            ]
            documents = torch.cat([side.indices for side in best], dim=1)
            valid = torch.cat([side.values for side in best], dim=1) > -torch.inf
            _improve_over(gram, batch, look, C, rows, documents, valid)


def _merge_sizes(sizes: npt.NDArray[np.int_]) -> list[int]:
    """Give problems of a rare size the next larger one, where that costs little; returns the sizes left."""
    for size, larger in itertools.pairwise(np.unique(sizes)):
        if np.count_nonzero(sizes == size) * (float(larger) ** 3 - float(size) ** 3) < ALONE:
            sizes[sizes == size] = larger
    return [int(size) for size in np.unique(sizes)]


def _improve_over(
    gram: DeviceGram, batch: _Batch, look: _Look, C: float, rows: Tensor, documents: Tensor, valid: Tensor
) -> None:
    """Solve some problems over the documents chosen for each; places that are not valid hold no document."""
    import torch

    kernel = gram.values[documents[:, :, None], documents[:, None, :]].double()
    kernel *= valid[:, :, None] & valid[:, None, :]
    beta, violation = batch.beta[rows], look.violation[rows]
    start = beta.gather(1, documents) * valid
    lower = C * (batch.sides[rows].gather(1, documents).clamp(max=0) * valid).double()
    subproblems = Subproblems.of(
        kernel,
        look.gradient[rows].gather(1, documents) * valid,
        start,
        torch.stack([lower, lower + C], dim=1),
        valid.double(),
        start.sum(dim=1) - beta.sum(dim=1),  # so that all coefficients sum to 0 in spite of rounding
        violation,
        (INNER * violation).maximum(0.8 * batch.tolerance[rows]),
    )
    # A place that is not valid names a document that a valid one may name too, so its result goes to a spare
    # column, which is dropped.
    padded = torch.nn.functional.pad(beta, (0, 1))
    padded.scatter_(1, documents.masked_fill(~valid, gram.documents), subproblems.solve())
    batch.beta[rows] = padded[:, :-1]
