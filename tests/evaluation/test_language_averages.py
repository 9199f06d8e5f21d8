"""Measures language by language, and their means."""

import json

import numpy as np
import pytest

from funnelling.errors import InputError
from funnelling.evaluation import measure_indicators, measure_languages
from funnelling.evaluation.registry import counts_by_language, mean_measures, mean_of_four, weighted_mean
from tests.evaluation.decisions import PREDICTED, TRUTH


def test_the_measures_are_ready_for_json() -> None:
    result = measure_languages(TRUTH, PREDICTED, ["it", "en", "it", "en"])
    assert json.loads(json.dumps(result)) == result
    assert isinstance(result["languages"]["it"]["documents"], int)


def test_languages_weigh_the_same_whatever_their_size() -> None:
    result = measure_languages([[1], [1], [1], [1]], [[1], [1], [1], [0]], np.array(["it", "it", "it", "en"]))
    assert list(result["languages"]) == ["en", "it"]
    assert result["languages"]["it"]["documents"] == 3
    assert result["average"]["micro_f1"] == 0.5
    assert result["average"]["macro_k_paper"] == 0
    assert "documents" not in result["average"]


def test_every_document_needs_a_language() -> None:
    with pytest.raises(InputError, match="2 documents have 1 languages"):
        measure_languages([[1], [1]], [[1], [1]], ["it"])
    with pytest.raises(InputError, match="row 1 has no language"):
        measure_languages([[1], [1]], [[1], [1]], ["it", None])


def test_decisions_below_each_other_are_cut_into_languages() -> None:
    # In the order of the targets, which need not be alphabetical.
    targets = {"it": TRUTH[:3].astype(bool), "en": TRUTH[3:].astype(bool)}
    tables = counts_by_language(targets, PREDICTED.astype(bool))
    assert {language: int(table[:, 0].sum()) for language, table in tables.items()} == {"it": 3, "en": 1}
    expected = [measure_indicators(TRUTH[rows], PREDICTED[rows]) for rows in (slice(0, 3), slice(3, 4))]
    assert mean_measures(targets, PREDICTED.astype(bool)) == pytest.approx(
        {name: np.mean([each[name] for each in expected]) for name in expected[0]}
    )


def test_the_mean_of_the_papers_four_leaves_the_others_out() -> None:
    four = {"micro_f1": 0.1, "macro_f1_paper": 0.2, "micro_k": 0.3, "macro_k_paper": 0.4}
    assert mean_of_four({**four, "macro_f1": 1.0}) == pytest.approx(0.25)


def test_the_weighted_mean_counts_documents_and_the_plain_one_languages() -> None:
    result = measure_languages([[1], [1], [1], [1]], [[1], [1], [1], [0]], ["en", "en", "en", "is"])
    assert result["average"]["recall"] == 0.5
    weighted = weighted_mean(result["languages"])
    assert weighted["recall"] == 0.75
    assert set(weighted) == set(result["average"])
