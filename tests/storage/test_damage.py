"""Folders that are not what a save left: refused in one line and at once, or they answer as a model does."""

import io
import json
import os
import socket
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from pkgutil import resolve_name
from typing import Annotated, Any, Literal, get_args, get_origin

import numpy as np
import numpy.typing as npt
import pytest
from safetensors.numpy import load_file
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from funnelling import InputError, load_model
from funnelling.matrices import dense
from funnelling.methods.model import Model
from funnelling.state import ANY_ARRAY, OneOf, Rule, StateError, field_kinds, is_class
from funnelling.storage import describe_model, folders, save_model
from funnelling.storage.estimators import from_bytes, to_bytes
from funnelling.storage.models import restored
from funnelling.storage.trees import decode

from .mutations import (
    corrupted,
    forged,
    forgeries,
    kinds_below,
    mutated,
    violations,
    with_value,
    write_signed,
    zipped,
)
from .saved_models import CASES, DATA, fitted, small_model

pytestmark = pytest.mark.filterwarnings("ignore")  # NumPy's and scikit-learn's, of odd numbers

MUTATED = ("fun-auto", "odds of one label", "words-and-characters", "base estimators", "fun-many")
SEEDS = range(40)


def _arrays_name(folder: Path) -> str:
    return next(folder.glob("arrays-*")).name


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model") / "m"
    save_model(small_model(), folder)
    return folder


@pytest.fixture
def copy(model: Path, tmp_path: Path) -> Path:
    for file in model.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    return tmp_path


def _listen(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))


SPECIAL: dict[str, Callable[[Path], object]] = {
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a pipe": lambda path: os.mkfifo(path),
    "a folder": Path.mkdir,
    "a socket": _listen,
}


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
class TestSpecialFiles:
    @pytest.mark.parametrize("mapped", [False, True])
    @pytest.mark.parametrize("name", ["model.json", "arrays"])
    @pytest.mark.parametrize("kind", SPECIAL)
    def test_are_not_read(
        self, kind: str, name: str, mapped: bool, copy: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        name = name if name == "model.json" else _arrays_name(copy)
        monkeypatch.chdir(copy)  # names of sockets are short
        Path(name).unlink()
        SPECIAL[kind](Path(name))
        with pytest.raises(InputError, match=name) as refusal:
            load_model(copy, mapped=mapped)
        assert "\n" not in str(refusal.value)

    def test_a_link_to_a_file_is_read(self, copy: Path) -> None:
        name = _arrays_name(copy)
        (copy / name).rename(copy / "elsewhere")
        (copy / name).symlink_to(copy / "elsewhere")
        load_model(copy)


@pytest.mark.parametrize("mapped", [False, True])
def test_a_file_of_arrays_is_not_read_beyond_what_it_tells(copy: Path, mapped: bool) -> None:
    os.truncate(copy / _arrays_name(copy), 2**40)  # which takes no room on the disk
    with pytest.raises(InputError, match="is not the file that was saved"):
        load_model(copy, mapped=mapped)


def test_a_model_json_has_a_bound(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "MAX_MODEL_BYTES", 100)
    with pytest.raises(InputError, match=r"model\.json has [\d,]+ bytes, and 100 at most are read"):
        load_model(copy)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"format": 1, "model": ' + "[" * 100_000])
def test_nesting_without_end_is_damage(text: str, copy: Path) -> None:
    (copy / "model.json").write_text(text)
    with pytest.raises(InputError, match="the model is damaged"):
        load_model(copy)


class TestTreesThatPromiseMuch:
    @pytest.mark.parametrize(
        "tree",
        [
            {"$": "objects", "dtype": "<U100000000", "items": ["x", "y"]},
            [{"$": "objects", "dtype": "<U999999", "items": ["x"]}] * 99,
            {"$": "objects", "dtype": "V4000000000", "items": [1]},
            {"$": "objects", "dtype": "<f8", "items": [1]},
            {"$": "objects", "dtype": "|O", "items": [[], {}]},
            {"$": "sparse", "shape": [2, 10**12]},
            {"$": "strings"},
            {"$": "1" * 100},
            [{"$": "array"}],
        ],
        ids=lambda tree: json.dumps(tree)[:50],
    )
    def test_are_refused(self, tree: Any) -> None:
        arrays = {
            "/data": np.empty(0, np.float32),
            "/indices": np.empty(0, np.int32),
            "/indptr": np.zeros(3, np.int32),
            "": np.frombuffer(b'{"a": 1}', np.uint8),
        }
        array = Annotated[npt.NDArray[Any], ANY_ARRAY]
        with pytest.raises((ValueError, TypeError, KeyError)):
            decode(tree, list[array] | list[str] | array, arrays)  # type: ignore[valid-type]


class TestEstimatorsThatPromiseMuch:
    @pytest.fixture(scope="class")
    def files(self) -> dict[str, bytes]:
        X, y = np.eye(4), np.array([0, 1, 0, 1])
        content = to_bytes(LogisticRegression().fit(X, y), "it")
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return {name: archive.read(name) for name in archive.namelist()}

    def test_what_was_saved_is_loaded(self, files: dict[str, bytes]) -> None:
        assert from_bytes(zipped(files, zipfile.ZIP_STORED)).predict(np.eye(4)).tolist() == [0, 1, 0, 1]

    def test_a_compressed_one_is_refused(self, files: dict[str, bytes]) -> None:
        with pytest.raises(ValueError, match="compressed"):
            from_bytes(zipped(files, zipfile.ZIP_DEFLATED))

    def test_an_array_larger_than_its_file_is_refused(self, files: dict[str, bytes]) -> None:
        name = next(name for name in files if name.endswith(".npy"))
        head = io.BytesIO()
        np.lib.format.write_array_header_1_0(
            head, {"descr": "<f8", "fortran_order": False, "shape": (10**6, 10**6)}
        )
        with pytest.raises(ValueError, match="larger than its file"):
            from_bytes(zipped({**files, name: head.getvalue()}, zipfile.ZIP_STORED))

    @pytest.mark.parametrize("bomb", [True, False])
    def test_a_matrix_is_not_unpacked_beyond_reason(self, bomb: bool, files: dict[str, bytes]) -> None:
        content = io.BytesIO()
        matrix = sparse.csr_matrix(np.zeros((1, 10)))
        if bomb:  # 8 MB of zeros in some kB
            matrix.data, matrix.indices = np.zeros(10**6), np.zeros(10**6, np.int32)
        else:
            matrix.data, matrix.indices = np.ones(1), np.array([10**6], np.int32)
        matrix.indptr = np.array([0, matrix.data.size], np.int32)
        sparse.save_npz(content, matrix)
        with pytest.raises(ValueError, match="larger than its archive" if bomb else "indices"):
            from_bytes(zipped({**files, "it.npz": content.getvalue()}, zipfile.ZIP_STORED))

    def test_a_file_is_not_read_again_and_again(self, files: dict[str, bytes]) -> None:
        large = io.BytesIO()
        np.save(large, np.zeros(10_000))
        schema = json.dumps({"nodes": [{"file": "large.npy"}] * 1_000}).encode()
        with pytest.raises(ValueError, match="again and again"):
            from_bytes(
                zipped({**files, "large.npy": large.getvalue(), "schema.json": schema}, zipfile.ZIP_STORED)
            )

    def test_one_that_lacks_a_parameter_is_refused(self, files: dict[str, bytes]) -> None:
        schema = json.loads(files["schema.json"])
        del schema["content"]["content"]["C"]
        with pytest.raises(AttributeError):
            from_bytes(zipped({**files, "schema.json": json.dumps(schema).encode()}, zipfile.ZIP_STORED))


def _questions(model: Any, data: str) -> None:
    """Ask a model all that it may be asked; what it cannot answer it refuses."""
    X, _, languages = DATA[data]
    documents, codes = (X, None) if languages is None else (X[:6], languages[:6])
    asked: list[Callable[[], Any]] = [
        lambda: model.predict(documents, languages=codes),
        lambda: model.predict_proba(documents, languages=codes),
        lambda: model.explain(documents, languages=codes),
        lambda: model.thresholds_[model.languages_[0]],
        lambda: model.held_out_scores_ if hasattr(model, "held_out_scores_") else None,
    ]
    for ask in asked:
        with suppress(InputError):
            answer = ask()
            for part in answer.values() if isinstance(answer, dict) else [answer]:
                assert getattr(part, "dtype", None) != np.float64 or np.isfinite(dense(part)).all()


class TestMutations:
    @pytest.fixture(scope="class")
    def saved(self, tmp_path_factory: pytest.TempPathFactory) -> Path:
        folder = tmp_path_factory.mktemp("saved")
        for case in MUTATED:
            save_model(fitted(case), folder / case)
        return folder

    @pytest.mark.parametrize("case", MUTATED)
    def test_a_signed_one_is_refused_or_answers(self, case: str, saved: Path, tmp_path: Path) -> None:
        refusals = []
        for seed in SEEDS:
            mutated(saved / case, tmp_path / "m", seed)
            try:
                loaded = load_model(tmp_path / "m", mapped=bool(seed % 2))
                describe_model(tmp_path / "m")
            except InputError as refusal:
                refusals.append(str(refusal))
            else:
                _questions(loaded, CASES[case][1])
        assert 0 < len(refusals) < len(SEEDS)
        assert not any("\n" in refusal for refusal in refusals)

    @pytest.mark.parametrize("case", CASES)
    def test_a_field_that_is_not_what_its_annotation_says_is_refused(self, case: str) -> None:
        model = fitted(case)._current_model
        tried = list(violations(model))
        for place, value in tried:
            with pytest.raises((StateError, InputError)):
                with_value(model, place, value).check()
        assert len(tried) > 50

    @pytest.mark.parametrize("case", ["fun-auto", "words-and-characters", "base estimators", "fun-many"])
    def test_a_forged_tree_is_refused_in_one_line(self, case: str, saved: Path) -> None:
        document, arrays = json.loads((saved / case / "model.json").read_bytes()), {}
        for name in document["files"]:
            arrays |= load_file(saved / case / name)
        tried = list(forgeries(document["model"], Model))
        for place, value in tried:
            changed = {**document, "model": forged(document["model"], place, value)}
            with pytest.raises(InputError, match="the model is damaged") as refusal:
                restored(saved / case, changed, arrays)
            assert "\n" not in str(refusal.value)
        assert len(tried) > 150

    def test_one_that_is_not_signed_is_refused(self, saved: Path, tmp_path: Path) -> None:
        for seed in SEEDS:
            corrupted(saved / "fun-auto", tmp_path / "m", seed)
            with pytest.raises(InputError, match=r"Copy it again or train anew|Upgrade funnelling"):
                load_model(tmp_path / "m", mapped=bool(seed % 2))


def test_every_annotation_of_every_model_says_what_is_there() -> None:
    """Each resolves, and is of a kind that is known; an array without a size or a bound is none."""
    plain = (str, bool, int, float, type(None))
    kinds = kinds_below(Model)
    assert len(kinds) > 100
    for kind in kinds:
        rule, origin = getattr(kind, "__metadata__", (None,))[0], get_origin(kind)
        known = isinstance(rule, Rule) or is_class(kind) or kind in plain or kind is Any
        assert known or origin in (Literal, list, Sequence, dict, Mapping), kind
        assert origin not in (dict, Mapping) or get_args(kind)[0] is str, kind
        assert not isinstance(rule, OneOf) or all(map(is_class, map(resolve_name, rule.paths))), kind
    anything = {name for name, kind in field_kinds(Model).items() if "typing.Any]" in str(kind)}
    assert anything - {"algorithm"} == {"built", "reading", "history"}


def test_an_estimator_that_takes_no_sparse_vectors_is_loaded(tmp_path: Path) -> None:
    save_model(small_model(base_estimator=GaussianNB()), tmp_path / "m")
    load_model(tmp_path / "m")


def _set(state: dict[str, Any], name: str, value: Any) -> None:
    state[name] = value


TIER_TWO, OWN = "/fitted/learned/tier_two", "/fitted/learned/views/own"


def _learned(state: dict[str, Any]) -> dict[str, Any]:
    learned: dict[str, Any] = state["fitted"]["learned"]
    return learned


def _tier_two(state: dict[str, Any]) -> dict[str, Any]:
    tier_two: dict[str, Any] = _learned(state)["tier_two"]
    return tier_two


Change = Callable[[dict[str, Any], dict[str, Any]], object]  # of the state of a model and its arrays
CHANGES: dict[str, Change] = {
    "a flag is missing": lambda state, _: state["labels"].pop("single_label"),
    "a kind of no calibration": lambda state, _: _set(_tier_two(state)["calibrator"], "kind", "x"),
    "a gamma of nothing": lambda state, _: _set(_tier_two(state)["scorer"], "gamma", {"$": "nan"}),
    "a slope of zeros": lambda _, arrays: arrays[f"{TIER_TWO}/calibrator/slope"].fill(0),
    "weights of NaN": lambda _, arrays: arrays[f"{OWN}/en/scorer/weights"].fill(np.nan),
    "weights beyond all bounds": lambda _, arrays: arrays[f"{OWN}/en/scorer/weights"].fill(1e38),
    "weights of fewer features": lambda _, arrays: _set(
        arrays, f"{OWN}/en/scorer/weights", arrays[f"{OWN}/en/scorer/weights"][1:]
    ),
    "a bias of more labels": lambda _, arrays: _set(
        arrays, f"{TIER_TWO}/scorer/bias", np.zeros(9, np.float32)
    ),
    "coefficients that are turned": lambda _, arrays: _set(
        arrays, f"{TIER_TWO}/scorer/coefficients", arrays[f"{TIER_TWO}/scorer/coefficients"].T
    ),
    "no base classifiers": lambda state, _: _learned(state)["views"]["own"].clear(),
    "another language": lambda state, _: _set(state, "documents", {"EN": 60, "it": 60}),
    "a combination that is none": lambda state, _: _set(_learned(state)["combination"], "how", "x"),
    "a goal that is none": lambda state, _: _set(state["parameters"], "thresholds", ["macro-f1"]),
    "fewer documents in the archive": lambda _, arrays: _set(
        arrays, "/archive/blocks/en/targets", arrays["/archive/blocks/en/targets"][1:]
    ),
    "counts of another shape": lambda _, arrays: _set(
        arrays, f"{TIER_TWO}/held_out/en", arrays[f"{TIER_TWO}/held_out/en"][:, :1]
    ),
    "a parameter that is not saved": lambda state, _: _set(state["parameters"], "encoder", "/home"),
    "an algorithm that is none": lambda state, _: _set(state, "algorithm", "os.system"),
    "vocabularies that are none": lambda state, _: _set(_learned(state)["views"], "vectorizers", {}),
    "features of text": lambda state, _: _set(state["features"], "en", "many"),
    "an array that is not there": lambda _, arrays: arrays.pop(f"{TIER_TWO}/calibrator/slope"),
    "the array of another place": lambda state, _: _set(
        _tier_two(state)["calibrator"], "slope", {"$": "array", "key": f"{TIER_TWO}/scorer/support"}
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_predicting_needs_is_checked(change: str, model: Path, tmp_path: Path) -> None:
    document = json.loads((model / "model.json").read_bytes())
    arrays = {key: array.copy() for key, array in load_file(model / _arrays_name(model)).items()}
    CHANGES[change](document["model"], arrays)
    write_signed(tmp_path / "m", document, arrays)
    with pytest.raises(InputError, match="the model is damaged") as refusal:
        load_model(tmp_path / "m")
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("field", ["parameters", "scores", "versions", "languages"])
def test_what_is_told_is_checked(field: str, model: Path, tmp_path: Path) -> None:
    document = json.loads((model / "model.json").read_bytes())
    document[field] = "x"
    write_signed(tmp_path / "m", document, load_file(model / _arrays_name(model)))
    with pytest.raises(InputError, match="the model is damaged"):
        describe_model(tmp_path / "m")
