"""Fitted SVMs: the scores of new documents for all labels at once, and what each input adds to them."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from funnelling.matrices import (
    ROWS_PER_BLOCK,
    Floats,
    Matrix,
    is_sparse,
    one_blas_thread,
    product,
    squared_norms,
)
from funnelling.plain import without_caches
from funnelling.state import Between, HasShape, columns_of, expect, numbers
from funnelling.svm import kernels
from funnelling.svm.kernels import rbf


class Scorer(Protocol):
    """Scores documents: one row per document, one column per label."""

    def scores(self, X: Matrix) -> Floats: ...
    def check_scores(self, example: HasShape | None) -> int:
        """Refuse a state that could not score vectors like the example; how many labels there are."""
        ...


@dataclass(frozen=True)
class LinearScorer:
    """A linear SVM for each label."""

    weights: Annotated[Floats, numbers("features", "labels")]
    bias: Annotated[Floats, numbers("labels")]

    def scores(self, X: Matrix) -> Floats:
        """Scores of sparse or dense documents; a document's bits do not depend on its neighbours."""
        return product(X, self.weights) + self.bias

    def check_scores(self, example: HasShape | None) -> int:
        expect(columns_of(example) in (None, len(self.weights)), "the weights of a classifier")
        return len(self.bias)


@dataclass(frozen=True)
class KernelScorer:
    """An RBF-kernel SVM for each label over one set of support vectors."""

    support: Annotated[Floats, numbers("supports", "dimensions", dtype=np.float32)]
    coefficients: Annotated[npt.NDArray[np.float64], numbers("supports", "labels")]
    bias: Annotated[Floats, numbers("labels")]
    gamma: Annotated[float, Between(sys.float_info.min, sys.float_info.max)]

    @cached_property
    def _by_label(self) -> Any:
        """The coefficients, one row per label; most labels have few support vectors of their own."""
        non_zeros = np.count_nonzero(self.coefficients)
        if non_zeros < self.coefficients.size / 4:
            return sparse.csr_array(self.coefficients.T)
        return np.ascontiguousarray(self.coefficients.T)

    @cached_property
    def _sparse_by_label(self) -> tuple[Any, ...] | None:
        """Sparse coefficients for compiled code: values, places, and where each label starts."""
        by_label = self._by_label
        if not is_sparse(by_label):
            return None
        return (
            by_label.data.astype(np.float64, copy=False),
            by_label.indices.astype(np.int32, copy=False),
            by_label.indptr.astype(np.int64, copy=False),
        )

    def _weigh(self, block: Floats) -> npt.NDArray[np.float64]:
        """Scores without the bias from a block of kernel values, one row per label.

        Large C makes large coefficients of both signs: summed in double.
        """
        if kernels.native is None or self._sparse_by_label is None:
            sums: npt.NDArray[np.float64] = self._by_label @ block.astype(np.float64)
        else:
            sums = np.empty((len(self.bias), ROWS_PER_BLOCK))
            kernels.native.sum_rows(sums, block, *self._sparse_by_label)
        return sums

    __getstate__ = without_caches

    def scores(self, X: Matrix) -> Floats:
        """Scores of dense documents, in kernel blocks of fixed shape."""
        matrix: Any = X
        points = np.asarray(matrix.toarray() if is_sparse(X) else matrix, dtype=np.float32)
        scores = np.empty((len(points), len(self.bias)), dtype=np.float32)
        with one_blas_thread():
            for rows, block in _rbf_blocks(points, self.support, self.gamma):
                scores[rows] = self._weigh(block).T[: rows.stop - rows.start] + self.bias
        return scores

    def check_scores(self, example: HasShape | None) -> int:
        expect(columns_of(example) in (None, self.support.shape[1]), "the support vectors of a classifier")
        return len(self.bias)


def _rbf_blocks(X: Floats, support: Floats, gamma: float) -> Iterator[tuple[slice, Floats]]:
    """Kernel values of support vectors and documents, ``ROWS_PER_BLOCK`` documents (columns) at a time."""
    norms = squared_norms(support)
    padded = np.zeros((ROWS_PER_BLOCK, X.shape[1]), dtype=np.float32)
    for start in range(0, len(X), ROWS_PER_BLOCK):
        rows = slice(start, min(start + ROWS_PER_BLOCK, len(X)))
        count = rows.stop - rows.start
        padded[:count] = X[rows]
        padded[count:] = 0
        yield rows, rbf(support, padded, norms, squared_norms(padded), gamma)


@dataclass(frozen=True)
class Selection:
    """Some of a classifier's labels, by the columns that they have in its scores.

    ``margin`` is for two that are left of several which exclude each other: their scores become one column,
    by how much the second is ahead, as of a classifier that learned two.
    """

    columns: Annotated[npt.NDArray[np.int64], numbers(None, kinds="i", least=0)]
    margin: bool = False

    def then(self, further: "Selection") -> "Selection":
        """Some of the labels selected; of two that have a margin none can be left out."""
        return replace(further, columns=self.columns[further.columns])

    def of(self, values: Any) -> Any:
        """What is left of values that have one column per label: scores, or what they are made of."""
        kept = values[..., self.columns]
        return kept[..., 1:] - kept[..., :1] if self.margin else kept

    def of_posteriors(self, posteriors: Any) -> Any:
        """What is left of posteriors; of two labels the second's share in both."""
        kept = posteriors[:, self.columns]
        if not self.margin:
            return kept
        both = kept.sum(axis=1, keepdims=True)
        return np.divide(kept[:, 1:], both, out=np.full_like(both, 0.5), where=both > 0)

    def check_columns(self, labels: int) -> int:
        """Refuse what does not select from so many labels; how many columns are left."""
        left = len(self.columns)
        expect(
            left and self.columns.max() < labels and (left == 2 or not self.margin), "a selection of labels"
        )
        return 1 if self.margin else len(self.columns)


SVMScorer = LinearScorer | KernelScorer
S = TypeVar("S", bound=Scorer)


@dataclass(frozen=True)
class SelectedScorer(Generic[S]):
    """The scores of another scorer for some of its labels: those of the others are computed, and dropped.

    A matrix product with fewer columns may round otherwise: this is what keeps all bits.
    """

    scorer: S
    selection: Selection

    @classmethod
    def of(cls, scorer: Scorer, selection: Selection) -> "SelectedScorer[Any]":
        """A scorer of some labels, those selected before being among them."""
        if isinstance(scorer, SelectedScorer):
            return SelectedScorer(scorer.scorer, scorer.selection.then(selection))
        return SelectedScorer(scorer, selection)

    def scores(self, X: Matrix) -> Floats:
        """Scores of documents for the labels selected."""
        selected: Floats = self.selection.of(self.scorer.scores(X))
        return selected

    def check_scores(self, example: HasShape | None) -> int:
        return self.selection.check_columns(self.scorer.check_scores(example))


def alone(scorer: Scorer, selection: Selection | None = None) -> Scorer:
    """A scorer of the labels selected alone, to be taken apart: its scores are the same but for rounding."""
    if isinstance(scorer, SelectedScorer):
        return alone(scorer.scorer, scorer.selection)
    match scorer:
        case LinearScorer() if selection is not None:
            return LinearScorer(selection.of(scorer.weights), selection.of(scorer.bias))
        case KernelScorer() if selection is not None:
            return replace(
                scorer, coefficients=selection.of(scorer.coefficients), bias=selection.of(scorer.bias)
            )
    return scorer


Array = npt.NDArray[np.float64]


def linear_contributions(scorer: LinearScorer, row: Matrix, label: int) -> tuple[npt.NDArray[np.intp], Array]:
    """The features of the one document in ``row``, and what each adds to a label's score.

    The contributions and the bias sum to the score.
    """
    document: Any = row
    features = document.indices if is_sparse(row) else np.flatnonzero(document[0])
    values = document.data if is_sparse(row) else document[0, features]
    weights: Any = scorer.weights[features, label]
    return features, np.asarray(values, dtype=np.float64) * weights


class KernelDecomposition:
    """Divides the score that an RBF-kernel classifier gives a point among the point's dimensions.

    Integrated gradients (Sundararajan, Taly and Yan 2017) along the straight line from the origin to the
    point, in closed form: with an RBF kernel the integrals over the line are Gaussian ones.
    """

    def __init__(self, scorer: KernelScorer) -> None:
        self._scorer = scorer
        self._support = scorer.support.astype(np.float64)
        self._sizes = np.einsum("ij,ij->i", self._support, self._support)
        self._at_origin = np.exp(-scorer.gamma * self._sizes)

    def contributions(self, point: npt.ArrayLike, labels: npt.NDArray[np.intp]) -> tuple[Array, Array]:
        """The scores of some labels at the origin, and what each dimension of a point adds to them.

        The scores at the origin, (labels,), and the contributions, (labels, dimensions), sum to the scores of
        the point.
        """
        from scipy.special import erf

        x = np.asarray(point, dtype=np.float64)
        coefficients = self._scorer.coefficients[:, labels]
        gamma, length = self._scorer.gamma, float(x @ x)
        origin: Array = self._at_origin @ coefficients + self._scorer.bias[labels]
        if length == 0:
            return origin, np.zeros((len(labels), len(x)))
        # The kernel along the line, at t from 0 to 1, is a Gaussian in t about ``centre``.
        along = self._support @ x
        centre, width = along / length, np.sqrt(gamma * length)
        peak = np.exp(-gamma * np.maximum(self._sizes - along * centre, 0))
        mass = peak * np.sqrt(np.pi) / (2 * width) * (erf(width * (1 - centre)) + erf(width * centre))
        at_end = np.exp(-gamma * np.maximum(length - 2 * along + self._sizes, 0))
        moment = centre * mass - (at_end - self._at_origin) / (2 * width**2)
        pull = (coefficients * mass[:, None]).T @ self._support - np.outer(moment @ coefficients, x)
        return origin, 2 * gamma * x * pull
