"""The LSTM over sequences of different lengths, with dropout on its recurrent connection.

PyTorch's own LSTM has no dropout there. This one drops the same units of a document's hidden state at every
step (Gal and Ghahramani 2016), as the paper's did. Its backward pass is written out because PyTorch's adds
up the gradient of the recurrent weights step by step, where one product over all steps gives it at once:
on a CPU that halves the time of training.

Sequences stand in packed form: documents are sorted by length, the longest first; the first words of all
documents come first, then the second words of those that have two, and so on. ``sizes`` are the numbers
of documents in each step, so no work is done on padding.
"""

from typing import Any

import torch


def step(gates: torch.Tensor, cells: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The cells after a step, their tanh and the hidden state; ``gates`` are activated in place.

    The four blocks of columns are candidate, input gate, forget gate and output gate.
    """
    units = cells.shape[1]
    gates[:, :units].tanh_()
    gates[:, units:].sigmoid_()
    candidate, input_gate, forget_gate, output_gate = gates.chunk(4, dim=1)
    cells = torch.addcmul(forget_gate * cells, input_gate, candidate)
    tanh = cells.tanh()
    return cells, tanh, output_gate * tanh


class Recurrence(torch.autograd.Function):  # type: ignore[misc]
    """The hidden state of each document after its last word."""

    @staticmethod
    def forward(
        ctx: Any, inputs: torch.Tensor, weights: torch.Tensor, mask: torch.Tensor, sizes: list[int]
    ) -> torch.Tensor:
        """Take the words' share of the gates (words, 4 units), and return (documents, units).

        ``mask`` (documents, units) is what the hidden state is multiplied by on its way to the next step.
        """
        units = len(weights)
        gates = torch.empty_like(inputs)
        # Of every step: the cells before it, the tanh of those after it, and the masked hidden state it took.
        before, tanhs, masked = (inputs.new_empty(len(inputs), units) for _ in range(3))
        last = inputs.new_empty(sizes[0], units)
        state = cells = inputs.new_zeros(sizes[0], units)
        by_step = (rows.split(sizes) for rows in (inputs, gates, before, tanhs, masked))
        for size, following, (words, gate, earlier, tanh, through) in zip(
            sizes, [*sizes[1:], 0], zip(*by_step, strict=True), strict=True
        ):
            state, cells = state[:size], cells[:size]
            earlier.copy_(cells)
            torch.mul(state, mask[:size], out=through)
            torch.addmm(words, through, weights, out=gate)
            cells, after, state = step(gate, cells)
            tanh.copy_(after)
            last[following:size] = state[following:]
        ctx.save_for_backward(gates, before, tanhs, masked, weights, mask)
        ctx.sizes = sizes
        return last

    @staticmethod
    def backward(ctx: Any, last_gradient: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, None, None]:
        """Go back through the steps.

        At the top of the loop, ``state`` and ``cells`` hold the gradient of the loss by the hidden state and
        by the cells after the step, for the documents that went on; the documents that end with the step
        join them. The factors of the gates' gradients do not depend on later steps, and are computed for all
        steps at once.
        """
        gates, before, tanhs, masked, weights, mask = ctx.saved_tensors
        candidate, input_gate, forget_gate, output_gate = gates.chunk(4, dim=1)
        by_cells = torch.stack(
            [
                input_gate * (1 - candidate**2),
                candidate * input_gate * (1 - input_gate),
                before * forget_gate * (1 - forget_gate),
            ],
            dim=1,
        )
        by_state = tanhs * output_gate * (1 - output_gate)
        through_tanh = output_gate * (1 - tanhs**2)
        gradient = gates.new_empty(len(gates), 4, len(weights))
        transposed = weights.t().contiguous()
        by_step = (
            rows.split(ctx.sizes) for rows in (gradient, by_cells, by_state, through_tanh, forget_gate)
        )
        state = cells = last_gradient[:0]
        for size, (gate, of_cells, of_state, tanh, forget) in zip(
            reversed(ctx.sizes), reversed(list(zip(*by_step, strict=True))), strict=True
        ):
            ends = last_gradient[len(state) : size]
            state = torch.cat([state, ends])
            cells = torch.cat([cells, torch.zeros_like(ends)])
            cells = torch.addcmul(cells, state, tanh)
            torch.mul(cells[:, None], of_cells, out=gate[:, :3])
            torch.mul(state, of_state, out=gate[:, 3])
            state = (gate.flatten(1) @ transposed) * mask[:size]
            cells = cells * forget
        flat = gradient.flatten(1)
        return flat, masked.t() @ flat, None, None
