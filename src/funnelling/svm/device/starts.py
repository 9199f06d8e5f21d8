"""Where problems begin: from nothing, or from the solution of another C."""

from funnelling.svm.device.gram import DeviceGram, Tensor

MANY = 512  # support vectors with which a start is settled first
SETTLING = 60  # steps of that
SHIFTS = 10  # tries to make a sum 0


def bounds_of(sides: Tensor, C: float) -> tuple[Tensor, Tensor]:
    """The least and the greatest coefficients of documents on these sides."""
    return C * sides.clamp(max=0).double(), C * sides.clamp(min=0).double()


def fresh(gram: DeviceGram, sides: Tensor, C: float) -> Tensor:
    """A start from nothing: the rarer class at its bound, and as many of the other, those most like it."""
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


def balanced(beta: Tensor, sides: Tensor, C: float) -> Tensor:
    """A start within the bounds whose sum is 0: the heavier side loses, its smallest coefficients first."""
    lower, upper = bounds_of(sides, C)
    beta = beta.maximum(lower).minimum(upper)
    surplus = beta.sum(dim=1, keepdim=True)
    sizes, order = (beta * surplus.sign()).clamp(min=0).sort(dim=1, stable=True)
    excess = surplus.abs().masked_fill(surplus.abs() <= 1e-12 * C, 0)
    taken = (excess - (sizes.cumsum(dim=1) - sizes)).clamp(min=0).minimum(sizes)
    return beta - surplus.sign() * taken.new_zeros(taken.shape).scatter_(1, order, taken)


def stretched(gram: DeviceGram, beta: Tensor, sides: Tensor, C: float) -> Tensor:
    """A start of a smaller C, scaled as far as the box allows and the objective gains.

    Documents at the old bound are mostly at the new one, too.
    """
    import torch

    linear = (sides * beta).sum(dim=1, keepdim=True)
    quadratic = (beta * gram.times(beta)).sum(dim=1, keepdim=True)
    largest = beta.abs().amax(dim=1, keepdim=True)
    best, most = linear / quadratic.clamp(min=1e-300), C / largest.clamp(min=1e-300)
    useful = (quadratic > 0) & (best > 1) & (most > 1)
    factor = best.minimum(most).where(useful, 1.0)
    bounded = useful & (best >= most) & (beta.abs() == largest)
    return torch.where(bounded, C * beta.sign(), factor * beta)


def settled(gram: DeviceGram, beta: Tensor, sides: Tensor, C: float) -> Tensor:
    """A start in which problems with many support vectors have come closer.

    All documents take accelerated steps along their gradients (Beck and Teboulle 2009): cheap, and enough to
    find out who is at which bound, mostly.
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
        there = _projected(ahead + pace * gradient, *bounds)
        change = there - here
        # Who moves against the gradient has become too fast, and starts again.
        momentum = momentum.masked_fill((gradient * change).sum(dim=1, keepdim=True) < 0, 1)
        following = (1 + (1 + 4 * momentum**2).sqrt()) / 2
        here, ahead, momentum = there, there + (momentum - 1) / following * change, following
    settled = beta.clone()
    settled[rows] = here
    return settled


def _projected(beta: Tensor, lower: Tensor, upper: Tensor) -> Tensor:
    """The nearest coefficients within the bounds whose sum is 0, but for rounding."""
    low, high = (beta - upper).amin(dim=1, keepdim=True), (beta - lower).amax(dim=1, keepdim=True)
    shift = beta.new_zeros((len(beta), 1)).maximum(low).minimum(high)
    for _ in range(SHIFTS):
        free = beta - shift
        found = free.maximum(lower).minimum(upper)
        total = found.sum(dim=1, keepdim=True)
        low, high = shift.where(total > 0, low), high.where(total > 0, shift)
        shift = shift + total / (free == found).sum(dim=1, keepdim=True).clamp(min=1)
        shift = shift.where((shift >= low) & (shift <= high), (low + high) / 2)
    return (beta - shift).maximum(lower).minimum(upper)
