"""What is told of a model depends on what it keeps: by what it can be changed, and why not."""

from pathlib import Path
from typing import Any

import pytest

from funnelling import InputError
from funnelling.commands.inspect import inspect_model, possible_changes
from funnelling.funnel.estimator import FunnelEstimator
from funnelling.methods.merging import remember_step
from funnelling.research import NaiveClassifier
from funnelling.storage import save_model
from tests.artificial import text_corpus, vector_corpus
from tests.commands.command import relabel, tune
from tests.funnels import any_funnel

TEXTS, LABELS, LANGUAGES = text_corpus(documents=60)
IDS = [f"id {number}" for number in range(60)]
AGAIN = ("update", "forget", "relabel to merge labels")


def fitted(**parameters: Any) -> FunnelEstimator:
    return any_funnel(**{"views": None, "meta_C": 1, "random_state": 0, **parameters}).fit(
        TEXTS, LABELS, LANGUAGES, ids=IDS
    )


def keeps(model: Any, folder: Path) -> dict[str, Any]:
    save_model(model, folder / "model")
    found: dict[str, Any] = inspect_model(folder / "model")["stored"]
    return found


def test_bags_of_words(tmp_path: Path) -> None:
    model = fitted()
    found = keeps(model, tmp_path)
    assert found["documents"] == model.documents_
    assert found["texts"] == "bags of words"
    assert set(found["bytes"]) == {
        *("ids", "labels", "texts", "beginnings", "posteriors", "scores", "solutions")
    }
    assert found["unsupported_changes"] == {}
    assert found["needs"] == []
    assert "It keeps of 60 training documents: ids, labels, texts (bags of words)" in card(tmp_path)


def test_texts_as_written(tmp_path: Path) -> None:
    assert keeps(fitted(keep="texts"), tmp_path)["texts"] == "as written"
    assert "texts (as written)" in card(tmp_path)


def test_nothing(tmp_path: Path) -> None:
    found = keeps(fitted(keep="nothing"), tmp_path)
    assert (found["documents"], found["texts"], found["bytes"]) == ({}, None, {})
    assert set(found["unsupported_changes"]) == {*AGAIN, "tune"}
    assert found["supported_changes"] == ["relabel"]
    assert "It keeps nothing of its training documents" in card(tmp_path)


def test_a_baseline_has_no_scores_to_tune_by(tmp_path: Path) -> None:
    found = keeps(NaiveClassifier(C=1).fit(TEXTS, LABELS, LANGUAGES, ids=IDS), tmp_path)
    assert found["texts"] == "bags of words"
    assert list(found["unsupported_changes"]) == ["tune"]


def test_one_label_per_document_has_no_thresholds(tmp_path: Path) -> None:
    single = [(labels or ["none"])[0] for labels in LABELS]
    model = any_funnel(views=None, meta_C=1, random_state=0).fit(TEXTS, single, LANGUAGES)
    assert "no thresholds" in keeps(model, tmp_path)["unsupported_changes"]["tune"]


def test_one_tier_2_for_all_languages_has_no_thresholds_of_its_own(tmp_path: Path) -> None:
    """What is said is what `tune` says."""
    model = fitted(zero_shot="auto", zero_shot_joint=True)
    reason = keeps(model, tmp_path)["unsupported_changes"]["tune"]
    with pytest.raises(InputError) as refused:
        model.tune("recall=.9")
    assert reason == str(refused.value)


def test_vectors(tmp_path: Path) -> None:
    vectors = vector_corpus()
    model = any_funnel(views=None, meta_C=1, random_state=0).fit(vectors.X, vectors.y)
    found = keeps(model, tmp_path)
    assert found["texts"] is None
    assert "vectors" in found["bytes"]
    assert "beginnings" not in found["bytes"]
    assert found["supported_changes"] == ["tune", "relabel", "relabel to merge labels"]
    assert tune(tmp_path / "model", "recall=.9").change.goal == "recall=.9"
    (tmp_path / "map.json").write_text('{"0": "1"}')
    assert len(relabel(tmp_path / "model", tmp_path / "map.json").model.labels.classes) == 2


def test_a_history_that_a_fit_in_python_went_past_is_not_all(tmp_path: Path) -> None:
    model = fitted()
    model.model_ = remember_step(model.model_, "train", file="docs.csv", documents=model.documents_)
    save_model(model, tmp_path / "model")
    assert "not all" not in card(tmp_path)
    model.update(["il gatto"], [["cats"]], ["it"], ids=["other"])
    save_model(model, tmp_path / "model", force=True)
    assert "That is not all, what came after is not known" in card(tmp_path)


def card(folder: Path) -> str:
    return (folder / "model" / "README.md").read_text(encoding="utf-8")


def test_documents_without_ids_cannot_be_forgotten() -> None:
    model = any_funnel(views=None).fit(["a cat", "a dog"] * 5, [["x"], ["y"]] * 5, ["en"] * 10)
    assert "no ids" in possible_changes(model.model_)["unsupported_changes"]["forget"]
    model.update(["a cat"], [["x"]], ["en"], ids=["one"])
    assert "forget" in possible_changes(model.model_)["supported_changes"]
