"""Sums over trials: means and deviations."""

from typing import Any

import numpy as np
import pytest

from funnelling.evaluation.comparison import summarise_trials
from funnelling.evaluation.registry import PAPER_MEASURES


def _result(**languages: float) -> dict[str, Any]:
    values = {language: dict.fromkeys(PAPER_MEASURES, score) for language, score in languages.items()}
    average = dict.fromkeys(PAPER_MEASURES, sum(languages.values()) / len(languages))
    return {
        "average": average,
        "languages": {language: {**value, "documents": 10} for language, value in values.items()},
        "fit_seconds": 2.0,
        "predict_seconds": 1.0,
    }


def test_of_one_trial() -> None:
    summary = summarise_trials([_result(en=0.4, it=0.6)])
    assert summary["average"]["micro_f1"] == 0.5
    assert summary["deviation"] is None
    assert summary["language_deviation"]["micro_f1"] == pytest.approx(np.std([0.4, 0.6], ddof=1))
    assert summary["languages"]["en"] == {**dict.fromkeys(PAPER_MEASURES, 0.4), "documents": 10}
    assert (summary["runs"], summary["fit_seconds"], summary["predict_seconds"]) == (1, 2, 1)


def test_of_several_trials() -> None:
    summary = summarise_trials([_result(en=0.4, it=0.6), _result(en=0.6, it=0.8), _result(en=0.2)])
    assert summary["average"]["macro_k_paper"] == pytest.approx((0.5 + 0.7 + 0.2) / 3)
    assert summary["deviation"]["macro_k_paper"] == pytest.approx(np.std([0.5, 0.7, 0.2], ddof=1))
    assert summary["languages"]["en"]["macro_k_paper"] == pytest.approx(0.4)
    assert summary["languages"]["it"]["macro_k_paper"] == pytest.approx(0.7)
    assert summary["language_deviation"]["macro_k_paper"] == pytest.approx(np.std([0.4, 0.7], ddof=1))


def test_of_one_language() -> None:
    assert summarise_trials([_result(en=0.4)])["language_deviation"]["micro_f1"] is None
