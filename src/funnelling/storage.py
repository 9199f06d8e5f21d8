"""Model folders: ``model.json`` and one file of arrays. Loading one runs no code of its author.

``model.json`` holds the fitted model as a tree of plain values and of a fixed set of our own classes;
arrays, long lists of words and scikit-learn estimators (in skops' form) stand in the arrays file, whose
name is its content's hash. Replacing ``model.json`` is therefore the one step that changes a model: a
save that is interrupted before it leaves the old model whole.
"""

import hashlib
import io
import json
import os
import secrets
import shutil
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields, is_dataclass
from functools import partial
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays
from sklearn.base import BaseEstimator

from funnelling.errors import InputError
from funnelling.method import Method

FORMAT = 1
MODEL = "model.json"
# Everything of ours that a model folder may hold, and where it is defined.
CLASSES = {
    "Calibration": "funnelling.svm.calibration",
    "EstimatorScorer": "funnelling.funnel.foreign",
    "FunnellingClassifier": "funnelling.funnel.classifier",
    "KernelScorer": "funnelling.svm.scorers",
    "LinearScorer": "funnelling.svm.scorers",
    "NaiveClassifier": "funnelling.baselines.naive",
    "PooledClassifier": "funnelling.baselines.pooled",
    "Temperature": "funnelling.svm.calibration",
    "TfidfVectorizer": "funnelling.text.tfidf",
    "TierOne": "funnelling.funnel.tier_one",
}
# How a fit was run, which must not show in its result.
RUNTIME_PARAMETERS = ("n_jobs", "verbose")
LONG_LIST = 64  # strings; longer lists leave model.json for the arrays


def save_model(
    model: Method, path: str | os.PathLike[str], *, scores: Any = None, force: bool = False
) -> None:
    """Write a fitted model to a folder, whole or not at all.

    ``scores`` is what `funnelling.evaluation.measure_languages` found of the model, kept for
    `inspect`. An existing model is replaced only with ``force``; any other existing path never is.
    """
    folder = Path(path)
    check_writable(folder, force)
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    tree = _encode(model, "", arrays)
    content = save_arrays(arrays)
    digest = hashlib.sha256(content).hexdigest()
    name = f"arrays-{digest[:16]}.safetensors"
    document = {
        "format": FORMAT,
        "funnelling": version("funnelling"),
        "versions": {name: version(name) for name in ("numpy", "scipy", "scikit-learn", "simplemma")},
        "files": {name: digest},
        "scores": scores,
        "model": tree,
    }
    document["checksum"] = _checksum(document)
    text = json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    with _drafted(folder) as draft:
        (draft / name).write_bytes(content)
        (draft / MODEL).write_text(text, encoding="utf-8", newline="\n")


def load_model(path: str | os.PathLike[str]) -> Any:
    """The fitted model in a folder.

    >>> load_model("nowhere")
    Traceback (most recent call last):
    funnelling.errors.InputError: nowhere: no such model folder. Check the path.
    """
    return _Loader(Path(path)).model()


def describe_model(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What a model is: method, parameters, languages, labels, scores, versions."""
    from funnelling.methods import name_of

    loader = _Loader(Path(path))
    model, document = loader.model(), loader.document
    parameters = model.get_params(deep=False)
    return {
        "method": name_of(model),
        "parameters": {
            key: value if isinstance(value, None | bool | int | float | str) else repr(value)
            for key, value in sorted(parameters.items())
            if key not in RUNTIME_PARAMETERS
        },
        "documents": dict(model.documents_),
        "labels": model.classes_.tolist(),
        "format": document["format"],
        "funnelling": document["funnelling"],
        "versions": document["versions"],
        "scores": document["scores"],
    }


def check_writable(folder: Path, force: bool) -> None:
    """Refuse a path that `save_model` could not write, before the work that leads to it."""
    if folder.exists() or folder.is_symlink():
        if not (folder / MODEL).is_file() and not (folder.is_dir() and not any(folder.iterdir())):
            raise InputError(f"{folder} exists and is no model folder. Choose another path.")
        if (folder / MODEL).is_file() and not force:
            raise InputError(f"{folder} exists. Choose another path or add --force.")
    where = folder if folder.is_dir() else folder.parent
    if not where.is_dir():
        raise InputError(f"{folder}: its folder does not exist. Create the folder first.")
    if not os.access(where, os.W_OK):
        raise InputError(f"{folder}: cannot be written. Choose another path.")


@contextmanager
def _drafted(folder: Path) -> Iterator[Path]:
    """A folder beside the target; what is written there becomes the model when the block ends well."""
    draft = folder.parent / f".{folder.name}-{secrets.token_hex(8)}.tmp"
    try:
        draft.mkdir()
        yield draft
        if not folder.exists():
            draft.rename(folder)
            return
        kept = {file.name for file in draft.iterdir()}
        for file in [*sorted(kept - {MODEL}), MODEL]:
            (draft / file).replace(folder / file)
        for stale in folder.glob("arrays-*.safetensors"):
            if stale.name not in kept:
                stale.unlink()
    except OSError as error:
        raise InputError(f"{folder}: cannot be written ({error.strerror}). Choose another path.") from error
    finally:
        with suppress(OSError):
            shutil.rmtree(draft)


def _checksum(document: dict[str, Any]) -> str:
    content = {key: value for key, value in document.items() if key != "checksum"}
    text = json.dumps(content, ensure_ascii=False, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


# --- writing ------------------------------------------------------------------------------------


def _encode(value: Any, path: str, arrays: dict[str, np.ndarray[Any, Any]]) -> Any:
    """A value as JSON; what does not fit there goes to ``arrays`` under its path."""
    inner: Callable[[Any, object], Any] = lambda item, key: _encode(item, f"{path}/{key}", arrays)  # noqa: E731
    match value:
        case None | bool() | int() | str():
            return value
        case float() if np.isfinite(value):
            return value
        case float():
            return {"$": "float", "value": repr(value)}
        case np.generic():
            return _encode(value.item(), path, arrays)
        case np.ndarray() if value.dtype.kind in "OU":
            return {"$": "objects", "items": inner(value.tolist(), "items")}
        case np.ndarray():
            arrays[path] = np.ascontiguousarray(value)
            return {"$": "array", "key": path}
        case list() if len(value) > LONG_LIST and all(isinstance(item, str) for item in value):
            text = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
            arrays[path] = np.frombuffer(text, dtype=np.uint8)
            return {"$": "strings", "key": path}
        case list() | tuple():
            return [inner(item, i) for i, item in enumerate(value)]
        case dict():
            return {"$": "dict", "items": {key: inner(item, key) for key, item in value.items()}}
    name = type(value).__name__
    if CLASSES.get(name) == type(value).__module__:
        return {"$": name, "state": {key: inner(item, key) for key, item in _state(value).items()}}
    arrays[path] = np.frombuffer(_estimator_bytes(value), dtype=np.uint8)
    return {"$": "estimator", "key": path}


def _state(value: Any) -> dict[str, Any]:
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    # An estimator: its parameters, and what fitting added under names that end in "_".
    parameters = value.get_params(deep=False)
    fitted = {key: item for key, item in vars(value).items() if key.endswith("_") or key in parameters}
    return {key: item for key, item in fitted.items() if key not in RUNTIME_PARAMETERS}


def _estimator_bytes(estimator: Any) -> bytes:
    """A scikit-learn estimator in skops' form, without the times and addresses skops writes into it."""
    from skops.io import dumps, get_untrusted_types

    kind = type(estimator)
    try:
        if kind.__module__.partition(".")[0] != "sklearn":
            raise TypeError
        content = dumps(estimator)
        if get_untrusted_types(data=content):
            raise TypeError
    except Exception:
        raise InputError(
            f"A model with a {kind.__module__}.{kind.__name__} cannot be saved: only scikit-learn's own "
            "estimators can. It works in memory."
        ) from None
    numbers: dict[str, str] = {}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        schema = json.loads(archive.read("schema.json"), object_hook=partial(_renumber, numbers))
        parts = {name: archive.read(name) for name in archive.namelist() if name != "schema.json"}
    renamed = {_renamed(name, numbers): part for name, part in parts.items()}
    renamed["schema.json"] = json.dumps(schema, sort_keys=True).encode()
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name in sorted(renamed):
            archive.writestr(zipfile.ZipInfo(name), renamed[name])
    return target.getvalue()


def _renumber(numbers: dict[str, str], node: dict[str, Any]) -> dict[str, Any]:
    """Count objects instead of naming them by their address in memory."""
    if "__id__" in node:
        node["__id__"] = int(numbers.setdefault(str(node["__id__"]), str(len(numbers) + 1)))
    if "file" in node:
        node["file"] = _renamed(node["file"], numbers)
    return node


def _renamed(name: str, numbers: dict[str, str]) -> str:
    stem, dot, suffix = name.partition(".")
    return numbers.setdefault(stem, str(len(numbers) + 1)) + dot + suffix


# --- reading ------------------------------------------------------------------------------------


class _Loader:
    """Reads one folder; every way in which it can be wrong is an `InputError` that names it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.document = self._read_document()
        self._arrays: dict[str, np.ndarray[Any, Any]] = {}

    def model(self) -> Method:
        for name, digest in self.document["files"].items():
            content = self._read(name)
            if hashlib.sha256(content).hexdigest() != digest:
                raise self._damaged(f"{name} is not the file that was saved")
            self._arrays.update(load_arrays(content))
        try:
            model = self._decode(self.document["model"])
        except InputError:
            raise
        except Exception as error:
            raise self._damaged(f"its content does not fit together ({type(error).__name__})") from error
        if not isinstance(model, Method):
            raise self._damaged("it holds no model")
        return model

    def _read_document(self) -> dict[str, Any]:
        if not self.folder.is_dir():
            reason = "is no folder" if self.folder.exists() else "no such model folder"
            raise InputError(f"{self.folder}: {reason}. Check the path.")
        if not (self.folder / MODEL).is_file():
            raise InputError(f"{self.folder}: no model in it ({MODEL} is missing). Check the path.")
        try:
            document = json.loads(self._read(MODEL))
            newer = document["format"] > FORMAT
        except (ValueError, KeyError, TypeError, RecursionError):
            raise self._damaged(f"{MODEL} is cut off or no JSON") from None
        if newer:
            raise InputError(
                f"{self.folder}: the model has format {document['format']}, this version reads up to "
                f"{FORMAT}. Upgrade funnelling."
            )
        if document.get("checksum") != _checksum(document):
            raise self._damaged(f"{MODEL} was changed after it was saved")
        return document  # type: ignore[no-any-return]

    def _read(self, name: str) -> bytes:
        if os.path.basename(name) != name:
            raise self._damaged(f"it names a file outside itself, {name!r}")
        try:
            return (self.folder / name).read_bytes()
        except FileNotFoundError:
            raise self._damaged(f"{name} is missing") from None
        except OSError as error:
            raise InputError(f"{self.folder}/{name}: cannot be read ({error.strerror}).") from error

    def _damaged(self, reason: str) -> InputError:
        return InputError(f"{self.folder}: the model is damaged: {reason}. Copy it again or train anew.")

    def _decode(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._decode(item) for item in value]
        if not isinstance(value, dict):
            return value
        match value["$"]:
            case "float":
                return float(value["value"])
            case "array":
                return self._arrays[value["key"]]
            case "strings":
                text = self._arrays[value["key"]].tobytes().decode("utf-8", "surrogatepass")
                return [sys.intern(item) for item in json.loads(text)]
            case "objects":
                return np.array(self._decode(value["items"]), dtype=object)
            case "dict":
                return {key: self._decode(item) for key, item in value["items"].items()}
            case "estimator":
                from skops.io import loads

                return loads(self._arrays[value["key"]].tobytes(), trusted=[])
            case name:
                return self._restore(name, {k: self._decode(v) for k, v in value["state"].items()})

    def _restore(self, name: str, state: dict[str, Any]) -> Any:
        if name not in CLASSES:
            raise self._damaged(f"it holds a {name!r}, which no model does")
        kind: Any = getattr(import_module(CLASSES[name]), name)
        if not issubclass(kind, BaseEstimator):
            return kind(**state)
        names = kind().get_params(deep=False)
        restored = kind(**{key: item for key, item in state.items() if key in names})
        for key, item in state.items():
            if key not in names and key.endswith("_") and not key.startswith("_"):
                setattr(restored, key, item)
        return restored
