"""What must be true of fitted state that was read from a file: its kinds, its shapes, its numbers.

A checksum says that a file is as it was written, not that a fit wrote it. So the fields of a model, and of
all that it is made of, say what they hold; `check_fields` asks for it. Each class checks what only several
fields tell.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, Protocol, Union, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt
from scipy import sparse

from funnelling.matrices import Matrix

MAX_ABS_VALUE = 1e12  # in size: no fit leaves a larger number, and products of such are far from overflowing
MIN_DIVISOR = 1e-12  # of what others are divided by
MAX_COLUMNS = 2**31  # of a vector
MAX_DENSE_COLUMNS = 2**26  # columns of a vector whose zeros take memory
# Runtime options and resources: models do not store them.
RUNTIME_PARAMETERS = ("n_jobs", "verbose", "device", "reference", "embeddings", "encoder")
PLAIN = str | bool | int | float | np.generic | None  # what needs no annotation to be written to a file
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


def expect_by(mapping: Any, keys: Collection[str] | None, what: str) -> Mapping[str, Any]:
    """Refuse what is no mapping with these keys; None is any."""
    expect(isinstance(mapping, dict) and (keys is None or mapping.keys() == set(keys)), what)
    by_key: Mapping[str, Any] = mapping
    return by_key


class Rule:
    """What an annotation says of a value beside its type."""

    def check(self, value: Any, known: dict[str, Any], place: str) -> None:
        """Refuse another value; ``known`` are the sizes that names stand for within an object."""


@dataclass(frozen=True)
class Table(Rule):
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

    def check(self, value: Any, known: dict[str, Any], place: str) -> None:
        """Refuse what has other lengths, or numbers of other kinds or out of bounds, or NaN.

        >>> numbers(None, 3).check(np.ones((2, 3)), {}, "weights")
        >>> numbers(2).check(np.array([1, np.nan]), {}, "weights")
        Traceback (most recent call last):
        funnelling.state.StateError: weights cannot be what a fit left
        """
        if self.sizes is None:
            return
        shape = getattr(value, "shape", ())
        expect(len(shape) == len(self.sizes), place)
        for size, found in zip(self.sizes, shape, strict=True):
            wanted = known.setdefault(size, found) if isinstance(size, str) else size
            expect(wanted in (None, found), place)
        entries: Any = value
        if self.sparse and sparse.issparse(value):
            entries = entries.tocsr().data
        expect(isinstance(entries, np.ndarray) and entries.dtype.kind in self.kinds, place)
        expect(entries.dtype.kind != "f" or entries.dtype.itemsize >= 4, place)
        expect(self.dtype is None or entries.dtype == self.dtype, place)
        flat = entries.reshape(-1)
        for start in range(0, flat.size, VALUES_PER_BLOCK):
            block = flat[start : start + VALUES_PER_BLOCK]
            block = block[~np.isnan(block)] if self.nan else block
            # Neither is true of NaN
            expect(not block.size or (self.least <= block.min() and block.max() <= self.most), place)


ANY_ARRAY = Table(None)


def numbers(*sizes: int | str | None, **bounds: Any) -> Table:
    """An array of finite numbers, as an annotation says it."""
    return Table(sizes, **bounds)


def matrix(rows: int | str | None, columns: int | str | None, kinds: str = "f") -> Table:
    """A matrix of finite numbers, sparse or dense, as an annotation says it."""
    return Table((rows, columns), kinds, sparse=True)


@dataclass(frozen=True)
class Length(Rule):
    """How many items a list has, in an annotation; names are those of `Table`."""

    size: int | str

    def check(self, value: Any, known: dict[str, Any], place: str) -> None:
        length = known.setdefault(self.size, len(value)) if isinstance(self.size, str) else self.size
        expect(len(value) == length, place)


@dataclass(frozen=True)
class Keys(Rule):
    """The keys of a mapping, in an annotation: those of all mappings of an object that have their name."""

    name: str

    def check(self, value: Any, known: dict[str, Any], place: str) -> None:
        expect(value.keys() == known.setdefault(self.name, value.keys()), place)


@dataclass(frozen=True)
class Between(Rule):
    """The bounds of a number, in an annotation."""

    least: float = -MAX_ABS_VALUE
    most: float = MAX_ABS_VALUE

    def check(self, value: Any, known: dict[str, Any], place: str) -> None:
        expect(self.least <= value <= self.most, place)


@dataclass(frozen=True)
class OneOf(Rule):
    """Classes, by where each is defined, of which an object must be: what is not used is not loaded."""

    paths: tuple[str, ...]

    def has(self, owner: type) -> bool:
        """Whether a class is among them."""
        return f"{owner.__module__}.{owner.__qualname__}" in self.paths

    def check(self, value: Any, known: dict[str, Any], place: str) -> None:
        if self.has(type(value)):  # an object of another class works, and is not saved
            check_fields(value, place=place)


Count = Annotated[int, Between(0, MAX_COLUMNS)]
Seed = Annotated[int, Between(0, 2**64)]
FOREIGN = Rule()
Foreign = Annotated[Any, FOREIGN]  # an estimator: scikit-learn's own, or one of ours with its model


@cache
def alternatives(kind: Any) -> tuple[Any, ...]:
    """The kinds that a union allows; any other kind is its only one.

    In ``Annotated[Any, kind]`` the kind is for model folders alone: type checkers take any value.
    """
    origin, given = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return tuple(each for part in given for each in alternatives(part))
    if origin is Annotated and not isinstance(given[1], Rule):
        return alternatives(given[1])
    return (kind,)


def field_kinds(kind: Any) -> dict[str, Any]:
    """The annotations of what model folders have of an object.

    Of a dataclass these are its fields; of an estimator its parameters, and the fitted attributes that its
    class declares, whose names end in ``_``.

    >>> field_kinds(Between)
    {'least': <class 'float'>, 'most': <class 'float'>}
    """
    return _field_kinds(kind)


@cache
def _field_kinds(kind: Any) -> dict[str, Any]:
    owner = get_origin(kind) or kind
    hints = get_type_hints(owner, include_extras=True)
    if hasattr(owner, "get_params"):
        parameters = get_type_hints(owner.__init__, include_extras=True)
        kinds = {
            name: each for name, each in parameters.items() if name not in (*RUNTIME_PARAMETERS, "return")
        }
        return kinds | {name: each for name, each in hints.items() if is_fitted_attribute(name)}
    bound = dict(zip(getattr(owner, "__parameters__", ()), get_args(kind), strict=False))
    return {each.name: bound.get(hints[each.name], hints[each.name]) for each in fields(owner)}


def is_fitted_attribute(name: str) -> bool:
    """Whether an estimator's attribute is what a fit leaves."""
    return name.endswith("_") and not name.startswith("_")


def check_fields(node: Any, kind: Any = None, place: str = "") -> None:
    """Refuse an object of a fitted tree, or one below it, whose fields are not what their annotations say.

    >>> check_fields(Between("low"))
    Traceback (most recent call last):
    funnelling.state.StateError: least cannot be what a fit left
    """
    known: dict[str, Any] = {}
    for name, each in field_kinds(kind or type(node)).items():
        if hasattr(node, name) or not hasattr(node, "get_params"):  # a template is not fitted
            check_value(getattr(node, name), each, f"{place}.{name}" if place else name, known)


def check_value(value: Any, kind: Any, place: str, known: dict[str, Any]) -> None:
    """Refuse a value that is not of a kind; ``known`` are the sizes that names stand for."""
    kind = next((each for each in alternatives(kind) if may_be(value, each)), None)
    expect(kind is not None, place)
    origin, given = get_origin(kind), get_args(kind)
    if origin is Annotated:
        rule = given[1]
        rule.check(value, known, place)
        if isinstance(rule, Length | Keys):
            check_value(value, given[0], place, known)
    elif origin is Literal:
        expect(value in given, place)
    elif origin in (list, Sequence):
        if given == (str,):
            expect(set(map(type, value)) <= {str}, place)
        else:
            for each in value:
                check_value(each, given[0], place, known)
    elif origin in (dict, Mapping):
        for key, each in value.items():
            expect(isinstance(key, str), place)
            check_value(each, given[1], place, known)
    elif kind in (float, int):
        expect(-MAX_ABS_VALUE <= value <= (MAX_ABS_VALUE if kind is float else 2**64), place)
    elif is_class(kind):
        check_fields(value, kind, place)


def freeze(node: Any) -> None:
    """Make all arrays of a fitted tree read-only, as those are that a loaded model has in its file.

    Those of estimators that are not ours stay as they are: some write into their own.
    """
    if isinstance(node, np.ndarray):
        node.setflags(write=False)
    elif sparse.issparse(node):
        for name in ("data", "indices", "indptr"):
            freeze(getattr(node, name))
    elif isinstance(node, dict | list):
        for each in node.values() if isinstance(node, dict) else node:
            freeze(each)
    elif is_class(type(node)) and type(node).__module__.partition(".")[0] == __name__.partition(".")[0]:
        for each in vars(node).values():
            freeze(each)


def may_be(value: Any, kind: Any) -> bool:
    """Whether a value is of a kind, as far as its class tells."""
    origin, given = get_origin(kind), get_args(kind)
    if origin is Annotated:
        if given[1] is FOREIGN:
            return not isinstance(value, PLAIN | list | tuple | dict | np.ndarray)
        if isinstance(given[1], Table):
            return isinstance(value, np.ndarray) or (given[1].sparse and sparse.issparse(value))
        if isinstance(given[1], OneOf):
            return isinstance(value, get_origin(given[0]) or given[0])
        return may_be(value, given[0])
    if is_class(kind):
        return type(value) is (origin or kind)
    plain: dict[Any, Any] = {
        Literal: str,
        Mapping: dict,
        Sequence: list,
        bool: (bool, np.bool_),
        float: (int, float, np.integer, np.floating),
        int: (int, np.integer),
    }
    wanted = origin or kind
    if wanted in (float, int) and isinstance(value, bool):
        return False
    return kind is Any or isinstance(value, plain.get(wanted, wanted))


def is_class(kind: Any) -> bool:
    """Whether a kind is a class of ours, whose objects have fields."""
    owner = get_origin(kind) or kind
    return isinstance(owner, type) and (is_dataclass(owner) or hasattr(owner, "get_params"))


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
