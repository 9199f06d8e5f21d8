"""What must be true of fitted state that was read from a file: its kinds, its shapes, its numbers.

A checksum says that a file is as it was written, not that a fit wrote it. So what a model is made of says,
each class beside its fields, what it needs in order to answer; loading asks for it.
"""

from collections.abc import Collection, Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy import sparse

MAX_ABS_VALUE = 1e12  # in size: no fit leaves a larger number, and products of such are far from overflowing
MIN_DIVISOR = 1e-12  # of what others are divided by
MAX_COLUMNS = 2**31  # of a vector
MAX_DENSE_COLUMNS = 2**26  # columns of a vector whose zeros take memory
VALUES_PER_BLOCK = 2**18  # numbers that are looked at together: as many as fit into cache

Size = int | None  # None is any


class StateError(ValueError):
    """State that no fit leaves."""


class HasShape(Protocol):
    """A row of vectors, sparse or dense."""

    @property
    def shape(self) -> tuple[int, ...]: ...


def columns_of(example: HasShape | None) -> Size:
    """How long vectors like an example are; None is that of a space which does not tell."""
    return None if example is None else example.shape[1]


def expect(holds: object, what: str) -> None:
    """Refuse a state unless something holds.

    >>> expect(1 > 2, "the order of numbers")
    Traceback (most recent call last):
    funnelling.state.StateError: the order of numbers cannot be what a fit left
    """
    if not holds:
        raise StateError(f"{what} cannot be what a fit left")


def expect_numbers(
    array: Any,
    shape: tuple[Size, ...],
    what: str,
    kinds: str = "f",
    least: float = -MAX_ABS_VALUE,
    most: float = MAX_ABS_VALUE,
) -> None:
    """Refuse what is no array of this shape, of these kinds of numbers, or has one out of bounds, or NaN.

    >>> expect_numbers(np.ones((2, 3)), (None, 3), "weights")
    >>> expect_numbers(np.array([1, np.nan]), (2,), "weights")
    Traceback (most recent call last):
    funnelling.state.StateError: weights cannot be what a fit left
    """
    expect(isinstance(array, np.ndarray) and array.dtype.kind in kinds and has_shape(array, shape), what)
    expect(array.dtype.kind != "f" or array.dtype.itemsize >= 4, what)
    flat = array.reshape(-1)
    for start in range(0, flat.size, VALUES_PER_BLOCK):
        block = flat[start : start + VALUES_PER_BLOCK]
        expect(least <= block.min() and block.max() <= most, what)  # neither is true of NaN


def expect_matrix(X: Any, shape: tuple[Size, Size], what: str, kinds: str = "f") -> None:
    """Refuse what is no matrix of this shape, sparse or dense, of these kinds of numbers."""
    if not sparse.issparse(X):
        expect_numbers(X, shape, what, kinds)
        return
    matrix: Any = X
    expect(has_shape(matrix, shape), what)
    expect_numbers(matrix.tocsr().data, (None,), what, kinds)


def has_shape(array: HasShape, shape: tuple[Size, ...]) -> bool:
    """Whether an array is of a shape.

    >>> has_shape(np.ones((2, 3)), (None, 3)), has_shape(np.ones((2, 3)), (3,))
    (True, False)
    """
    return len(array.shape) == len(shape) and all(
        wanted in (None, size) for size, wanted in zip(array.shape, shape, strict=True)
    )


def expect_number(value: Any, what: str, least: float = -MAX_ABS_VALUE, most: float = MAX_ABS_VALUE) -> None:
    """Refuse what is no number within bounds."""
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    expect(is_number and least <= value <= most, what)


def expect_whole(value: Any, what: str, least: int = 0, most: int = MAX_COLUMNS) -> None:
    """Refuse what is no whole number within bounds."""
    expect(
        isinstance(value, int | np.integer) and not isinstance(value, bool) and least <= value <= most, what
    )


def expect_flag(value: Any, what: str) -> None:
    """Refuse what is neither true nor false."""
    expect(isinstance(value, bool | np.bool_), what)


def expect_strings(values: Any, what: str, size: Size = None) -> None:
    """Refuse what is no list of so many strings."""
    expect(isinstance(values, list) and size in (None, len(values)) and set(map(type, values)) <= {str}, what)


def expect_by(mapping: Any, keys: Collection[str] | None, what: str) -> Mapping[str, Any]:
    """Refuse what is no mapping with these keys; None is any."""
    expect(isinstance(mapping, dict) and (keys is None or mapping.keys() == set(keys)), what)
    by_key: Mapping[str, Any] = mapping
    return by_key


def filled_row(example: Any) -> Any:
    """An `empty_row` to give away: zeros of a dense one are there."""
    if sparse.issparse(example):
        return example
    expect(example.shape[1] <= MAX_DENSE_COLUMNS, "the number of features")
    return np.array(example)


def empty_row(columns: int, dense: bool = False) -> Any:
    """The vector of a document in which nothing is known; it takes no memory, however many columns it has."""
    if dense:
        row: npt.NDArray[np.float32] = np.broadcast_to(np.float32(0), (1, columns))
        return row
    return sparse.csr_array((1, columns), dtype=np.float32)
