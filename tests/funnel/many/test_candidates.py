"""Which labels a document might have, and what tier 2 sees of them."""

import numpy as np
from scipy import sparse

from funnelling.funnel.many.candidates import (
    CO_OCCURRENCE_COLUMN,
    CO_OCCURRENCE_PRIOR,
    MAX_CANDIDATES,
    N_COMMON_FEATURES,
    Seen,
    candidates_of,
)
from funnelling.funnel.many.one_against_rest import BIAS, NO_COLUMN, TopK

TARGETS = {
    "en": sparse.csr_array(np.array([[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0]], dtype=bool)),
    "it": sparse.csr_array(np.array([[1, 1, 0, 0]], dtype=bool)),
}


def _ranked(labels: list[list[int]], scores: list[list[float]]) -> TopK:
    return TopK(np.array(labels, dtype=np.int32), np.array(scores, dtype=np.float32))


OWN = _ranked([[2, 0], [NO_COLUMN, NO_COLUMN], [1, NO_COLUMN]], [[1.0, 0.5], [0, 0], [0.25, 0]])
SHARED = _ranked([[0, 1], [NO_COLUMN, NO_COLUMN], [3, 1]], [[2.0, -1.0], [0, 0], [0.5, 0.25]])


X = sparse.csr_array(np.array([[0.5, 0.5], [0.0, 0.0], [1.0, 0.0]]))


def test_labels_are_counted_by_language_and_together() -> None:
    seen = Seen.of(TARGETS)
    assert seen.documents.tolist() == [3, 2, 1, 0]
    assert {tag: counts.tolist() for tag, counts in seen.by_language.items()} == {
        "en": [2, 1, 1, 0],
        "it": [1, 1, 0, 0],
    }
    both = np.zeros((4, 4))
    both[0, 1], both[1, 0] = 2 / (3 + CO_OCCURRENCE_PRIOR), 2 / (2 + CO_OCCURRENCE_PRIOR)
    np.testing.assert_allclose(seen.together.toarray(), both, rtol=1e-6)
    seen.check(["en", "it"], 4)


def test_counts_of_a_part_are_given_as_those_of_all() -> None:
    assert Seen.of(TARGETS, 0.5).documents.tolist() == [6, 4, 2, 0]


def test_candidates_are_what_any_view_ranks_the_likelier_first() -> None:
    found = candidates_of([OWN, SHARED], X, Seen.of(TARGETS), "en")
    assert found.starts.tolist() == [0, 3, 3, 5]
    assert found.labels.tolist() == [0, 2, 1, 1, 3]  # by the mean of scores
    np.testing.assert_allclose(np.add.reduceat(found.prior, [0, 3]), 1)
    # What a view does not rank scores as the last that it ranks; as nothing, where it has no more to rank.
    scores = [[0.5, 2.0], [1.0, -1.0], [0.5, -1.0], [0.25, 0.25], [BIAS, 0.5]]
    np.testing.assert_array_equal(found.features[:, :2], scores)
    assert found.features.shape[1] == 2 * 2 + N_COMMON_FEATURES
    counts = [[1.5, 2], [1, 1], [1, 1.5], [1, 1.5], [0, 0]]  # log2 of 1 + 2 and 1 + 3, 1 + 1 and 1 + 1, …
    np.testing.assert_array_equal(found.features[:, -3:-1], counts)
    np.testing.assert_allclose(found.features[:, -1], np.log1p([2, 2, 2, 1, 1]), rtol=1e-6)


def test_what_goes_with_likely_labels_is_seen() -> None:
    seen = Seen.of(TARGETS)
    found = candidates_of([OWN, SHARED], X, seen, "en")
    company = found.features[:, 2 * 2 + CO_OCCURRENCE_COLUMN]
    expected = found.prior[[2, 0]] * [seen.together.toarray()[1, 0], seen.together.toarray()[0, 1]]
    np.testing.assert_allclose(company, [expected[0], 0, expected[1], 0, 0], rtol=1e-5)


def test_a_value_per_candidate_becomes_a_row_per_document() -> None:
    found = candidates_of([OWN, SHARED], X, Seen.of(TARGETS), "en")
    matrix = found.matrix(np.array([0.1, 0.2, 0.3, 0.4, 0.5]), 4)
    assert matrix.toarray().tolist() == [[0.1, 0.3, 0.2, 0], [0, 0, 0, 0], [0, 0.4, 0, 0.5]]
    assert matrix.has_canonical_format
    truth = sparse.csr_array(np.array([[1, 0, 0, 0], [1, 1, 1, 1], [0, 0, 0, 1]], dtype=bool))
    assert found.are_right(truth).tolist() == [True, False, False, False, True]


def test_a_document_has_so_many_candidates_and_no_more() -> None:
    labels = np.arange(100, dtype=np.int32)[None]
    ranked = TopK(labels, np.linspace(1, 0, 100, dtype=np.float32)[None])
    seen = Seen.of({"en": sparse.csr_array(np.eye(100, dtype=bool))})
    assert candidates_of([ranked], X[:1], seen, "en").labels.tolist() == list(range(MAX_CANDIDATES))


def test_without_documents_there_are_no_candidates() -> None:
    nothing = TopK(np.empty((0, 2), dtype=np.int32), np.empty((0, 2), dtype=np.float32))
    found = candidates_of([nothing, nothing], X[:0], Seen.of(TARGETS), "en")
    assert (found.starts.tolist(), len(found.labels)) == ([0], 0)
