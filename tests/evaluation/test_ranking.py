"""Measures of the most probable labels: counts worked out by hand, and beside scikit-learn's."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import f1_score, ndcg_score

from funnelling.evaluation.ranking import (
    MAX_RANKED_LABELS,
    LabelFrequencies,
    RankedHits,
    inverse_propensities,
    rank,
)
from funnelling.evaluation.registry import RANKED_MEASURES, are_ranked, main_measures, measure_ranked

ALL = slice(None)


def measured(truth: Any, probabilities: Any, examples: LabelFrequencies | None = None) -> dict[str, float]:
    hits = RankedHits.of(sparse.csr_array(np.asarray(truth, dtype=bool)), rank(probabilities), examples)
    return {name: shares.of(ALL) for name, shares in measure_ranked(hits).items()}


def some(documents: int = 40, labels: int = 30) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    truth = rng.random((documents, labels)) < 0.1
    truth[:, 0] |= ~truth.any(axis=1)  # each has a label
    return truth, rng.permuted(np.tile(np.linspace(0.01, 0.99, labels), (documents, 1)), axis=1)


def test_by_hand() -> None:
    truth = [[1, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]]
    probabilities = np.array([[0.9, 0.5, 0.4, 0.1], [0.4, 0.3, 0.2, 0.1], [0.9, 0.0, 0.0, 0.0]])
    values = measured(truth, probabilities)
    assert values["p_at_1"] == pytest.approx(1 / 3)  # the document without labels counts
    assert values["p_at_3"] == pytest.approx((2 / 3 + 0 + 0) / 3)
    assert values["p_at_5"] == pytest.approx((2 / 5 + 1 / 5 + 0) / 3)  # though there are but four labels
    assert values["r_at_1"] == pytest.approx((1 / 2 + 0) / 2)  # it is left out
    assert values["r_at_5"] == values["r_at_10"] == 1
    best = 1 + 1 / np.log2(3)
    assert values["ndcg_at_3"] == pytest.approx(((1 + 1 / 2) / best + 0) / 2)
    assert values["ndcg_at_5"] == pytest.approx(((1 + 1 / 2) / best + 1 / np.log2(5)) / 2)
    # Four labels are ranked in the first two documents, one in the last.
    assert values["f1_at_5"] == pytest.approx((2 * 2 / (4 + 2) + 2 * 1 / (4 + 1) + 0) / 3)
    assert not any(name.startswith("psp") for name in values), "nothing is known of training"


def test_rare_labels_are_worth_more() -> None:
    examples = LabelFrequencies(100, np.array([90, 1]))
    frequent, rare = worth = inverse_propensities(examples)
    c = (np.log(100) - 1) * 2.5**0.55
    assert worth == pytest.approx([1 + c * 91.5**-0.55, 1 + c * 2.5**-0.55])
    truth = [[1, 1], [1, 0]]
    values = measured(truth, np.array([[0.9, 0.1], [0.9, 0.1]]), examples)
    # The best first label of the first document is the rare one.
    assert values["psp_at_1"] == pytest.approx(2 * frequent / (rare + frequent))
    assert values["psp_at_3"] == values["psp_at_5"] == 1
    assert values["psp_at_1"] < values["p_at_1"] == 1


def test_as_scikit_learn_measures() -> None:
    truth, probabilities = some()
    values = measured(truth, probabilities)
    for k in (1, 3, 5):
        assert values[f"ndcg_at_{k}"] == pytest.approx(ndcg_score(truth, probabilities, k=k))
        places = np.argsort(-probabilities, axis=1)[:, :k]
        top = np.zeros_like(truth)
        np.put_along_axis(top, places, values=True, axis=1)
        assert values[f"p_at_{k}"] == pytest.approx((truth & top).sum() / top.sum())
        assert values[f"r_at_{k}"] == pytest.approx(((truth & top).sum(axis=1) / truth.sum(axis=1)).mean())
        assert values[f"f1_at_{k}"] == pytest.approx(f1_score(truth, top, average="samples"))


def test_a_perfect_order_is_1() -> None:
    truth, _ = some()
    examples = LabelFrequencies(1000, np.arange(truth.shape[1]))
    probabilities = np.where(truth, inverse_propensities(examples) / 100, 0.0)
    values = measured(truth, probabilities, examples)
    assert all(values[name] == pytest.approx(1) for name in values if name.startswith(("ndcg", "psp")))


def test_equally_probable_labels_stand_in_their_order() -> None:
    probabilities = np.full((1, 50), 0.5)
    probabilities[0, 40] = 0.6
    ranked = rank(probabilities)
    assert ranked.tolist() == [[40, *range(MAX_RANKED_LABELS - 1)]]
    assert (rank(sparse.csr_array(probabilities)) == ranked).all()


def test_dense_and_sparse_probabilities_are_ranked_alike() -> None:
    rng = np.random.default_rng(1)
    probabilities = rng.integers(0, 20, (600, 80)) / 20 * (rng.random((600, 80)) < 0.3)
    assert (rank(probabilities) == rank(sparse.csr_array(probabilities))).all()
    shuffled = sparse.csr_array(probabilities)
    shuffled.indices, shuffled.data = shuffled.indices.copy(), shuffled.data.copy()
    for start, end in zip(shuffled.indptr[:-1], shuffled.indptr[1:], strict=True):
        order = rng.permutation(np.arange(start, end))
        shuffled.indices[start:end], shuffled.data[start:end] = shuffled.indices[order], shuffled.data[order]
    shuffled.has_sorted_indices = False
    assert (rank(shuffled) == rank(probabilities)).all()


def test_documents_that_do_not_count_measure_nothing() -> None:
    values = measured([[0, 0]], np.array([[0.5, 0.1]]), LabelFrequencies(10, np.array([1, 2])))
    assert set(values.values()) == {0.0}
    assert set(values) == set(RANKED_MEASURES)


def test_the_main_measures_of_many_labels() -> None:
    names = {*RANKED_MEASURES, "micro_f1", "macro_f1", "micro_k"}
    assert main_measures(names) == ["p_at_1", "p_at_3", "p_at_5", "ndcg_at_5", "psp_at_5", "micro_f1"]
    assert are_ranked(names)
    assert not are_ranked({"micro_f1"})
