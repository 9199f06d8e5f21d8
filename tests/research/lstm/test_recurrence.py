"""The LSTM's recurrence: PyTorch's own where nothing is dropped, and gradients as they should be."""

import torch
from torch.nn.utils.rnn import PackedSequence

from funnelling.research.lstm_network import Recurrence

SIZES = [4, 3, 3, 1]  # documents of 4, 3, 3 and 1 words
UNITS = 5


def ones(documents: int) -> torch.Tensor:
    return torch.ones(documents, UNITS)


def test_it_is_pytorch_s_lstm() -> None:
    torch.manual_seed(0)
    reference = torch.nn.LSTM(6, UNITS)
    vectors = torch.randn(sum(SIZES), 6)
    _, (expected, _) = reference(PackedSequence(vectors, torch.tensor(SIZES)))
    biases = reference.bias_ih_l0 + reference.bias_hh_l0
    inputs = torch.addmm(biases, vectors, reference.weight_ih_l0.t())
    # PyTorch's blocks are input gate, forget gate, candidate and output gate.
    order = torch.arange(4 * UNITS).reshape(4, UNITS)[[2, 0, 1, 3]].flatten()
    ours = Recurrence.apply(inputs[:, order], reference.weight_hh_l0.t()[:, order], ones(4), SIZES)
    torch.testing.assert_close(ours, expected[0])


def test_gradients() -> None:
    torch.manual_seed(0)
    inputs = torch.randn(sum(SIZES), 4 * UNITS, dtype=torch.float64, requires_grad=True)
    weights = torch.randn(UNITS, 4 * UNITS, dtype=torch.float64, requires_grad=True)
    mask = 2.0 * (torch.rand(4, UNITS, dtype=torch.float64) > 0.5)
    assert torch.autograd.gradcheck(lambda x, w: Recurrence.apply(x, w, mask, SIZES), (inputs, weights))


def test_what_is_dropped_reaches_no_later_step() -> None:
    torch.manual_seed(0)
    inputs, weights = torch.randn(6, 4 * UNITS), torch.randn(UNITS, 4 * UNITS)
    mask = ones(2)
    mask[1] = 0
    states = Recurrence.apply(inputs, weights, mask, [2, 2, 2])
    without = Recurrence.apply(inputs, torch.zeros_like(weights), ones(2), [2, 2, 2])
    assert not torch.equal(states[0], without[0])
    torch.testing.assert_close(states[1], without[1])
