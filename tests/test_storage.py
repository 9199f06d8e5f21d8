"""Model folders: every bit comes back, nothing runs, a save is whole or not at all."""

import errno
import hashlib
import io
import json
import os
import pickle
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file
from safetensors.numpy import save as save_arrays
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from funnelling import FunnellingClassifier, InputError, NaiveClassifier, load_model, save_model
from funnelling.storage import describe_model, folders
from funnelling.storage.trees import decode, encode

from . import saved_models
from .artificial import vector_corpus
from .saved_models import CASES, answers, fitted, spelled_out

ROOT = Path(__file__).parent.parent


def _contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def _elsewhere(*arguments: object, hash_seed: int) -> None:
    """Run `saved_models` in a process of its own, whose sets of strings are in another order."""
    subprocess.run(
        [sys.executable, "-m", "tests.saved_models", *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": str(hash_seed), "OMP_NUM_THREADS": "1"},
        check=True,
    )


@pytest.fixture(scope="module")
def models() -> dict[str, Any]:
    return {case: fitted(case, jobs=1) for case in CASES}


@pytest.fixture(scope="module")
def here(models: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All models, fitted by one job, saved by this process."""
    folder = tmp_path_factory.mktemp("here")
    for case, model in models.items():
        save_model(model, folder / case)
    return folder


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, fitted by two jobs in another process."""
    folder = tmp_path_factory.mktemp("elsewhere")
    _elsewhere("save", folder, 2, hash_seed=12)
    return folder


@pytest.fixture(scope="module")
def answered(here: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a third process says after loading them."""
    folder = Path(shutil.copytree(here, tmp_path_factory.mktemp("answered") / "here"))
    _elsewhere("answer", folder, hash_seed=345)
    return folder


class TestEveryKind:
    @pytest.mark.parametrize("case", CASES)
    def test_a_loaded_model_says_the_same_to_the_bit(
        self, case: str, models: dict[str, Any], here: Path, answered: Path
    ) -> None:
        said = spelled_out(answers(case, models[case]))
        assert spelled_out(answers(case, load_model(here / case))) == said
        assert (answered / case / "answers.txt").read_text(encoding="utf-8") == repr(said)

    @pytest.mark.parametrize("case", CASES)
    def test_the_same_seed_gives_the_same_bytes(self, case: str, here: Path, elsewhere: Path) -> None:
        assert _contents(here / case) == _contents(elsewhere / case)

    @pytest.mark.parametrize("case", CASES)
    def test_saving_what_was_loaded_gives_the_same_bytes(self, case: str, here: Path, tmp_path: Path) -> None:
        save_model(load_model(here / case), tmp_path / "again")
        assert _contents(tmp_path / "again") == _contents(here / case)

    @pytest.mark.parametrize("case", CASES)
    def test_loading_unpickles_nothing(self, case: str, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_: object, **__: object) -> None:
            raise AssertionError("something was unpickled")

        for name in ("load", "loads", "Unpickler"):
            monkeypatch.setattr(pickle, name, refuse)
        load_model(here / case)

    @pytest.mark.parametrize("case", CASES)
    def test_what_a_folder_holds(self, case: str, here: Path, models: dict[str, Any]) -> None:
        (arrays,) = (here / case).glob("arrays-*.safetensors")
        assert {path.name for path in (here / case).iterdir()} == {"model.json", arrays.name}
        document = json.loads((here / case / "model.json").read_text(encoding="utf-8"))
        assert document["files"] == {arrays.name: hashlib.sha256(arrays.read_bytes()).hexdigest()}
        assert document["labels"] == models[case].classes_.tolist()
        assert document["languages"] == models[case].documents_
        for array in load_file(arrays).values():
            if array.tobytes()[:2] == b"PK":  # an estimator
                with zipfile.ZipFile(io.BytesIO(array.tobytes())) as archive:
                    assert all(name.endswith((".json", ".npy", ".npz")) for name in archive.namelist())


def _model(**parameters: Any) -> FunnellingClassifier:
    corpus = vector_corpus()
    model = FunnellingClassifier(**{"random_state": 0, "meta_C": 1, **parameters})
    return model.fit(corpus.stacked, corpus.indicator, languages=corpus.languages)


@pytest.fixture(scope="module")
def model() -> FunnellingClassifier:
    return _model()


class TestLaws:
    @settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        seed=st.integers(0, 2**31),
        labels=st.integers(1, 5),
        documents=st.integers(6, 25),
        variant=st.sampled_from(["tat", "kfcv"]),
        calibration=st.sampled_from(["platt", "fixed", "none"]),
        gamma=st.one_of(st.none(), st.floats(0.01, 10)),
    )
    def test_saving_and_loading_changes_no_bit(
        self,
        seed: int,
        labels: int,
        documents: int,
        variant: str,
        calibration: str,
        gamma: float | None,
        tmp_path_factory: pytest.TempPathFactory,
    ) -> None:
        corpus = vector_corpus(documents=documents, labels=labels, seed=seed)
        corpus.y["en"][0], corpus.y["it"][0] = 1, 0  # something to learn
        model = FunnellingClassifier(
            variant, folds=3, calibration=calibration, meta_gamma=gamma, meta_C=1, random_state=seed
        ).fit(corpus.X, corpus.y)
        folder = tmp_path_factory.mktemp("law") / "model"
        save_model(model, folder)
        loaded = load_model(folder)
        for question in ("predict", "predict_proba", "decision_function"):
            before, after = (getattr(each, question)(corpus.X) for each in (model, loaded))
            assert all(before[language].tobytes() == after[language].tobytes() for language in before)
        assert loaded.get_params() == model.set_params(n_jobs=None).get_params()

    values = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
        max_leaves=12,
    )

    @given(values | st.lists(st.text(), min_size=60, max_size=70))
    def test_plain_values_come_back(self, value: Any) -> None:
        tree, arrays = encode(value)
        text = json.dumps(tree, allow_nan=False)
        assert repr(decode(json.loads(text), arrays)) == repr(value)

    @pytest.mark.parametrize(
        "value",
        [
            np.float32(0.1),
            np.float64(0.1),
            np.int64(2**60),
            np.bool_(True),
            np.str_("ü"),
            np.float64("nan"),
            np.array(["a", "bcd"]),
            np.array(["a", "bcd"], dtype=object),
            np.array([True, False]),
            np.array([[1.5, np.nan]], dtype=np.float32),
            np.zeros((0, 3)),
        ],
        ids=repr,
    )
    def test_values_of_numpy_come_back_with_their_type(self, value: Any) -> None:
        tree, arrays = encode(value)
        back = decode(json.loads(json.dumps(tree, allow_nan=False)), arrays)
        assert type(back) is type(value)
        assert back.dtype == value.dtype
        np.testing.assert_array_equal(back, value)


class TestDescription:
    def test_many_labels_stand_in_model_json(self, tmp_path: Path) -> None:
        labels = [[f"label {i:03}"] for i in range(200)]
        save_model(NaiveClassifier(C=1).fit(np.eye(200), labels), tmp_path / "m")
        assert describe_model(tmp_path / "m")["labels"] == [label for (label,) in labels]

    def test_estimators_are_told_as_python_writes_them(self, tmp_path: Path) -> None:
        save_model(_model(base_estimator=LogisticRegression(C=2)), tmp_path / "m")
        assert describe_model(tmp_path / "m")["parameters"]["base_estimator"] == "LogisticRegression(C=2)"

    def test_nothing_tells_where_and_how_it_was_made(self, tmp_path: Path) -> None:
        save_model(_model(n_jobs=2, verbose=0), tmp_path / "m")
        text = (tmp_path / "m" / "model.json").read_text(encoding="utf-8")
        for trace in ("n_jobs", "verbose", str(tmp_path), os.uname().nodename):
            assert trace not in text


class Foreign(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of somebody else's."""

    def fit(self, _X: Any, y: Any) -> "Foreign":
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X: Any) -> Any:
        return np.asarray(X).sum(axis=1)


class TestWhatCannotBeSaved:
    @pytest.mark.parametrize(
        ("parameters", "says"),
        [
            ({"base_estimator": Foreign()}, "base_estimator is a tests.test_storage.Foreign, and only"),
            ({"base_estimator": {"en": Foreign()}}, "base_estimator.en is a tests.test_storage.Foreign"),
            ({"meta_estimator": Foreign()}, "meta_estimator is a tests.test_storage.Foreign"),
            (
                {"base_estimator": make_pipeline(FunctionTransformer(lambda X: X), LogisticRegression())},
                "base_estimator is a sklearn.pipeline.Pipeline and holds a tests.test_storage.<lambda>",
            ),
            (
                {"base_estimator": make_pipeline(FunctionTransformer(np.copy), LogisticRegression())},
                "base_estimator is a sklearn.pipeline.Pipeline and holds a numpy.copy",
            ),
            (
                {"meta_estimator": RandomForestClassifier(n_estimators=2)},
                "holds a sklearn.tree._tree.Tree, which cannot be loaded safely",
            ),
            ({"random_state": np.random.RandomState(0)}, "random_state is a numpy.random.mtrand.RandomState"),
        ],
        ids=[
            "foreign",
            "foreign of a language",
            "foreign meta",
            "lambda",
            "function",
            "forest",
            "random state",
        ],
    )
    def test_is_refused_in_one_line(self, parameters: dict[str, Any], says: str, tmp_path: Path) -> None:
        model = _model(**parameters)
        with pytest.raises(InputError) as refusal:
            save_model(model, tmp_path / "m")
        assert says in str(refusal.value)
        assert "\n" not in str(refusal.value)
        assert not list(tmp_path.iterdir())

    def test_an_unfitted_model(self, tmp_path: Path) -> None:
        with pytest.raises(NotFittedError):
            save_model(FunnellingClassifier(), tmp_path / "m")

    def test_a_vectorizer_with_a_tokenizer_of_its_own(self, tmp_path: Path) -> None:
        texts, labels, languages = saved_models.DATA["texts"]
        vectorizer = TfidfVectorizer(tokenizer=lambda text: text.split(), token_pattern=None)
        model = NaiveClassifier(C=1, vectorizer=vectorizer).fit(texts, labels, languages=languages)
        with pytest.raises(InputError, match=r"vectorizer is a sklearn.*TfidfVectorizer and holds a tests"):
            save_model(model, tmp_path / "m")


class Evil(BaseEstimator):  # type: ignore[misc]
    """What an author of evil would put into a model."""


def test_a_forged_estimator_is_refused(tmp_path: Path) -> None:
    from skops.io import dumps

    save_model(_model(base_estimator=LogisticRegression()), tmp_path / "m")
    document = json.loads((tmp_path / "m" / "model.json").read_text(encoding="utf-8"))
    arrays = load_file(tmp_path / "m" / next(iter(document["files"])))
    for content in (dumps(Evil()), pickle.dumps(Evil()), b"PK rubbish"):
        arrays["/base_estimator"] = np.frombuffer(content, dtype=np.uint8)
        packed = save_arrays(arrays)
        digest = hashlib.sha256(packed).hexdigest()
        name = folders.arrays_name(digest)
        folders.write(tmp_path / "m", {**document, "files": {name: digest}}, {name: packed})
        with pytest.raises(InputError, match="the model is damaged: its content does not fit together"):
            load_model(tmp_path / "m")


WRITES, MOVES = ("write_bytes 0", "write_bytes 1"), ("replace 0", "replace 1")  # the nth call is struck


class TestInterruptedSave:
    @pytest.fixture
    def other(self) -> FunnellingClassifier:
        return _model(base_C=3)

    @pytest.mark.parametrize(
        ("existing", "step"),
        [
            *((existing, step) for existing in ("a model", "an empty folder", "nothing") for step in WRITES),
            *((existing, step) for existing in ("a model", "an empty folder") for step in MOVES),
            ("nothing", "rename 0"),
        ],
    )
    @pytest.mark.parametrize("blow", [KeyboardInterrupt(), OSError(errno.ENOSPC, "No space left on device")])
    def test_leaves_what_was_there(
        self,
        existing: str,
        step: str,
        blow: BaseException,
        model: FunnellingClassifier,
        other: FunnellingClassifier,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        name, _, number = step.partition(" ")
        folder = tmp_path / "m"
        if existing == "a model":
            save_model(model, folder)
        elif existing == "an empty folder":
            folder.mkdir()
        before = _contents(folder) if folder.exists() else None
        untouched, calls = getattr(Path, name), []

        def struck(self: Path, *arguments: Any) -> Any:
            calls.append(self)
            if len(calls) > int(number):
                raise blow
            return untouched(self, *arguments)

        monkeypatch.setattr(Path, name, struck)
        with pytest.raises((KeyboardInterrupt, InputError)):
            save_model(other, folder, force=True)
        monkeypatch.undo()
        assert (_contents(folder) if folder.exists() else None) == before
        assert [path.name for path in tmp_path.iterdir()] == ([] if before is None else ["m"])
        if existing == "a model":
            assert load_model(folder).base_C == model.base_C
        save_model(other, folder, force=True)
        assert load_model(folder).base_C == 3

    def test_a_full_disk_is_told_in_one_line(
        self, model: FunnellingClassifier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(*_: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(Path, "write_bytes", full)
        with pytest.raises(InputError, match=r"m: cannot be written \(no space left on device\)\. Choose"):
            save_model(model, tmp_path / "m")


class TestFolders:
    def test_force_is_needed_to_replace(self, model: FunnellingClassifier, tmp_path: Path) -> None:
        save_model(model, tmp_path / "m")
        with pytest.raises(InputError, match=r"m exists\. Choose another path or add --force"):
            save_model(model, tmp_path / "m")
        save_model(_model(base_C=2), tmp_path / "m", force=True)
        assert load_model(tmp_path / "m").base_C == 2
        assert len(list((tmp_path / "m").iterdir())) == 2

    def test_other_files_in_the_folder_stay(self, model: FunnellingClassifier, tmp_path: Path) -> None:
        save_model(model, tmp_path / "m")
        (tmp_path / "m" / "README").write_text("mine")
        save_model(_model(base_C=2), tmp_path / "m", force=True)
        assert (tmp_path / "m" / "README").read_text() == "mine"

    def test_a_damaged_model_can_be_replaced(self, model: FunnellingClassifier, tmp_path: Path) -> None:
        save_model(model, tmp_path / "m")
        (tmp_path / "m" / "model.json").write_text("{")
        save_model(model, tmp_path / "m", force=True)
        load_model(tmp_path / "m")
        assert len(list((tmp_path / "m").iterdir())) == 2

    def test_a_model_may_be_moved(self, model: FunnellingClassifier, tmp_path: Path) -> None:
        save_model(model, tmp_path / "m")
        (tmp_path / "m").rename(tmp_path / "elsewhere ü")
        load_model(str(tmp_path / "elsewhere ü"))

    def test_labels_of_half_a_character(self, tmp_path: Path) -> None:
        labels = [["\ud800"], ["b"]] * 4
        save_model(NaiveClassifier(C=1).fit(np.eye(8), labels), tmp_path / "m")
        assert load_model(tmp_path / "m").classes_.tolist() == ["b", "\ud800"]
