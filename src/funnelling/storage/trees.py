"""A fitted model as a tree that JSON can hold, and the arrays that it cannot.

Numbers, strings and lists stand for themselves; everything else is an object whose ``$`` says what it is.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from pkgutil import resolve_name
from typing import Any
from urllib.parse import quote

import numpy as np
import numpy.typing as npt
from scipy import sparse

from funnelling.methods.algorithm import RUNTIME_PARAMETERS, Algorithm, Parameters
from funnelling.methods.registry import algorithm_named, stored_algorithm
from funnelling.state import MAX_COLUMNS, expect
from funnelling.storage.estimators import from_bytes, to_bytes

# What models are made of beside views, by where it is defined; a folder names the class.
_NODES = {
    "funnelling.corpus.label_set": ("LabelSet",),
    "funnelling.corpus.labels": ("LabelSpace",),
    "funnelling.funnel.choice": ("Choice",),
    "funnelling.funnel.combination": ("Combination",),
    "funnelling.funnel.fitted": ("FittedFunnel", "Funnel", "ZeroShot"),
    "funnelling.funnel.learners": ("EstimatorScorer", "PointScorer"),
    "funnelling.funnel.many.boosting": ("BoostedTrees",),
    "funnelling.funnel.many.candidates": ("Seen", "TextVectors"),
    "funnelling.funnel.many.fitted": ("ManyFunnel", "ManyTierOne"),
    "funnelling.funnel.many.one_against_rest": ("LabelWeights",),
    "funnelling.funnel.tier_one": ("TierOne",),
    "funnelling.funnel.tier_two": ("KeptPosteriors", "TierTwo"),
    "funnelling.funnel.views": ("FittedViews", "SharedView"),
    "funnelling.methods.archive": ("Archive",),
    "funnelling.methods.baselines": ("WordsAndCharactersVectorizer",),
    "funnelling.methods.model": ("Model",),
    "funnelling.methods.svms": ("InSpace", "LanguageClassifiers", "PerLanguage"),
    "funnelling.research.lstm": ("FittedNetwork", "WordTables"),
    "funnelling.spaces.labels": ("DCISpace",),
    "funnelling.spaces.outside": ("TransformedSpace",),
    "funnelling.spaces.reference": ("CLESASpace", "KCCASpace"),
    "funnelling.svm.calibration": ("Calibration", "Temperature"),
    "funnelling.svm.scorers": ("KernelScorer", "LinearScorer", "SelectedScorer", "Selection"),
    "funnelling.text.characters": ("CharacterVectorizer",),
    "funnelling.text.tfidf": ("TfidfVectorizer",),
}
CLASSES = {name: f"{module}.{name}" for module, names in _NODES.items() for name in names}
LONG_LIST = 64  # strings; longer lists leave the tree for the arrays
BUFFERS = ("data", "indices", "indptr")  # of a sparse matrix
NOT_FINITE = {repr(value): value for value in (np.nan, np.inf, -np.inf)}
PLAIN = (str, bool, int, float, np.generic, type(None))  # what an array of objects may hold
MAX_STRINGS_BYTES = 2**28  # bytes that arrays of strings, all as wide as the longest, may take in a model

Arrays = dict[str, npt.NDArray[Any]]


@cache
def _classes() -> dict[str, str]:
    """Everything of ours that a model folder may hold, by its name there, and where it is defined."""
    # Not before a model is written or read: whoever only asks what is in a folder needs none of them.
    from funnelling.methods.registry import METHODS
    from funnelling.spaces import VIEWS

    return {
        **{path.rpartition(".")[2]: path for path in VIEWS.values()},
        **{entry.estimator.rpartition(".")[2]: entry.estimator for entry in METHODS.values()},
        **CLASSES,
    }


def encode(value: Any, place: str = "") -> tuple[Any, Arrays]:
    """The tree of a value and its arrays, which are named by its ``place`` in a larger one.

    >>> encode({"it": [1.5, float("inf")]})
    ({'$': 'dict', 'items': {'it': [1.5, {'$': 'float', 'value': 'inf'}]}}, {})
    """
    encoder = _Encoder()
    return encoder.encode(value, place), encoder.arrays


def decode(tree: Any, arrays: Arrays) -> Any:
    """The value that was encoded; a tree that `encode` did not make raises one error or another.

    What is decoded takes no more memory than the tree and the arrays, but for a small factor: each array is
    used once, and what is as wide as it says, not as its content, is counted.

    >>> decode({"$": "Popen", "state": {"args": "ls"}}, {})
    Traceback (most recent call last):
    ValueError: no model holds a 'Popen'
    """
    return _Decoder(arrays).decode(tree)


def with_parameter(tree: Any, kind: str, name: str, value: Any) -> Any:
    """A tree in which a parameter of all objects of a kind has a value.

    >>> with_parameter([{"$": "EncoderSpace", "state": {"folder": "/home"}}], "EncoderSpace", "folder", None)
    [{'$': 'EncoderSpace', 'state': {'folder': None}}]
    """
    if isinstance(tree, list):
        return [with_parameter(item, kind, name, value) for item in tree]
    if not isinstance(tree, dict):
        return tree
    changed = {key: with_parameter(item, kind, name, value) for key, item in tree.items()}
    if changed.get("$") == kind and name in changed["state"]:
        changed["state"][name] = value
    return changed


class _Decoder:
    """Decodes one tree, and takes each of its ``arrays`` once."""

    def __init__(self, arrays: Arrays) -> None:
        self.arrays = dict(arrays)
        self.room = MAX_STRINGS_BYTES

    def decode(self, tree: Any) -> Any:
        if isinstance(tree, list):
            return [self.decode(item) for item in tree]
        if not isinstance(tree, dict):
            return tree
        match tree["$"]:
            case "float":
                return NOT_FINITE[tree["value"]]
            case "scalar":
                return self._array([self.decode(tree["value"])], tree["dtype"])[0]
            case "array":
                return self.arrays.pop(tree["key"])
            case "sparse":
                return _matrix([self.decode(tree[name]) for name in BUFFERS], tree["shape"])
            case "objects":
                return self._array(self.decode(tree["items"]), tree["dtype"])
            case "strings":
                text = self.arrays.pop(tree["key"]).tobytes().decode("utf-8", "surrogatepass")
                return _strings(json.loads(text))
            case "dict":
                return self._inner(tree["items"])
            case "estimator":
                return from_bytes(self.arrays.pop(tree["key"]).tobytes())
            case name:
                return _restore(name, self._inner(tree["state"]))

    def _inner(self, items: Mapping[str, Any]) -> dict[str, Any]:
        return {key: self.decode(item) for key, item in items.items()}

    def _array(self, items: Any, kind: str) -> npt.NDArray[Any]:
        """An array of plain values; one of strings may be wider than they are, of a label that is gone."""
        dtype = np.dtype(kind)
        plain = isinstance(items, list) and all(isinstance(item, PLAIN) for item in items)
        if not plain or dtype.kind not in "biufUO" or (dtype.kind == "U" and not _all_strings(items)):
            raise ValueError(f"no array of {kind} has such items")
        self.room -= len(items) * dtype.itemsize
        if self.room < 0:
            raise ValueError(f"an array of {kind} is wider than those of a model")
        array = np.empty(len(items), dtype)
        array[:] = items
        return array


def _all_strings(items: list[Any]) -> bool:
    return all(isinstance(item, str) for item in items)


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


class _Encoder:
    """Encodes one value; what does not fit the tree goes to ``arrays`` under its place there."""

    def __init__(self) -> None:
        self.arrays: Arrays = {}

    def encode(self, value: Any, place: str) -> Any:
        match value:
            case np.generic():  # first, for some are Python numbers too
                return {"$": "scalar", "dtype": value.dtype.str, "value": self.encode(value.item(), place)}
            case float() if not np.isfinite(value):
                return {"$": "float", "value": repr(value)}
            case None | bool() | int() | float() | str():
                return value
            case sparse.csr_array():
                buffers = {name: getattr(value, name) for name in BUFFERS}
                return {"$": "sparse", "shape": list(value.shape), **self._inner(place, buffers)}
            case np.ndarray() if value.dtype.kind in "OU":
                items = self._inner(place, {"items": value.tolist()})["items"]
                return {"$": "objects", "dtype": value.dtype.str, "items": items}
            case np.ndarray():
                return self._aside("array", np.ascontiguousarray(value), place)
            case list() if len(value) > LONG_LIST and _all_strings(value):
                text = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
                return self._aside("strings", np.frombuffer(text, dtype=np.uint8), place)
            case list() | tuple():
                return list(self._inner(place, dict(enumerate(value))).values())
            case Algorithm():
                return stored_algorithm(value)
            case Parameters() if not hasattr(value, "algorithm"):  # which estimators have
                return self.encode(saved_parameters(value), place)
            case dict() if all(isinstance(key, str) for key in value):
                return {"$": "dict", "items": self._inner(place, value)}
        name = type(value).__name__
        if _classes().get(name) == f"{type(value).__module__}.{name}":
            return {"$": name, "state": self._inner(place, _state(value))}
        content = to_bytes(value, what=place.strip("/").replace("/", "."))
        return self._aside("estimator", np.frombuffer(content, dtype=np.uint8), place)

    def _inner(self, place: str, items: Mapping[Any, Any]) -> dict[Any, Any]:
        # Names of languages are the user's and may hold a slash.
        return {key: self.encode(item, f"{place}/{quote(str(key), '')}") for key, item in items.items()}

    def _aside(self, kind: str, array: npt.NDArray[Any], place: str) -> dict[str, str]:
        self.arrays[place] = array
        return {"$": kind, "key": place}


def saved_parameters(parameters: Parameters) -> dict[str, Any]:
    """The parameters of a method that a model folder has.

    What is not saved is not taken either: a file has no say in which folders of this machine are read.
    """
    given = parameters.get_params(deep=False)
    return {name: value for name, value in given.items() if name not in RUNTIME_PARAMETERS}


def _saved(kind: Any) -> list[str]:
    """The fields of a dataclass that a model folder has."""
    return [field.name for field in fields(kind) if field.metadata.get("saved", True)]


def _state(value: Any) -> dict[str, Any]:
    if not hasattr(value, "get_params"):
        return {name: getattr(value, name) for name in _saved(type(value))}
    # An estimator: its parameters, and what fitting added under names that end in "_".
    parameters = value.get_params(deep=False)
    fitted = {key: item for key, item in vars(value).items() if key.endswith("_") or key in parameters}
    return {key: item for key, item in fitted.items() if key not in RUNTIME_PARAMETERS}


def _restore(name: str, state: dict[str, Any]) -> Any:
    if name not in _classes():
        raise ValueError(f"no model holds a {name!r}")
    kind: Any = resolve_name(_classes()[name])
    if not hasattr(kind, "get_params"):
        if state.keys() != set(_saved(kind)):
            raise TypeError(f"a {name} has other fields")
        return kind(**state) if name != "Model" else _model(kind, state)
    # What is not saved is not taken either: a file has no say in which folders of this machine are read.
    parameters = kind().get_params(deep=False).keys() - {*RUNTIME_PARAMETERS}
    restored = kind(**{key: item for key, item in state.items() if key in parameters})
    for key, item in state.items():
        if key.endswith("_") and not key.startswith("_"):
            setattr(restored, key, item)
    return restored


def _model(kind: Any, state: dict[str, Any]) -> Any:
    """A model, whose algorithm is found by its name and tells which parameters there are."""
    algorithm = algorithm_named(state["algorithm"])
    parameters = algorithm.parameters()
    expect(state["parameters"].keys() == saved_parameters(parameters).keys(), "the parameters")
    given = {"algorithm": algorithm, "parameters": parameters.copied(**state["parameters"])}
    model = kind(**state | given)
    model.check()
    return model
