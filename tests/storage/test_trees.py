"""Values as trees of JSON and arrays: they come back as they were."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Generic, Literal, TypeVar

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from funnelling import InputError
from funnelling.state import ANY_ARRAY, Length, matrix
from funnelling.storage.trees import decode, encode

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
Array = Annotated[npt.NDArray[Any], ANY_ARRAY]
S = TypeVar("S")


@dataclass
class Cat:
    """A class without a name in the tree, unless there are others."""

    name: str
    toys: list[str]


@dataclass
class Dog:
    """Another one."""

    name: str
    toys: list[str]


@dataclass
class Box(Generic[S]):
    """Something that holds what its annotation says."""

    content: S


def and_back(value: Any, kind: Any) -> Any:
    tree, arrays = encode(value, kind, "/it")
    return decode(json.loads(json.dumps(tree, allow_nan=False)), kind, arrays, "/it")


@given(values)
def test_plain_values_come_back(value: Any) -> None:
    assert repr(and_back(value, Any)) == repr(value)


@given(st.lists(st.text(), min_size=60, max_size=70))
def test_long_lists_of_strings_come_back(value: list[str]) -> None:
    assert and_back(value, Annotated[list[str], Length("words")]) == value


@pytest.mark.parametrize(
    "array",
    [
        np.array(["a", "bcd"]),
        np.array(["a", "bcd"], dtype=object),
        np.array([True, False]),
        np.array([[1.5, np.nan]], dtype=np.float32),
        np.zeros((0, 3)),
        np.array([f"label {number}" for number in range(99)]),
    ],
    ids=lambda array: repr(array)[:40],
)
def test_arrays_come_back_with_their_type(array: Any) -> None:
    back = and_back(array, Array)
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)


def test_numbers_of_numpy_come_back_as_plain_ones() -> None:
    assert repr(and_back([np.float64(0.1), np.int64(2**60), np.bool_(True)], Any)) == f"[0.1, {2**60}, True]"


def test_a_sparse_matrix_comes_back() -> None:
    back = and_back({"a/b": sparse.csr_array(np.eye(3))}, dict[str, Annotated[Any, matrix(None, None)]])
    assert (back["a/b"].toarray() == np.eye(3)).all()


@pytest.mark.parametrize(
    ("value", "kind", "tree"),
    [
        (Cat("a", ["b"]), Cat, {"name": "a", "toys": ["b"]}),
        (Cat("a", []), Cat | None, {"name": "a", "toys": []}),
        (Dog("a", []), Cat | Dog, {"$": "Dog", "name": "a", "toys": []}),
        (Dog("a", []), Mapping[str, int] | Dog, {"$": "Dog", "name": "a", "toys": []}),
        ({"$": 1}, Mapping[str, int] | Dog, {"$": 1}),
        (Box(Cat("a", [])), Box[Cat], {"content": {"name": "a", "toys": []}}),
        (Box("mean"), Box[Literal["mean"]], {"content": "mean"}),
        ([1.5, None], list[float | None], [1.5, None]),
    ],
    ids=str,
)
def test_a_class_is_named_only_where_there_are_several(value: Any, kind: Any, tree: Any) -> None:
    assert encode(value, kind) == (tree, {})
    assert and_back(value, kind) == value


@pytest.mark.parametrize(
    ("tree", "kind"),
    [
        ({"$": "Cat", "name": "a", "toys": []}, Cat),
        ({"$": "Cat", "name": "a", "toys": []}, Dog | Box[int]),
        ({"name": "a", "toys": []}, Cat | Dog),
        ({"name": "a"}, Cat),
        ({"name": "a", "toys": [], "more": 1}, Cat),
        ([1], Cat),
        ({"$": "array"}, dict[str, int]),
        ({"$": ["Cat"], "name": "a", "toys": []}, Cat | Dog),
    ],
    ids=str,
)
def test_a_tree_of_another_kind_is_refused(tree: Any, kind: Any) -> None:
    with pytest.raises((TypeError, KeyError)):
        decode(tree, kind, {})


def test_a_value_of_another_kind_is_not_written() -> None:
    with pytest.raises(InputError, match=r"it\.0 is a .*Dog, and only scikit-learn's own estimators can be"):
        encode([Dog("a", [])], list[Cat], "/it")
