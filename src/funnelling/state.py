"""What must be true of fitted state that was read from a file: its kinds, its shapes, its numbers.

A checksum says that a file is as it was written, not that a fit wrote it. So the fields of a model, and of
all that it is made of, say what they hold; `check_fields` asks for it. Each class checks what only several
fields tell.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Protocol, Union, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt
from scipy import sparse

from funnelling.matrices import Matrix

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


@dataclass(frozen=True)
class Table:
    """What an array, or a sparse matrix, holds, in an annotation: `numbers` and `matrix` make one.

    ``sizes`` are its lengths: a number, None for any, or a name that stands for one length in all fields of
    an object. Without them its class checks all.
    """

    sizes: tuple[int | str | None, ...] | None
    kinds: str = "f"
    least: float = -MAX_ABS_VALUE
    most: float = MAX_ABS_VALUE
    dtype: type | None = None
    nan: bool = False
    sparse: bool = False

    def check(self, value: Any, known: dict[str, int], place: str) -> None:
        if self.sizes is None:
            expect(isinstance(value, np.ndarray), place)
            return
        shape = getattr(value, "shape", ())
        expect(len(shape) == len(self.sizes), place)
        sizes = [
            known.setdefault(size, found) if isinstance(size, str) else size
            for size, found in zip(self.sizes, shape, strict=True)
        ]
        if self.sparse:
            rows, columns = sizes
            expect_matrix(value, (rows, columns), place, self.kinds)
        else:
            known_ones = np.nan_to_num(value, nan=self.least) if self.nan else value
            expect_numbers(known_ones, tuple(sizes), place, self.kinds, self.least, self.most)
        expect(self.dtype is None or value.dtype == self.dtype, place)


ANY_ARRAY = Table(None)


def numbers(*sizes: int | str | None, **bounds: Any) -> Table:
    """An array of finite numbers, as an annotation says it."""
    return Table(sizes, **bounds)


def matrix(rows: int | str | None, columns: int | str | None, kinds: str = "f") -> Table:
    """A matrix of finite numbers, sparse or dense, as an annotation says it."""
    return Table((rows, columns), kinds, sparse=True)


@dataclass(frozen=True)
class Between:
    """The bounds of a number, in an annotation."""

    least: float = -MAX_ABS_VALUE
    most: float = MAX_ABS_VALUE


Count = Annotated[int, Between(0, MAX_COLUMNS)]


def check_fields(node: Any, place: str = "") -> None:
    """Refuse an object of a fitted tree, or one below it, whose fields are not what their annotations say.

    >>> check_fields(Between("low"), "bounds")
    Traceback (most recent call last):
    funnelling.state.StateError: bounds.least cannot be what a fit left
    """
    sizes: dict[str, int] = {}
    owner: Any = type(node)
    for name, kind in field_kinds(owner).items():
        _check(getattr(node, name), kind, sizes, f"{place}.{name}" if place else name)


@cache
def field_kinds(owner: Any) -> dict[str, Any]:
    """The annotations of a class's fields, as far as model folders have them."""
    hints = get_type_hints(owner, include_extras=True)
    return {each.name: hints[each.name] for each in fields(owner) if each.metadata.get("saved", True)}


def _check(value: Any, kind: Any, sizes: dict[str, int], place: str) -> None:
    origin, given = get_origin(kind), get_args(kind)
    if origin is Annotated and isinstance(given[1], Table):
        given[1].check(value, sizes, place)
    elif origin is Annotated and given[0] is int:
        expect_whole(value, place, given[1].least, given[1].most)
    elif origin is Annotated:
        expect_number(value, place, given[1].least, given[1].most)
    elif origin in (Union, UnionType):
        fitting = [each for each in given if may_be(value, each)]
        expect(fitting, place)
        _check(value, fitting[0], sizes, place)
    elif origin is Literal:
        expect(isinstance(value, str) and value in given, place)
    elif origin in (list, Sequence):
        expect(isinstance(value, list), place)
        if given == (str,):
            expect_strings(value, place)
        else:
            for each in value:
                _check(each, given[0], sizes, place)
    elif origin in (dict, Mapping):
        for each in expect_by(value, None, place).values():
            _check(each, given[1], sizes, place)
    elif kind is float:
        expect_number(value, place)
    elif kind is int:
        expect_whole(value, place, -MAX_COLUMNS)
    elif kind is bool:
        expect_flag(value, place)
    elif origin is np.ndarray:
        raise TypeError(f"{place}: an array's annotation must say what it holds")
    elif kind is not Any:
        expect(may_be(value, kind), place)
        if is_dataclass(value) and not hasattr(value, "get_params"):
            check_fields(value, place)


def may_be(value: Any, kind: Any) -> bool:
    """Whether a value is of a kind, as far as its class tells."""
    origin, given = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return may_be(value, given[0])
    if origin is Literal:
        return isinstance(value, str)
    plain: dict[Any, Any] = {None: NoneType, Mapping: dict, Sequence: list, float: (int, float, np.number)}
    wanted = origin or kind
    return kind is Any or isinstance(value, plain.get(wanted, wanted))


def filled_row(example: Any) -> Any:
    """An `empty_row` to give away: zeros of a dense one are there."""
    if sparse.issparse(example):
        return example
    expect(example.shape[1] <= MAX_DENSE_COLUMNS, "the number of features")
    return np.array(example)


def empty_row(columns: int, dense: bool = False) -> Matrix:
    """The vector of a document in which nothing is known; it takes no memory, however many columns it has."""
    if dense:
        row: npt.NDArray[np.float32] = np.broadcast_to(np.float32(0), (1, columns))
        return row
    return sparse.csr_array((1, columns), dtype=np.float32)
