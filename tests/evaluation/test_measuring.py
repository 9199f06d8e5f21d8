"""Measuring fitted methods: known labels, one label per document, the rejector."""

import json
from dataclasses import replace

import numpy as np
import pytest

from funnelling import Corpus, Document
from funnelling.evaluation.measuring import (
    evaluate_classifier,
    evaluate_dummies,
    evaluate_in_detail,
    model_scores,
    supported_documents,
)
from funnelling.evaluation.registry import PAPER_MEASURES
from funnelling.research import NaiveClassifier
from tests.evaluation.oracle import Oracle, made_corpus


def test_by_heart_is_perfect() -> None:
    corpus = made_corpus()
    result = evaluate_classifier(Oracle().fit(corpus), corpus)
    assert all(result["average"][measure] == 1 for measure in PAPER_MEASURES)
    assert result["languages"]["en"]["documents"] == 20
    assert result["unknown_labels"] == 0


def test_labels_unknown_to_training_are_dropped_and_counted() -> None:
    train = made_corpus()
    test = Corpus.from_documents([Document("1", "en 1", language="en", labels=("a", "b", "new", "newer"))])
    result = evaluate_classifier(Oracle().fit(train), test)
    assert result["unknown_labels"] == 2
    assert result["average"]["micro_f1"] == 1


def test_a_single_label_method() -> None:
    corpus = made_corpus()
    y = [labels[-1] for labels in corpus.labels if labels]
    model = NaiveClassifier(C=100, random_state=0).fit(corpus.texts, y, corpus.languages).model_
    corpus = replace(corpus, labels=[(label,) for label in y])
    truth = np.array(y)
    right = (model.predict(corpus.texts, languages=corpus.languages) == truth).mean()
    assert evaluate_classifier(model, corpus)["average"]["micro_f1"] == pytest.approx(right)


def test_a_document_without_evidence_counts_like_any_other() -> None:
    corpus = made_corpus()
    blank = [Document(str(i), "", language="en", labels=("a",)) for i in range(5)]
    test = Corpus.from_documents(blank)
    model = NaiveClassifier(C=1, random_state=0).fit(corpus.texts, corpus.labels, corpus.languages).model_
    assert evaluate_in_detail(model, test)["counts"] == [[0, 0], [0, 0], [5, 0]]
    y = [labels[-1] for labels in corpus.labels]
    model = NaiveClassifier(C=1, random_state=0).fit(corpus.texts, y, corpus.languages).model_
    given = model.labels.classes == model.predict([""], languages=["en"])
    expected = [5 * (given & (model.labels.classes == "a")), 5 * (given & (model.labels.classes != "a"))]
    assert evaluate_in_detail(model, test)["counts"][:2] == [column.tolist() for column in expected]


def test_the_rejector_scores_where_labels_are_absent() -> None:
    train = made_corpus()
    test = Corpus.from_documents([Document("1", "x", language="en", labels=("a",))])
    result = evaluate_dummies(train, test)
    assert result["average"]["micro_f1"] == 0
    assert result["average"]["macro_f1_paper"] == 0.5  # b is absent and left alone


def test_what_a_model_keeps_of_a_full_result() -> None:
    corpus = made_corpus()
    result = evaluate_in_detail(Oracle().fit(corpus), corpus)
    scores = model_scores(result)
    assert list(scores) == [
        *("average", "languages", "unknown_labels", "calibration_error", "calibration"),
        *("most_missed", "by_label", "confused", "co_missed"),
    ]
    assert (scores["calibration_error"], scores["most_missed"]) == (0, [])
    assert scores["calibration"] == [{"from": 0.9, "to": 1.0, "n_predicted": 60, "n_correct": 60}]
    assert [(row["label"], row["f1"], row["threshold"]) for row in scores["by_label"]] == [
        ("a", 1, [0.5, 0.5]),
        ("b", 1, [0.5, 0.5]),
    ]
    assert scores["confused"] == scores["co_missed"] == []
    assert result["counts"] == [[40, 20], [0, 0], [0, 0]]


def test_a_full_result_says_what_goes_wrong_and_a_model_keeps_the_worst_of_it() -> None:
    test = made_corpus(4)
    test.texts[5] = test.texts[7] = "unknown"  # it: a and b are missed together, twice
    result = evaluate_in_detail(Oracle().fit(made_corpus()), test)
    assert [row["label"] for row in result["by_label"]] == ["b", "a"]
    assert [row["label"] for row in model_scores(result)["most_missed"]] == ["b", "a"]
    assert result["by_label"][0]["languages"] == [
        {"language": "it", "support": 2, "n_predicted": 0, "n_correct": 0, "f1": 0}
    ]
    assert result["co_missed"] == [["a", "b", 2]]
    assert result["confused"] == []
    assert [row["label"] for row in model_scores(result, labels=1)["by_label"]] == ["b"]
    assert model_scores(result, pairs=None)["co_missed"] == [["a", "b", 2]]
    assert json.loads(json.dumps(result["by_label"])) == result["by_label"]


def test_a_full_result_keeps_the_decisions_on_each_document() -> None:
    test = made_corpus(2)
    test.texts[2] = "unknown"
    result = evaluate_in_detail(Oracle().fit(made_corpus()), test)
    assert result["decisions"] == {"classes": ["a", "b"], "given": [[0], [0, 1], [], [0, 1]]}
    assert json.loads(json.dumps(result["decisions"])) == result["decisions"]


def test_the_decision_of_a_method_that_gives_one_label() -> None:
    corpus = made_corpus()
    y = [labels[-1] for labels in corpus.labels if labels]
    model = NaiveClassifier(C=100, random_state=0).fit(corpus.texts, y, corpus.languages).model_
    kept = evaluate_in_detail(model, corpus)["decisions"]
    given = [[kept["classes"][column] for column in columns] for columns in kept["given"]]
    assert given == [[label] for label in model.predict(corpus.texts, languages=corpus.languages)]


def test_documents_in_a_language_without_training_documents_are_not_servable() -> None:
    method = Oracle().fit(made_corpus())
    assert supported_documents(made_corpus(2, ("de", "it")), method).tolist() == [False, False, True, True]
