"""Little changes to a model on the disk: written beside the rest, whole or not at all."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from funnelling import InputError, storage
from funnelling.methods.model import Model
from funnelling.storage import load, load_to_change, save_changes, save_model
from funnelling.storage.folders import Document

from .saved_models import contents, small_model


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_model(small_model(thresholds="micro-f1"), tmp_path / "m")
    return tmp_path / "m"


Changed = tuple[Model, Document]


def changed(folder: Path, by: float) -> Changed:
    model, document = load_to_change(folder, mapped=True)
    fitted: Any = model.fitted
    tier_two = replace(fitted.learned.tier_two, thresholds=fitted.learned.tier_two.thresholds + by)
    fitted = replace(fitted, learned=replace(fitted.learned, tier_two=tier_two))
    return replace(model, fitted=fitted), document


def thresholds(model: Any) -> Any:
    return model.fitted.learned.tier_two.thresholds


def save(change: Changed, source: Path, folder: Path) -> None:
    model, document = change
    details = {"evaluated_on": "Not measured."}
    save_changes(
        model,
        source,
        folder,
        ["fitted.learned.tier_two.thresholds"],
        document=document,
        scores=None,
        details=details,
    )


def test_only_what_changed_is_another(folder: Path) -> None:
    before = load(folder)
    for round_ in (1, 2):
        save(changed(folder, 1.0), folder, folder)
        after = load(folder)
        np.testing.assert_array_equal(thresholds(after), thresholds(before) + round_)
        assert len(list(folder.glob("arrays-*"))) == 2
    np.testing.assert_array_equal(after.fitted.kept.scores["en"], before.fitted.kept.scores["en"])
    storage.save(after, folder, force=True)
    assert len(list(folder.glob("arrays-*"))) == 1
    np.testing.assert_array_equal(thresholds(load(folder)), thresholds(after))


def test_elsewhere_it_is_a_whole_model(folder: Path, tmp_path: Path) -> None:
    before = contents(folder)
    change = changed(folder, 1.0)
    save(change, folder, tmp_path / "other")
    np.testing.assert_array_equal(thresholds(load(tmp_path / "other")), thresholds(change[0]))
    assert contents(folder) == before


@pytest.mark.parametrize("output", ["m", "other"])
def test_changes_of_a_model_that_is_another_meanwhile_are_refused(folder: Path, output: str) -> None:
    change = changed(folder, 1.0)
    save_model(small_model(base_C=2), folder, force=True)
    before = contents(folder)
    with pytest.raises(InputError, match=r"m: the model has changed meanwhile\. Run the command again\."):
        save(change, folder, folder.parent / output)
    assert contents(folder) == before
    assert [path.name for path in folder.parent.iterdir()] == ["m"]


@pytest.mark.parametrize("step", ["write_bytes 0", "write_bytes 1", "replace 0", "replace 1"])
def test_a_blow_leaves_the_old_model(folder: Path, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    save(changed(folder, 1.0), folder, folder)
    before, change = contents(folder), changed(folder, 1.0)
    name, _, number = step.partition(" ")
    untouched, calls = getattr(Path, name), []

    def struck(self: Path, *arguments: Any) -> Any:
        calls.append(self)
        if len(calls) > int(number):
            raise KeyboardInterrupt
        return untouched(self, *arguments)

    monkeypatch.setattr(Path, name, struck)
    with pytest.raises(KeyboardInterrupt):
        save(change, folder, folder)
    monkeypatch.undo()
    assert contents(folder) == before
