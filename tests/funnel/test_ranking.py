"""Rankings: cuts are counted fold by fold, and the sums are those of looking at all documents."""

import numpy as np
import pytest

from funnelling.funnel.ranking import Ranking


@pytest.fixture
def drawn() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    probabilities = rng.random((80, 4)).round(1)  # many are equal
    targets = rng.random(probabilities.shape) < probabilities
    targets[:, 2] = False
    return probabilities, targets, rng.permutation(80) % 5


@pytest.mark.parametrize("fold", [None, 3])
def test_cuts_are_below_each_document_that_has_the_label(
    drawn: tuple[np.ndarray, np.ndarray, np.ndarray], fold: int | None
) -> None:
    probabilities, targets, folds = drawn
    cuts = Ranking(probabilities, targets, folds).cuts(fold)
    kept = folds != fold
    probabilities, targets = probabilities[kept], targets[kept]
    assert np.bincount(cuts.labels, minlength=4).tolist() == targets.sum(axis=0).tolist()
    for label, value, below, assigned, right in zip(*cuts, strict=True):
        column, truth = probabilities[:, label], targets[:, label]
        assert assigned == (column >= value).sum()
        assert right == (truth & (column >= value)).sum()
        assert below == max(column[column < value], default=0)


def test_the_best_cut_of_each_label_is_the_highest_of_equals() -> None:
    probabilities = np.array([[0.9, 0.3], [0.7, 0.2], [0.4, 0.6]])
    targets = np.array([[True, False], [True, False], [False, False]])
    cuts = Ranking(probabilities, targets, np.zeros(3, dtype=int)).cuts(None)
    assert cuts.thresholds(np.ones(2), 2) == pytest.approx([0.8, 0.5]), "a label without documents has .5"


def test_the_likeliest_wrong_labels_are_those_of_the_folds_that_count(
    drawn: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    probabilities, targets, folds = drawn
    found = np.sort(Ranking(probabilities, targets, folds).likeliest_wrong(6, 2))[-6:]
    kept = folds != 2
    assert found.tolist() == np.sort(probabilities[kept][~targets[kept]])[-6:].tolist()
