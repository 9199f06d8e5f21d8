"""Model folders that keep a label set."""

from pathlib import Path
from typing import Any

import pytest

from funnelling import InputError, LabelSet, load_model
from funnelling.corpus.label_set import Label
from funnelling.research import NaiveClassifier
from funnelling.storage import save_model

from .mutations import mutated

TEXTS = ["the cat sleeps", "a dog barks", "a bird sings"] * 5


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with more names than stand in its tree."""
    model = NaiveClassifier(C=1).fit(TEXTS, [["cat"], ["dog"], ["bird"]] * 5, languages=["en"] * 15)
    more = [Label(f"more {i}", {"en": f"More {i}"}, parents=("cat",)) for i in range(100)]
    model.label_set_ = LabelSet.of(
        [Label("cat", {"en": "Cat", "de": "Katze"}), Label("dog", parents=("cat",)), *more, Label("bird")]
    ).excluding(["bird"])
    path = tmp_path_factory.mktemp("kept") / "model"
    save_model(model, path)
    return path


def _answers(model: Any) -> list[list[int]]:
    answers: list[list[int]] = model.predict(["a cat", "a dog", "a bird"], languages=["en"] * 3).tolist()
    return answers


def test_it_is_kept(folder: Path) -> None:
    model: Any = load_model(folder)
    assert model.label_set_["cat"].names == {"en": "Cat", "de": "Katze"}
    assert model.label_set_["more 7"].parents == ("cat",)
    assert _answers(model) == [[0, 1, 0], [0, 1, 1], [0, 0, 0]]


def test_it_stays_with_a_model_that_learns_on(folder: Path) -> None:
    model = load_model(folder)
    model.update(["il gatto dorme"] * 3, [["cat"]] * 3, languages=["it"] * 3)
    assert _answers(model) == [[0, 1, 0], [0, 1, 1], [0, 0, 0]]


def test_it_follows_labels_that_are_renamed(folder: Path) -> None:
    model: Any = load_model(folder)
    model.relabel({"cat": "felines", "bird": "wings"})
    assert model.label_set_["felines"].names["de"] == "Katze"
    assert _answers(model) == [[0, 1, 0], [0, 1, 1], [0, 0, 0]]


def test_a_changed_one_is_refused_or_answers(folder: Path, tmp_path: Path) -> None:
    refusals = []
    for seed in range(60):
        mutated(folder, tmp_path / "m", seed)
        try:
            _answers(load_model(tmp_path / "m"))
        except InputError as refusal:
            refusals.append(str(refusal))
    assert 0 < len(refusals) < 60
    assert not any("\n" in refusal for refusal in refusals)
