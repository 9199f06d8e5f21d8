"""Labels may be lists, an indicator matrix or one class a document; all become a matrix by language."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from funnelling.corpus.labels import LabelSpace
from funnelling.errors import InputError
from funnelling.methods.inputs import read_inputs
from funnelling.methods.labels import are_right, read_labels

CODES = ["it", "en", "it", "en"]
INDICATOR = np.array([[1, 0, 1], [0, 0, 0], [0, 1, 0], [1, 1, 0]])
LISTS = [["a", "c"], [], ["b"], ["b", "a"]]


def read(y: Any, codes: Any = CODES) -> tuple[LabelSpace, dict[str, Any]]:
    return read_labels(y, read_inputs(np.zeros((len(codes), 1)), codes))


def as_objects(lists: list[Any]) -> np.ndarray:
    array = np.empty(len(lists), dtype=object)
    array[:] = lists
    return array


@pytest.mark.parametrize(
    "y",
    [
        LISTS,
        tuple(map(tuple, LISTS)),
        [set(labels) for labels in LISTS],
        [frozenset(labels) for labels in LISTS],
        as_objects(LISTS),
        pd.Series(LISTS, index=[3, 3, 1, 0]),
    ],
)
def test_label_lists(y: Any) -> None:
    space, targets = read(y)
    assert space.classes.tolist() == ["a", "b", "c"]
    assert not space.single_label
    assert list(targets) == ["en", "it"]
    np.testing.assert_array_equal(targets["it"], INDICATOR[[0, 2]])
    np.testing.assert_array_equal(targets["en"], INDICATOR[[1, 3]])


@pytest.mark.parametrize(
    "y",
    [
        INDICATOR,
        INDICATOR.astype(bool),
        INDICATOR.astype(float),
        INDICATOR.astype(object),
        INDICATOR.tolist(),
        sparse.csr_matrix(INDICATOR),
        sparse.coo_array(INDICATOR),
        pd.DataFrame(INDICATOR),
    ],
)
def test_an_indicator_matrix(y: Any) -> None:
    space, targets = read(y)
    assert space.classes.tolist() == [0, 1, 2]
    assert not space.single_label
    assert targets["it"].dtype == bool
    np.testing.assert_array_equal(targets["it"], INDICATOR[[0, 2]])


def test_one_label_as_an_indicator_of_one_column() -> None:
    space, targets = read([[1], [0], [0], [1]])
    assert not space.single_label
    assert targets["it"].tolist() == [[True], [False]]


@pytest.mark.parametrize("y", [["x", "z", "y", "x"], np.array([3, 9, 7, 3]), pd.Series([3, 9, 7, 3])])
def test_one_class_a_document(y: Any) -> None:
    space, targets = read(y)
    assert space.single_label
    assert space.classes.tolist() == sorted(set(y))
    assert targets["it"].tolist() == [[True, False, False], [False, True, False]]


def test_two_classes_have_one_column_the_second_one_s() -> None:
    space, targets = read(["no", "yes", "yes", "no"])
    assert space.single_label
    assert space.classes.tolist() == ["no", "yes"]
    assert {code: column.ravel().tolist() for code, column in targets.items()} == {
        "en": [True, False],
        "it": [False, True],
    }


def test_a_column_of_classes_is_taken_for_a_row_with_a_warning() -> None:
    with pytest.warns(Warning, match="column-vector"):
        assert read(np.array([[3], [9], [7], [3]]))[0].classes.tolist() == [3, 7, 9]


def test_labels_may_differ_between_the_languages_of_a_mapping() -> None:
    inputs = read_inputs({"it": np.zeros((2, 1)), "en": np.zeros((1, 5))}, None)
    space, targets = read_labels({"it": [["b"], ["a"]], "en": [["c"]]}, inputs)
    assert space.classes.tolist() == ["a", "b", "c"]
    assert targets["en"].tolist() == [[False, False, True]]


def refusal(y: Any) -> str:
    with pytest.raises(InputError) as error:
        read(y)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_refusals() -> None:
    assert refusal([["a"], ["b"], None, []]) == (
        "y: document 2 has no labels (None). "
        "Leave such documents out: corpus.labelled(), or dropna() of a table."
    )
    assert refusal([[], [], [], []]).startswith("Nothing to learn: no document has a label")
    assert refusal([["a"]] * 4).startswith("Nothing to learn: y has only one class.")
    assert refusal(["x"] * 4).startswith("Nothing to learn: y has only one class.")
    assert refusal(np.zeros((4, 2))).startswith("Nothing to learn: y has only one class.")
    assert refusal([[0, 2], [1, 0], [0, 0], [1, 1]]).startswith("y: an indicator matrix holds only 0 and 1.")
    assert refusal([[1, 2], [3], [], [4]]) == "y: label lists must hold strings only."
    assert refusal([[1], [2], [3], [1]]) == "y: label lists must hold strings only."
    assert refusal([["a"], "b", ["c"], ["d"]]) == "y: label lists must hold strings only."


def test_a_refusal_names_the_place_in_a_mapping() -> None:
    inputs = read_inputs({"it": np.zeros((2, 1)), "en": np.zeros((2, 1))}, None)
    with pytest.raises(InputError, match=r"^y: document 1 of 'it' has no labels"):
        read_labels({"it": [["a"], None], "en": [["a"], []]}, inputs)
    with pytest.raises(InputError, match="different numbers of columns"):
        read_labels({"it": [[0, 1], [1, 0]], "en": [[1], [0]]}, inputs)


@pytest.mark.parametrize("y", [[0.5, 1.5, 2.5, 3.7], [1.0, np.nan, 0.0, 1.0]])
def test_numbers_that_are_no_classes_are_refused(y: list[float]) -> None:
    with pytest.raises(ValueError, match=r"continuous|NaN"):
        read(np.array(y))


@pytest.mark.parametrize("truth", [LISTS, INDICATOR, INDICATOR.tolist(), sparse.csr_matrix(INDICATOR)])
def test_a_document_is_right_when_all_its_labels_are(truth: Any) -> None:
    predicted = INDICATOR.copy()
    predicted[2, 0] = 1
    right = are_right(predicted, truth, np.array(["a", "b", "c"], dtype=object))
    assert right.tolist() == [True, True, False, True]


def test_a_label_the_model_does_not_know_makes_a_document_wrong() -> None:
    right = are_right(INDICATOR, [["a", "c"], ["new"], ["b"], ["a", "b"]], np.array(["a", "b", "c"]))
    assert right.tolist() == [True, False, True, True]


def test_one_class_is_right_or_wrong() -> None:
    assert are_right(np.array([1, 2, 3]), [1, 2, 4], np.array([1, 2, 3])).tolist() == [True, True, False]
