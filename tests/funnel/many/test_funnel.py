"""Both tiers: what each learns from, and what judges documents in the end."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from funnelling import ManyLabelsClassifier
from funnelling.funnel.many.candidates import N_COMMON_FEATURES
from funnelling.funnel.many.learning import DEFAULT_THRESHOLD, _threshold, in_columns
from funnelling.state import StateError
from tests.funnel.many.corpora import documents, fitted


@pytest.fixture(scope="module")
def model() -> Any:
    return fitted(documents(each=40))


def test_several_languages_share_a_view(model: Any) -> None:
    tier_one = model.model_.fitted.tier_one
    assert tier_one.views == ["own", "shared"]
    widths = {tag: each.weights.shape[0] for tag, each in tier_one.own.items()}
    assert {tag: len(columns) for tag, columns in tier_one.columns.items()} == widths
    assert tier_one.shared.weights.shape[0] < sum(widths.values())  # they have runs of characters in common
    assert model.model_.fitted.trees.width == 2 * 2 + N_COMMON_FEATURES


def test_one_language_has_its_own_view_alone() -> None:
    texts, labels, _ = documents(languages=("en",))
    alone = fitted((texts, labels, ["en"] * len(texts)))
    assert alone.model_.fitted.tier_one.views == ["own"]
    assert alone.score(texts, labels, languages=["en"] * len(texts)) > 0.9


def test_probabilities_are_in_bounds_and_of_candidates_alone(model: Any) -> None:
    texts, _, languages = documents()
    probabilities = model.predict_proba(texts, languages)
    assert isinstance(probabilities, sparse.csr_array)
    assert probabilities.dtype == np.float64
    assert probabilities.shape == (len(texts), len(model.classes_))
    assert 0 <= probabilities.data.min() <= probabilities.data.max() <= 1


def test_groups_that_leave_a_fold_empty_teach_tier_two_all_the_same() -> None:
    texts, labels, languages = documents(each=40)
    for seed in range(6):
        model = ManyLabelsClassifier(random_state=seed)
        model.fit(texts, labels, languages, groups=[f"g{number // 20}" for number in range(len(texts))])
        assert model.model_.fitted.trees is not None


def test_languages_meet_in_the_shared_columns() -> None:
    X = sparse.csr_array(np.array([[1.0, 2.0]]))
    assert in_columns(X, np.array([2, 0], dtype=np.int32), 3).toarray().tolist() == [[2.0, 0.0, 1.0]]


def test_a_threshold_parts_what_is_right_from_what_is_not() -> None:
    none = np.zeros(2, dtype=bool)
    assert _threshold(np.array([0.9, 0.2]), none, 3) == DEFAULT_THRESHOLD
    assert _threshold(np.array([0.6, 0.6, 0.2]), np.array([True, False, False]), 1) == pytest.approx(0.4)
    assert _threshold(np.array([0.8]), np.array([True]), 1) == pytest.approx(0.4)


def forge_value(array: np.ndarray, value: float) -> None:
    """Write a value into the first place of an array, which a fit has frozen."""
    array.setflags(write=True)
    array[0] = value


FORGED: dict[str, Any] = {
    "languages without classifiers": lambda f: f.tier_one.own.pop("en"),
    "columns beyond the shared view": lambda f: forge_value(f.tier_one.columns["en"], 10**6),
    "columns of another number": lambda f: f.tier_one.columns.update(en=f.tier_one.columns["it"][:-1]),
    "a threshold above 1": lambda f: f.thresholds.update(en=1.5),
    "counts below 0": lambda f: forge_value(f.seen.documents, -1),
    "weights of NaN": lambda f: forge_value(f.tier_one.shared.weights.data, np.nan),
    "another language's words": lambda f: f.vectors.update(en=f.vectors["it"]),
}


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
def test_a_state_that_no_fit_leaves_is_refused(forge: Any) -> None:
    forged = fitted(documents(each=20)).model_
    forged.check()
    forge(forged.fitted)
    with pytest.raises(StateError):
        forged.check()
