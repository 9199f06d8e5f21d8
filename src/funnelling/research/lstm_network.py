"""MLE-LSTM's network: word vectors, an LSTM, a dense layer, one score per label.

Weights are arrays by name, so that a model folder can hold them; everything here is a function of them.

PyTorch's own LSTM has no dropout on its recurrent connection. This one drops the same units of a document's
hidden state at every step (Gal and Ghahramani 2016), as the paper's did. Its backward pass is written out
because PyTorch's adds up the gradient of the recurrent weights step by step, where one product over all steps
gives it at once: on a CPU that halves the time of training.

Sequences stand in packed form: documents are sorted by length, the longest first; the first words of all
documents come first, then the second words of those that have two, and so on. ``sizes`` are the numbers
of documents in each step, so no work is done on padding.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional

from funnelling.matrices import ROWS_PER_BLOCK, Floats, one_blas_thread
from funnelling.randomness import stream
from funnelling.research.lstm_words import PADDING
from funnelling.runtime.threads import map_threads


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


Numbers = npt.NDArray[np.int64]
Lengths = npt.NDArray[np.intp]
Weights = Mapping[str, torch.Tensor]
LookUp = Callable[[Numbers], torch.Tensor]  # vectors of words


def initial_weights(
    dimensions: int,
    units: int,
    dense_units: int,
    longest: int,
    frequencies: npt.NDArray[np.float64],
    seed: int,
) -> dict[str, Floats]:
    """Weights before training, drawn as by Keras, with which the paper's network was made; biases differ.

    Those of the gates let the cells remember for anything from one word to the longest document (Tallec and
    Ollivier 2018); with Keras's they forget within ten words, and take many epochs to learn better. Those of
    the output make each label as probable as it is frequent.
    """
    with one_blas_thread():
        orthogonal, triangular = np.linalg.qr(stream(seed, "recurrent").normal(size=(4 * units, units)))
    memory = np.log(stream(seed, "memory").uniform(1, max(longest - 1, 1), size=units))
    nothing = np.zeros(units)
    weights = {
        "input_weights": _uniform(dimensions, 4 * units, seed, "input"),
        "recurrent_weights": (orthogonal * np.sign(np.diag(triangular))).T,
        "gate_biases": np.concatenate([nothing, -memory, memory, nothing]),
        "dense_weights": _uniform(units, dense_units, seed, "dense"),
        "dense_biases": np.zeros(dense_units),
        "output_weights": _uniform(dense_units, len(frequencies), seed, "output"),
        "output_biases": np.log(frequencies / (1 - frequencies)),
    }
    return {name: np.ascontiguousarray(array, dtype=np.float32) for name, array in weights.items()}


def _uniform(rows: int, columns: int, *keys: object) -> npt.NDArray[np.float64]:
    """Glorot's distribution, which keeps the variance of signals from layer to layer."""
    bound = np.sqrt(6 / (rows + columns))
    return stream(*keys).uniform(-bound, bound, size=(rows, columns))


def to_tensors(arrays: Mapping[str, npt.NDArray[Any]], device: str) -> dict[str, torch.Tensor]:
    """Copies of arrays on the device."""
    return {name: torch.tensor(array, device=device) for name, array in arrays.items()}


def lengths_of(words: Numbers) -> Lengths:
    """The number of words in each document; a document without words is read as one unknown word."""
    lengths: Lengths = np.maximum(np.count_nonzero(words != PADDING, axis=1), 1)
    return lengths


# --- training -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Packed:
    """The words of some documents, step by step; see `funnelling.research.lstm_network`."""

    words: Numbers
    sizes: list[int]


def pack(words: Numbers, lengths: Lengths) -> Packed:
    """Pack documents that are sorted by length, the longest first.

    >>> pack(np.array([[7, 8, 9], [5, 0, 0]]), np.array([3, 1]))
    Packed(words=array([7, 5, 8, 9]), sizes=[2, 1, 1])
    """
    present = np.arange(lengths[0])[:, None] < lengths
    return Packed(words[:, : lengths[0]].T[present], np.count_nonzero(present, axis=1).tolist())


class Masks(NamedTuple):
    """Factors that drop units in a batch: 0, or more than 1 to make up for those dropped.

    A word's vector loses the same dimensions wherever the word stands in the batch, and a document's
    recurrent connection the same units at every step.
    """

    words: Floats
    recurrent: Floats
    lstm: Floats
    dense: Floats


def draw_masks(weights: Weights, words: int, documents: int, dropout: float, *keys: object) -> Masks:
    """Draw masks for so many words and documents."""
    generator = stream(*keys)

    def draw(rows: int, layer: str) -> Floats:
        stays = generator.random((rows, len(weights[layer])), dtype=np.float32) >= dropout
        return np.divide(stays, 1 - dropout, dtype=np.float32)

    return Masks(
        draw(words, "input_weights"),
        draw(documents, "recurrent_weights"),
        draw(documents, "dense_weights"),
        draw(documents, "output_weights"),
    )


def training_scores(
    weights: Weights,
    vectors: torch.Tensor,
    packed: Packed,
    recurrent: torch.Tensor,
    lstm: torch.Tensor,
    dense: torch.Tensor,
) -> torch.Tensor:
    """Scores of documents, given the table of vectors whose rows their words are, and their masks."""
    distinct, places = (
        torch.from_numpy(numbers).to(vectors.device)
        for numbers in np.unique(packed.words, return_inverse=True)
    )
    of_words = torch.addmm(weights["gate_biases"], vectors[distinct], weights["input_weights"])
    inputs = functional.embedding(places, of_words)  # many words occur several times
    state = Recurrence.apply(inputs, weights["recurrent_weights"], recurrent, packed.sizes)
    return _output(weights, _dense(weights, state * lstm) * dense)


def _dense(weights: Weights, state: torch.Tensor) -> torch.Tensor:
    return functional.relu(torch.addmm(weights["dense_biases"], state, weights["dense_weights"]))


def _output(weights: Weights, dense: torch.Tensor) -> torch.Tensor:
    return torch.addmm(weights["output_biases"], dense, weights["output_weights"])


# --- prediction -----------------------------------------------------------------------------------


def predicted_scores(weights: Weights, look_up: LookUp, words: Numbers, n_jobs: int | None) -> Floats:
    """Scores of documents; a document's bits do not depend on its neighbours.

    Documents of similar length are read together, always `ROWS_PER_BLOCK` of them, so that products have the
    same shapes for any documents.
    """
    lengths = lengths_of(words)
    order = np.argsort(lengths, kind="stable")
    scores = np.empty((len(words), len(weights["output_biases"])), dtype=np.float32)

    def score(block: int) -> None:
        documents = order[block * ROWS_PER_BLOCK : (block + 1) * ROWS_PER_BLOCK]
        padded = np.full((ROWS_PER_BLOCK, lengths[documents[-1]]), PADDING, dtype=np.int64)
        padded[: len(documents)] = words[documents, : padded.shape[1]]
        scores[documents] = _score_block(weights, look_up(padded), lengths_of(padded))[: len(documents)]

    for _ in map_threads(score, -(-len(words) // ROWS_PER_BLOCK), n_jobs):
        pass
    return scores


@torch.no_grad()  # type: ignore[untyped-decorator]
def _score_block(weights: Weights, vectors: torch.Tensor, lengths: Lengths) -> Floats:
    state = cells = last = vectors.new_zeros(len(vectors), len(weights["recurrent_weights"]))
    ends = torch.from_numpy(lengths).to(vectors.device)[:, None]
    for number in range(vectors.shape[1]):
        inputs = torch.addmm(weights["gate_biases"], vectors[:, number], weights["input_weights"])
        gates = torch.addmm(inputs, state, weights["recurrent_weights"])
        cells, _, state = step(gates, cells)
        last = torch.where(ends == number + 1, state, last)
    scores: Floats = _output(weights, _dense(weights, last)).cpu().numpy()
    return scores
