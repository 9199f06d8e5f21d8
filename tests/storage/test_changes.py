"""Little changes to a model on the disk: written beside the rest, whole or not at all."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from funnelling import FunnellingClassifier, load_model, save_model
from funnelling.storage import save_changes

from .saved_models import contents, small_model


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_model(small_model(optimise="micro-f1"), tmp_path / "m")
    return tmp_path / "m"


def changed(folder: Path, by: float) -> FunnellingClassifier:
    model: FunnellingClassifier = load_model(folder, mapped=True)
    model.cuts_ = model.cuts_ + by
    return model


def save(model: FunnellingClassifier, source: Path, folder: Path) -> None:
    save_changes(model, source, folder, ["cuts_"], scores=None, details={"how": "Not measured."})


def test_only_what_changed_is_another(folder: Path) -> None:
    before = load_model(folder)
    for round_ in (1, 2):
        save(changed(folder, 1.0), folder, folder)
        after = load_model(folder)
        np.testing.assert_array_equal(after.cuts_, before.cuts_ + round_)
        assert len(list(folder.glob("arrays-*"))) == 2
    np.testing.assert_array_equal(after.training_.scores["en"], before.training_.scores["en"])
    save_model(after, folder, force=True)
    assert len(list(folder.glob("arrays-*"))) == 1
    np.testing.assert_array_equal(load_model(folder).cuts_, after.cuts_)


def test_elsewhere_it_is_a_whole_model(folder: Path, tmp_path: Path) -> None:
    before = contents(folder)
    model = changed(folder, 1.0)
    save(model, folder, tmp_path / "other")
    np.testing.assert_array_equal(load_model(tmp_path / "other").cuts_, model.cuts_)
    assert contents(folder) == before


@pytest.mark.parametrize("step", ["write_bytes 0", "write_bytes 1", "replace 0", "replace 1"])
def test_a_blow_leaves_the_old_model(folder: Path, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    save(changed(folder, 1.0), folder, folder)
    before, model = contents(folder), changed(folder, 1.0)
    name, _, number = step.partition(" ")
    untouched, calls = getattr(Path, name), []

    def struck(self: Path, *arguments: Any) -> Any:
        calls.append(self)
        if len(calls) > int(number):
            raise KeyboardInterrupt
        return untouched(self, *arguments)

    monkeypatch.setattr(Path, name, struck)
    with pytest.raises(KeyboardInterrupt):
        save(model, folder, folder)
    monkeypatch.undo()
    assert contents(folder) == before
