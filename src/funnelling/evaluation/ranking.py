"""The most probable labels of each document, ranked, against truth: P@k, R@k, F1@k, nDCG@k and PSP@k.

Of thousands of labels a few are shown for each document. So their measures look at the k most probable,
whether these are above a threshold or not.

A document without labels counts in P@k and F1@k, with 0, as it does with PECOS and Annif; in R@k and nDCG@k
it is left out, for there was nothing to find; in PSP@k it adds nothing.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from funnelling.evaluation.measures import FloatArray, IntArray
from funnelling.matrices import Rows, canonical, is_sparse, values_at

MAX_RANKED_LABELS = 10  # labels of a document that are ranked
ROWS_PER_BLOCK = 256  # documents that are ranked at a time
NO_COLUMN = -1  # in place of a column
# Of propensities, as Jain et al. (2016) have them for label sets that nothing is known of
A, B = 0.55, 1.5

# (documents, MAX_RANKED_LABELS): columns of labels, the most probable first; NO_COLUMN where fewer
Ranked = NDArray[np.intp]


class LabelFrequencies(NamedTuple):
    """How many documents there were for training, and how many of them have each label."""

    documents: int
    of_labels: IntArray


def rank(probabilities: Any) -> Ranked:
    """The most probable labels of each document, equally probable ones in their order; 0 is no probability.

    >>> rank(np.array([[0.2, 0.0, 0.7, 0.2], [0.0, 0.0, 0.0, 0.1]]))[:, :4]
    array([[ 2,  0,  3, -1],
           [ 3, -1, -1, -1]])
    """
    if is_sparse(probabilities):
        return _rank(canonical(probabilities))
    blocks = [
        probabilities[start : start + ROWS_PER_BLOCK]
        for start in range(0, len(probabilities), ROWS_PER_BLOCK)
    ]
    return np.vstack([_rank(_likely(block)) for block in blocks])


def _likely(probabilities: FloatArray) -> sparse.csr_array:
    """The cells of each row that are not below its `MAX_RANKED_LABELS` highest ones."""
    if probabilities.shape[1] <= MAX_RANKED_LABELS:
        return canonical(probabilities)
    least = -np.partition(-probabilities, MAX_RANKED_LABELS - 1, axis=1)[:, MAX_RANKED_LABELS - 1]
    return canonical(np.where(probabilities >= least[:, None], probabilities, 0.0))


def _rank(probabilities: sparse.csr_array) -> Ranked:
    """The same of a canonical sparse matrix, some documents at a time."""
    ranked = np.full((probabilities.shape[0], MAX_RANKED_LABELS), NO_COLUMN, dtype=np.intp)
    for start in range(0, len(ranked), ROWS_PER_BLOCK):
        ends = probabilities.indptr[start : start + ROWS_PER_BLOCK + 1]
        sizes, entries = np.diff(ends), slice(ends[0], ends[-1])
        filled = np.arange(sizes.max()) < sizes[:, None]
        chances, columns = np.full(filled.shape, -np.inf), np.full(filled.shape, NO_COLUMN)
        chances[filled] = probabilities.data[entries]
        columns[filled] = probabilities.indices[entries]
        order = np.argsort(-chances, axis=1, kind="stable")[:, :MAX_RANKED_LABELS]
        ranked[start : start + ROWS_PER_BLOCK, : order.shape[1]] = np.take_along_axis(columns, order, axis=1)
    return ranked


def inverse_propensities(examples: LabelFrequencies) -> FloatArray:
    """How much it is worth to find each label: the more, the rarer it is.

    A person who labels documents overlooks rare labels more easily: a label with few documents is probably
    true of more. 1 / propensity is 1 + C · (documents of the label + B)^-A with C = (log documents - 1) ·
    (B + 1)^A.

    >>> inverse_propensities(LabelFrequencies(1000, np.array([0, 10, 500]))).round(2)
    array([8.82, 3.55, 1.32])
    """
    c = max(0.0, np.log(max(1, examples.documents)) - 1) * (B + 1) ** A
    worth: FloatArray = 1 + c * (examples.of_labels + B) ** -A
    return worth


@dataclass(frozen=True, slots=True)
class RankedHits:
    """Which of the ranked labels of documents are true, and what there was to find.

    Parameters
    ----------
    found : whether the label at each rank is true, (documents, TOP)
    given : how many labels were ranked, of each document
    true : how many labels each document has
    worth : what each label that was found is worth, 0 for one that is not true, (documents, TOP)
    most : what the labels of each document are worth, the most valuable first, (documents, TOP)

    ``worth`` and ``most`` are None where it is not known how many documents for training each label had.
    """

    found: Rows
    given: IntArray
    true: IntArray
    worth: FloatArray | None = None
    most: FloatArray | None = None

    @classmethod
    def of(cls, truth: sparse.csr_array, ranked: Ranked, examples: LabelFrequencies | None = None) -> Self:
        """Look up ranked labels in a sparse indicator matrix.

        >>> hits = RankedHits.of(sparse.csr_array([[True, True]]), rank(np.array([[0.1, 0.0]])))
        >>> hits.found[:, :2], hits.given, hits.true
        (array([[ True, False]]), array([1]), array([2]))
        """
        actual = canonical(truth).astype(bool, copy=False)
        rows, ranks = np.nonzero(ranked != NO_COLUMN)
        found = np.zeros(ranked.shape, dtype=bool)
        found[rows, ranks] = values_at(actual, rows, ranked[rows, ranks])
        given, true = (ranked != NO_COLUMN).sum(axis=1), np.diff(actual.indptr).astype(np.int64)
        if examples is None:
            return cls(found, given, true)
        of_labels = inverse_propensities(examples)
        values = sparse.csr_array((of_labels[actual.indices], actual.indices, actual.indptr), actual.shape)
        best = rank(values)
        return cls(
            found,
            given,
            true,
            np.where(found, of_labels[ranked], 0.0),
            np.where(best == NO_COLUMN, 0.0, of_labels[best]),
        )


class Shares(NamedTuple):
    """A measure as shares: what each document adds, and what it could have added at best or on its own."""

    values: FloatArray
    weights: FloatArray

    def of(self, rows: Any) -> float:
        """The measure of some documents; 0 where none of them counts.

        >>> Shares(np.array([0.5, 0.0, 9.0]), np.array([1.0, 1.0, 1.0])).of([0, 1])
        0.25
        """
        return float(self.values[rows].sum() / (self.weights[rows].sum() or 1.0))


def precision_at(hits: RankedHits, k: int) -> Shares:
    """P@k: the share of k places that have a true label; a place that is empty has none."""
    return Shares(_found(hits, k) / k, np.ones(len(hits.found)))


def recall_at(hits: RankedHits, k: int) -> Shares:
    """R@k: the share of a document's labels that are among its k most probable ones."""
    return Shares(_found(hits, k) / np.maximum(hits.true, 1), _labelled(hits))


def f1_at(hits: RankedHits, k: int) -> Shares:
    """F1@k of each document: 2 · found / (labels at the first k places + labels it has), their mean."""
    given = np.minimum(hits.given, k)
    return Shares(2 * _found(hits, k) / np.maximum(given + hits.true, 1), np.ones(len(given)))


def ndcg_at(hits: RankedHits, k: int) -> Shares:
    """nDCG@k: a true label at place i counts 1 / log2(i + 1); a share of the best order of k labels."""
    discounts = 1 / np.log2(np.arange(2, k + 2))
    best = np.concatenate([[0.0], np.cumsum(discounts)])[np.minimum(hits.true, k)]
    gained = (hits.found[:, :k] * discounts).sum(axis=1)
    return Shares(gained / np.where(best > 0, best, 1.0), _labelled(hits))


def psp_at(hits: RankedHits, k: int) -> Shares | None:
    """PSP@k: what the labels found at the first k places are worth, as a share of the most they could be.

    The rarer a label was in training, the more it is worth (`inverse_propensities`). The worths of all
    documents are added up first. None where it is not known how often labels were in training.
    """
    if hits.worth is None or hits.most is None:
        return None
    return Shares(hits.worth[:, :k].sum(axis=1) / k, hits.most[:, :k].sum(axis=1) / k)


def _found(hits: RankedHits, k: int) -> FloatArray:
    return np.asarray(hits.found[:, :k].sum(axis=1), dtype=float)


def _labelled(hits: RankedHits) -> FloatArray:
    return (hits.true > 0).astype(float)
