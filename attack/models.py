"""Model folders that are not as they were saved: damaged, signed again by somebody evil, or no files."""

import json
import os
import random
import shutil
import zipfile
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load

from attack.bombs import zip_bomb
from attack.campaign import Outcome, Round, judged
from attack.material import saved
from attack.special import SPECIAL
from funnelling import load_model
from funnelling.runtime.messages import MODEL
from funnelling.storage import describe_model
from tests.storage.mutations import corrupted, mutated, write_signed, zipped
from tests.storage.saved_models import LANGUAGES, TEXTS, answers, spelled_out

ATTACKED = ("fun-tat", "odds", "vectorizer", "base estimator", "mapping fun-tat", "words-and-characters")
OF_ESTIMATORS = ("vectorizer", "base estimator")
MARKER = "evil"  # a file that appears where code of an attacker runs

# Copies a model to a folder with something changed there.
Change = Callable[[Path, Path, random.Random], object]


class Models:
    """Loads folders that were changed, and asks what was loaded."""

    def __init__(self, home: Path) -> None:
        self._folders = {case: saved(home, case) for case in ATTACKED}
        self._answers = {
            case: spelled_out(answers(case, load_model(folder))) for case, folder in self._folders.items()
        }

    def attempt(self, turn: Round) -> Outcome:
        draw = turn.draw("models")
        name = list(CHANGES)[turn.number % len(CHANGES)]
        case = draw.choice(OF_ESTIMATORS if "estimator" in name else ATTACKED)
        what = f"{name}, {case}"
        turn.announce(what)
        folder = turn.folder / "model"
        change = CHANGES[name](self._folders[case], folder, draw)
        if isinstance(change, str):
            what = f"{what}: {change}"
            turn.announce(what)
        mapped, said = draw.random() < 0.5, {}
        os.chdir(turn.folder)

        def use() -> None:
            describe_model(folder)
            model = load_model(folder, mapped)
            said.update(spelled_out(answers(case, model)))
            if "mapping" not in case:
                model.explain(TEXTS[:2], LANGUAGES[:2])

        outcome = judged(what, use)
        if (turn.folder / MARKER).exists():
            return Outcome("let in", what, "the code of an attacker ran")
        if name == "damaged" and said and said != self._answers[case]:
            return Outcome("let in", what, "a damaged model answers")
        return outcome

    def close(self) -> None:
        pass


def _mutate(folder: Path, target: Path, draw: random.Random) -> str:
    return mutated(folder, target, draw.getrandbits(32))


def _damage(folder: Path, target: Path, draw: random.Random) -> str:
    return corrupted(folder, target, draw.getrandbits(32))


def _replace_file(folder: Path, target: Path, draw: random.Random) -> str:
    shutil.copytree(folder, target)
    path = draw.choice([target / MODEL, *target.glob("arrays-*")])
    path.unlink()
    kind = draw.choice(list(SPECIAL))
    SPECIAL[kind](path)
    return f"{path.name} is {kind}"


def _bring_class(folder: Path, target: Path, draw: random.Random) -> None:
    """Name a class that is not ours, in a place of the tree that holds a value of its own."""
    document, arrays = _parts(folder)
    model, evil = document["model"], {"$": "FileIO", "file": MARKER, "mode": "w"}
    model[draw.choice(sorted(model.keys() - {"algorithm", "built"}))] = evil
    write_signed(target, document, arrays)


def _bring_function(folder: Path, target: Path, draw: random.Random) -> None:
    """Have an estimator in skops' form call a function of the system."""
    word = _node("str", "JsonNode", content=json.dumps(f"touch {MARKER}"))
    call = _node("system", "ConstructorFromReduceNode", draw.choice(("os", "posix")))
    call["content"] = _node("tuple", "TupleNode", content=[word])
    schema = {**call, "protocol": 2, "_skops_version": "0.13.0"}
    content = zipped({"schema.json": json.dumps(schema).encode()}, zipfile.ZIP_STORED)
    _write_estimators(folder, target, content)


def _bring_bomb(folder: Path, target: Path, draw: random.Random) -> None:
    """Have an estimator unpack to gigabytes."""
    array = _node("ndarray", "NdArrayNode", "numpy", type="numpy", file="0.npy")
    schema = json.dumps({**array, "protocol": 2, "_skops_version": "0.13.0"}).encode()
    huge = draw.choice(("0.npy", "schema.json"))
    _write_estimators(
        folder, target, zip_bomb(huge, {} if huge == "schema.json" else {"schema.json": schema})
    )


def _nest(folder: Path, target: Path, draw: random.Random) -> None:
    """Nest a tree too deeply to walk."""
    document, arrays = _parts(folder)
    for _ in range(draw.choice((500, 800))):  # what Python's own JSON can still write
        document["scores"] = [document["scores"]]
    write_signed(target, document, arrays)


def _widen(folder: Path, target: Path, draw: random.Random) -> None:
    """Claim matrices of a width that no memory holds."""
    document, arrays = _parts(folder)
    wide = 2 ** draw.choice((31, 40, 62))
    text = json.dumps(document)
    for shape in {json.dumps(node["shape"]) for node in _nodes(document) if "shape" in node}:
        text = text.replace(f'"shape": {shape}', f'"shape": [{json.loads(shape)[0]}, {wide}]')
    write_signed(target, json.loads(text), arrays)


CHANGES: dict[str, Change] = {
    "signed again": _mutate,
    "damaged": _damage,
    "a class that is not ours": _bring_class,
    "signed again (2)": _mutate,
    "a special file": _replace_file,
    "an estimator that calls": _bring_function,
    "signed again (3)": _mutate,
    "an estimator that is a bomb": _bring_bomb,
    "signed again (4)": _mutate,
    "nested": _nest,
    "signed again (5)": _mutate,
    "wide matrices": _widen,
}


def _parts(folder: Path) -> tuple[Any, dict[str, Any]]:
    arrays: dict[str, Any] = {}
    for path in sorted(folder.glob("arrays-*")):
        arrays |= load(path.read_bytes())
    return json.loads((folder / MODEL).read_bytes()), arrays


def _write_estimators(folder: Path, target: Path, content: bytes) -> None:
    document, arrays = _parts(folder)
    for key, array in arrays.items():
        if array.tobytes()[:2] == b"PK":
            arrays[key] = np.frombuffer(content, np.uint8)
    write_signed(target, document, arrays)


def _nodes(tree: Any) -> list[dict[str, Any]]:
    inner = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    return [*([tree] if isinstance(tree, dict) else []), *(node for item in inner for node in _nodes(item))]


_numbers = count(1)


def _node(kind: str, loader: str, module: str = "builtins", **more: Any) -> dict[str, Any]:
    """A node of skops' schema."""
    return {"__class__": kind, "__module__": module, "__loader__": loader, "__id__": next(_numbers), **more}
