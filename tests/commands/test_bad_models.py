"""Folders that are no model, or not as they were saved: refused with the reason, never half loaded."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load, save

from funnelling import InputError
from funnelling.storage.folders import _checksum

from .command import assert_refused, documents, write_jsonl
from .conftest import Refuses


@pytest.fixture
def broken(model: Path, tmp_path: Path) -> Path:
    """A copy of the model to break."""
    write_jsonl(tmp_path / "docs.jsonl", documents())
    return Path(shutil.copytree(model, tmp_path / "model"))


def _arrays(folder: Path) -> Path:
    (path,) = folder.glob("arrays-*.safetensors")
    return path


def _edit(folder: Path, change: Callable[[dict[str, Any]], object], seal: bool = False) -> None:
    """Change model.json, and with ``seal`` make its checksum right again, as an author of evil would."""
    path = folder / "model.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    change(document)
    if seal:
        document["checksum"] = _checksum(document)
    path.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")


def _replace_arrays(folder: Path, content: bytes, seal: bool = False) -> None:
    """Put other arrays into a model, with the name and hash that go with them."""
    _arrays(folder).unlink()
    digest = hashlib.sha256(content).hexdigest()
    name = f"arrays-{digest[:16]}.safetensors"
    (folder / name).write_bytes(content)
    _edit(folder, lambda document: document.update(files={name: digest}), seal)


def _truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


BREAKS: dict[str, tuple[Callable[[Path], object], str]] = {
    "model.json cut off": (lambda m: _truncate(m / "model.json"), "model.json is cut off or no JSON"),
    "model.json empty": (lambda m: (m / "model.json").write_bytes(b""), "model.json is cut off or no JSON"),
    "model.json a list": (lambda m: (m / "model.json").write_text("[]"), "model.json is cut off or no JSON"),
    "model.json nested": (
        lambda m: (m / "model.json").write_text('{"format":' + "[" * 100_000),
        "model.json is cut off or no JSON",
    ),
    "model.json without format": (lambda m: _edit(m, lambda d: d.pop("format")), "cut off or no JSON"),
    "model.json with NaN": (
        lambda m: _edit(m, lambda d: d.update(scores=float("nan"))),
        "its content does not fit together",
    ),
    "model.json not UTF-8": (
        lambda m: (m / "model.json").write_bytes(b'{"format": "\xff"}'),
        "model.json is cut off or no JSON",
    ),
    "arrays cut off": (lambda m: _truncate(_arrays(m)), "is not the file that was saved"),
    "arrays empty": (lambda m: _arrays(m).write_bytes(b""), "is not the file that was saved"),
    "arrays changed": (lambda m: _flip(_arrays(m)), "is not the file that was saved"),
    "arrays missing": (lambda m: _arrays(m).unlink(), "is missing"),
    "labels changed": (
        lambda m: _edit(m, lambda d: d["labels"].reverse()),
        "model.json was changed after it was saved",
    ),
    "a parameter changed": (
        lambda m: _edit(m, lambda d: d["model"].update(base_C=7.0)),
        "model.json was changed after it was saved",
    ),
    "checksum missing": (lambda m: _edit(m, lambda d: d.pop("checksum")), "does not fit together"),
    "other arrays and their hash": (
        lambda m: _replace_arrays(
            m, save({key: np.zeros_like(array) for key, array in load(_arrays(m).read_bytes()).items()})
        ),
        "model.json was changed after it was saved",
    ),
}
# Made by someone who knows the format, so that every checksum is right.
FORGED: dict[str, tuple[Callable[[Path], object], str]] = {
    "a file outside": (
        lambda m: _edit(m, lambda d: d.update(files={"../docs.jsonl": "0" * 64}), seal=True),
        "it names '../docs.jsonl', which is no file of a model",
    ),
    "an absolute file": (
        lambda m: _edit(m, lambda d: d.update(files={"/etc/passwd": "0" * 64}), seal=True),
        "it names '/etc/passwd'",
    ),
    "the folder above": (
        lambda m: _edit(m, lambda d: d.update(files={"..": ""}), seal=True),
        "it names '..'",
    ),
    "no files": (lambda m: _edit(m, lambda d: d.pop("files"), seal=True), "does not fit together (KeyError)"),
    "files a list": (lambda m: _edit(m, lambda d: d.update(files=[1]), seal=True), "does not fit together"),
    "an unknown class": (
        lambda m: _edit(m, lambda d: d.update(model={"$": "Popen", "args": "ls"}), seal=True),
        "does not fit together (TypeError)",
    ),
    "a class of our own, but no model": (
        lambda m: _edit(m, lambda d: d.update(model={"$": "Temperature", "slope": 1}), seal=True),
        "does not fit together (TypeError)",
    ),
    "no tree at all": (
        lambda m: _edit(m, lambda d: d.update(model=1), seal=True),
        "it holds no fitted model",
    ),
    "a model without its fit": (
        lambda m: _edit(m, lambda d: d["model"].pop("fitted"), seal=True),
        "does not fit together (TypeError)",
    ),
    "a field that the class lacks": (
        lambda m: _edit(m, lambda d: d["model"]["fitted"].update(evil=1), seal=True),
        "does not fit together (TypeError)",
    ),
    "a tree without end": (
        lambda m: _edit(m, lambda d: d.update(model=json.loads("[" * 900 + "]" * 900)), seal=True),
        "",
    ),
    "an array in the place of an object": (
        lambda m: _edit(m, lambda d: d["model"].update(label_set={"$": "array"}), seal=True),
        "does not fit together (TypeError)",
    ),
    "arrays that are none": (lambda m: _replace_arrays(m, b"rubbish", seal=True), "does not fit together"),
}
OTHERS: dict[str, tuple[Callable[[Path], object], list[str]]] = {
    "a newer format": (
        lambda m: _edit(m, lambda d: d.update(format=99, readable_by=">=7.2")),
        ["model: the model has format 99, this version reads up to 2. Upgrade funnelling to >=7.2."],
    ),
    "an older format": (
        lambda m: _edit(m, lambda d: d.update(format=1)),
        ["model: the model has format 1, this version reads format 2. Train it again."],
    ),
    "a newer format of unknown versions": (
        lambda m: _edit(m, lambda d: d.update(format=99, readable_by="\x1b[2J")),
        ["model: the model has format 99, this version reads up to 2. Upgrade funnelling."],
    ),
    "an empty folder": (
        lambda m: [p.unlink() for p in m.iterdir()],
        ["model: no model in it", "Check the path"],
    ),
    "model.json missing": (lambda m: (m / "model.json").unlink(), ["model: no model in it"]),
    "a file, not a folder": (
        lambda m: (shutil.rmtree(m), m.write_text("x")),
        ["model: is no folder", "Name the folder of a model"],
    ),
    "nothing at all": (shutil.rmtree, ["model: no such model folder", "Check the path"]),
    "model.json a folder": (
        lambda m: ((m / "model.json").unlink(), (m / "model.json").mkdir()),
        ["model: no model in it"],
    ),
}
CASES = {
    **{
        name: (spoil, ["model: the model is damaged: ", says, "train anew"])
        for name, (spoil, says) in BREAKS.items()
    },
    **{name: (spoil, ["model: the model is damaged: ", says]) for name, (spoil, says) in FORGED.items()},
    **OTHERS,
}


@pytest.mark.parametrize("case", CASES)
def test_predict_refuses(case: str, broken: Path, refuses: Refuses) -> None:
    spoil, says = CASES[case]
    spoil(broken)
    refuses("predict", "model", "docs.jsonl", "-o", "out.jsonl", says=says)
    refuses("evaluate", "model", "docs.jsonl", says=says)


@pytest.mark.parametrize("case", [*BREAKS, "model.json missing", "model.json a folder"])
def test_inspect_refuses(case: str, broken: Path, refuses: Refuses) -> None:
    spoil, says = CASES[case]
    spoil(broken)
    refuses("inspect", "model", says=says)


def test_refusals_in_a_process_of_its_own(broken: Path, tmp_path: Path) -> None:
    spoil, says = CASES["arrays cut off"]
    spoil(broken)
    assert_refused("inspect", "model", cwd=tmp_path, says=says)
    assert_refused("predict", "model", "docs.jsonl", "-o", "out.jsonl", cwd=tmp_path, says=says)


def test_a_forged_attribute_of_a_class_is_not_set(broken: Path) -> None:
    from funnelling import load_model

    _edit(broken, lambda d: d["model"].update(__class__=1, predict=2, _hidden_=3), seal=True)
    with pytest.raises(InputError, match="the model is damaged"):
        load_model(broken)


def test_a_model_of_vectors_reads_no_texts(tmp_path: Path, refuses: Refuses) -> None:
    from funnelling.research import NaiveClassifier
    from funnelling.storage import save_model

    model = NaiveClassifier(C=1, random_state=0).fit(np.eye(8), [["a"], ["b"]] * 4)
    save_model(model, tmp_path / "vectors")
    write_jsonl(tmp_path / "docs.jsonl", documents())
    says = ["vectors: the model was fitted on vectors, not on texts", "Python"]
    refuses("predict", "vectors", "docs.jsonl", says=says)
    refuses("evaluate", "vectors", "docs.jsonl", says=says)
