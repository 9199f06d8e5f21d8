"""The coefficients that problems start from: none, or the solution for another C."""

from funnelling.svm.device.gram import DeviceGram, Tensor

MANY = 512  # support vectors of a problem from which on its start is settled first
SETTLING = 60  # steps
SHIFTS = 10  # steps towards a sum of 0


def bounds_of(sides: Tensor, C: float) -> tuple[Tensor, Tensor]:
    """The least and the greatest coefficients of documents on these sides."""
    return C * sides.clamp(max=0).double(), C * sides.clamp(min=0).double()


def fresh_start(gram: DeviceGram, sides: Tensor, C: float) -> Tensor:
    """A start from nothing: the rarer class at its bound, and as many of the other, the most similar."""
    import torch

    counts = [(sides == side).sum(dim=1, keepdim=True) for side in (1, -1)]
    fewer = torch.minimum(*counts)
    spread = (sides > 0) * (fewer / counts[0]).double() - (sides < 0) * (fewer / counts[1]).double()
    likeness = gram.times(spread) * sides  # to the own class
    beta = torch.zeros_like(likeness)
    for side in (1, -1):
        order = likeness.masked_fill(sides != side, torch.inf).argsort(dim=1, stable=True)
        ranks = torch.empty_like(order).scatter_(
            1, order, torch.arange(order.shape[1], device=order.device).expand_as(order)
        )
        beta.masked_fill_((sides == side) & (ranks < fewer), C * side)
    return beta


def balanced_start(beta: Tensor, sides: Tensor, C: float) -> Tensor:
    """A start inside its bounds and with sum 0: the heavier side loses, its smallest coefficients first."""
    lower, upper = bounds_of(sides, C)
    beta = beta.maximum(lower).minimum(upper)
    surplus = beta.sum(dim=1, keepdim=True)
    sizes, order = (beta * surplus.sign()).clamp(min=0).sort(dim=1, stable=True)
    excess = surplus.abs().masked_fill(surplus.abs() <= 1e-12 * C, 0)
    losses = (excess - (sizes.cumsum(dim=1) - sizes)).clamp(min=0).minimum(sizes)
    return beta - surplus.sign() * losses.new_zeros(losses.shape).scatter_(1, order, losses)


def stretched_start(gram: DeviceGram, beta: Tensor, sides: Tensor, C: float) -> Tensor:
    """The solution for a smaller C, scaled as far as the box allows and the objective gains.

    Documents at the old bound are mostly at the new one too.
    """
    import torch

    linear = (sides * beta).sum(dim=1, keepdim=True)
    quadratic = (beta * gram.times(beta)).sum(dim=1, keepdim=True)
    largest = beta.abs().amax(dim=1, keepdim=True)
    best, most = linear / quadratic.clamp(min=1e-300), C / largest.clamp(min=1e-300)
    useful = (quadratic > 0) & (best > 1) & (most > 1)
    factor = best.minimum(most).where(useful, 1.0)
    at_bound = useful & (best >= most) & (beta.abs() == largest)
    return torch.where(at_bound, C * beta.sign(), factor * beta)


def settled_start(gram: DeviceGram, beta: Tensor, sides: Tensor, C: float) -> Tensor:
    """A start in which problems with many support vectors have come closer to their solutions.

    All documents take accelerated steps along their gradients (Beck and Teboulle 2009): cheap, and mostly
    enough to find out which document is at which bound.
    """
    rows = ((beta != 0).sum(dim=1) > MANY).nonzero()[:, 0]
    if not len(rows):
        return beta
    sides, pace = sides[rows], 1 / (1.05 * max(gram.steepest, 1e-300))
    bounds = bounds_of(sides, C)
    here = ahead = beta[rows]
    momentum = here.new_ones((len(rows), 1))
    for _ in range(SETTLING):
        gradient = sides - gram.times(ahead)
        there = _project(ahead + pace * gradient, *bounds)
        change = there - here
        # A problem that moves against its gradient has become too fast, and loses its momentum.
        momentum = momentum.masked_fill((gradient * change).sum(dim=1, keepdim=True) < 0, 1)
        following = (1 + (1 + 4 * momentum**2).sqrt()) / 2
        here, ahead, momentum = there, there + (momentum - 1) / following * change, following
    start = beta.clone()
    start[rows] = here
    return start


def _project(beta: Tensor, lower: Tensor, upper: Tensor) -> Tensor:
    """The nearest coefficients within the bounds whose sum is 0, but for rounding."""
    low, high = (beta - upper).amin(dim=1, keepdim=True), (beta - lower).amax(dim=1, keepdim=True)
    shift = beta.new_zeros((len(beta), 1)).maximum(low).minimum(high)
    for _ in range(SHIFTS):
        free = beta - shift
        inside = free.maximum(lower).minimum(upper)
        total = inside.sum(dim=1, keepdim=True)
        low, high = shift.where(total > 0, low), high.where(total > 0, shift)
        shift = shift + total / (free == inside).sum(dim=1, keepdim=True).clamp(min=1)
        shift = shift.where((shift >= low) & (shift <= high), (low + high) / 2)
    return (beta - shift).maximum(lower).minimum(upper)
