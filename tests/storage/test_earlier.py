"""A model that an earlier version saved says the same in this one."""

import json
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from funnelling import load_model
from funnelling.storage.models import describe_model

from .earlier_models import EARLIER

ARCHIVES = sorted(EARLIER.glob("*/*.tar.xz"))


@pytest.fixture(params=ARCHIVES, ids=lambda path: f"{path.parent.name} {path.name.removesuffix('.tar.xz')}")
def archive(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


@pytest.fixture
def model(archive: Path, tmp_path: Path) -> Path:
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path / "model", filter="data")
    return tmp_path / "model"


@pytest.fixture
def said(archive: Path) -> dict[str, Any]:
    told = Path(str(archive).replace(".tar.xz", ".json"))
    return dict(json.loads(told.read_text(encoding="utf-8")))


def test_it_says_what_it_said(said: dict[str, Any], model: Path) -> None:
    loaded = load_model(model)
    assert loaded.classes_.tolist() == said["labels"]
    probabilities = loaded.predict_proba(said["texts"], languages=said["languages"])
    np.testing.assert_allclose(probabilities, said["probabilities"], rtol=0, atol=1e-5)


def test_it_says_who_can_read_it(archive: Path, said: dict[str, Any], model: Path) -> None:
    described = describe_model(model)
    assert described["funnelling"] == archive.parent.name
    assert described["format"] == said["format"]
    assert described["readable_by"] == said["readable_by"]


def test_models_of_the_first_format_are_kept() -> None:
    assert {path.name.partition(".tar")[0] for path in ARCHIVES if path.parent.name == "0.1.0"} >= {
        "fun-auto",
        "fun-tat",
        "naive",
        "pooled",
        "odds",
        "odds of one label",
    }
