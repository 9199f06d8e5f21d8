"""Changed labels are found by probabilities, by labels that go together, and by both."""

from typing import Any

import numpy as np
import pytest

from funnelling.labelling.issues import MISSING, SWAPPED, WRONG, score_label_issues

LABELS = 8
DOCUMENTS = 240


def drawn(seed: int = 0) -> tuple[Any, Any, Any, Any]:
    """Labels that come in pairs, probabilities that tell one of each pair, languages and folds."""
    random = np.random.default_rng(seed)
    pairs = random.random((DOCUMENTS, LABELS // 2)) < 0.4
    given = np.repeat(pairs, 2, axis=1)
    probabilities = np.where(given, 0.8, 0.05)
    probabilities[:, 1::2] = given[:, 1::2].mean(axis=0)  # nothing in the text tells the second of a pair
    languages = ["en", "it"] * (DOCUMENTS // 2)
    return given, probabilities, languages, np.arange(DOCUMENTS) % 5


@pytest.mark.parametrize(("kind", "label"), [(MISSING, False), (WRONG, True)])
def test_a_label_that_only_others_tell_is_doubted(kind: str, label: bool) -> None:
    given, probabilities, languages, folds = drawn()
    rows = np.flatnonzero(given[:, 1] != label)[:10]
    given[rows, 1] = label
    found = score_label_issues(probabilities, given, languages, folds, one_label=False)
    assert set(np.argsort(-found.scores, kind="stable")[:10]) == set(rows)
    columns = found.wrong if label else found.missing
    assert {(found.kinds[row], int(columns[row])) for row in rows} <= {(kind, 1), (SWAPPED, 1)}
    assert found.others is not None
    assert np.argmax(np.abs(found.others.contributions(int(rows[0]), 1))) == 0  # the first of the pair


def test_with_one_label_each_the_order_of_documents_changes_nothing_but_the_order() -> None:
    given, probabilities, languages, folds = drawn()
    there = score_label_issues(probabilities, given, languages, folds, one_label=True)
    back = score_label_issues(probabilities[::-1], given[::-1], languages[::-1], folds[::-1], one_label=True)
    np.testing.assert_array_equal(there.scores, back.scores[::-1])


def test_the_same_seed_gives_the_same_bits() -> None:
    given, probabilities, languages, folds = drawn()
    once, again = (
        score_label_issues(probabilities, given, languages, folds, one_label=False) for _ in range(2)
    )
    np.testing.assert_array_equal(once.scores, again.scores)


def test_one_label_each_is_doubted_as_much_as_it_is_improbable() -> None:
    given = np.eye(3, dtype=bool)
    probabilities = np.array([[0.1, 0.7, 0.2], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]])
    found = score_label_issues(probabilities, given, ["en"] * 3, np.arange(3), one_label=True)
    np.testing.assert_allclose(found.scores, [0.9, 0.2, 0.6])
    assert (found.wrong.tolist(), found.missing.tolist()) == ([0, 1, 2], [1, 0, 0])


def test_a_label_that_one_document_has_is_not_doubted_for_that() -> None:
    given, probabilities, languages, folds = drawn()
    given = np.column_stack([given, np.arange(DOCUMENTS) == 7])
    probabilities = np.column_stack([probabilities, np.zeros(DOCUMENTS)])
    assert score_label_issues(probabilities, given, languages, folds, one_label=False).wrong[7] != LABELS


def test_documents_without_labels_can_lack_some() -> None:
    given, probabilities, languages, folds = drawn()
    row = int(np.flatnonzero(given[:, 0])[0])
    given[row] = False
    found = score_label_issues(probabilities, given, languages, folds, one_label=False)
    assert (found.kinds[row], found.wrong[row]) == (MISSING, -1)
    assert found.scores[row] > np.median(found.scores)


def test_where_sure_labels_are_missing_gaps_come_first() -> None:
    random = np.random.default_rng(2)
    probabilities = random.beta(0.1, 0.4, size=(1200, 12))
    truth = random.random(probabilities.shape) < probabilities
    rows = random.permutation(np.flatnonzero(truth.any(axis=1)))[:120]
    given = truth.copy()
    for row in rows:
        given[row, random.choice(np.flatnonzero(truth[row]))] = False
    found = score_label_issues(probabilities, given, ["en"] * 1200, np.arange(1200) % 5, one_label=False)
    first = np.argsort(-found.scores, kind="stable")[:180]
    assert np.isin(rows, first).mean() > 0.6  # .52 if wrong labels were taken to be as frequent
    assert sum(found.kinds[row] == MISSING for row in first) > 150


def test_labels_that_cannot_be_judged_say_nothing_of_slips() -> None:
    given, probabilities, languages, folds = drawn()
    alone = np.zeros((DOCUMENTS, 60), dtype=bool)
    alone[np.arange(60), np.arange(60)] = True  # each in one document, and improbable
    more = np.hstack([given, alone]), np.hstack([probabilities, np.full(alone.shape, 0.001)])
    found = score_label_issues(more[1], more[0], languages, folds, one_label=False)
    assert found.kinds[:60].count(WRONG) == 0
