"""MLE-LSTM's network: word vectors, an LSTM, a dense layer, a score for each label.

Weights are arrays by name, so that a model folder can hold them; everything here is a function of them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional

from funnelling.neural.recurrence import Recurrence, step
from funnelling.neural.words import PADDING, Floats
from funnelling.randomness import stream
from funnelling.svm.kernels import ROWS, one_blas_thread
from funnelling.svm.threads import in_threads

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
    """Weights before training, drawn as Keras does, with which the paper's network was made.

    Except for biases. Those of the gates let the cells remember for anything from one word to the longest
    document (Tallec and Ollivier 2018); Keras's forget within ten words, and take many epochs to learn
    better. Those of the output make each label as probable as it is frequent.
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
    """Words of each document; one without any is read as one unknown word."""
    lengths: Lengths = np.maximum(np.count_nonzero(words != PADDING, axis=1), 1)
    return lengths


# --- training -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Packed:
    """The words of some documents, step by step; see `funnelling.neural.recurrence`."""

    words: Numbers
    documents: Lengths  # the document of each word
    sizes: list[int]


def pack(words: Numbers, lengths: Lengths) -> Packed:
    """Pack documents that are sorted by length, the longest first.

    >>> pack(np.array([[7, 8, 9], [5, 0, 0]]), np.array([3, 1]))
    Packed(words=array([7, 5, 8, 9]), documents=array([0, 1, 0, 0]), sizes=[2, 1, 1])
    """
    present = np.arange(lengths[0])[:, None] < lengths
    documents = np.broadcast_to(np.arange(len(words)), present.shape)
    sizes = np.count_nonzero(present, axis=1).tolist()
    return Packed(words[:, : lengths[0]].T[present], documents[present], sizes)


def draw_masks(weights: Weights, documents: int, dropout: float, *keys: object) -> list[Floats]:
    """What drops units of a batch: of the words' vectors, the recurrent connection and both layers.

    A unit is multiplied by 0, or by more than 1 to make up for the dropped ones. Vectors and recurrent
    connection lose the same units at every word of a document.
    """
    generator = stream(*keys)
    sizes = [
        len(weights[name])
        for name in ("input_weights", "recurrent_weights", "dense_weights", "output_weights")
    ]
    kept = (generator.random((documents, size), dtype=np.float32) >= dropout for size in sizes)
    return [np.divide(mask, 1 - dropout, dtype=np.float32) for mask in kept]


def training_scores(
    weights: Weights, vectors: torch.Tensor, packed: Packed, masks: Sequence[torch.Tensor]
) -> torch.Tensor:
    """Scores of documents, with units dropped; ``vectors`` are those of the packed words."""
    of_words, recurrent, of_lstm, of_dense = masks
    vectors = vectors * of_words[packed.documents]
    inputs = torch.addmm(weights["gate_biases"], vectors, weights["input_weights"])
    state = Recurrence.apply(inputs, weights["recurrent_weights"], recurrent, packed.sizes)
    return _output(weights, _dense(weights, state * of_lstm) * of_dense)


def _dense(weights: Weights, state: torch.Tensor) -> torch.Tensor:
    return functional.relu(torch.addmm(weights["dense_biases"], state, weights["dense_weights"]))


def _output(weights: Weights, dense: torch.Tensor) -> torch.Tensor:
    return torch.addmm(weights["output_biases"], dense, weights["output_weights"])


# --- prediction -----------------------------------------------------------------------------------


def predicted_scores(weights: Weights, look_up: LookUp, words: Numbers, n_jobs: int | None) -> Floats:
    """Scores of documents; a document's bits do not depend on its neighbours.

    Documents of similar length are read together, always `ROWS` of them, so that all products have the same
    shape whatever the documents.
    """
    lengths = lengths_of(words)
    order = np.argsort(lengths, kind="stable")
    scores = np.empty((len(words), len(weights["output_biases"])), dtype=np.float32)

    def score(block: int) -> None:
        documents = order[block * ROWS : (block + 1) * ROWS]
        padded = np.full((ROWS, lengths[documents[-1]]), PADDING, dtype=np.int64)
        padded[: len(documents)] = words[documents, : padded.shape[1]]
        scores[documents] = _score_block(weights, look_up(padded), lengths_of(padded))[: len(documents)]

    for _ in in_threads(score, -(-len(words) // ROWS), n_jobs):
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
