"""What a model remembers of the steps that made it: names of files and counts, nothing else."""

from pathlib import Path

import pytest

from funnelling import load_model
from funnelling.methods.merging import is_whole, remember_step, tuned_for_some
from funnelling.methods.model import Model
from funnelling.research import NaiveClassifier
from funnelling.storage import save
from tests.artificial import text_corpus


@pytest.fixture
def model() -> Model:
    return NaiveClassifier(C=1).fit(*text_corpus()).model_


def test_no_folder_and_nothing_that_is_not_there(model: Model, tmp_path: Path) -> None:
    model = remember_step(
        model, "train", file=tmp_path / "docs.csv", documents={"it": 15, "en": 15}, goal=None
    )
    model = remember_step(model, "update", file=f"{tmp_path}/parts/", documents={"it": 0}, new=0, corrected=2)
    model = remember_step(model, "tune", goal="recall=.9", labels=2)
    model = remember_step(model, "update", file="-")
    after = {"documents": 30, "labels": len(model.labels.classes)}
    assert model.history == [
        {"step": "train", "file": "docs.csv", "documents": {"en": 15, "it": 15}, "after": after},
        {"step": "update", "file": "parts", "corrected": 2, "after": after},
        {"step": "tune", "goal": "recall=.9", "labels": 2, "after": after},
        {"step": "update", "file": "standard input", "after": after},
    ]


def test_the_model_before_stays_as_it_is(model: Model) -> None:
    trained = remember_step(model, "train")
    new = remember_step(trained, "forget", removed={"en": 1})
    assert [step["step"] for step in new.history] == ["train", "forget"]
    assert [step["step"] for step in trained.history] == ["train"]


def test_it_is_saved_and_ends_with_another_fit(model: Model, tmp_path: Path) -> None:
    model = remember_step(model, "train", file="docs.csv", documents={"en": 15})
    save(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert loaded.history_ == model.history
    assert loaded.fit(*text_corpus()).history_ == []


def test_whether_it_tells_of_everything(model: Model) -> None:
    assert not is_whole([], 30)
    model = remember_step(model, "train")
    assert is_whole(model.history, 30)
    assert not is_whole(model.history, 31)  # it learned on since
    model = remember_step(model, "update")
    assert not is_whole(model.history[1:], 30)  # nothing is known of the beginning


def test_other_steps_are_refused(model: Model) -> None:
    with pytest.raises(ValueError, match="'copy' is no step"):
        remember_step(model, "copy")


def test_thresholds_for_some_labels_last_until_all_are_tuned_or_the_model_learns_again(
    model: Model,
) -> None:
    assert not tuned_for_some(model)
    steps: list[tuple[str, dict[str, int], bool]] = [
        ("train", {}, False),
        ("tune", {}, False),
        ("tune", {"labels": 2}, True),
        ("relabel", {"renamed": 1, "dropped": 1}, True),
        ("tune", {}, False),
        ("tune", {"labels": 1}, True),
        ("relabel", {"merged": 2}, False),
        ("tune", {"labels": 1}, True),
        ("update", {}, False),
        ("tune", {"labels": 1}, True),
        ("forget", {}, False),
    ]
    for step, facts, expected in steps:
        model = remember_step(model, step, **facts)
        assert tuned_for_some(model) == expected
