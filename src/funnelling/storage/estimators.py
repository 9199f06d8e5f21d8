"""scikit-learn's own estimators as bytes, in skops' form: no pickle, and equal fits are equal bytes."""

import hashlib
import io
import json
import zipfile
from collections.abc import Iterator
from itertools import count
from typing import Any

from funnelling.errors import InputError

# What may be loaded beside what skops trusts by itself: plain Python parts of scikit-learn's estimators.
# Trees are not here, on skops' advice: a forged one can read beyond its arrays.
TRUSTED = [
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
]
_SCHEMA = "schema.json"
# What skops and scikit-learn call these holds addresses in memory, which no two processes share.
_NODE_ID, _FILE, _STOP_WORDS_ID = "__id__", "file", "_stop_words_id"


def to_bytes(estimator: Any, what: str) -> bytes:
    """An estimator as bytes; a refusal calls it ``what``."""
    kind = type(estimator)
    shown = f"{what} is a {kind.__module__}.{kind.__qualname__}"
    if kind.__module__.partition(".")[0] != "sklearn":
        raise InputError(
            f"The model cannot be saved: {shown}, and only scikit-learn's own estimators can be. "
            "It works in memory."
        )
    from skops.io import dumps, get_untrusted_types

    try:
        content = dumps(estimator)
        untrusted = [name for name in get_untrusted_types(data=content) if name not in TRUSTED]
    except Exception as error:
        # skops has no error of its own for what it cannot save.
        raise InputError(
            f"The model cannot be saved: {shown}, which skops cannot take ({type(error).__name__}). "
            "It works in memory."
        ) from error
    if untrusted:
        raise InputError(
            f"The model cannot be saved: {shown} and holds a {untrusted[0]}, which cannot be loaded safely. "
            "It works in memory."
        )
    return _without_addresses(content)


def from_bytes(content: bytes) -> Any:
    """The estimator that was saved; one that holds anything but trusted types is refused."""
    from skops.io import loads

    return loads(content, trusted=TRUSTED)


def _without_addresses(content: bytes) -> bytes:
    """An archive with its objects numbered and its files named by their content, without times."""
    numbers = count()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist() if name != _SCHEMA}
        names = {name: _content_name(name, file) for name, file in files.items()}
        schema = json.loads(archive.read(_SCHEMA), object_hook=lambda node: _counted(node, numbers, names))
    renamed = {names[name]: file for name, file in files.items()}
    renamed[_SCHEMA] = json.dumps(schema).encode()
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name in sorted(renamed):
            archive.writestr(zipfile.ZipInfo(name), renamed[name])
    return target.getvalue()


def _content_name(name: str, content: bytes) -> str:
    _, dot, suffix = name.partition(".")
    return hashlib.sha256(content).hexdigest()[:16] + dot + suffix


def _counted(node: dict[str, Any], numbers: Iterator[int], names: dict[str, str]) -> dict[str, Any]:
    if _NODE_ID in node:
        node[_NODE_ID] = next(numbers)
    if isinstance(file := node.get(_FILE), str):
        node[_FILE] = names[file]
    if _STOP_WORDS_ID in node:
        node[_STOP_WORDS_ID]["content"] = "0"
    return node
