"""Small problems side by side, solved by an interior-point method (Mehrotra 1992)."""

from dataclasses import dataclass

from funnelling.svm.device.gram import Tensor

EDGE = 0.2  # how far from its bounds a coefficient starts, as a share of C
AIR = 0.1  # how far above 0 a multiplier starts, as a share of the violation
ITERATIONS = 60  # at most; it takes 8 to 20
RIDGE = 1e-7  # times the diagonal: below, a kernel value in single precision is noise
BLOCK = 128  # rows that are factorised at once


@dataclass
class Subproblems:
    """Problems over a few documents each, with a point inside the box of each.

    An axis of length 2 stands for the lower and the upper bound of a coefficient. At the optimum, gradient -
    offset + price of the lower bound - price of the upper one is 0, and so is each room times its price. The
    steps keep rooms and prices positive and take all their products down together.
    """

    kernel: Tensor  # (problems, documents, documents)
    gradient: Tensor  # (problems, documents) at the start, less the bias
    start: Tensor
    bounds: Tensor  # (problems, 2, documents)
    valid: Tensor  # (problems, documents) 1, or 0 where a problem has fewer documents than others
    goal: Tensor  # (problems,) the sum of the coefficients
    tolerance: Tensor
    least: Tensor  # the product of room and price that is small enough
    ridge: Tensor
    room: Tensor  # (problems, 2, documents) the distances to the bounds
    price: Tensor  # their multipliers
    offset: Tensor  # (problems,) the multiplier of the sum
    rows: Tensor  # which problems these are

    @classmethod
    def of(
        cls,
        kernel: Tensor,
        gradient: Tensor,
        start: Tensor,
        bounds: Tensor,
        valid: Tensor,
        goal: Tensor,
        violation: Tensor,
        tolerance: Tensor,
    ) -> "Subproblems":
        """Subproblems at a point near the start."""
        import torch

        sign = _signs(kernel)
        C = (bounds[:, 1] - bounds[:, 0])[:, :1]
        scale = kernel.diagonal(dim1=1, dim2=2).amax(dim=1).clamp(min=1e-30)
        spread = (kernel.amax(dim=(1, 2)) - kernel.amin(dim=(1, 2))).clamp(min=1e-30)
        away = (sign * (start[:, None] - bounds)).maximum(EDGE * C[:, None])
        return cls(
            kernel=kernel,
            gradient=gradient,
            start=start,
            bounds=bounds,
            valid=valid,
            goal=goal,
            tolerance=tolerance,
            # So small that putting coefficients on their bounds moves gradients by less than tolerance / 4.
            least=(tolerance**2 / (16 * kernel.shape[1] * spread)).minimum(1e-6 * C[:, 0] * tolerance),
            ridge=RIDGE * scale,
            room=away.minimum((1 - EDGE) * C[:, None]),
            price=(-sign * gradient[:, None]).clamp(min=0) + AIR * violation[:, None, None],
            offset=torch.zeros_like(violation),
            rows=torch.arange(len(kernel), device=kernel.device),
        )

    def only(self, rows: Tensor) -> "Subproblems":
        return Subproblems(*(values[rows] for values in vars(self).values()))

    def solve(self) -> Tensor:
        """The best coefficients of all problems."""
        unsolved, best = self, self.start.clone()
        for _ in range(ITERATIONS):
            is_solved = unsolved.advance()
            rest = (~is_solved).nonzero()[:, 0]
            if len(rest) < 0.7 * len(is_solved):
                leaving = is_solved.nonzero()[:, 0]
                best[unsolved.rows[leaving]] = unsolved.only(leaving).coefficients()
                if not len(rest):
                    return best
                unsolved = unsolved.only(rest)
        best[unsolved.rows] = unsolved.coefficients()
        return best

    def advance(self) -> Tensor:
        """Take one step of predictor and corrector; returns which problems were solved without it."""
        import torch

        sign, flat = _signs(self.kernel), (1, 2)
        change = self.bounds[:, 0] + self.room[:, 0] - self.start
        # The ridge draws towards the start, not towards 0, so that rounds still end at the true optimum.
        slope = self.gradient - (self.kernel @ change[:, :, None])[:, :, 0] - self.ridge[:, None] * change
        slope = (slope - self.offset[:, None]) * self.valid
        lacking = self.goal - ((self.start + change) * self.valid).sum(dim=1)
        products = self.room * self.price
        residual = (slope + (sign * self.price).sum(dim=1)).abs().amax(dim=1)
        is_solved = (products.amax(dim=flat) <= self.least) & (residual <= self.tolerance / 8)
        is_solved &= lacking.abs() <= 1e-9 * self.room[:, :, 0].sum(dim=1)

        stiffness = self.price / self.room
        matrix = self.kernel.clone()
        matrix.diagonal(dim1=1, dim2=2).add_(stiffness.sum(dim=1) + self.ridge[:, None])
        factors = _Factors.of(matrix)
        ones, plain = factors.solve(torch.stack([self.valid, slope], dim=2)).unbind(dim=2)
        total = (ones * self.valid).sum(dim=1)

        def along(plain: Tensor) -> tuple[Tensor, Tensor]:
            """The changes of room and offset, such that the coefficients sum to the goal."""
            offset = ((plain * self.valid).sum(dim=1) - lacking) / total
            return sign * (plain - offset[:, None] * ones)[:, None], offset

        d_room, _ = along(plain)
        d_price = -self.price - stiffness * d_room
        length = self._length(d_room, d_price)
        mean = products.mean(dim=flat)
        ahead = ((self.room + length * d_room) * (self.price + length * d_price)).mean(dim=flat)
        aim = ((ahead / mean) ** 3 * mean)[:, None, None]
        push = (aim - d_room * d_price) / self.room
        right_side = slope + (sign * push).sum(dim=1) * self.valid
        d_room, d_offset = along(factors.solve(right_side[:, :, None])[:, :, 0])
        d_price = push - self.price - stiffness * d_room

        length = 0.995 * self._length(d_room, d_price)
        usable = factors.positive & (d_room + d_price).isfinite().all(dim=2).all(dim=1)
        self.ridge = self.ridge.where(usable, 10 * self.ridge)
        moving = (usable & ~is_solved)[:, None, None]
        self.room = (self.room + length * d_room).where(moving, self.room)
        self.price = (self.price + length * d_price).where(moving, self.price)
        self.offset = (self.offset + length[:, 0, 0] * d_offset).where(moving[:, 0, 0], self.offset)
        return is_solved

    def _length(self, d_room: Tensor, d_price: Tensor) -> Tensor:
        """The share of a step, at most 1, at which the first room or price would be 0."""
        shares = (-d_room / self.room).amax(dim=(1, 2)).maximum((-d_price / self.price).amax(dim=(1, 2)))
        return 1 / shares.clamp(min=1)[:, None, None]

    def coefficients(self) -> Tensor:
        """The coefficients of the point: put on a bound if next to it, else change to give the right sum."""
        lower, upper = self.bounds.unbind(dim=1)
        C = self.room[:, :, :1].sum(dim=1)
        near = self.room == self.room.amin(dim=1, keepdim=True)
        near &= (self.price > self.tolerance[:, None, None] / 4) | (self.room < 1e-9 * C[:, None])
        point = (lower + self.room[:, 0]).where(~near[:, 1], upper).where(~near[:, 0], lower) * self.valid
        lacking = self.goal - point.sum(dim=1)
        room = self.room.amin(dim=1) * self.valid
        inside = room.masked_fill(near.any(dim=1), 0)
        room = inside.where(inside.any(dim=1, keepdim=True), room)
        share = lacking / room.sum(dim=1).clamp(min=1e-300)
        share = share.masked_fill(lacking.abs() < 1e-12 * C[:, 0], 0)  # rounding must not leave a bound
        return (point + share[:, None] * room).maximum(lower).minimum(upper)


def _signs(like: Tensor) -> Tensor:
    """1 for lower bounds, from which a rising coefficient moves away, and -1 for upper bounds."""
    import torch

    return 1 - 2 * torch.arange(2, dtype=like.dtype, device=like.device)[:, None]


@dataclass
class _Factors:
    """The Cholesky factor of each problem's matrix, and the inverses of its diagonal blocks."""

    lower: Tensor
    inverses: list[Tensor]
    positive: Tensor  # whether each matrix is positive definite

    @classmethod
    def of(cls, matrix: Tensor) -> "_Factors":
        """Factorise in place, block by block, so that nearly all work is in products of matrices."""
        import torch

        size = matrix.shape[1]
        positive = torch.ones(len(matrix), dtype=torch.bool, device=matrix.device)
        inverses = []
        for block in _blocks(size):
            before, panel = slice(0, block.start), matrix[:, block.start :, block]
            if block.start:
                panel.baddbmm_(matrix[:, block.start :, before], matrix[:, block, before].mT, alpha=-1)
            width = block.stop - block.start
            factor, info = torch.linalg.cholesky_ex(panel[:, :width])
            eye = torch.eye(width, dtype=matrix.dtype, device=matrix.device)
            positive &= info == 0
            factor = factor.where((info == 0)[:, None, None], eye)
            inverses.append(torch.linalg.solve_triangular(factor, eye.expand_as(factor), upper=False))
            if block.stop < size:
                panel[:, width:] = panel[:, width:] @ inverses[-1].mT
        return cls(matrix, inverses, positive)

    def solve(self, right: Tensor) -> Tensor:
        """Replace the right-hand side of each problem, column by column, by the solution."""
        size = right.shape[1]
        pairs = list(zip(_blocks(size), self.inverses, strict=True))
        for block, inverse in pairs:
            right[:, block] = solution = inverse @ right[:, block]
            if block.stop < size:
                right[:, block.stop :].baddbmm_(self.lower[:, block.stop :, block], solution, alpha=-1)
        for block, inverse in reversed(pairs):
            right[:, block] = solution = inverse.mT @ right[:, block]
            if block.start:
                right[:, : block.start].baddbmm_(self.lower[:, block, : block.start].mT, solution, alpha=-1)
        return right


def _blocks(size: int) -> list[slice]:
    return [slice(start, min(start + BLOCK, size)) for start in range(0, size, BLOCK)]
