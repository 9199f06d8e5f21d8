"""The worst errors: what was most sure and wrong comes first, and the text says why."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from funnelling import Corpus, Document
from funnelling.evaluation.errors import (
    MAX_TEXT_CHARACTERS,
    LabelError,
    measure_with_errors,
    worst_errors_by_row,
    worst_of,
)
from funnelling.evaluation.measuring import evaluate_in_detail
from funnelling.methods.learning import Method
from funnelling.research import NaiveClassifier
from tests.evaluation.mistakes import mislabelled
from tests.funnels import any_funnel


def _mistakes(truth: Any, given: Any, probabilities: Any, most: int = 10) -> list[LabelError]:
    return worst_errors_by_row(np.array(truth, bool), np.array(given, bool), np.array(probabilities), most)


class TestOrder:
    def test_nothing_is_wrong(self) -> None:
        assert _mistakes([[1, 0]], [[1, 0]], [[0.9, 0.1]]) == []

    def test_the_surest_wrong_label_comes_first(self) -> None:
        found = _mistakes([[0], [0], [0]], [[1], [1], [1]], [[0.6], [0.9], [0.7]])
        assert [mistake.row for mistake in found] == [1, 2, 0]

    def test_the_least_probable_missed_label_comes_first(self) -> None:
        found = _mistakes([[1], [1], [1]], [[0], [0], [0]], [[0.3], [0.4], [0.1]])
        assert [mistake.row for mistake in found] == [2, 0, 1]

    def test_wrong_labels_and_missed_ones_take_turns(self) -> None:
        truth = [[0], [0], [1], [1], [1]]
        found = _mistakes(truth, 1 - np.array(truth), [[0.51], [0.6], [0.01], [0.02], [0.03]])
        assert [mistake.row for mistake in found] == [1, 2, 0, 3, 4]

    def test_each_document_counts_once_with_its_most_telling_labels(self) -> None:
        found = _mistakes([[1, 1, 0, 0]], [[0, 0, 1, 1]], [[0.3, 0.2, 0.6, 0.7]])
        assert found == [LabelError(row=0, wrong=3, missed=1)]

    @given(st.integers(0, 10_000), st.integers(1, 8), st.integers(1, 4))
    def test_the_worst_of_all_are_among_the_worst_of_each_part(
        self, seed: int, most: int, parts: int
    ) -> None:
        random = np.random.default_rng(seed)
        truth, given = random.random((2, 30, 4)) < 0.3
        probabilities = random.random((30, 4))

        def errors(rows: Any) -> list[Any]:
            return [
                {
                    "row": int(rows[place]),
                    **(
                        {}
                        if a is None
                        else {"false_positives": [{"probability": probabilities[rows[place], a]}]}
                    ),
                    **(
                        {}
                        if b is None
                        else {"false_negatives": [{"probability": probabilities[rows[place], b]}]}
                    ),
                }
                for place, a, b in worst_errors_by_row(truth[rows], given[rows], probabilities[rows], most)
            ]

        part = random.integers(0, parts, 30)
        together = [error for number in range(parts) for error in errors(np.flatnonzero(part == number))]
        assert worst_of(together, most) == errors(np.arange(30))


class TestReasons:
    @pytest.fixture(params=["naive", "funnel"])
    def errors(self, request: pytest.FixtureRequest) -> list[Any]:
        train = mislabelled()
        made = {
            "naive": NaiveClassifier(C=10, random_state=0),
            "funnel": any_funnel(views=["own", "mixed"], random_state=0),
        }
        model = Method.of(made[request.param]).fit(train)
        errors: list[Any] = measure_with_errors(model, train, 20)["errors"]
        return errors

    def test_the_documents_with_wrong_labels_are_found(self, errors: list[Any]) -> None:
        assert {error["id"] for error in errors} >= {"money-3", "money-13", "sport-4", "sport-14"}

    def test_the_words_are_those_that_misled(self, errors: list[Any]) -> None:
        (error,) = [error for error in errors if error["id"] == "money-3"]
        assert (error["labels"], error["predicted"]) == (["sport"], ["money"])
        assert error["false_positives"][0]["label"] == "money"
        assert {"loan", "bank"} <= {word for word, _ in error["false_positives"][0]["words"]}
        assert all(value > 0 for _, value in error["false_positives"][0]["words"])
        assert error["false_negatives"][0]["label"] == "sport"
        assert all(value < 0 for _, value in error["false_negatives"][0]["words"])

    def test_passages_are_places_in_the_text_that_is_shown(self, errors: list[Any]) -> None:
        for error in errors:
            for start, end, _ in error["false_positives"][0]["spans"]:
                assert error["text"][start:end].strip()
        marked = {errors[0]["text"][start:end] for start, end, _ in errors[0]["false_positives"][0]["spans"]}
        assert marked & {"loan", "bank", "game", "ball"}


def test_a_long_text_is_cut_to_where_it_went_wrong() -> None:
    model = Method.of(NaiveClassifier(C=10, random_state=0)).fit(mislabelled())
    text = "street " * 200 + "loan bank"
    test = Corpus.from_documents([Document("long", text, language="en", labels=("sport",))])
    (error,) = measure_with_errors(model, test)["errors"]
    assert len(error["text"]) <= MAX_TEXT_CHARACTERS + 4
    assert error["text"].startswith("… street")
    assert error["text"].endswith("loan bank")
    assert {error["text"][a:b] for a, b, amount in error["false_positives"][0]["spans"] if amount > 0} >= {
        "loan",
        "bank",
    }


def test_a_text_of_which_nothing_is_known_says_so() -> None:
    model = Method.of(NaiveClassifier(C=10, random_state=0)).fit(mislabelled())
    test = Corpus.from_documents([Document("odd", "xyzzy", language="en", labels=("sport",))])
    (error,) = measure_with_errors(model, test)["errors"]
    assert error["abstained"] == "out-of-vocabulary"
    assert error["predicted"] == []
    assert error["false_negatives"][0]["words"] == []


def test_one_label_per_document() -> None:
    train = mislabelled(one_label=True)
    model = Method.of(NaiveClassifier(C=10, random_state=0)).fit(train)
    errors = measure_with_errors(model, train)["errors"]
    assert errors
    for error in errors:
        assert error["predicted"] == [error["false_positives"][0]["label"]]
        assert error["labels"] == [error["false_negatives"][0]["label"]]
    sure = [error["false_positives"][0]["probability"] for error in errors]
    assert sure == sorted(sure, reverse=True)


def test_the_measures_are_those_without_errors() -> None:
    train = mislabelled()
    model = Method.of(NaiveClassifier(C=10, random_state=0)).fit(train)
    result = measure_with_errors(model, train, 3)
    assert len(result.pop("errors")) == 3
    assert result == evaluate_in_detail(model, train) == measure_with_errors(model, train, 0)
