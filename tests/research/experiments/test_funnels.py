"""Funnels over some documents of a trial: the decisions of the classifier itself, with less work."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from funnelling.evaluation.measures import Counts
from funnelling.evaluation.measuring import as_indicators, evaluate_classifier
from funnelling.evaluation.splits import Trial
from funnelling.funnel.design import FunnelConfig
from funnelling.methods.registry import make_method
from funnelling.research.experiments.setting import Funnels
from tests.research.experiments.made import LANGUAGES, made_one_label_trials, made_trials

TRIALS = {
    "several labels": made_trials()[0],
    "one label": made_one_label_trials()[0],
    "one of two": made_one_label_trials(classes="ab")[0],
}


@pytest.fixture(scope="module", params=TRIALS)
def trial(request: pytest.FixtureRequest) -> Trial:
    return TRIALS[request.param]


@pytest.fixture(scope="module")
def funnels(trial: Trial) -> Funnels:
    return Funnels(trial, FunnelConfig.of(make_method("fun-tat", seed=3).parameters), 10.0, seed=3)


def classifier_counts(trial: Trial, language: str) -> Counts:
    """What Fun(TAT) itself decides, fitted from scratch."""
    method = make_method("fun-tat", seed=3).under(meta_C=10.0).fit(trial.train)
    test = trial.test.select(trial.test.by_language()[language])
    predicted = as_indicators(method, method.predict(test.texts, languages=test.languages))
    return Counts.of(test.label_matrix([str(label) for label in method.labels.classes]), predicted)


def same(one: Counts, other: Counts) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("tp", "fp", "fn", "tn"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_over_all_documents_it_decides_as_the_classifier_does(
    trial: Trial, funnels: Funnels, language: str
) -> None:
    found = funnels.tier_two(dict.fromkeys(LANGUAGES, 1.0)).counts(language)
    assert same(found, classifier_counts(trial, language))


def test_with_a_fraction_of_one_language_too(trial: Trial, funnels: Funnels) -> None:
    kept = {document.id for document in funnels.documents("it", 0.3)}
    rows = [d.language != "it" or d.id in kept for d in trial.train]
    less = trial._replace(train=trial.train.select(rows))
    found = funnels.tier_two({"de": 1.0, "en": 1.0, "it": 0.3}).counts("it")
    assert same(found, classifier_counts(less, "it"))


def test_without_another_language_too(trial: Trial, funnels: Funnels) -> None:
    less = trial._replace(train=trial.train.select([tag != "de" for tag in trial.train.languages]))
    found = funnels.tier_two(dict.fromkeys(LANGUAGES, 1.0)).counts("it", without="de")
    assert same(found, classifier_counts(less, "it"))


def test_smaller_fractions_lie_within_larger_ones(funnels: Funnels) -> None:
    ids = [set(funnels.documents("it", fraction).ids) for fraction in (0.1, 0.3, 0.5, 1)]
    assert [len(share) for share in ids] == [4, 12, 20, 40]
    assert all(small < large for small, large in pairwise(ids))


def test_a_base_is_fitted_once(funnels: Funnels) -> None:
    assert funnels.base("it", 0.5) is funnels.base("it", 0.5)


@pytest.mark.parametrize("classes", ["ab", "abcd"])
def test_a_label_unknown_to_training_is_wrong(classes: str) -> None:
    (trial,) = made_one_label_trials(classes=classes)
    labels = [("unknown",) if row % 5 == 0 else each for row, each in enumerate(trial.test.labels)]
    trial = trial._replace(test=replace(trial.test, labels=labels))
    design = FunnelConfig.of(make_method("fun-tat", seed=3).parameters)
    funnels = Funnels(trial, design, 10.0, seed=3)
    method = make_method("fun-tat", seed=3).under(meta_C=10.0).fit(trial.train)
    expected = evaluate_classifier(method, trial.test)["languages"]["it"]
    found = funnels.measure(funnels.tier_two(dict.fromkeys(LANGUAGES, 1.0)).counts("it"))
    assert {**found, "documents": 20} == expected
