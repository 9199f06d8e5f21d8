"""What a model remembers of the steps that made it: names of files and counts, nothing else."""

from pathlib import Path

import pytest

from funnelling import NaiveClassifier, load_model, save_model
from funnelling.methods.merging import is_whole, remember_step, tuned_for_some
from tests.artificial import text_corpus


@pytest.fixture
def model() -> NaiveClassifier:
    return NaiveClassifier(C=1).fit(*text_corpus())


def test_no_folder_and_nothing_that_is_not_there(model: NaiveClassifier, tmp_path: Path) -> None:
    remember_step(model, "train", file=tmp_path / "docs.csv", documents={"it": 15, "en": 15}, goal=None)
    remember_step(model, "update", file=f"{tmp_path}/parts/", documents={"it": 0}, new=0, corrected=2)
    remember_step(model, "tune", goal="recall=.9", labels=2)
    remember_step(model, "update", file="-")
    after = {"documents": 30, "labels": len(model.classes_)}
    assert model.model_.history == [
        {"step": "train", "file": "docs.csv", "documents": {"en": 15, "it": 15}, "after": after},
        {"step": "update", "file": "parts", "corrected": 2, "after": after},
        {"step": "tune", "goal": "recall=.9", "labels": 2, "after": after},
        {"step": "update", "file": "standard input", "after": after},
    ]


def test_it_goes_on_from_the_model_before(model: NaiveClassifier) -> None:
    remember_step(model, "train")
    new = NaiveClassifier(C=1).fit(*text_corpus())
    remember_step(new, "forget", before=model, removed={"en": 1})
    assert [step["step"] for step in new.model_.history] == ["train", "forget"]
    assert [step["step"] for step in model.model_.history] == ["train"]


def test_it_is_saved_and_ends_with_another_fit(model: NaiveClassifier, tmp_path: Path) -> None:
    remember_step(model, "train", file="docs.csv", documents={"en": 15})
    save_model(model, tmp_path / "model")
    assert load_model(tmp_path / "model").model_.history == model.model_.history
    assert model.fit(*text_corpus()).history_ == []


def test_whether_it_tells_of_everything(model: NaiveClassifier) -> None:
    assert not is_whole([], 30)
    remember_step(model, "train")
    assert is_whole(model.model_.history, 30)
    assert not is_whole(model.model_.history, 31)  # it learned on since
    remember_step(model, "update")
    assert not is_whole(model.model_.history[1:], 30)  # nothing is known of the beginning


def test_other_steps_are_refused(model: NaiveClassifier) -> None:
    with pytest.raises(ValueError, match="'copy' is no step"):
        remember_step(model, "copy")


def test_thresholds_for_some_labels_last_until_all_are_tuned_or_the_model_learns_again(
    model: NaiveClassifier,
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
        remember_step(model, step, **facts)
        assert tuned_for_some(model) == expected
