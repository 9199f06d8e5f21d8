"""Tuning a model folder: what comes back is what was saved."""

from pathlib import Path

import pytest

from funnelling import load_model
from funnelling.commands.tune import named_labels
from funnelling.methods.merging import tuned_for_some
from funnelling.storage import describe_model, load, save_model
from tests.artificial import text_corpus
from tests.commands.command import tune
from tests.funnels import any_funnel


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    model = any_funnel(views=None, meta_C=1, random_state=0).fit(*text_corpus(60))
    save_model(
        model, tmp_path / "model", scores={"average": {}, "languages": {}, "evaluated_on": "Measured before."}
    )
    return tmp_path / "model"


def test_what_comes_back_is_what_was_saved(folder: Path) -> None:
    tuned = tune(folder, "recall=.9")
    assert (
        load_model(folder).model_.fitted.learned.tier_two.thresholds.tolist()
        == tuned.model.fitted.learned.tier_two.thresholds.tolist()
    )
    described = describe_model(folder)
    assert described["parameters"]["thresholds"] == "ThresholdTuning(goal='recall=.9', min_threshold=0.0)"
    assert described["scores"]["evaluated_on"] == tuned.measurement.how != "Measured before."
    assert described["scores"]["languages"].keys() == {"en", "it"}


def test_the_folder_names_no_label_that_was_tuned(folder: Path) -> None:
    """It may be one that is to be forgotten, or dropped: the history stays, and so may the card."""
    label = str(load_model(folder).classes_[0])
    tuned = tune(folder, "recall=.9", labels=[label])
    number = len(tuned.model.labels.classes)
    assert tuned.model.history[-1]["labels"] == 1
    assert tuned_for_some(load(folder))
    assert f"after thresholds of 1 of {number} labels were tuned for recall=.9;" in tuned.measurement.how
    tune(folder, "recall=.8")
    assert not tuned_for_some(load(folder))


def test_a_tuned_model_learns_on_by_its_goal(folder: Path) -> None:
    tune(folder, "precision=.7")
    texts, labels, languages = text_corpus(20, seed=1)
    grown = load_model(folder).update(texts, labels, languages, ids=[f"new {i}" for i in range(20)])
    before = grown.model_.fitted.learned.tier_two.thresholds.copy()
    grown.tune("precision=.7")
    assert grown.model_.fitted.learned.tier_two.thresholds.tolist() == before.tolist()


def test_labels_are_named_between_commas_or_in_a_file(tmp_path: Path) -> None:
    assert named_labels("money, sport,") == ["money", "sport"]
    (tmp_path / "labels").write_text("arts, crafts\n\n sport \n", encoding="utf-8")
    assert named_labels(str(tmp_path / "labels")) == ["arts, crafts", "sport"]
    assert named_labels("a" * 5000) == ["a" * 5000]
