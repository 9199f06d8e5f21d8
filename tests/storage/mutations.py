"""Model folders that somebody, or something, has changed: signed again so that they look whole, or not.

The checksum of a model is no secret: what matters is that each of these folders is refused in one line, or
answers as a model does. `violations` of values and `forgeries` of trees are made by the annotations of the
fields, so that those of a new node are tried without being listed.
"""

import hashlib
import io
import json
import random
import shutil
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy as shallow_copy
from copy import deepcopy
from dataclasses import replace
from functools import cache
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Literal, get_args, get_origin

import numpy as np
from safetensors.numpy import load, save

from funnelling.matrices import is_sparse
from funnelling.methods.model import Model
from funnelling.methods.registry import METHODS, algorithm_named, stored_algorithm
from funnelling.runtime.messages import MODEL
from funnelling.state import (
    FOREIGN,
    Between,
    Keys,
    Length,
    OneOf,
    Table,
    alternatives,
    field_kinds,
    is_class,
    may_be,
)
from funnelling.storage import folders
from funnelling.storage.trees import NOT_FINITE, model_kinds

Place = tuple[Any, ...]  # the keys that lead to a node
UNCHANGED = ("checksum", "files")  # are made anew
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 7, 10**9, 10**30, 0.5, -1.5, 1e300, 1e20, "", "x", "own", "none"),
    *([], ["x"], [[]], {}, [0, 1], "9" * 40, {"$": "nan"}, {"$": "-inf"}, {"$": []}, {"$": "x"}, {"en": 1}),
    *({"$": "array"}, {"$": "strings"}, {"$": "estimator"}, {"$": "sparse", "shape": [2, 10**12]}),
    {"$": "objects", "dtype": "<U100000000", "items": ["x", "y"]},
    {"$": "objects", "dtype": "|O", "items": [{}, None]},
)
MARKS = ("array", "sparse", "objects", "strings", "estimator", "Popen")
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
        change = _change_node(document, choice)
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


def _change_node(document: Any, choice: random.Random) -> str:
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
            new = _varied(value, choice)
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


def _varied(value: Any, choice: random.Random) -> Any:
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
        case {"$": str(name)}:
            other = choice.choice((*sorted(class_names()), *MARKS))
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
        change = _change_node(schema, choice)
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


def kinds_below(kind: Any, seen: dict[Any, None] | None = None) -> dict[Any, None]:
    """All kinds that a value of a kind may have in it, those of the fields of its objects among them."""
    seen = {} if seen is None else seen
    for each in alternatives(kind):
        if each in seen:
            continue
        seen[each] = None
        rule, given = _rule(each), get_args(each)
        below: Sequence[Any] = ()
        if isinstance(rule, OneOf):
            below = [resolve_name(path) for path in rule.paths]
        elif isinstance(rule, Length | Keys):
            below = given[:1]
        elif each is Model:
            algorithms = {stored_algorithm(algorithm): algorithm for algorithm in _algorithms()}
            below = [kind for algorithm in algorithms.values() for kind in model_kinds(algorithm).values()]
        elif is_class(each):
            below = list(field_kinds(each).values())
        elif get_origin(each) in (list, Sequence, dict, Mapping):
            below = given
        for inner in below:
            kinds_below(inner, seen)
    return seen


@cache
def class_names() -> frozenset[str]:
    """What the classes are called of which a model may have objects."""
    return frozenset((get_origin(each) or each).__name__ for each in kinds_below(Model) if is_class(each))


def _algorithms() -> list[Any]:
    return [resolve_name(entry.algorithm) for entry in METHODS.values()]


def _rule(kind: Any) -> Any:
    return getattr(kind, "__metadata__", (None,))[0]


def _may_be_foreign(kind: Any) -> bool:
    """Whether a kind takes any object: what one holds, only it knows."""
    return any(_rule(each) is FOREIGN for each in alternatives(kind))


def violations(node: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """For every field of an object of a fitted tree, and of those below it, values that it must not have."""
    kinds = model_kinds(node.algorithm) if isinstance(node, Model) else field_kinds(type(node))
    for name, kind in kinds.items():
        if name not in ("algorithm", "parameters", "built"):
            yield from _violating(getattr(node, name), kind, (*place, name))


def _violating(value: Any, kind: Any, place: Place) -> Iterator[tuple[Place, Any]]:
    if kind is Any or _may_be_foreign(kind):
        return
    yield place, Path("of no kind")
    if type(None) not in alternatives(kind):
        yield place, None
    kind = next(each for each in alternatives(kind) if may_be(value, each))
    origin, given, rule = get_origin(kind), get_args(kind), _rule(kind)
    if isinstance(rule, Length | Keys):
        yield place, 7
        yield from _violating(value, given[0], place)
    elif isinstance(rule, Between):
        yield place, float("nan")
        yield place, "1"
        if np.isfinite(rule.least):
            yield place, rule.least - abs(rule.least) - 1
    elif isinstance(rule, Table):
        if rule.sizes is not None and not is_sparse(value):
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
        if not _may_be_foreign(given[0]):
            yield place, [*value, Path("of no kind")]
        for number, each in enumerate(value[:1]):
            yield from _violating(each, given[0], (*place, number))
    elif origin in (dict, Mapping):
        yield place, list(value)
        for key, each in list(value.items())[:1]:
            yield from _violating(each, given[1], (*place, key))
    elif is_class(type(value)):
        yield from violations(value, place)


def forgeries(tree: Any, kind: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """For every object in the tree of a value of a kind, and for every union, what must not stand there."""
    kinds = alternatives(kind)
    rules = [_rule(each) for each in kinds]
    if inner := [get_args(each)[0] for each in kinds if isinstance(_rule(each), Length | Keys)]:
        yield from forgeries(tree, inner[0], place)
        return
    if isinstance(tree, list):
        items = [get_args(each)[0] for each in kinds if get_origin(each) in (list, Sequence)]
        for number, each in enumerate(tree[:2] if items else ()):
            yield from forgeries(each, items[0], (*place, number))
    if not isinstance(tree, dict):
        return
    mark, name = tree.get("$"), "$"
    values = [get_args(each)[1] for each in kinds if get_origin(each) in (dict, Mapping)]
    if mark is None and values:
        for key, each in list(tree.items())[:2]:
            yield from forgeries(each, values[0], (*place, key))
        return
    if Any in kinds or mark in (*MARKS, *NOT_FINITE):
        return
    paths = [path for rule in rules if isinstance(rule, OneOf) for path in rule.paths]
    paths += [entry.estimator for entry in METHODS.values()] if FOREIGN in rules else []
    classes = [each for each in kinds if is_class(each)] + [resolve_name(path) for path in paths]
    allowed = {(get_origin(each) or each).__name__: each for each in classes}
    for other in [*sorted(class_names() - allowed.keys())[::9], *MARKS, ["x"]]:
        yield (*place, name), other
    owner = classes[0] if mark is None else allowed[mark]
    fields = model_kinds(algorithm_named(tree["algorithm"])) if owner is Model else field_kinds(owner)
    yield place, {**tree, "further": 1}
    for each in tree.keys() - {"$"}:
        yield place, {key: value for key, value in tree.items() if key != each}
        yield from forgeries(tree[each], fields[each], (*place, each))


def forged(tree: Any, place: Place, value: Any) -> Any:
    """A tree with another value in a place."""
    if not place:
        return value
    copy = tree.copy()
    copy[place[0]] = forged(tree[place[0]] if len(place) > 1 else None, place[1:], value)
    return copy


def with_value(node: Any, place: Place, value: Any) -> Any:
    """An object of a fitted tree with another value in a place."""
    if not place:
        return value
    name, *rest = place
    if isinstance(node, dict):
        return {**node, name: with_value(node[name], tuple(rest), value)}
    if isinstance(node, list):
        return [*node[:name], with_value(node[name], tuple(rest), value), *node[name + 1 :]]
    changed = with_value(getattr(node, name), tuple(rest), value)
    if not hasattr(node, "get_params"):
        return replace(node, **{name: changed})
    copy = shallow_copy(node)
    setattr(copy, name, changed)
    return copy
