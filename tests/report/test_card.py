"""The model card: what a folder says of the model in it, whatever its labels are called."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from funnelling.evaluation.labels import measure_labels
from funnelling.evaluation.registry import RANKED_MEASURES, measure_languages
from funnelling.methods.merging import remember_step
from funnelling.report.card import _result
from funnelling.research import NaiveClassifier
from funnelling.storage import save_model
from tests.artificial import text_corpus
from tests.funnels import any_funnel


@pytest.fixture
def card(tmp_path: Path) -> str:
    texts, labels, languages = text_corpus()
    named = [["<b>|*odd*" if label == "cats" else label for label in row] for row in labels]
    model = any_funnel(views=None, random_state=0).fit(texts, named, languages)
    truth = [[1, 0], [0, 1]]
    by_label = measure_labels(truth, [[0, 1], [0, 1]], ["en", "it"], ["<b>|*odd*", "dogs"])
    scores = {
        **measure_languages(truth, truth, ["en", "it"]),
        "unknown_labels": 0,
        "by_label": by_label,
        "confused": [["<b>|*odd*", "dogs", 1]],
    }
    save_model(model, tmp_path / "model", scores=scores)
    return (tmp_path / "model" / "README.md").read_text(encoding="utf-8")


def test_it_has_languages_labels_scores_limits_and_how_it_was_made(card: str) -> None:
    assert "\n---\n\n# A Fun(TAT) model\n" in card
    for heading in ("Languages", "Labels", "How good it is", "Probabilities", "Limits", "How it was made"):
        assert f"\n## {heading}\n" in card
    assert "| en | 15 |" in card
    assert "| average | 2 | 1.000 |" in card
    assert "Few training documents: en, it." in card
    assert "| random\\_state | 0 |" in card or "| random_state | 0 |" in card
    assert "scikit-learn" in card


def test_labels_are_shown_as_they_are(card: str) -> None:
    assert "\\<b\\>\\|\\*odd\\*" in card


def test_it_has_the_worst_labels_and_those_taken_for_others(card: str) -> None:
    assert "### Labels, the worst first\n\n| label | documents | predicted |" in card
    assert "| \\<b\\>\\|\\*odd\\* | 1 | 0 | 0 | – | .000 | .000 | en .000 |" in card
    assert "### Labels that are taken for others\n\n| missed | given instead | documents |" in card
    assert "### Labels missed in the same document" not in card


def test_one_that_was_not_measured_says_so(tmp_path: Path) -> None:
    texts, labels, languages = text_corpus()
    save_model(any_funnel(views=None, random_state=0).fit(texts, labels, languages), tmp_path / "model")
    assert "It was not measured" in (tmp_path / "model" / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("compact", [False, True])
def test_it_says_what_the_folder_holds_of_the_training_documents(compact: bool, tmp_path: Path) -> None:
    texts, labels, languages = text_corpus()
    model = any_funnel(views=None, keep="nothing" if compact else "words", random_state=0).fit(
        texts, labels, languages
    )
    save_model(model, tmp_path / "model")
    card = (tmp_path / "model" / "README.md").read_text(encoding="utf-8")
    assert ("the first 200 characters of each text" in card) is not compact


def test_it_says_what_is_not_known_of_its_history(tmp_path: Path) -> None:
    texts, labels, languages = text_corpus()
    model = NaiveClassifier(C=1).fit(texts, labels, languages)
    cards = []
    for steps in ((), ("train",), ("update",)):
        for step in steps:
            model.model_ = remember_step(model.model_, step, file="*docs*.csv")
        save_model(model, tmp_path / "model", force=True)
        cards.append((tmp_path / "model" / "README.md").read_text(encoding="utf-8"))
        model.model_ = replace(model.model_, history=[])
    assert "\n## What it learned from\n\nWhat it learned from is not known" in cards[0]
    assert "| train | \\*docs\\*.csv |" in cards[1]
    assert "not known" not in cards[1]
    assert "That is not all, what came before is not known" in cards[2]


def hub_data(card: str, tmp_path: Path) -> Any:
    """The front matter, as the Hub's own library reads it."""
    hub = pytest.importorskip("huggingface_hub")
    (tmp_path / "card.md").write_text(card, encoding="utf-8")
    return hub.ModelCard.load(tmp_path / "card.md").data


def test_the_hub_reads_what_is_above_it(card: str, tmp_path: Path) -> None:
    data = hub_data(card, tmp_path)
    assert (data.library_name, data.pipeline_tag, data.license) == ("funnelling", "text-classification", None)
    assert data.language == ["en", "it"]
    assert {"funnelling", "multilingual", "multi-label-classification"} <= set(data.tags)
    assert data.metrics == ["f1"]
    results = [(r.dataset_config, r.metric_name, r.metric_value) for r in data.eval_results]
    assert results[0] == ("en", "micro-F1", 1.0)
    assert {config for config, _, _ in results} == {"en", "it", "average"}


def test_names_cannot_break_out_of_the_front_matter(tmp_path: Path) -> None:
    names = ["a: [", "b\n---\nlicense: mit", 'c"\\d', "e\u2028\x85\x7f", "no", "pt_BR", "\U0001f408"]
    corpus = {name: np.eye(4) for name in names}
    labels = {name: ["x: {", "y\nz", "x: {", "y\nz"] for name in names}
    model = NaiveClassifier(C=1).fit(corpus, labels)
    truth = [[1, 0]] * len(names)
    save_model(model, tmp_path / "model", scores=measure_languages(truth, truth, names))
    data = hub_data((tmp_path / "model" / "README.md").read_text(encoding="utf-8"), tmp_path)
    assert data.license is None
    assert set(data.language) == {"no", "pt"}  # which bare YAML takes for a truth value
    assert {result.dataset_config for result in data.eval_results} - {"average"} == set(names)


def test_what_was_not_measured_or_is_no_language_is_left_out(tmp_path: Path) -> None:
    spaces = {name: np.eye(4) for name in ("images", "sounds")}
    model = NaiveClassifier(C=1).fit(spaces, {name: [0, 1, 0, 1] for name in spaces})
    save_model(model, tmp_path / "model")
    data = hub_data((tmp_path / "model" / "README.md").read_text(encoding="utf-8"), tmp_path)
    assert (data.language, data.pipeline_tag, data.eval_results) == (None, None, None)
    assert data.tags == ["funnelling", "single-label-classification"]


def test_of_many_labels_it_has_what_rankings_are_measured_by() -> None:
    values = dict.fromkeys(RANKED_MEASURES, 0.25) | {"micro_f1": 0.125}
    metrics = [
        (each["type"], each["name"]) for each in _result("10 documents in en", "en", values)["metrics"]
    ]
    assert metrics[:2] == [("precision", "P@1"), ("precision", "P@3")]
    assert ("f1", "micro-F1") in metrics
