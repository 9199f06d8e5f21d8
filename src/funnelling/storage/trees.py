"""A fitted model as a tree that JSON can hold, and its arrays, by the annotations of its fields.

An object is a mapping of its fields, as `state.field_kinds` has them, and its class is the one that the
annotation names. Where an annotation allows several, ``$`` says which of them it is; it says as well what
stands for an array, for a long list of strings, for an estimator of scikit-learn's and for a number that JSON
has not. Arrays have no names of their own: each is called by its place in the tree.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from operator import attrgetter
from pkgutil import resolve_name
from typing import Any, get_args, get_origin
from urllib.parse import quote

import numpy as np
import numpy.typing as npt
from scipy import sparse

from funnelling.matrices import is_sparse
from funnelling.methods.algorithm import Algorithm
from funnelling.methods.model import Model
from funnelling.methods.registry import METHODS, algorithm_named, stored_algorithm
from funnelling.state import (
    FOREIGN,
    MAX_COLUMNS,
    PLAIN,
    Keys,
    Length,
    OneOf,
    Table,
    alternatives,
    field_kinds,
    is_class,
    is_fitted_attribute,
    may_be,
)
from funnelling.storage.estimators import from_bytes, to_bytes

LONG_LIST = 64  # strings; longer lists leave the tree for the arrays
BUFFERS = ("data", "indices", "indptr")  # of a sparse matrix
MARKS: dict[str, tuple[str, ...]] = {  # what stands in a tree for what is not in it, and what that says of it
    "array": (),
    "sparse": ("shape",),
    "objects": ("dtype", "items"),
    "strings": (),
    "estimator": (),
}
NOT_FINITE = {repr(value): value for value in (np.nan, np.inf, -np.inf)}
MAX_STRINGS_BYTES = 2**28  # bytes that arrays of strings, all as wide as the longest, may take in a model

Arrays = dict[str, npt.NDArray[Any]]


def encode(value: Any, kind: Any, place: str = "") -> tuple[Any, Arrays]:
    """The tree of a value of a kind and its arrays, which are named by its ``place`` in a larger one.

    >>> encode({"it": [1.5, float("inf")]}, dict[str, list[float]])
    ({'it': [1.5, {'$': 'inf'}]}, {})
    """
    encoder = _Encoder()
    return encoder.encode(value, kind, place), encoder.arrays


def encode_place(model: Model, place: str) -> tuple[Any, Arrays]:
    """The tree and the arrays of what a model has at a place, such as ``fitted.learned``."""
    *owners, name = place.split(".")
    owner: Any = attrgetter(".".join(owners))(model) if owners else model
    return encode(getattr(owner, name), _kinds_of(owner)[name], "/" + place.replace(".", "/"))


def decode(tree: Any, kind: Any, arrays: Mapping[str, npt.NDArray[Any]], place: str = "") -> Any:
    """The value of a kind that was encoded; a tree that `encode` did not make raises one error or another.

    What is decoded takes no more memory than the tree and the arrays, but for a small factor: each array is
    used once, and what is as wide as it says, not as its content, is counted. The values are not checked.

    >>> decode({"$": "Popen", "args": "ls"}, Model, {})
    Traceback (most recent call last):
    TypeError: no 'Popen' may be there
    """
    return _Decoder(arrays).decode(tree, kind, place)


def model_kinds(algorithm: Algorithm[Any]) -> dict[str, Any]:
    """The kinds of a model's fields, some of which only its algorithm tells."""
    kinds = {"algorithm": str, "parameters": algorithm.parameters, "fitted": algorithm.fitted}
    return field_kinds(Model) | kinds


def _kinds_of(node: Any, kind: Any = None) -> dict[str, Any]:
    return model_kinds(node.algorithm) if isinstance(node, Model) else field_kinds(kind or type(node))


def _rule(kind: Any) -> Any:
    """What an annotation says of a value beside its type."""
    return getattr(kind, "__metadata__", (None,))[0]


def _options(kind: Any) -> list[Any]:
    """The kinds of a union, whatever sizes and keys their values must have."""
    kinds = alternatives(kind)
    return [get_args(each)[0] if isinstance(_rule(each), Length | Keys) else each for each in kinds]


def _classes(kind: Any) -> dict[str, str]:
    """The classes that are named in a tree in a place of a kind, and where each is defined."""
    rule = _rule(kind)
    paths: Sequence[str] = rule.paths if isinstance(rule, OneOf) else ()
    if rule is FOREIGN:  # estimators of ours may be used like those of scikit-learn
        paths = [entry.estimator for entry in METHODS.values()]
    return {path.rpartition(".")[2]: path for path in paths}


def _is_named(kinds: Sequence[Any]) -> bool:
    """Whether an object among these alternatives has to say what it is."""
    return sum(is_class(each) or get_origin(each) in (dict, Mapping) for each in kinds) > 1


class _Encoder:
    """Encodes one value; what does not fit the tree goes to ``arrays`` under its place there."""

    def __init__(self) -> None:
        self.arrays: Arrays = {}

    def encode(self, value: Any, kind: Any, place: str) -> Any:
        if isinstance(value, PLAIN):
            return _scalar(value)
        if isinstance(value, tuple):
            value = list(value)
        kinds = _options(kind)
        kind = next((each for each in kinds if may_be(value, each)), None)
        given = get_args(kind)
        if isinstance(_rule(kind), Table):
            return self._array(value, place)
        if is_class(kind):
            named = {"$": type(value).__name__} if _is_named(kinds) else {}
            return named | self._object(value, kind, place)
        if _classes(kind).get(type(value).__name__) == f"{type(value).__module__}.{type(value).__name__}":
            return {"$": type(value).__name__} | self._object(value, None, place)
        if isinstance(value, list) and kind is not None:
            return self._list(value, given[0] if given else Any, place)
        if isinstance(value, dict) and kind is not None and all(isinstance(key, str) for key in value):
            return self._items(value, dict.fromkeys(value, given[1] if given else Any), place)
        content = to_bytes(value, place.strip("/").replace("/", "."), kind is not None)
        return self._aside("estimator", np.frombuffer(content, dtype=np.uint8), place)

    def _items(self, items: Mapping[str, Any], kinds: Mapping[str, Any], place: str) -> dict[str, Any]:
        return {key: self.encode(item, kinds[key], _inside(place, key)) for key, item in items.items()}

    def _object(self, value: Any, kind: Any, place: str) -> dict[str, Any]:
        kinds = _kinds_of(value, kind)
        is_fitted = all(hasattr(value, name) for name in kinds)  # as templates are not
        state = {name: getattr(value, name) for name in kinds if is_fitted or not is_fitted_attribute(name)}
        if not isinstance(value, Model):
            return self._items(state, kinds, place)
        state["algorithm"] = stored_algorithm(value.algorithm)
        built = self._items(state.pop("built"), field_kinds(value.algorithm.parameters), f"{place}/built")
        return {**self._items(state, kinds, place), "built": built}

    def _list(self, items: list[Any], kind: Any, place: str) -> Any:
        if kind is str and len(items) > LONG_LIST and all(isinstance(item, str) for item in items):
            text = json.dumps(items, ensure_ascii=False).encode("utf-8", "surrogatepass")
            return self._aside("strings", np.frombuffer(text, dtype=np.uint8), place)
        return [self.encode(item, kind, f"{place}/{number}") for number, item in enumerate(items)]

    def _array(self, array: Any, place: str) -> dict[str, Any]:
        if is_sparse(array):
            matrix: Any = sparse.csr_array(array)
            for name in BUFFERS:
                self._aside("array", getattr(matrix, name), f"{place}/{name}")
            return {"$": "sparse", "shape": list(matrix.shape)}
        if array.dtype.kind in "OU":
            items = self._list(array.tolist(), str, f"{place}/items")
            return {"$": "objects", "dtype": array.dtype.str, "items": items}
        return self._aside("array", array, place)

    def _aside(self, kind: str, array: npt.NDArray[Any], place: str) -> dict[str, Any]:
        self.arrays[place] = np.ascontiguousarray(array)
        return {"$": kind}


def _scalar(value: Any) -> Any:
    plain = value.item() if isinstance(value, np.generic) else value
    return {"$": repr(plain)} if isinstance(plain, float) and not np.isfinite(plain) else plain


def _inside(place: str, key: str) -> str:
    return f"{place}/{quote(key, '')}"  # names of languages are the user's and may hold a slash


class _Decoder:
    """Decodes one tree, whose ``arrays`` are called by their places in it."""

    def __init__(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        self.arrays = arrays
        self.room = MAX_STRINGS_BYTES

    def decode(self, tree: Any, kind: Any, place: str) -> Any:
        if isinstance(tree, PLAIN):
            return tree
        mark = _mark(tree)
        if mark in NOT_FINITE:
            return NOT_FINITE[mark]
        kinds = _options(kind)
        kind = next((each for each in kinds if _stands_for(tree, mark, each, _is_named(kinds))), None)
        rule, given = _rule(kind), get_args(kind)
        if kind is None or (mark in MARKS and kind is not Any and tree.keys() != {"$", *MARKS[mark]}):
            raise TypeError(f"no {mark or type(tree).__name__!r} may be there")
        if isinstance(rule, Table):
            return self._array(tree, place)
        if mark in _classes(kind):
            return self._object(tree, resolve_name(_classes(kind)[mark]), place)
        if rule is FOREIGN:
            return from_bytes(self.arrays[place].tobytes())
        if is_class(kind):
            return self._object(tree, kind, place)
        if mark == "strings" and kind is not Any:
            text = self.arrays[place].tobytes().decode("utf-8", "surrogatepass")
            return _strings(json.loads(text))
        if isinstance(tree, list):
            item = given[0] if given else Any
            return [self.decode(each, item, f"{place}/{number}") for number, each in enumerate(tree)]
        return self._items(tree, dict.fromkeys(tree, given[1] if given else Any), place)

    def _items(self, tree: Mapping[str, Any], kinds: Mapping[str, Any], place: str) -> dict[str, Any]:
        return {key: self.decode(each, kinds[key], _inside(place, key)) for key, each in tree.items()}

    def _object(self, tree: dict[str, Any], kind: Any, place: str) -> Any:
        owner: Any = get_origin(kind) or kind
        algorithm = algorithm_named(tree["algorithm"]) if owner is Model else None
        kinds = field_kinds(kind) if algorithm is None else model_kinds(algorithm)
        parameters = {name for name in kinds if not is_fitted_attribute(name)}
        names = tree.keys() - ({"$"} if _mark(tree) else set())
        if names not in (parameters, kinds.keys()):
            raise TypeError(f"a {owner.__name__} has other fields")
        state = self._items({name: tree[name] for name in names - {"built"}}, kinds, place)
        if algorithm is not None:
            built = self._items(tree["built"], field_kinds(algorithm.parameters), f"{place}/built")
            model = Model(**state | {"algorithm": algorithm, "built": built})
            model.check()
            return model
        restored = owner(**{name: state[name] for name in parameters})
        for name in names - parameters:
            setattr(restored, name, state[name])
        return restored

    def _array(self, tree: dict[str, Any], place: str) -> Any:
        if tree["$"] == "sparse":
            return _matrix([self.arrays[f"{place}/{name}"] for name in BUFFERS], tree["shape"])
        if tree["$"] == "array":
            return self.arrays[place]
        return self._objects(self.decode(tree["items"], list[str], f"{place}/items"), tree["dtype"])

    def _objects(self, items: Any, kind: str) -> npt.NDArray[Any]:
        """An array of plain values; one of strings may be wider than they are, of a label that is gone."""
        dtype = np.dtype(kind)
        plain = str if dtype.kind == "U" else PLAIN
        if dtype.kind not in "UO" or not all(isinstance(item, plain) for item in items):
            raise ValueError(f"no array of {kind} has such items")
        self.room -= len(items) * dtype.itemsize
        if self.room < 0:
            raise ValueError(f"an array of {kind} is wider than those of a model")
        array = np.empty(len(items), dtype)
        array[:] = items
        return array


def _mark(tree: Any) -> str | None:
    """What a tree says it is, if anything: ``$`` may be a language, too."""
    mark = tree.get("$") if isinstance(tree, dict) else None
    return mark if isinstance(mark, str) else None


def _stands_for(tree: Any, mark: str | None, kind: Any, is_named: bool) -> bool:
    """Whether a tree, and what it says it is, may be that of a value of a kind."""
    rule, origin = _rule(kind), get_origin(kind)
    if isinstance(rule, Table):
        return mark in ("array", "sparse", "objects")
    if is_class(kind):
        return isinstance(tree, dict) and mark == ((origin or kind).__name__ if is_named else None)
    if origin in (list, Sequence):
        return isinstance(tree, list) or mark == "strings"
    if origin in (dict, Mapping):
        return isinstance(tree, dict) and mark is None
    return kind is Any or mark in _classes(kind) or (rule is FOREIGN and mark == "estimator")


def _strings(items: Any) -> list[str]:
    if not isinstance(items, list):
        raise TypeError("no list of strings")
    return list(map(sys.intern, items))


def _matrix(buffers: list[Any], shape: Any) -> sparse.csr_array[Any]:
    rows, columns = shape
    if any(not isinstance(buffer, np.ndarray) or buffer.ndim != 1 for buffer in buffers):
        raise TypeError("a sparse matrix of no arrays")
    data, indices, indptr = buffers
    if indices.dtype.kind != "i" or indptr.dtype != indices.dtype or columns > MAX_COLUMNS:
        raise ValueError("no indices of a sparse matrix")
    matrix = sparse.csr_array((data, indices, indptr), shape=(rows, columns))
    matrix.check_format(full_check=True)
    return matrix
