"""Measures of the k most probable labels of each document: P@k, R@k, F1@k, nDCG@k and PSP@k.

A document without labels counts in P@k and F1@k, with 0, as it does with PECOS and Annif; in R@k and nDCG@k
it is left out, for there was nothing to find; in PSP@k it adds nothing.
"""

import numpy as np

from funnelling.evaluation.counts import FloatArray
from funnelling.evaluation.ranking import Hits, Shares


def precision_at(hits: Hits, k: int) -> Shares:
    """P@k: the share of k places that have a true label; a place that is empty has none."""
    return Shares(_found(hits, k) / k, np.ones(len(hits.found)))


def recall_at(hits: Hits, k: int) -> Shares:
    """R@k: the share of a document's labels that are among its k most probable ones."""
    return Shares(_found(hits, k) / np.maximum(hits.true, 1), _labelled(hits))


def f1_at(hits: Hits, k: int) -> Shares:
    """F1@k of each document: 2 · found / (labels at the first k places + labels it has), their mean."""
    given = np.minimum(hits.given, k)
    return Shares(2 * _found(hits, k) / np.maximum(given + hits.true, 1), np.ones(len(given)))


def ndcg_at(hits: Hits, k: int) -> Shares:
    """nDCG@k: a true label at place i counts 1 / log2(i + 1); a share of the best order of k labels."""
    discounts = 1 / np.log2(np.arange(2, k + 2))
    best = np.concatenate([[0.0], np.cumsum(discounts)])[np.minimum(hits.true, k)]
    gained = (hits.found[:, :k] * discounts).sum(axis=1)
    return Shares(gained / np.where(best > 0, best, 1.0), _labelled(hits))


def psp_at(hits: Hits, k: int) -> Shares | None:
    """PSP@k: what the labels found at the first k places are worth, as a share of the most they could be.

    The rarer a label was in training, the more it is worth (`inverse_propensities`). The worths of all
    documents are added up first. None where it is not known how often labels were in training.
    """
    if hits.worth is None or hits.most is None:
        return None
    return Shares(hits.worth[:, :k].sum(axis=1) / k, hits.most[:, :k].sum(axis=1) / k)


def _found(hits: Hits, k: int) -> FloatArray:
    return np.asarray(hits.found[:, :k].sum(axis=1), dtype=float)


def _labelled(hits: Hits) -> FloatArray:
    return (hits.true > 0).astype(float)
