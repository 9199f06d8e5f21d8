"""Kernel values on a device, and scores of new documents there; PyTorch is imported where it is used."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from funnelling.matrices import Floats
from funnelling.svm.scorers import KernelScorer

Tensor = Any  # torch.Tensor

GRAM_ROWS = 1024  # of the kernel matrix that are computed, or turned to double, at once
SCORE_ROWS = 512  # of a block of new documents, always filled up to this number
# Batches take a fixed share of all memory of a device, not of what is free, so that the same problems go
# together in every run.
CPU_MEMORY = 2e9  # bytes that count as a CPU's
POWERS = 20  # steps of the power method, to find the largest curvature


@dataclass(frozen=True)
class DeviceGram:
    """The kernel values of all pairs of documents, on a device."""

    values: Tensor  # (documents, documents) float32

    @classmethod
    def rbf(cls, X: Floats, gamma: float, device: str) -> "DeviceGram":
        """All RBF kernel values of the rows of X, symmetric to the bit, with an exact diagonal."""
        rows = on_device(X, device)
        n = len(rows)
        gram = rows.new_empty((n, n))
        for start in range(0, n, GRAM_ROWS):
            stop = min(start + GRAM_ROWS, n)
            values = _rbf(rows[start:stop], rows[start:], gamma)
            gram[start:stop, start:] = values
            gram[stop:, start:stop] = values[:, stop - start :].T
            square = gram[start:stop, start:stop]
            square.copy_(square.triu() + square.triu(1).T)
        gram.fill_diagonal_(1)
        return cls(gram)

    @property
    def documents(self) -> int:
        return len(self.values)

    @property
    def device(self) -> Any:
        return self.values.device

    @property
    def memory(self) -> float:
        """The bytes of memory that the device has."""
        import torch

        if self.device.type == "cuda":
            return float(torch.cuda.get_device_properties(self.device).total_memory)
        return CPU_MEMORY

    @cached_property
    def steepest(self) -> float:
        """The largest curvature of the objective along directions that keep the sum of coefficients."""
        import torch

        row = torch.arange(self.documents, dtype=torch.float64, device=self.device).cos()[None]
        for _ in range(POWERS):
            row = row - row.mean()
            row = self.times(row / row.norm().clamp(min=1e-300))
        return float((row - row.mean()).norm())

    def times(self, coefficients: Tensor) -> Tensor:
        """The products of rows of coefficients with the kernel matrix, in double."""
        products = coefficients.new_empty(coefficients.shape)
        for start in range(0, self.documents, GRAM_ROWS):
            rows = self.values[start : start + GRAM_ROWS].double()
            products[:, start : start + GRAM_ROWS] = coefficients @ rows.T
        return products


def on_device(array: npt.NDArray[Any], device: Any) -> Tensor:
    """An array as a tensor."""
    import torch

    return torch.from_numpy(np.ascontiguousarray(array)).to(device)


def _rbf(A: Tensor, B: Tensor, gamma: float) -> Tensor:
    """exp(-gamma ||a - b||²) for all rows of A and B, from their dot products; TF32 would not do."""
    A, B = A.double(), B.double()
    block = (A @ B.T).mul_(-2)
    block += (A * A).sum(dim=1)[:, None] + (B * B).sum(dim=1)
    return block.clamp_(min=0).mul_(-gamma).exp_().float()


def kernel_scores(scorer: KernelScorer, X: Floats, device: str) -> Floats:
    """A scorer's scores of new documents, computed on a device in blocks of fixed shape.

    A document's score does not depend on its neighbours.
    """
    import torch

    support = on_device(scorer.support, device)
    coefficients = on_device(scorer.coefficients, device)
    bias = on_device(scorer.bias, device).double()
    padded = torch.zeros((SCORE_ROWS, X.shape[1]), device=device)
    scores = torch.empty((len(X), len(bias)), device=device)
    for start in range(0, len(X), SCORE_ROWS):
        rows = on_device(X[start : start + SCORE_ROWS].astype(np.float32, copy=False), device)
        padded[: len(rows)] = rows
        # Large C makes large coefficients of both signs: summed in double.
        values = _rbf(padded, support, scorer.gamma).double() @ coefficients + bias
        scores[start : start + SCORE_ROWS] = values[: len(rows)]
    on_cpu: Floats = on_host(scores)
    return on_cpu


def on_host(tensor: Tensor) -> Any:
    """A tensor as an array."""
    return tensor.cpu().numpy()
