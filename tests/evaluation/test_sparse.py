"""Sparse labels and probabilities are measured as dense ones are."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from funnelling import InputError
from funnelling.evaluation import Counts, expected_calibration_error, measure_indicators, measure_languages
from funnelling.evaluation.labels import given_instead, measure_labels, missed_together, reliability
from funnelling.evaluation.ranking import RankedHits, Shares, rank
from funnelling.evaluation.registry import PAPER_MEASURES, measure_ranked
from funnelling.evaluation.significance import N_DRAWS, ComparedDecisions, _swaps, randomisation

LABELS = [f"label {number}" for number in range(12)]
LANGUAGES = ["en", "it", "it"] * 100


def some(seed: int = 0) -> tuple[Any, Any, Any]:
    """Truth, decisions and probabilities, of which many are 0."""
    rng = np.random.default_rng(seed)
    truth = rng.random((300, 12)) < 0.2
    given = truth ^ (rng.random((300, 12)) < 0.1)
    return truth, given, rng.random((300, 12)) * (rng.random((300, 12)) < 0.5)


def test_counts_and_measures() -> None:
    truth, given, _ = some()
    dense, ours = Counts.of(truth, given), Counts.of(sparse.csr_array(truth), sparse.csr_array(given))
    assert (dense.table() == ours.table()).all()
    assert measure_indicators(truth, given) == measure_indicators(sparse.csr_array(truth), given)
    assert measure_indicators(truth, given) == measure_indicators(truth, sparse.csr_array(given.astype(int)))
    by_language = [
        measure_languages(kind(truth), kind(given), LANGUAGES, labels=[1, 2, 5])
        for kind in (np.asarray, sparse.csr_array)
    ]
    assert by_language[0] == by_language[1]


def test_zeros_that_are_kept_are_none() -> None:
    kept = sparse.csr_array(([1, 0], ([0, 1], [0, 1])), shape=(2, 2))
    assert kept.nnz == 2
    assert Counts.of(kept, kept).table().T.tolist() == [[1, 0, 0, 1], [0, 0, 0, 2]]


def test_what_is_no_indicator_matrix_is_refused() -> None:
    with pytest.raises(InputError, match="holds only 0 and 1"):
        Counts.of(sparse.csr_array([[0.5, 1]]), sparse.csr_array([[1, 1]]))
    with pytest.raises(InputError, match="found shape"):
        Counts.of(sparse.csr_array((0, 3), dtype=bool), sparse.csr_array((0, 3), dtype=bool))
    with pytest.raises(InputError, match="must be alike"):
        Counts.of(sparse.csr_array((1, 3), dtype=bool), sparse.csr_array((2, 3), dtype=bool))


def test_label_by_label_and_pairs_of_labels() -> None:
    truth, given, _ = some()
    ours = sparse.csr_array(truth), sparse.csr_array(given)
    assert measure_labels(*ours, LANGUAGES, LABELS) == measure_labels(truth, given, LANGUAGES, LABELS)
    for pairs in (given_instead, missed_together):
        assert pairs(*ours, LABELS, 30) == pairs(truth, given, LABELS, 30) != []


def test_reliability() -> None:
    truth, _, probabilities = some()
    expected = reliability(truth, probabilities)
    assert expected[:, 0].sum() == truth.size
    assert reliability(truth, sparse.csr_array(probabilities)) == pytest.approx(expected)
    for given in (probabilities.tolist(), probabilities, sparse.csr_array(probabilities)):
        assert reliability(sparse.csr_array(truth), given) == pytest.approx(expected)
        error = expected_calibration_error(sparse.csr_array(truth), given)
        assert error == pytest.approx(expected_calibration_error(truth, probabilities))
    with pytest.raises(InputError, match="between 0 and 1"):
        reliability(sparse.csr_array(truth), sparse.csr_array(2 * probabilities))


def compared(kind: Any) -> ComparedDecisions:
    truth, given, probabilities = some()
    _, others, _ = some(1)
    labels = sparse.csr_array(truth)
    chances = {"a": np.where(truth, probabilities + 0.2, probabilities), "b": probabilities}
    return ComparedDecisions(
        kind(truth),
        {"a": sparse.csr_array(given), "b": sparse.csr_array(others)},
        {"a": slice(None), "b": slice(None)},
        LANGUAGES,
        [f"group {number // 3}" for number in range(300)],
        {name: measure_ranked(RankedHits.of(labels, rank(each))) for name, each in chances.items()},
    )


def test_the_randomisation_test_of_sparse_truth() -> None:
    dense, ours = compared(np.asarray), compared(sparse.csr_array)
    assert randomisation([dense], PAPER_MEASURES) == randomisation([ours], PAPER_MEASURES)


def test_the_randomisation_test_of_ranked_labels_counts_the_draws_that_differ_as_much() -> None:
    trial = compared(sparse.csr_array)
    names = ["p_at_1", "r_at_3", "ndcg_at_5"]
    units = list(dict.fromkeys(trial.units))
    swaps = _swaps(units, 7)[[units.index(unit) for unit in trial.units]]
    rows = {tag: np.array([each == tag for each in LANGUAGES]) for tag in ("en", "it")}
    for name in names:
        a, b = (trial.ranked[method][name] for method in "ab")
        differences = []
        for swap in swaps.T:
            sides = []
            for one, other in ((a, b), (b, a)):
                mixed = Shares(*(np.where(swap, *both) for both in zip(other, one, strict=True)))
                sides.append(np.mean([mixed.of(own) for own in rows.values()]))
            differences.append(abs(sides[0] - sides[1]))
        expected = np.mean(np.array(differences) >= differences[0] - 1e-12)
        assert len(differences) == N_DRAWS
        assert randomisation([trial], [*names, "micro_f1"], seed=7)[name] == {("a", "b"): expected}
