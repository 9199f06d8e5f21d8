"""Rankings: cuts are counted fold by fold, and the sums are those of looking at all documents."""

import numpy as np
import pytest

from funnelling.funnel.ranking import CHANCE_OF_LABEL, LabelThresholdCurves, odds
from funnelling.svm.calibration import sigmoid


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
    cuts = LabelThresholdCurves(probabilities, targets, folds).candidates(fold)
    kept = folds != fold
    probabilities, targets = probabilities[kept], targets[kept]
    assert np.bincount(cuts.labels, minlength=4).tolist() == targets.sum(axis=0).tolist()
    for label, value, below, assigned, right in zip(*cuts[:5], strict=True):
        column, truth = probabilities[:, label], targets[:, label]
        assert assigned == (column >= value).sum()
        assert right == (truth & (column >= value)).sum()
        assert below == max(column[column < value], default=0)


def test_the_threshold_is_amid_the_cuts_that_are_as_good_as_the_best() -> None:
    probabilities = np.array([[0.9, 0.3], [0.8, 0.2], [0.4, 0.6], [0.2, 0.1]])
    targets = np.array([[True, False], [True, False], [True, False], [True, False]])
    cuts = LabelThresholdCurves(probabilities, targets, np.zeros(4, dtype=int)).candidates(None)
    chance = CHANCE_OF_LABEL / 2  # with four documents
    quality = np.array([0.7, 0.7 - 0.9 * chance, 0.7 - 1.1 * chance, 0.0])
    amid = float(sigmoid((odds(0.85) + odds(0.6)) / 2))
    assert cuts.thresholds(quality) == pytest.approx([amid, 0.5]), "a label without documents has .5"
    alone = cuts.thresholds(np.array([0.0, 1.0, 0.0, 0.0]))
    assert alone == pytest.approx([0.6, 0.5]), "halfway to the next document"


def test_thresholds_move_less_than_the_best_cuts_do(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    targets = rng.random((2_000, 20)) < 0.1
    logits = np.where(targets, 0.0, -3.0) + rng.normal(0, 1.5, targets.shape)
    folds = np.arange(len(targets)) % 5

    def thresholds(logits: np.ndarray) -> np.ndarray:
        cuts = LabelThresholdCurves(sigmoid(logits), targets, folds).candidates(None)
        return odds(cuts.thresholds(2 * cuts.right / (cuts.assigned + targets.sum(axis=0)[cuts.labels])))

    nearly = logits + rng.normal(0, 0.05, logits.shape)
    amid = thresholds(nearly) - thresholds(logits)
    monkeypatch.setattr("funnelling.funnel.ranking.CHANCE_OF_LABEL", 0.0)
    best = thresholds(nearly) - thresholds(logits)
    assert np.square(amid).mean() < np.square(best).mean() / 2


def test_the_likeliest_wrong_labels_are_those_of_the_folds_that_count(
    drawn: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    probabilities, targets, folds = drawn
    found = np.sort(LabelThresholdCurves(probabilities, targets, folds).likeliest_wrong(6, 2))[-6:]
    kept = folds != 2
    assert found.tolist() == np.sort(probabilities[kept][~targets[kept]])[-6:].tolist()
