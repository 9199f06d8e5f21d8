"""Thresholds: the goal is reached on the documents they were tuned on, rare labels follow the others."""

from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from funnelling.errors import InputError
from funnelling.evaluation.measures import Counts
from funnelling.evaluation.registry import measure_indicators
from funnelling.funnel.design import FunnelConfig
from funnelling.funnel.ranking import THRESHOLD_GRID, LabelThresholdCurves
from funnelling.funnel.thresholds import (
    DEFAULT_GOAL,
    GOALS,
    SHRINKAGE_STRENGTHS,
    Goal,
    ThresholdTuner,
    parse_goal,
    tuned_for,
)
from funnelling.svm import Calibration
from tests.artificial import vector_corpus
from tests.funnels import any_funnel


def drawn(documents: int = 400, labels: int = 12, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Calibrated posteriors and labels drawn from them; labels are from frequent to rare."""
    rng = np.random.default_rng(seed)
    rates = np.geomspace(0.5, 0.01, labels)
    probabilities = rng.beta(4 * rates, 4 * (1 - rates), size=(documents, labels))
    return probabilities, rng.random(probabilities.shape) < probabilities


def tuning(probabilities: np.ndarray, targets: np.ndarray, goal: Goal) -> ThresholdTuner:
    return ThresholdTuner.on(
        LabelThresholdCurves(probabilities, targets, np.zeros(len(targets), dtype=int)), goal
    )


@pytest.mark.parametrize(
    ("macro", "micro", "chosen"),
    [
        # What 690 documents had, and ten more: the border of .005 lies between, and nothing jumps there.
        (
            (0.3717, 0.3729, 0.3723, 0.3821, 0.3963, 0.4064, 0.4140, 0.4230),
            (0.6830, 0.6831, 0.6818, 0.6849, 0.6827, 0.6725, 0.6566, 0.6541),
            100,
        ),
        (
            (0.3740, 0.3737, 0.3726, 0.3769, 0.3890, 0.4066, 0.4179, 0.4214),
            (0.6888, 0.6871, 0.6855, 0.6832, 0.6814, 0.6747, 0.6646, 0.6572),
            100,
        ),
        # What is better by less than .001 is not better.
        ((0.4, 0.4, 0.4, 0.4, 0.4005, 0.4009, 0.4008, 0.4), (0.7,) * 8, np.inf),
        ((0.4, 0.402, 0.404, 0.406, 0.408, 0.41, 0.412, 0.414), (0.7,) * 8, 3),
    ],
    ids=["few documents", "and ten more", "all alike", "the more the better"],
)
def test_the_pull_that_is_chosen(
    macro: tuple[float, ...], micro: tuple[float, ...], chosen: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = iter(zip(macro, micro, strict=True))

    def measures(*_: object) -> dict[str, np.ndarray]:
        of_macro, of_micro = next(measured)
        return {"macro_f1_paper": np.array([of_macro]), "micro_f1": np.array([of_micro])}

    monkeypatch.setattr("funnelling.funnel.thresholds._measures", measures)
    probabilities, targets = drawn(documents=100)
    ranking, goal = LabelThresholdCurves(probabilities, targets, np.arange(100) % 5), Goal("macro_f1_paper")
    tuned = tuned_for(ranking, np.zeros(100, dtype=int), goal)
    assert tuned.thresholds.tolist() == ThresholdTuner.on(ranking, goal).thresholds(chosen).tolist()


@pytest.mark.parametrize("goal", GOALS)
def test_the_goal_is_higher_than_at_one_half(goal: str) -> None:
    probabilities, targets = drawn()
    thresholds = tuning(probabilities, targets, parse_goal(goal)).thresholds(10)
    name = GOALS[goal]
    assert (
        measure_indicators(targets, probabilities > thresholds)[name]
        > measure_indicators(targets, probabilities > 0.5)[name]
    )


def test_without_pull_each_label_has_its_best_f1() -> None:
    probabilities, targets = drawn(labels=3)
    thresholds = tuning(probabilities, targets, Goal("macro_f1_paper")).thresholds(0)
    best = measure_indicators(targets, probabilities > thresholds)["macro_f1_paper"]
    for t in np.arange(0.02, 1, 0.02):
        assert measure_indicators(targets, probabilities > t)["macro_f1_paper"] <= best + 1e-9


def test_with_all_pull_there_is_one_threshold() -> None:
    probabilities, targets = drawn()
    assert (
        np.ptp(tuning(probabilities, targets, Goal("macro_f1_paper")).thresholds(SHRINKAGE_STRENGTHS[0]))
        < 1e-12
    )


@pytest.mark.parametrize("goal", GOALS)
def test_where_many_thresholds_are_as_good_it_is_one_in_the_middle(goal: str) -> None:
    targets = np.random.default_rng(0).random((60, 3)) < 0.3
    probabilities = np.where(targets, 0.95, 0.05)
    thresholds = tuning(probabilities, targets, parse_goal(goal)).thresholds(SHRINKAGE_STRENGTHS[0])
    assert thresholds == pytest.approx(np.full(3, 0.5), abs=0.05)


def test_a_rare_label_follows_the_others_more_than_a_frequent_one() -> None:
    probabilities, targets = drawn()
    common = tuning(probabilities, targets, Goal("macro_f1_paper")).thresholds(np.inf)[0]
    own = tuning(probabilities, targets, Goal("macro_f1_paper")).thresholds(0)
    mixed = tuning(probabilities, targets, Goal("macro_f1_paper")).thresholds(30)
    assert abs(mixed[-1] - common) < abs(own[-1] - common)
    assert abs(mixed[0] - own[0]) < 0.1


def test_labels_without_positives_take_the_common_threshold() -> None:
    probabilities, targets = drawn()
    targets[:, 3] = False
    thresholds = tuning(probabilities, targets, Goal("macro_f1_paper")).thresholds(10)
    common = tuning(probabilities, targets, Goal("macro_f1_paper")).thresholds(np.inf)[0]
    assert thresholds[3] == pytest.approx(common)


@pytest.mark.parametrize("recall", [0.5, 0.9, 0.99])
def test_recall_is_reached(recall: float) -> None:
    probabilities, targets = drawn()
    for pull in (0, np.inf):
        decided = probabilities > tuning(probabilities, targets, Goal("micro_f1", recall)).thresholds(pull)
        assert (decided & targets).sum() >= recall * targets.sum()


def test_cuts_are_thresholds_in_scores() -> None:
    probabilities, targets = drawn()
    labels = targets.shape[1]
    slope, offset = np.full(labels, 2.0), np.full(labels, -0.5)
    head = Calibration("platt", slope, offset, np.full(labels, np.nan))
    scores = (np.log(probabilities / (1 - probabilities)) - offset) / slope
    folds, languages = np.arange(len(targets)) % 5, np.arange(len(targets)) % 2
    cuts = tuned_for(
        LabelThresholdCurves(head(scores), targets, folds), languages, parse_goal("macro-f1")
    ).in_scores(head)
    tuned, untuned = measure_indicators(targets, scores > cuts), measure_indicators(targets, scores > 0)
    assert tuned["macro_f1_paper"] > untuned["macro_f1_paper"]
    assert tuned["micro_f1"] > untuned["micro_f1"] - 0.02
    one_fold = tuned_for(
        LabelThresholdCurves(head(scores), targets, 0 * folds), languages, parse_goal("micro-k")
    ).in_scores(head)
    assert np.ptp(one_fold) < 1e-9


class TestFloor:
    """What is too likely wrong is not assigned, whatever the measure gains by it."""

    def tuned(self, goal: Goal, folds: int) -> np.ndarray:
        probabilities, targets = drawn()
        labels = targets.shape[1]
        slope, offset = np.full(labels, 2.0), np.full(labels, -0.5)
        head = Calibration("platt", slope, offset, np.full(labels, np.nan))
        scores = (np.log(probabilities / (1 - probabilities)) - offset) / slope
        numbers = np.arange(len(targets))
        cuts = tuned_for(
            LabelThresholdCurves(head(scores), targets, numbers % folds), numbers % 2, goal
        ).in_scores(head)
        return expit(slope * cuts + offset)

    @pytest.mark.parametrize("measure", ["macro_f1_paper", "micro_k", "macro_k_paper"])
    def test_no_threshold_is_below_it(self, measure: str) -> None:
        assert self.tuned(Goal(measure), 5).min() < 0.25
        assert self.tuned(Goal(measure, min_threshold=0.25), 5).min() >= 0.25 - 1e-9

    def test_those_above_it_stay(self) -> None:
        without, floored = (self.tuned(Goal("micro_f1", min_threshold=floor), 1) for floor in (0.0, 0.1))
        assert without.min() > 0.1
        np.testing.assert_array_equal(floored, without)

    def test_it_holds_where_nothing_was_asked_for_and_views_are_chosen(self) -> None:
        def goal(**parameters: Any) -> Goal | None:
            return FunnelConfig.of(any_funnel(**parameters).parameters).goal

        assert goal() == DEFAULT_GOAL == Goal("macro_f1_paper", min_threshold=0.1)
        assert goal(views=None) is None
        assert goal(views=["own"]) is None
        assert goal(thresholds="macro-f1") == Goal("macro_f1_paper")
        assert goal(thresholds=0.5) is None, "nothing is tuned"


@pytest.mark.parametrize("text", ["f1", "recall", "recall=", "recall=1", "recall=nan", "micro_f1", ""])
def test_what_cannot_be_optimised_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="no goal "):
        parse_goal(text)


def test_thresholds_for_k_go_down_to_the_share_of_positives() -> None:
    rng = np.random.default_rng(0)
    probabilities = expit(rng.normal(-6, 1.5, size=(20_000, 3)))
    targets = rng.random(probabilities.shape) < probabilities
    thresholds = tuning(probabilities, targets, Goal("micro_k")).thresholds(np.inf)
    assert (thresholds < 0.015).all()


@pytest.mark.parametrize("parameters", [{"thresholds": "micro-f1"}, {"thresholds": 0.5}])
def test_one_label_a_document_has_no_thresholds(parameters: Any) -> None:
    with pytest.raises(InputError, match="Leave it out"):
        any_funnel(**parameters).fit(np.eye(4), [0, 1, 0, 1])


def test_calibrated_says_yes_above_one_half() -> None:
    corpus = vector_corpus()
    model = any_funnel(views=None, thresholds=0.5, random_state=0).fit(corpus.X, corpus.y)
    decided, probabilities = model.model_.classify(corpus.X)
    plain = any_funnel(views=None, random_state=0).fit(corpus.X, corpus.y)
    for tag, labels in decided.items():
        np.testing.assert_array_equal(labels, probabilities[tag] > 0.5)
        np.testing.assert_array_equal(probabilities[tag], plain.predict_proba(corpus.X)[tag])
    assert any((decided[tag] != plain.predict(corpus.X)[tag]).any() for tag in decided)
    with pytest.raises(InputError, match=r"^thresholds must be 'auto', None, .5 or a Thresh.*not 0.4"):
        model.set_params(thresholds=0.4).fit(corpus.X, corpus.y)


def test_counts_on_the_grid_are_those_of_each_threshold() -> None:
    rng = np.random.default_rng(0)
    probabilities = rng.random((60, 4)) ** 4
    probabilities[rng.random((60, 4)) < 0.2] = THRESHOLD_GRID[40]  # what equals a threshold does not pass it
    targets = rng.random((60, 4)) < probabilities
    folds = np.arange(60) % 3
    for fold in (None, 1):
        at_once = LabelThresholdCurves(probabilities, targets, folds).counts_on_grid(fold)
        kept = folds != fold
        for place, threshold in enumerate(THRESHOLD_GRID):
            alone = Counts.of(targets[kept], probabilities[kept] > threshold)
            assert (at_once.table()[:, :, place] == alone.table()).all()
