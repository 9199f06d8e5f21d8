"""Model folders that somebody, or something, has changed: signed again so that they look whole, or not.

The checksum of a model is no secret: what matters is that each of these folders is refused in one line, or
answers as a model does. `violations` are made by the annotations of the fields, so that those of a new node
are tried without being listed.
"""

import hashlib
import io
import json
import random
import shutil
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import is_dataclass, replace
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import numpy as np
from safetensors.numpy import load, save

from funnelling.matrices import is_sparse
from funnelling.runtime.messages import MODEL
from funnelling.state import Between, field_kinds, may_be
from funnelling.storage import folders
from funnelling.storage.trees import CLASSES

Place = tuple[Any, ...]  # the keys that lead to a node
UNCHANGED = ("checksum", "files")  # are made anew
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 7, 10**9, 10**30, 0.5, -1.5, 1e300, 1e20, "", "x", "own", "none"),
    *([], ["x"], [[]], {}, [0, 1], "9" * 40, {"$": "float", "value": "nan"}, {"$": "float", "value": "-inf"}),
    *({"$": "float", "value": []}, {"$": "dict", "items": {}}, {"$": "dict", "items": {"en": 1}}),
    {"$": "scalar", "dtype": "<f8", "value": 1e300},
    {"$": "scalar", "dtype": "<U100000000", "value": "x"},
    {"$": "objects", "dtype": "<U100000000", "items": ["x", "y"]},
    {"$": "objects", "dtype": "|O", "items": [{}, None]},
    {"$": "sparse", "shape": [2, 10**12], "data": [], "indices": [], "indptr": [0, 0, 0]},
)
TYPES = ("<f4", "<f8", "<i8", "<i4", "|u1", "|b1")


def mutated(folder: Path, target: Path, seed: int) -> str:
    """Copy a model with one thing changed, its names and checksums right; gives what was changed."""
    choice = random.Random(seed)
    document = json.loads((folder / MODEL).read_bytes())
    arrays: dict[str, Any] = {}
    for name in document["files"]:
        arrays |= load((folder / name).read_bytes())
    estimators = [key for key, array in arrays.items() if array.tobytes()[:2] == b"PK"]
    kind = choice.random()
    if estimators and kind < 0.2:
        change = _change_estimator(arrays, choice.choice(estimators), choice)
    elif arrays and kind < 0.4:
        change = _change_array(arrays, choice)
    else:
        change = _change_node(document, list(arrays), choice)
    write_signed(target, document, arrays)
    return change


def write_signed(target: Path, document: Any, arrays: dict[str, Any]) -> None:
    """Write a model folder of any content, with proper names and checksums."""
    content = save({key: np.ascontiguousarray(array) for key, array in arrays.items()})
    digest = hashlib.sha256(content).hexdigest()
    document["files"] = {folders.arrays_name(digest): digest}
    document["checksum"] = folders._checksum(document)
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    (target / folders.arrays_name(digest)).write_bytes(content)
    text = json.dumps(document, ensure_ascii=False)
    (target / MODEL).write_bytes(text.encode("utf-8", "surrogatepass"))


def corrupted(folder: Path, target: Path, seed: int) -> str:
    """Copy a model with some bytes of one file flipped, cut off or added, and nothing signed again."""
    choice = random.Random(seed)
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(folder, target)
    files = [path for path in sorted(target.iterdir()) if path.suffix in (".json", ".safetensors")]
    path = choice.choice(files)
    content = bytearray(path.read_bytes())
    how = choice.choice(("flip", "cut", "add"))
    place = choice.randrange(len(content))
    if how == "flip":
        content[place] ^= 1 << choice.randrange(8)
    elif how == "cut":
        del content[place:]
    else:
        content[place:place] = choice.randbytes(choice.choice((1, 16, 4096)))
    path.write_bytes(content)
    return f"{how} at {place} of {path.name}"


# --- the tree -----------------------------------------------------------------------------------


def _change_node(document: Any, keys: list[str], choice: random.Random) -> str:
    places = _places(document)
    place = _pick(places, choice)
    value = _at(document, place)
    match choice.choice(("delete", "replace", "replace", "vary", "vary", "swap", "copy")):
        case "delete":
            del _at(document, place[:-1])[place[-1]]
            return f"delete {place}"
        case "replace":
            new = deepcopy(choice.choice(VALUES))
        case "vary":
            new = _varied(value, keys, choice)
        case "swap":
            other = _pick(places, choice)
            if other[: len(place)] != place and place[: len(other)] != other:
                _put(document, place, _at(document, other))
                _put(document, other, value)
            return f"swap {place} and {other}"
        case _:
            new = deepcopy(_at(document, _pick(places, choice)))
    _put(document, place, new)
    return f"{place}: {_shown(value)} becomes {_shown(new)}"


def _varied(value: Any, keys: list[str], choice: random.Random) -> Any:
    """Something of the same kind, mostly."""
    match value:
        case bool():
            return not value
        case int() | float():
            return choice.choice((value + 1, value - 1, -value, value * 10**6, value + 0.5, float(value), 0))
        case str():
            return choice.choice((value + "x", value[:-1], value.upper(), value * 100))
        case list() if value:
            item = choice.choice(value)
            return choice.choice((value[:-1], [*value, item], value[::-1], value * 2, [], [None, *value[1:]]))
        case {"$": str(), "key": _}:
            return {**value, "key": choice.choice(keys)}
        case {"$": str(name)}:
            other = choice.choice(
                (*CLASSES, "dict", "array", "sparse", "objects", "scalar", "strings", "Popen")
            )
            return {**value, "$": other} if choice.random() < 0.7 else {"$": name}
        case dict() if value:
            key = choice.choice(sorted(value))
            renamed = {name + "x" if name == key else name: item for name, item in value.items()}
            return choice.choice((renamed, {**value, "further": value[key]}, dict(reversed(value.items()))))
    return choice.choice(VALUES)


def _places(node: Any, place: Place = ()) -> list[Place]:
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    found = [] if not place else [place]
    for key, item in items:
        if place or key not in UNCHANGED:
            found += _places(item, (*place, key))
    return found


def _pick(places: list[Place], choice: random.Random) -> Place:
    """One of the places; those of long lists are no more likely than others."""
    kinds: dict[Place, list[Place]] = {}
    for place in places:
        kinds.setdefault(tuple("*" if isinstance(key, int) else key for key in place), []).append(place)
    return choice.choice(kinds[choice.choice(list(kinds))])


def _at(document: Any, place: Place) -> Any:
    for key in place:
        document = document[key]
    return document


def _put(document: Any, place: Place, value: Any) -> None:
    _at(document, place[:-1])[place[-1]] = value


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 80 else text[:77] + "…"


# --- arrays -------------------------------------------------------------------------------------


def _change_array(arrays: dict[str, Any], choice: random.Random) -> str:
    key = choice.choice(list(arrays))
    before = arrays[key]
    if choice.random() < 0.1:
        del arrays[key]
        return f"delete the array {key}"
    if choice.random() < 0.15:
        other = choice.choice(list(arrays))
        arrays[key], arrays[other] = arrays[other], arrays[key]
        return f"swap the arrays {key} and {other}"
    after = _other_array(before, choice)
    arrays[key] = after
    shown = "" if before.shape != after.shape or before.dtype != after.dtype else ", other values"
    return f"{key}: {before.dtype} {before.shape} becomes {after.dtype} {after.shape}{shown}"


def _other_array(array: Any, choice: random.Random) -> Any:
    flat = array.reshape(-1)
    changes: list[Callable[[], Any]] = [
        lambda: array[:-1] if array.ndim else array[None],
        lambda: array[:0] if array.ndim else array[None],
        lambda: np.concatenate([flat, flat]),
        lambda: flat,
        lambda: array[None],
        lambda: array.T,
        lambda: array[..., :-1] if array.ndim else array,
        lambda: np.stack([array, array], axis=-1),
        lambda: _cast(array, choice.choice(TYPES)),
        lambda: _with_value(array, choice),
        lambda: _with_value(array, choice),
        lambda: _with_value(array, choice),
        lambda: flat[::-1].reshape(array.shape),
    ]
    return choice.choice(changes)()


def _cast(array: Any, kind: str) -> Any:
    with np.errstate(all="ignore"):
        return array.astype(kind)


def _with_value(array: Any, choice: random.Random) -> Any:
    """An array with one value that is unusual, or all of them."""
    if not array.size:
        return np.ones(3, array.dtype)
    if array.dtype.kind == "f":
        value = choice.choice((np.nan, np.inf, -np.inf, -1, 0, 1e9, np.finfo(array.dtype).max, 1e-300))
    elif array.dtype.kind == "b":
        value = choice.choice((False, True))
    else:
        limits = np.iinfo(array.dtype)
        value = choice.choice((limits.min, limits.max, 0, 1, 3))
    changed = array.copy()
    if choice.random() < 0.3:
        changed[...] = value
    else:
        changed.reshape(-1)[choice.randrange(array.size)] = value
    return changed


# --- estimators ---------------------------------------------------------------------------------


def _change_estimator(arrays: dict[str, Any], key: str, choice: random.Random) -> str:
    """Change one file of an archive of skops, or a node of its schema."""
    with zipfile.ZipFile(io.BytesIO(arrays[key].tobytes())) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    name = choice.choice(sorted(files))
    if name.endswith(".json"):
        schema = json.loads(files[name])
        change = _change_node(schema, [], choice)
        files[name] = json.dumps(schema).encode()
    elif name.endswith(".npy"):
        array = np.load(io.BytesIO(files[name]), allow_pickle=False)
        target = io.BytesIO()
        np.save(target, _other_array(array, choice))
        files[name], change = target.getvalue(), "another array"
    else:
        del files[name]
        change = "deleted"
    arrays[key] = np.frombuffer(zipped(files, zipfile.ZIP_STORED), dtype=np.uint8)
    return f"{name} of the estimator {key}: {change}"


def zipped(files: dict[str, bytes], compression: int) -> bytes:
    """An archive of these files."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", compression) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content, compression)
    return target.getvalue()


# --- fields, by their annotations ---------------------------------------------------------------


def violations(node: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """For every field of an object of a fitted tree, and of those below it, values that it must not have."""
    for name, kind in field_kinds(type(node)).items():
        yield from _violating(getattr(node, name), kind, (*place, name))


def _violating(value: Any, kind: Any, place: Place) -> Iterator[tuple[Place, Any]]:
    origin, given = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        fitting = [each for each in given if may_be(value, each)]
        yield place, Path("of no kind")
        if value is not None:
            wrong = _violating(value, fitting[0], place)
            yield from ((where, other) for where, other in wrong if where != place or other is not None)
        return
    if kind is Any:
        return
    yield place, Path("of no kind")
    yield place, None
    if origin is Annotated and isinstance(given[1], Between):
        yield place, float("nan")
        yield place, "1"
        if np.isfinite(given[1].least):
            yield place, given[1].least - abs(given[1].least) - 1
    elif origin is Annotated and given[1].sizes is not None and not is_sparse(value):
        yield place, value[None]
        yield place, value.astype(object)
        if value.size and value.dtype.kind == "f":
            yield place, np.full_like(value, np.inf)
    elif origin is Literal or kind is str:
        yield place, 7
    elif kind is bool:
        yield place, 2
    elif kind is float:
        yield place, float("inf")
    elif origin in (list, Sequence):
        if given[0] is not Any:
            yield place, [*value, Path("of no kind")]
        for number, each in enumerate(value[:1]):
            yield from _violating(each, given[0], (*place, number))
    elif origin in (dict, Mapping):
        yield place, list(value)
        for key, each in list(value.items())[:1]:
            yield from _violating(each, given[1], (*place, key))
    elif is_dataclass(value) and not hasattr(value, "get_params"):
        yield from violations(value, place)


def with_value(node: Any, place: Place, value: Any) -> Any:
    """An object of a fitted tree with another value in a place."""
    if not place:
        return value
    name, *rest = place
    if isinstance(node, dict):
        return {**node, name: with_value(node[name], tuple(rest), value)}
    if isinstance(node, list):
        return [*node[:name], with_value(node[name], tuple(rest), value), *node[name + 1 :]]
    return replace(node, **{name: with_value(getattr(node, name), tuple(rest), value)})
