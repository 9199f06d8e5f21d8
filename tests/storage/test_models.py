"""Models of every kind: all bits come back, equal fits are equal bytes, nothing is unpickled."""

import hashlib
import io
import json
import os
import pickle
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from funnelling import load_model
from funnelling.matrices import is_sparse
from funnelling.research import NaiveClassifier
from funnelling.state import RUNTIME_PARAMETERS, field_kinds, is_class
from funnelling.storage import describe_model, load, save_model
from tests.artificial import vector_corpus
from tests.funnels import any_funnel

from .saved_models import CASES, answers, contents, fitted, small_model, spelled_out

ROOT = Path(__file__).parent.parent.parent


def _elsewhere(*arguments: object, hash_seed: int, threads: int) -> None:
    """Run `saved_models` in a process of its own, whose sets of strings are in another order."""
    subprocess.run(
        [sys.executable, "-m", "tests.storage.saved_models", *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": str(hash_seed), "OMP_NUM_THREADS": str(threads)},
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
    _elsewhere("save", folder, 2, hash_seed=12, threads=2)
    return folder


@pytest.fixture(scope="module")
def answered(here: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a third process says after loading them."""
    folder = Path(shutil.copytree(here, tmp_path_factory.mktemp("answered") / "here"))
    _elsewhere("answer", folder, hash_seed=345, threads=1)
    return folder


def arrays_of(node: Any) -> Iterator[Any]:
    """The arrays of a fitted tree, but for those of scikit-learn's estimators."""
    if isinstance(node, np.ndarray):
        yield node
    elif is_sparse(node):
        yield from (node.data, node.indices, node.indptr)
    elif isinstance(node, dict | list):
        for each in node.values() if isinstance(node, dict) else node:
            yield from arrays_of(each)
    elif is_class(type(node)):
        for name in field_kinds(type(node)):
            yield from arrays_of(getattr(node, name, None))


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
        assert contents(here / case) == contents(elsewhere / case)

    @pytest.mark.parametrize("case", CASES)
    def test_saving_what_was_loaded_gives_the_same_bytes(self, case: str, here: Path, tmp_path: Path) -> None:
        save_model(load_model(here / case), tmp_path / "again")
        assert contents(tmp_path / "again") == contents(here / case)

    @pytest.mark.parametrize("case", CASES)
    def test_loading_unpickles_nothing(self, case: str, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_: object, **__: object) -> None:
            raise AssertionError("something was unpickled")

        for name in ("load", "loads", "Unpickler"):
            monkeypatch.setattr(pickle, name, refuse)
        load_model(here / case)

    @pytest.mark.parametrize("case", CASES)
    def test_what_was_fitted_is_frozen(self, case: str, models: dict[str, Any]) -> None:
        found = list(arrays_of(models[case].model_.fitted))
        assert found
        assert not any(array.flags.writeable for array in found)

    @pytest.mark.parametrize("case", ["fun-auto", "fun-many", "words-and-characters", "dci of vectors"])
    def test_a_pickled_model_says_the_same_and_has_no_caches(self, case: str, models: dict[str, Any]) -> None:
        before = pickle.dumps(models[case])
        said = spelled_out(answers(case, models[case]))
        after = pickle.dumps(models[case])
        assert len(after) == len(before)
        assert spelled_out(answers(case, pickle.loads(after))) == said
        assert clone(models[case]).get_params() == models[case].get_params()

    @pytest.mark.parametrize("case", CASES)
    def test_what_a_folder_holds(self, case: str, here: Path, models: dict[str, Any]) -> None:
        (arrays,) = (here / case).glob("arrays-*.safetensors")
        assert {path.name for path in (here / case).iterdir()} == {"model.json", "README.md", arrays.name}
        document = json.loads((here / case / "model.json").read_text(encoding="utf-8"))
        assert document["files"] == {arrays.name: hashlib.sha256(arrays.read_bytes()).hexdigest()}
        assert document["labels"] == models[case].classes_.tolist()
        assert document["languages"] == models[case].documents_
        for array in load_file(arrays).values():
            if array.tobytes()[:2] == b"PK":  # an estimator
                with zipfile.ZipFile(io.BytesIO(array.tobytes())) as archive:
                    assert all(name.endswith((".json", ".npy", ".npz")) for name in archive.namelist())


@settings(max_examples=15)
@given(
    seed=st.integers(0, 2**31),
    labels=st.integers(1, 5),
    documents=st.integers(6, 25),
    variant=st.sampled_from(["tat", "kfcv"]),
    calibration=st.sampled_from(["platt", "fixed", "none"]),
    gamma=st.one_of(st.none(), st.floats(0.01, 10)),
)
def test_saving_and_loading_changes_no_bit(
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
    model = any_funnel(
        variant,
        views=None,
        folds=3,
        calibration=calibration,
        meta_gamma=gamma,
        meta_C=1,
        random_state=seed,
    ).fit(corpus.X, corpus.y)
    folder = tmp_path_factory.mktemp("law") / "model"
    save_model(model, folder)
    loaded = load_model(folder)
    for question in ("predict", "predict_proba", "decision_function"):
        before, after = (getattr(each, question)(corpus.X) for each in (model, loaded))
        assert all(before[language].tobytes() == after[language].tobytes() for language in before)
    assert loaded.get_params() == model.set_params(n_jobs=None).get_params()


@pytest.mark.parametrize("views", [None, "auto"])
def test_a_model_stays_what_it_was_whatever_the_default(views: str | None, tmp_path: Path) -> None:
    """Every parameter that makes a model is written down, so that no default of a later version counts."""
    save_model(small_model(views=views), tmp_path / "m")
    document = json.loads((tmp_path / "m" / "model.json").read_text(encoding="utf-8"))
    parameters = any_funnel().parameters.get_params().keys()
    written = document["model"]["parameters"].keys()
    assert parameters - written == parameters & set(RUNTIME_PARAMETERS)
    assert load(tmp_path / "m").parameters.get_params()["views"] == views
    assert describe_model(tmp_path / "m")["method"] == ("fun-tat" if views is None else "fun-auto")


class TestDescription:
    def test_many_labels_stand_in_model_json(self, tmp_path: Path) -> None:
        labels = [[f"label {i:03}"] for i in range(200)]
        save_model(NaiveClassifier(C=1).fit(np.eye(200), labels), tmp_path / "m")
        assert describe_model(tmp_path / "m")["labels"] == [label for (label,) in labels]

    def test_estimators_are_told_as_python_writes_them(self, tmp_path: Path) -> None:
        save_model(small_model(base_estimator=LogisticRegression(C=2)), tmp_path / "m")
        assert describe_model(tmp_path / "m")["parameters"]["base_estimator"] == "LogisticRegression(C=2)"

    def test_nothing_tells_where_and_how_it_was_made(self, tmp_path: Path) -> None:
        save_model(small_model(n_jobs=2, verbose=0), tmp_path / "m")
        text = (tmp_path / "m" / "model.json").read_text(encoding="utf-8")
        for trace in ("n_jobs", "verbose", str(tmp_path), os.uname().nodename):
            assert trace not in text


def test_an_unfitted_model_cannot_be_saved(tmp_path: Path) -> None:
    with pytest.raises(NotFittedError):
        save_model(any_funnel(), tmp_path / "m")
    assert not list(tmp_path.iterdir())


class TestReport:
    def test_is_written_only_with_details(self, tmp_path: Path) -> None:
        model = small_model()
        save_model(model, tmp_path / "plain")
        save_model(model, tmp_path / "reported", details={"evaluated_on": "Not measured."})
        assert not (tmp_path / "plain" / "report.html").exists()
        assert "Not measured." in (tmp_path / "reported" / "report.html").read_text(encoding="utf-8")
        assert describe_model(tmp_path / "plain") == describe_model(tmp_path / "reported")

    def test_that_of_an_older_model_does_not_stay(self, tmp_path: Path) -> None:
        save_model(small_model(), tmp_path / "model", details={"evaluated_on": "Not measured."})
        save_model(small_model(base_C=3), tmp_path / "model", force=True)
        assert not (tmp_path / "model" / "report.html").exists()
        assert load_model(tmp_path / "model").base_C == 3

    def test_a_model_loads_without_it(self, tmp_path: Path) -> None:
        save_model(small_model(), tmp_path / "model", details={"evaluated_on": "Not measured."})
        (tmp_path / "model" / "report.html").unlink()
        load_model(tmp_path / "model")
