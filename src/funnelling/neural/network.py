"""MLE-LSTM's network: word vectors, an LSTM, a dense layer, one score per label.

Weights are arrays by name, so that a model folder can hold them; everything here is a function of them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional

from funnelling.matrices import BLOCK, Floats, one_blas_thread
from funnelling.neural.recurrence import Recurrence, step
from funnelling.neural.words import PADDING
from funnelling.randomness import stream
from funnelling.runtime.threads import in_threads

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
    """The words of some documents, step by step; see `funnelling.neural.recurrence`."""

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

    Documents of similar length are read together, always `BLOCK` of them, so that products have the same
    shapes for any documents.
    """
    lengths = lengths_of(words)
    order = np.argsort(lengths, kind="stable")
    scores = np.empty((len(words), len(weights["output_biases"])), dtype=np.float32)

    def score(block: int) -> None:
        documents = order[block * BLOCK : (block + 1) * BLOCK]
        padded = np.full((BLOCK, lengths[documents[-1]]), PADDING, dtype=np.int64)
        padded[: len(documents)] = words[documents, : padded.shape[1]]
        scores[documents] = _score_block(weights, look_up(padded), lengths_of(padded))[: len(documents)]

    for _ in in_threads(score, -(-len(words) // BLOCK), n_jobs):
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
