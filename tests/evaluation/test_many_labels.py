"""Measuring methods with more labels than are kept dense: ranked measures, sparse throughout."""

import json
import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from funnelling import Corpus, Document
from funnelling.corpus.label_set import Label, LabelSet
from funnelling.evaluation.change import TEST, PairedDecisions, measure_change
from funnelling.evaluation.comparison import Comparison
from funnelling.evaluation.errors import measure_with_errors
from funnelling.evaluation.fitting import cross_validate
from funnelling.evaluation.measuring import (
    evaluate_classifier,
    evaluate_dummies,
    evaluate_in_detail,
    measure_decisions_in_full,
    model_scores,
    spread,
    truth_of,
)
from funnelling.evaluation.registry import RANKED_MEASURES
from funnelling.evaluation.splits import Trial, examples_in, examples_of
from funnelling.matrices import XMC_MIN_LABELS
from funnelling.report.comparison import comparison_blocks
from funnelling.report.measures import comparison_table, languages_table, notes, side_by_side
from tests.evaluation.many import LABELS, SparseReader, many_labels

MAIN = ["P@1", "P@3", "P@5", "nDCG@5", "PSP@5", "micro-F1"]


def fitted(train: Corpus) -> Any:
    return SparseReader().fit(train)


@pytest.fixture(scope="module")
def method() -> Any:
    return fitted(many_labels())


def test_ranked_measures_come_beside_the_others(method: Any) -> None:
    result = evaluate_in_detail(method, many_labels())
    assert list(result["average"])[: len(RANKED_MEASURES)] == list(RANKED_MEASURES)
    assert "macro_f1_paper" in result["average"]
    # One text in ten says another label than that of the document, which has one.
    assert result["average"]["p_at_1"] == result["languages"]["it"]["p_at_1"] == pytest.approx(0.9)
    assert result["average"]["r_at_10"] == pytest.approx(0.9)
    assert result["average"] == evaluate_classifier(method, many_labels())["average"]
    assert json.loads(json.dumps(result)) == result


def test_dense_answers_to_many_labels_are_ranked_too(method: Any) -> None:
    test = many_labels()
    answers = method.classify(test.texts, None)
    dense, ours = (
        measure_decisions_in_full(test, *each, method.classes.tolist())
        for each in ([part.toarray() for part in answers], answers)
    )
    assert dense["average"] == ours["average"]
    assert dense["ranked"] == ours["ranked"]


def test_up_to_so_many_labels_nothing_is_ranked() -> None:
    train = many_labels(XMC_MIN_LABELS)
    result = evaluate_in_detail(fitted(train), train)
    assert not set(RANKED_MEASURES) & set(result["average"])
    assert "ranked" not in result
    assert not set(RANKED_MEASURES) & set(evaluate_dummies(train, train)["average"])


def test_dense_and_sparse_answers_measure_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    train = many_labels(60)
    dense = measure_with_errors(fitted(train), train)
    for module in ("measuring", "fitting"):
        monkeypatch.setattr(f"funnelling.evaluation.{module}.XMC_MIN_LABELS", 10)
    ours = measure_with_errors(fitted(train), train)
    for name in dense["average"]:
        assert ours["average"][name] == dense["average"][name]
    for key in ("counts", "by_label", "confused", "co_missed", "decisions", "errors", "unknown_labels"):
        assert ours[key] == dense[key], key
    assert np.array(ours["reliability"]) == pytest.approx(np.array(dense["reliability"]))


def test_the_frequencies_of_training_are_those_of_the_documents(method: Any) -> None:
    train = many_labels()
    counts = examples_of(method)
    assert counts.documents == len(train)
    assert (counts.of_labels == examples_in(train, method.classes.tolist()).of_labels).all()


def test_the_floor_ranks_the_most_frequent_labels() -> None:
    train, test = many_labels(), many_labels()
    train.labels[10] = ("l00007",)  # it has five documents then, and every other label four or two
    result = evaluate_dummies(train, test)
    assert result["average"]["micro_f1"] == 0
    with_it = sum("l00007" in labels for labels in test.label_lists())
    assert result["average"]["p_at_1"] == pytest.approx(with_it / len(test))


def test_labels_that_exclude_each_other() -> None:
    train = many_labels(one_label=True)
    test = many_labels(one_label=True)
    test.labels[4] = ("new",)
    model = fitted(train)
    model.single_label = True
    given = [text.split()[0] for text in test.texts]
    probabilities = model.classify(test.texts, None)[1]
    model.classify = lambda *_, **__: (np.array(given, dtype=object), probabilities)
    result = evaluate_in_detail(model, test)
    right = np.mean([[label] == list(own) for label, own in zip(given, test.label_lists(), strict=True)])
    assert result["average"]["accuracy"] == pytest.approx(right)
    assert result["average"]["p_at_1"] == pytest.approx(right)
    assert sum(count for *_, count in result["confusion"]) == len(test)
    one_each = [replace(corpus, one_label=True) for corpus in (train, test)]
    assert evaluate_dummies(*one_each)["average"]["accuracy"] < 0.01


def test_folds_over_training_documents() -> None:
    corpus = many_labels()
    result = cross_validate(SparseReader(), corpus, errors=3)  # type: ignore[arg-type]
    assert result is not None
    assert 0.8 < result["average"]["p_at_1"] <= 0.9
    assert len(result["errors"]) == 3
    assert result["errors"][0]["false_positives"][0]["label"] == "l00000"


def test_labels_above_others_and_excluded_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    train = many_labels(60)
    names = train.label_set()
    labels = [Label(name, parents=(f"half {int(name[-1]) % 2}",), exclude=name == "l00004") for name in names]
    labels += [Label("half 0", parents=("all",)), Label("half 1", parents=("all",)), Label("all")]
    label_set = LabelSet.of(labels)
    results = []
    for many in (100, 10):
        monkeypatch.setattr("funnelling.evaluation.measuring.XMC_MIN_LABELS", many)
        method = fitted(train)
        method.label_set = label_set
        results.append(measure_with_errors(method, train))
    dense, ours = results
    assert ours["rolled_up"] == dense["rolled_up"]
    assert ours["excluded_labels"] == dense["excluded_labels"] == 1
    assert ours["errors"] == dense["errors"] != []


def test_methods_are_compared_and_tested_by_ranked_measures() -> None:
    trial = Trial(many_labels(), many_labels(wrong=3), Corpus())

    class Worse(SparseReader):
        def classify(self, texts: list[str], languages: Any) -> Any:
            return super().classify([text.replace("l000", "x", 1) for text in texts], languages)

    makers = {"naive": lambda seed: SparseReader(), "pooled": lambda seed: Worse()}  # noqa: ARG005
    result = Comparison([trial], makers).run()  # type: ignore[arg-type]
    assert list(result["pairs"]) == ["p_at_1", "p_at_3", "p_at_5", "ndcg_at_5", "psp_at_5", "micro_f1"]
    assert result["best"]["p_at_1"] == "naive"
    assert all(pairs[0]["p_groups"] == 0.001 for pairs in result["pairs"].values())
    table = comparison_table(result)
    assert table.header == ["method", *MAIN, "fit s", "predict s"]
    assert [group for group, _ in side_by_side(result["methods"]).groups] == MAIN
    assert any(note.startswith("(assigns nothing): the labels that") for note in notes(result))
    assert comparison_blocks(result)
    assert json.loads(json.dumps(result)) == result


def test_the_table_of_a_model_has_the_main_measures_alone(method: Any) -> None:
    scores = model_scores(evaluate_in_detail(method, many_labels()))
    assert languages_table(scores).header == ["language", "documents", *MAIN]
    assert notes(scores)[0].startswith("P@k")
    assert "ranked" not in scores


def test_what_changes_between_two_models() -> None:
    test = many_labels(wrong=3)
    truth = truth_of(test, [f"l{number:05}" for number in range(LABELS)])
    none = sparse.csr_array(truth.shape, dtype=bool)
    units = list(range(truth.shape[0]))
    change = measure_change({"en": PairedDecisions(TEST, truth, truth, none, units)}, one_label=False)
    assert change.after["en"]["documents"] == len(test)
    assert [fall.measure for fall in change.regressions][:1] == ["micro_f1"]


def test_rows_of_models_that_serve_some_documents() -> None:
    rows = np.array([[1, 0], [0, 2]])
    places = np.array([False, True, False, True])
    assert (spread(sparse.csr_array(rows), places).toarray() == spread(rows, places)).all()


def test_nothing_dense_is_made() -> None:
    count = 20_000
    names = [f"l{number:05}" for number in range(count)]
    corpus = Corpus.from_documents(Document(name, name, language="en", labels=(name,)) for name in names)
    model = fitted(corpus)
    tracemalloc.start()
    result = evaluate_in_detail(model, corpus)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert result["average"]["p_at_1"] == 1
    assert most < count * count / 4  # bytes: a dense matrix would take four times as many
