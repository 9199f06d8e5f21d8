"""A funnel that is asked to work on a GPU; PyTorch's CPU stands in for one."""

import logging
from typing import Any

import numpy as np
import pytest

from funnelling.errors import InputError
from funnelling.funnel import FunnellingClassifier
from funnelling.storage import load_model, save_model
from funnelling.work.devices import DEVICES, pick_device
from tests.reproduction.experiments.made import made_corpus

torch = pytest.importorskip("torch")


def _fitted(**parameters: Any) -> FunnellingClassifier:
    corpus = made_corpus(each=20)
    model = FunnellingClassifier(**{"views": None, "random_state": 0, **parameters})
    return model.fit(corpus.texts, corpus.labels, languages=corpus.languages)


def _scores(model: FunnellingClassifier) -> Any:
    corpus = made_corpus(each=20)
    return model.decision_function(corpus.texts, languages=corpus.languages)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_the_cpu_does_it_and_a_line_says_so(caplog: pytest.LogCaptureFixture) -> None:
    pick_device.cache_clear()
    with caplog.at_level(logging.WARNING):
        asked = _fitted(device="cuda")
        _scores(asked)
    assert [record.message for record in caplog.records] == ["PyTorch finds no GPU here, so the CPU is used."]
    np.testing.assert_array_equal(_scores(asked), _scores(_fitted()))


@pytest.mark.parametrize("views", [None, ["pooled", "characters"]])
def test_the_optimum_is_the_same(monkeypatch: pytest.MonkeyPatch, views: Any) -> None:
    """The device is PyTorch's CPU, under a name that our own solver does not take."""
    expected = _scores(_fitted(views=views, meta_C=1.0))
    for module in ("classifier", "design", "tier_two"):
        monkeypatch.setattr(f"funnelling.funnel.{module}.pick_device", lambda _: "cpu:0")
    found = _fitted(views=views, meta_C=1.0, device="cuda")
    np.testing.assert_allclose(_scores(found), expected, atol=2e-2)


def test_another_device_is_refused() -> None:
    with pytest.raises(InputError, match=r"device must be one of cpu, cuda, not 'tpu'\."):
        _fitted(device="tpu")


def test_models_do_not_remember_the_device(tmp_path: Any) -> None:
    save_model(_fitted(device="cuda"), tmp_path / "model")
    assert load_model(tmp_path / "model").device == "cpu"


def test_methods_without_a_choice_stay_where_they_are() -> None:
    from funnelling.baselines.naive import NaiveClassifier

    model = NaiveClassifier()
    assert model.on_device("cuda") is model
    assert FunnellingClassifier().on_device("cuda").device == "cuda"
    assert DEVICES == ("cpu", "cuda")
