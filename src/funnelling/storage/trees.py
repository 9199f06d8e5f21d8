"""A fitted model as a tree that JSON can hold, and the arrays that it cannot.

Numbers, strings and lists stand for themselves; everything else is an object whose ``$`` says what it is.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from pkgutil import resolve_name
from typing import Any
from urllib.parse import quote

import numpy as np
import numpy.typing as npt
from scipy import sparse

from funnelling.storage.estimators import from_bytes, to_bytes

# What models are made of beside methods and views, by its name in a folder, which outlives that in the code.
CLASSES = {
    "CLESASpace": "funnelling.spaces.clesa.CLESASpace",
    "Calibration": "funnelling.svm.calibration.Calibration",
    "CharacterVectorizer": "funnelling.text.characters.CharacterVectorizer",
    "Choice": "funnelling.funnel.choosing.Choice",
    "DCISpace": "funnelling.spaces.dci.DCISpace",
    "EstimatorScorer": "funnelling.funnel.estimator_learner.EstimatorScorer",
    "KCCASpace": "funnelling.spaces.kcca.KCCASpace",
    "Documents": "funnelling.method.archive.Archive",
    "Kept": "funnelling.funnel.archive.FunnelArchive",
    "KernelScorer": "funnelling.svm.scorers.KernelScorer",
    "LinearScorer": "funnelling.svm.scorers.LinearScorer",
    "PointScorer": "funnelling.funnel.odds.PointScorer",
    "SelectedScorer": "funnelling.svm.scorers.SelectedScorer",
    "Selection": "funnelling.svm.scorers.Selection",
    "SharedView": "funnelling.funnel.views.shared.SharedView",
    "Temperature": "funnelling.svm.calibration.Temperature",
    "TfidfVectorizer": "funnelling.text.tfidf.TfidfVectorizer",
    "TierOne": "funnelling.funnel.tier_one.TierOne",
    "TransformedSpace": "funnelling.spaces.transformed.TransformedSpace",
    "WordsAndCharactersVectorizer": "funnelling.text.words_and_characters.WordsAndCharactersVectorizer",
}
# How a fit was run, which must not show in its result, and resources that it has taken what it needs from.
RUNTIME_PARAMETERS = ("n_jobs", "verbose", "device", "reference", "embeddings", "encoder")
LONG_LIST = 64  # strings; longer lists leave the tree for the arrays

Arrays = dict[str, npt.NDArray[Any]]


@cache
def _classes() -> dict[str, str]:
    """Everything of ours that a model folder may hold, by its name there, and where it is defined."""
    # Not before a model is written or read: whoever only asks what is in a folder needs none of them.
    from funnelling.method.registry import METHODS
    from funnelling.spaces.registry import VIEWS

    return {
        **{entry.kind: f"{entry.module}.{entry.kind}" for entry in METHODS.values()},
        **{path.rpartition(".")[2]: path for path in VIEWS.values()},
        **CLASSES,
    }


@cache
def _stored_names() -> dict[str, str]:
    return {path: name for name, path in _classes().items()}


def encode(value: Any, place: str = "") -> tuple[Any, Arrays]:
    """The tree of a value and its arrays, which are named by its ``place`` in a larger one.

    >>> encode({"it": [1.5, float("inf")]})
    ({'$': 'dict', 'items': {'it': [1.5, {'$': 'float', 'value': 'inf'}]}}, {})
    """
    encoder = _Encoder()
    return encoder.encode(value, place), encoder.arrays


def decode(tree: Any, arrays: Arrays) -> Any:
    """The value that was encoded; a tree that `encode` did not make raises one error or another.

    >>> decode({"$": "Popen", "state": {"args": "ls"}}, {})
    Traceback (most recent call last):
    ValueError: no model holds a 'Popen'
    """
    if isinstance(tree, list):
        return [decode(item, arrays) for item in tree]
    if not isinstance(tree, dict):
        return tree
    match tree["$"]:
        case "float":
            return float(tree["value"])
        case "scalar":
            return np.array(decode(tree["value"], arrays), dtype=tree["dtype"])[()]
        case "array":
            return arrays[tree["key"]]
        case "sparse":
            buffers = [decode(tree[name], arrays) for name in ("data", "indices", "indptr")]
            matrix = sparse.csr_array(tuple(buffers), shape=tuple(tree["shape"]))
            matrix.check_format(full_check=True)
            return matrix
        case "objects":
            return np.array(decode(tree["items"], arrays), dtype=tree["dtype"])
        case "strings":
            text = arrays[tree["key"]].tobytes().decode("utf-8", "surrogatepass")
            return [sys.intern(item) for item in json.loads(text)]
        case "dict":
            return {key: decode(item, arrays) for key, item in tree["items"].items()}
        case "estimator":
            return from_bytes(arrays[tree["key"]].tobytes())
        case name:
            return _restore(name, {key: decode(item, arrays) for key, item in tree["state"].items()})


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
                buffers = {name: getattr(value, name) for name in ("data", "indices", "indptr")}
                return {"$": "sparse", "shape": list(value.shape), **self._inner(place, buffers)}
            case np.ndarray() if value.dtype.kind in "OU":
                items = self._inner(place, {"items": value.tolist()})["items"]
                return {"$": "objects", "dtype": value.dtype.str, "items": items}
            case np.ndarray():
                return self._aside("array", np.ascontiguousarray(value), place)
            case list() if len(value) > LONG_LIST and all(isinstance(item, str) for item in value):
                text = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
                return self._aside("strings", np.frombuffer(text, dtype=np.uint8), place)
            case list() | tuple():
                return list(self._inner(place, dict(enumerate(value))).values())
            case dict() if all(isinstance(key, str) for key in value):
                return {"$": "dict", "items": self._inner(place, value)}
        name = _stored_names().get(f"{type(value).__module__}.{type(value).__name__}")
        if name is not None:
            return {"$": name, "state": self._inner(place, _state(value))}
        content = to_bytes(value, what=place.strip("/").replace("/", "."))
        return self._aside("estimator", np.frombuffer(content, dtype=np.uint8), place)

    def _inner(self, place: str, items: Mapping[Any, Any]) -> dict[Any, Any]:
        # Names of languages are the user's and may hold a slash.
        return {key: self.encode(item, f"{place}/{quote(str(key), '')}") for key, item in items.items()}

    def _aside(self, kind: str, array: npt.NDArray[Any], place: str) -> dict[str, str]:
        self.arrays[place] = array
        return {"$": kind, "key": place}


def _state(value: Any) -> dict[str, Any]:
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    # An estimator: its parameters, and what fitting added under names that end in "_".
    parameters = value.get_params(deep=False)
    fitted = {key: item for key, item in vars(value).items() if key.endswith("_") or key in parameters}
    return {key: item for key, item in fitted.items() if key not in RUNTIME_PARAMETERS}


def _restore(name: str, state: dict[str, Any]) -> Any:
    if name not in _classes():
        raise ValueError(f"no model holds a {name!r}")
    kind: Any = resolve_name(_classes()[name])
    if not hasattr(kind, "get_params"):
        return kind(**state)
    parameters = kind().get_params(deep=False)
    restored = kind(**{key: item for key, item in state.items() if key in parameters})
    for key, item in state.items():
        if key.endswith("_") and not key.startswith("_"):
            setattr(restored, key, item)
    return restored
