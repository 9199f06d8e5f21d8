"""Another goal for a fitted funnel: the thresholds of a fit for it, and honest figures."""

import copy
from typing import Any

import numpy as np
import pytest

from funnelling import InputError
from funnelling.funnel.estimator import FunnelEstimator
from funnelling.funnel.thresholds import Goal, ThresholdTuning, parse_goal
from funnelling.funnel.tuning import figures, sum_of
from tests.artificial import text_corpus, vector_corpus
from tests.funnels import any_funnel

CORPUS = vector_corpus(documents=80, noise=0.8)


def fitted(**parameters: Any) -> FunnelEstimator:
    model = any_funnel(**{"views": None, "meta_C": 1, "random_state": 0, **parameters})
    return model.fit(CORPUS.X, CORPUS.y)


@pytest.mark.parametrize("goal", ["macro-f1", "micro-k", "recall=.8", "precision=.8", "recall=.7 per label"])
@pytest.mark.parametrize("before", [{}, {"thresholds": "micro-f1"}, {"thresholds": 0.5}])
def test_thresholds_are_those_of_a_fit_for_the_goal(goal: str, before: dict[str, Any]) -> None:
    model, anew = fitted(**before), fitted(thresholds=goal)
    model.tune(goal)
    np.testing.assert_array_equal(
        model.model_.fitted.learned.tier_two.thresholds, anew.model_.fitted.learned.tier_two.thresholds
    )
    assert model.get_params() == anew.get_params(), "a later fit goes by the goal"
    for tag, rows in model.predict(CORPUS.X).items():
        np.testing.assert_array_equal(rows, anew.predict(CORPUS.X)[tag])
        np.testing.assert_array_equal(
            model.model_.fitted.learned.tier_two.held_out[tag],
            anew.model_.fitted.learned.tier_two.held_out[tag],
        )


def test_languages_without_training_documents_get_their_thresholds_too() -> None:
    corpus = text_corpus(60)
    parameters: dict[str, Any] = {"views": None, "zero_shot": "pooled", "meta_C": 1, "random_state": 0}
    model, anew = (
        any_funnel(**parameters, **more).fit(*corpus) for more in ({}, {"thresholds": "recall=.9"})
    )
    model.tune("recall=.9")
    np.testing.assert_array_equal(
        model.model_.fitted.zero_shot.tier_two.thresholds, anew.model_.fitted.zero_shot.tier_two.thresholds
    )
    np.testing.assert_array_equal(model.model_.thresholds("es"), anew.model_.thresholds("es"))


def test_without_a_label_that_was_dropped() -> None:
    """The other thresholds are those that they get beside it."""
    parameters: dict[str, Any] = {"views": None, "zero_shot": "pooled", "meta_C": 1, "random_state": 0}
    model = any_funnel(**parameters).fit(*text_corpus(60))
    whole = copy.copy(model)
    kept = model.classes_.tolist()[1:]
    model.relabel({model.classes_[0]: None})
    for each in (whole, model):
        each.tune("recall=.9", labels=kept)
    np.testing.assert_array_equal(
        model.model_.fitted.zero_shot.tier_two.thresholds,
        whole.model_.fitted.zero_shot.tier_two.thresholds[1:],
    )
    np.testing.assert_array_equal(
        model.model_.fitted.learned.tier_two.thresholds, whole.model_.fitted.learned.tier_two.thresholds[1:]
    )


def test_a_call_that_fails_leaves_the_model_as_it_was() -> None:
    parameters: dict[str, Any] = {"views": None, "zero_shot": "pooled", "meta_C": 1, "random_state": 0}
    model = any_funnel(**parameters).fit(*text_corpus(60))
    scores = model.model_.fitted.kept.zero_shot_scores
    scores.update({tag: rows[:, :1] for tag, rows in scores.items()})  # damaged
    before = dict(vars(model))
    with pytest.raises((ValueError, IndexError)):
        model.tune("recall=.9")
    assert all(vars(model)[name] is value for name, value in before.items())


def test_other_labels_keep_their_thresholds_and_the_model_its_goal() -> None:
    model = fitted(thresholds="macro-f1")
    before = model.thresholds_["en"]
    change = model.tune("recall=.95", labels=["1"])
    after = model.thresholds_["en"]
    assert after[1] < before[1]
    assert after[[0, 2]].tolist() == before[[0, 2]].tolist()
    assert (model.parameters.tuned_for, change.tuned) == ("macro-f1", ["1"])
    assert [row["label"] for row in change.per_label()] == ["1"]
    assert change.thresholds_after.tolist() == pytest.approx(after.tolist())
    assert model.tune("recall=.95", labels=[1]).tuned == ["1"], "as the model has it"


def test_more_recall_means_more_labels() -> None:
    model = fitted()
    few, many = (model.tune(goal).total()["after"] for goal in ("recall=.6", "recall=.95"))
    assert many["recall"] > few["recall"]
    assert many["labels_per_document"] > few["labels_per_document"]
    assert many["precision"] < few["precision"]


def test_figures_are_of_thresholds_that_did_not_see_the_documents() -> None:
    model = fitted()
    change = model.tune("macro-f1")
    in_hindsight = figures(sum_of(model.model_.fitted.learned.tier_two.held_out))
    assert change.total()["after"]["f1"] < in_hindsight["f1"]
    assert change.total()["after"] == model.tune("macro-f1").total()["before"]


def test_per_label_is_asked_of_every_label() -> None:
    model = fitted()
    change = model.tune("recall=.8", per_label=True)
    assert change.goal == "recall=.8 per label"
    assert model.get_params()["thresholds"] == ThresholdTuning("recall=.8", per_label=True, min_threshold=0)
    table = np.sum(list(model.model_.fitted.learned.tier_two.held_out.values()), axis=0)
    assert (table[0] / (table[0] + table[2]) >= 0.8).all()
    with pytest.raises(InputError, match="no goal "):
        model.tune("f1", per_label=True)


def test_a_goal_that_is_out_of_reach_is_named_with_what_is_reached() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 4)), rng.random((300, 2)) < 0.3
    model = any_funnel(views=None, meta_C=1, random_state=0).fit(X, y.astype(int))
    (line,) = model.tune("precision=.95").unreached()
    assert line.startswith("precision=.95 is not reached: precision is 0.")
    (line,) = model.tune("precision=.95", per_label=True).unreached()
    assert line.startswith("precision=0.95 is not reached by 2 of 2 labels: ")
    assert model.tune("recall=.8").unreached() == []


def test_precision_is_reached_with_as_much_recall_as_there_is() -> None:
    model = fitted()
    high, low = (model.tune(f"precision={share}").total()["after"] for share in (0.9, 0.7))
    assert high["precision"] > low["precision"] > 0.6
    assert low["recall"] > high["recall"]


def test_what_cannot_be_tuned_is_refused() -> None:
    model = fitted()
    with pytest.raises(InputError, match="no goal "):
        model.tune("accuracy")
    with pytest.raises(InputError, match=r"^The model has no label '7'\. See `funnelling inspect`"):
        model.tune("micro-f1", labels=["7"])
    with pytest.raises(InputError, match="No label to tune"):
        model.tune("micro-f1", labels=[])
    with pytest.raises(InputError, match=r"compact.*train it again with --goal"):
        fitted(keep="nothing").tune("micro-f1")
    one_label = any_funnel(views=None).fit(np.eye(8), [0, 1] * 4)
    with pytest.raises(InputError, match="one label per document"):
        one_label.tune("micro-f1")


def test_a_model_that_learned_on_is_tuned_on_all_its_documents() -> None:
    corpus = text_corpus(60)
    model = any_funnel(views=None, meta_C=1, random_state=0)
    italian = np.array(corpus[2]) == "it"

    def some(rows: Any) -> tuple[list[Any], ...]:
        return tuple([column[row] for row in np.flatnonzero(rows)] for column in corpus)

    model.fit(*some(~italian)).update(*some(italian))
    assert sorted(model.model_.fitted.kept.scores) == ["en", "it"]
    model.tune("recall=.9")
    assert sum(table.sum() for table in model.model_.fitted.learned.tier_two.held_out.values()) == 60 * len(
        model.classes_
    )


def test_goals_by_name() -> None:
    assert parse_goal("precision=.9") == Goal("recall", precision=0.9)
    assert parse_goal("macro-k per label") == Goal("macro_k_paper", per_label=True)
    assert parse_goal("precision=.9").share == ("precision", 0.9)
