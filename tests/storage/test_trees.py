"""Values as trees of JSON and arrays: they come back as they were."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from funnelling.storage.trees import decode, encode

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(values | st.lists(st.text(), min_size=60, max_size=70))
def test_plain_values_come_back(value: Any) -> None:
    tree, arrays = encode(value)
    text = json.dumps(tree, allow_nan=False)
    assert repr(decode(json.loads(text), arrays)) == repr(value)


@pytest.mark.parametrize(
    "value",
    [
        np.float32(0.1),
        np.float64(0.1),
        np.int64(2**60),
        np.bool_(True),
        np.str_("ü"),
        np.float64("nan"),
        np.array(["a", "bcd"]),
        np.array(["a", "bcd"], dtype=object),
        np.array([True, False]),
        np.array([[1.5, np.nan]], dtype=np.float32),
        np.zeros((0, 3)),
    ],
    ids=repr,
)
def test_values_of_numpy_come_back_with_their_type(value: Any) -> None:
    tree, arrays = encode(value)
    back = decode(json.loads(json.dumps(tree, allow_nan=False)), arrays)
    assert type(back) is type(value)
    assert back.dtype == value.dtype
    np.testing.assert_array_equal(back, value)
