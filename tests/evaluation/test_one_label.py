"""Measures of one label per document: by hand, and as scikit-learn has them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from funnelling.evaluation import Counts, measure_indicators, measure_languages
from funnelling.evaluation.measures import accuracy
from funnelling.evaluation.registry import main_measures, mean_measures, measure_counts

TRUTH = np.array([0, 0, 0, 1, 1, 2])  # of four labels, of which one never occurs
GIVEN = np.array([0, 0, 1, 1, 0, 1])

answers = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30)


def indicators(labels: np.ndarray, classes: int = 4) -> np.ndarray:
    return labels[:, None] == np.arange(classes)


def test_by_hand() -> None:
    counts = Counts.of(indicators(TRUTH), indicators(GIVEN))
    assert accuracy(counts) == 3 / 6
    # 2 of 3 found and 2 of 3 right; 1 of 2 and 1 of 3; never found. The absent label does not count.
    measures = measure_indicators(indicators(TRUTH), indicators(GIVEN))
    assert measures["macro_f1"] == pytest.approx((2 / 3 + 2 / 5 + 0) / 3)
    assert measures["macro_f1_paper"] == pytest.approx((2 / 3 + 2 / 5 + 0 + 1) / 4)


@given(answers)
def test_they_are_scikit_learns(pairs: list[tuple[int, int]]) -> None:
    from sklearn.metrics import accuracy_score, f1_score

    truth, given_labels = np.array(pairs).T
    measures = measure_indicators(indicators(truth), indicators(given_labels), one_label=True)
    assert measures["accuracy"] == pytest.approx(accuracy_score(truth, given_labels))
    expected = f1_score(truth, given_labels, average="macro", labels=np.unique(truth))
    assert measures["macro_f1"] == pytest.approx(expected)
    assert measures["micro_f1"] == pytest.approx(measures["accuracy"])


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=20))
def test_one_column_stands_for_two_classes(pairs: list[tuple[bool, bool]]) -> None:
    truth, decided = (column[:, None] for column in np.array(pairs).T)
    both = Counts.of(np.hstack([~truth, truth]), np.hstack([~decided, decided]))
    assert np.array_equal(Counts.of(truth, decided).of_both().table(), both.table())
    assert mean_measures({"en": truth}, decided, one_label=True) == measure_counts(both, one_label=True)


def test_those_of_several_labels_are_as_ever() -> None:
    targets = {"en": indicators(TRUTH)}
    several, one = (mean_measures(targets, indicators(GIVEN), one) for one in (False, True))
    assert {name: one[name] for name in several} == several
    assert set(one) - set(several) == {"accuracy"}
    assert main_measures(several) == ["micro_f1", "macro_f1", "micro_k", "macro_k"]
    assert main_measures(one) == ["accuracy", *main_measures(several)]


def test_whether_a_label_is_right_does_not_depend_on_the_labels_looked_at() -> None:
    result = measure_languages(indicators(TRUTH), indicators(GIVEN), ["en"] * 6, one_label=True, labels=[0])
    assert result["average"]["accuracy"] == 3 / 6
    assert result["average"]["micro_f1"] == result["average"]["macro_f1_paper"] == pytest.approx(2 / 3)
