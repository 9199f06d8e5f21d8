"""The problems of all labels and folds, round by round: see the room's own page for how."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from funnelling.errors import InputError
from funnelling.matrices import Folds, Targets
from funnelling.svm.device.gram import DeviceGram, Tensor, on_device, on_host
from funnelling.svm.device.interior import Part
from funnelling.svm.device.starts import balanced, bounds_of, fresh, settled, stretched
from funnelling.svm.path import Solved, tell_unfinished
from funnelling.svm.solver import NO_NUMBERS, TOLERANCE, Solution
from funnelling.work.progress import Advance, quietly

BATCH_SHARE, BATCH_BYTES = 0.3, 120  # of the memory for a batch; for each problem and document
ROUND_SHARE = 0.08  # of the kernel values in a round, which are there three times

# When a problem is solved, as in native/rule.c.
LARGE_C, GAP, NEAR = 10.0, 8e-4, 0.3
TIGHTER, TIMES = 8.0, 12
MOST_ROUNDS = 300  # it takes 2 to 10
FIRST_C = 10.0  # up to here a problem without a start is solved at once, above by way of smaller Cs

# The documents of a round.
STEP = 128  # their number is a multiple of this
MOST_VIOLATORS, MOST = 1024, 1536  # at most, and at most where more are between their bounds
COUNTED = 0.6  # the share of the worst violation from which on a violator counts
SPARE = 32  # beyond those counted
ALONE = 1e11  # multiplications more from which on it pays to let problems of another size go alone
FREE_FIRST = 1e9  # above any gradient
INNER = 0.05  # the share of a violation that is left over the documents of a round


def solve_on_device(
    gram: DeviceGram,
    targets: Targets,
    active: Targets,
    C: float,
    *,
    start: npt.NDArray[np.float64] | None = None,
    advance: Advance = quietly,
) -> Solution:
    """Solve one C-SVM for every label and every fold; `funnelling.svm.solver.solve` says what is what.

    ``advance`` is called with the number of problems solved.
    """
    folds, documents = active.shape
    labels = targets.shape[1]
    shape = labels, folds, documents
    solution = Solution(
        np.empty(shape),
        np.empty((labels, folds)),
        np.empty(shape, dtype=np.float32),
        np.empty(labels, dtype=bool),
    )
    for part, sides in _parts(gram, targets, active):
        begun = None if start is None else on_device(start[part], gram.device).view(-1, documents)
        results = _solve(gram, sides, begun, C, advance)
        solution.coefficients[part] = on_host(results.beta).reshape(-1, folds, documents)
        solution.bias[part] = on_host(results.bias).reshape(-1, folds)
        solution.scores[part] = on_host(results.scores).reshape(-1, folds, documents)
        solution.unfinished[part] = on_host(results.unfinished).reshape(-1, folds).any(axis=1)
    return solution


def solve_path_on_device(
    gram: DeviceGram,
    targets: Targets,
    active: Targets,
    Cs: Sequence[float],
    *,
    folds: Folds | None = None,
    start: Solved | None = None,
    advance: Advance = quietly,
) -> list[Solved]:
    """Solve the problems of all labels for each C; `funnelling.svm.path.solve_path` says what is what.

    Only what is asked for leaves the device.
    """
    problems, documents = active.shape
    own = None if folds is None else on_device(1 + np.unique(folds, return_inverse=True)[1], gram.device)
    solved: list[list[Solved]] = [[] for _ in Cs]
    for part, sides in _parts(gram, targets, active):
        beta = None
        if start is not None:
            rows = start.support[part.start * problems : part.stop * problems]
            beta = on_device(rows.toarray(), gram.device)
        for C, of_parts in zip(Cs, solved, strict=True):
            results = _solve(gram, sides, beta, C, advance)
            beta = results.beta
            scores = results.scores.view(-1, problems, documents)
            held_out = None
            if own is not None:
                held_out = on_host(scores.gather(1, own.expand(len(scores), 1, -1))[:, 0])
            of_parts.append(
                Solved(
                    problems,
                    _to_sparse(beta),
                    on_host(results.bias).reshape(-1, problems),
                    on_host(scores[:, 0]),
                    held_out,
                    on_host(results.unfinished).reshape(-1, problems).any(axis=1),
                )
            )
    for_each_c = [Solved.joined(of_parts) for of_parts in solved]
    for C, of_all in zip(Cs, for_each_c, strict=True):
        tell_unfinished(C, of_all.unfinished)
    return for_each_c


def _to_sparse(beta: Tensor) -> "sparse.csr_array[np.float64]":
    filled = beta != 0
    starts = np.concatenate([[0], on_host(filled.sum(dim=1).cumsum(dim=0))])
    columns = on_host(filled.nonzero()[:, 1].int())
    return sparse.csr_array((on_host(beta[filled]), columns, starts.astype(np.int32)), tuple(beta.shape))


def _parts(gram: DeviceGram, targets: Targets, active: Targets) -> Iterator[tuple[slice, Tensor]]:
    """Labels whose problems fit into memory together, and the sides of their documents: see `_Batch`."""
    if not bool(gram.values.diagonal().isfinite().all()):
        raise InputError(NO_NUMBERS)
    labels, (folds, documents) = targets.shape[1], active.shape
    signs = on_device(np.where(targets.T, 1, -1).astype(np.int8), gram.device)
    trained_on = on_device(active, gram.device)
    size = max(1, int(BATCH_SHARE * gram.memory / (BATCH_BYTES * folds * documents)))
    for first in range(0, labels, size):
        part = slice(first, min(first + size, labels))
        yield part, (signs[part, None] * trained_on).view(-1, documents)


@dataclass
class _Results:
    """What is known of a batch of problems, a row each."""

    beta: Tensor
    bias: Tensor
    scores: Tensor
    unfinished: Tensor


@dataclass
class _Batch:
    """Problems side by side, a row each."""

    numbers: Tensor  # which results are theirs
    sides: Tensor  # of a document: 1 with a coefficient from 0 to C, -1 from -C to 0, 0 is held out
    beta: Tensor
    tolerance: Tensor
    tightened: Tensor  # times

    def only(self, rows: Tensor) -> "_Batch":
        return _Batch(*(part[rows] for part in vars(self).values()))


@dataclass
class _Look:
    """Where the problems of a batch stand."""

    sums: Tensor  # K beta
    gradient: Tensor  # less the bias
    free: Tensor  # documents that may both rise and fall
    rising: Tensor  # documents that can only rise, or should
    falling: Tensor
    bias: Tensor
    violation: Tensor

    def only(self, rows: Tensor) -> "_Look":
        return _Look(*(part[rows] for part in vars(self).values()))


def _solve(gram: DeviceGram, sides: Tensor, beta: Tensor | None, C: float, advance: Advance) -> _Results:
    """Solve the problems of a batch, from the coefficients of another one or from nothing."""
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
        beta = stretched(gram, balanced(beta[numbers], sides, C), sides, C)
    else:
        between = [C]
        while between[0] > FIRST_C:
            between.insert(0, between[0] / 10)
        beta = fresh(gram, sides, between[0])
        for smaller, larger in itertools.pairwise(between):
            _walk(gram, numbers, sides, beta, smaller, results)
            beta = stretched(gram, results.beta[numbers], sides, larger)
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
    """Rounds from a start until all problems are solved."""
    import torch

    tolerance = min(TOLERANCE, 0.8 * GAP) if C > LARGE_C else TOLERANCE
    batch = _Batch(
        numbers,
        sides,
        settled(gram, beta, sides, C),
        beta.new_full((len(beta),), tolerance),
        torch.zeros_like(numbers),
    )
    for turn in range(MOST_ROUNDS + 1):
        look = _look(gram, batch, C)
        if not bool(look.violation.isfinite().all()):
            raise InputError(NO_NUMBERS)
        solved = _solved(batch, look, C)
        leaving = torch.ones_like(solved) if turn == MOST_ROUNDS else solved
        gone, kept = leaving.nonzero()[:, 0], (~leaving).nonzero()[:, 0]
        if len(gone):
            to = batch.numbers[gone]
            results.beta[to] = batch.beta[gone]
            results.bias[to] = look.bias[gone]
            results.scores[to] = (look.sums[gone] + look.bias[gone, None]).float()
            results.unfinished[to] = ~solved[gone]
            advance(len(gone))
            if not len(kept):
                return
            batch, look = batch.only(kept), look.only(kept)
        _improve(gram, batch, look, C)


def _look(gram: DeviceGram, batch: _Batch, C: float) -> _Look:
    """Gradients, violations and biases, by the rules of native/rule.h."""
    import torch

    sums = gram.times(batch.beta)
    gradient = batch.sides - sums
    lower, upper = bounds_of(batch.sides, C)
    rises, falls = batch.beta < upper, batch.beta > lower
    top = gradient.masked_fill(~rises, -torch.inf).amax(dim=1)
    bottom = gradient.masked_fill(~falls, torch.inf).amin(dim=1)
    free = rises & falls
    count = free.sum(dim=1)
    mean = gradient.masked_fill(~free, 0).sum(dim=1) / count.clamp(min=1)
    bias = mean.where(count > 0, (top + bottom) / 2)
    violation = (top - bottom).where(sums.isfinite().all(dim=1), torch.nan)
    gradient -= bias[:, None]
    rising = rises & ((gradient >= 0) | ~falls)
    return _Look(sums, gradient, free, rising, falls & ~rising, bias, violation)


def _solved(batch: _Batch, look: _Look, C: float) -> Tensor:
    """Which problems meet the rule; where a large C asks for more than the tolerance, it is tightened."""
    within = look.violation < batch.tolerance
    if C <= LARGE_C:
        return within
    linear = (batch.sides * batch.beta).sum(dim=1)
    quadratic = (batch.beta * look.sums).sum(dim=1)
    hinge = (1 - batch.sides * (look.sums + look.bias[:, None])).clamp_(min=0) * batch.sides.abs()
    primal = quadratic / 2 + C * hinge.sum(dim=1)
    gap = (primal - linear + quadratic / 2) / primal.clamp(min=np.finfo(float).tiny)
    solved = (look.violation < NEAR) & (gap < GAP)
    tightened = within & ~solved
    batch.tightened += tightened
    batch.tolerance[tightened] /= TIGHTER
    return solved | (batch.tightened > TIMES)  # as near as the arithmetic gets


def _improve(gram: DeviceGram, batch: _Batch, look: _Look, C: float) -> None:
    """Solve each problem over the documents that matter most."""
    import torch

    keys = look.gradient.where(look.rising, -look.gradient)
    violators = keys > COUNTED * look.violation[:, None]

    def needed(wanted: Tensor, most: int) -> npt.NDArray[np.int_]:
        sides = [(wanted & side).sum(dim=1) for side in (look.rising, look.falling)]
        wide: npt.NDArray[np.int_] = 2 * on_host(torch.maximum(*sides)) + SPARE
        return np.minimum(-(-wide // STEP) * STEP, most)

    sizes = np.maximum(needed(look.free | violators, MOST_VIOLATORS), needed(look.free, MOST))
    for size in _joined(sizes):
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
            chosen = torch.cat([side.indices for side in best], dim=1)
            valid = torch.cat([side.values for side in best], dim=1) > -torch.inf
            _improve_over(gram, batch, look, C, rows, chosen, valid)


def _joined(sizes: npt.NDArray[np.int_]) -> list[int]:
    """The different sizes, after problems of one that are few have been given the next larger one."""
    for size, larger in itertools.pairwise(np.unique(sizes)):
        if np.count_nonzero(sizes == size) * (float(larger) ** 3 - float(size) ** 3) < ALONE:
            sizes[sizes == size] = larger
    return [int(size) for size in np.unique(sizes)]


def _improve_over(
    gram: DeviceGram, batch: _Batch, look: _Look, C: float, rows: Tensor, chosen: Tensor, valid: Tensor
) -> None:
    """The same for some problems, over chosen documents; those that are not valid stand for none."""
    import torch

    kernel = gram.values[chosen[:, :, None], chosen[:, None, :]].double()
    kernel *= valid[:, :, None] & valid[:, None, :]
    beta, violation = batch.beta[rows], look.violation[rows]
    start = beta.gather(1, chosen) * valid
    lower = C * (batch.sides[rows].gather(1, chosen).clamp(max=0) * valid).double()
    part = Part.of(
        kernel,
        look.gradient[rows].gather(1, chosen) * valid,
        start,
        torch.stack([lower, lower + C], dim=1),
        valid.double(),
        start.sum(dim=1) - beta.sum(dim=1),  # which takes back what rounding has left
        violation,
        (INNER * violation).maximum(0.8 * batch.tolerance[rows]),
    )
    # Who is not valid goes to a column that is thrown away: it may have been chosen by right as well.
    padded = torch.nn.functional.pad(beta, (0, 1))
    padded.scatter_(1, chosen.masked_fill(~valid, gram.documents), part.solved())
    batch.beta[rows] = padded[:, :-1]
