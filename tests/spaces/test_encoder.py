"""The view of an encoder, tried with a tiny one whose weights are drawn at random."""

import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from funnelling import Encoder, FunnellingClassifier, InputError, load_model
from funnelling.corpus import Corpus
from funnelling.funnel.estimator import FunnelEstimator
from funnelling.spaces.outside import EncoderSpace
from funnelling.storage import save_model
from tests.funnels import any_funnel
from tests.research.experiments.made import made_corpus

from .tiny_encoder import make_encoder

# Not imported here: that takes many seconds, in every worker.
pytestmark = pytest.mark.skipif(
    find_spec("sentence_transformers") is None, reason="needs sentence-transformers"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_encoder(tmp_path_factory.mktemp("encoders"))


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return made_corpus(each=30)


def fitted(corpus: Corpus, folder: Path, views: Any = ("encoder",), **parameters: Any) -> FunnelEstimator:
    model = any_funnel(views=list(views), encoder=folder, random_state=0, **parameters)
    return model.fit(corpus.texts, corpus.labels, languages=corpus.languages)


def test_texts_become_vectors_of_length_one(folder: Path, corpus: Corpus) -> None:
    space = EncoderSpace(folder)
    vectors = space.fit({"it": corpus.texts}, {"it": np.zeros((len(corpus), 1), bool)})["it"]
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert vectors.dtype == np.float32
    assert space.vectors("de", corpus.texts[:3]) == pytest.approx(vectors[:3], abs=1e-5)


def test_a_funnel_over_it_is_saved_and_loaded(folder: Path, corpus: Corpus, tmp_path: Path) -> None:
    model = fitted(corpus, folder, ["pooled", "encoder"])
    save_model(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    expected = model.decision_function(corpus.texts, corpus.languages)
    assert loaded.decision_function(corpus.texts, corpus.languages) == pytest.approx(expected, abs=1e-3)
    assert loaded.supports("fr")


def test_it_may_learn_the_labels(folder: Path, corpus: Corpus, tmp_path: Path) -> None:
    frozen, tuned = (fitted(corpus, folder, encoder_epochs=epochs) for epochs in (0, 2))
    spaces = [model.model_.fitted.learned.views.shared["encoder"].space for model in (frozen, tuned)]
    assert spaces[0].weights_ is None
    vectors = [space.vectors("it", corpus.texts[:5]) for space in spaces]
    assert np.abs(vectors[0] - vectors[1]).max() > 1e-4
    save_model(tuned, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    again = loaded.model_.fitted.learned.views.shared["encoder"].space.vectors("it", corpus.texts[:5])
    assert again == pytest.approx(vectors[1], abs=1e-5)


def test_what_it_learns_are_the_labels(folder: Path, corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    from torch.nn import functional

    measure, losses = functional.binary_cross_entropy_with_logits, []

    def spy(*given: Any) -> Any:
        loss = measure(*given)
        losses.append(float(loss.detach()))
        return loss

    monkeypatch.setattr(functional, "binary_cross_entropy_with_logits", spy)
    fitted_space = EncoderSpace(folder, epochs=15, rate=2e-3, batch=16)
    fitted_space.fit({"it": corpus.texts}, {"it": corpus.label_matrix(["a", "b", "c", "d"])})
    assert np.mean(losses[-6:]) < 0.85 * np.mean(losses[:6])


def test_auto_tries_it_and_encodes_no_text_twice(
    folder: Path, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoded: list[str] = []
    encode = EncoderSpace._encoded

    def spy(self: EncoderSpace, texts: list[str]) -> Any:
        encoded.extend(texts)
        return encode(self, texts)

    monkeypatch.setattr(EncoderSpace, "_encoded", spy)
    model = FunnellingClassifier(views=["auto", Encoder(folder)], random_state=0)
    model.fit(corpus.texts, corpus.labels, languages=corpus.languages)
    assert any("encoder" in row["name"] for row in model.choice_.tried)
    assert sorted(encoded) == sorted(set(corpus.texts))
    del encoded[:]
    model.set_params(views=[Encoder(folder)]).fit(corpus.texts, corpus.labels, languages=corpus.languages)
    assert set(encoded) == set(corpus.texts)


def test_another_encoder_in_its_place_is_refused(folder: Path, corpus: Corpus, tmp_path: Path) -> None:
    model = fitted(corpus, folder)
    model.set_params(views=[Encoder(make_encoder(tmp_path, seed=1))])
    with pytest.raises(InputError, match="not the encoder"):
        model.predict(["text"], ["it"])


def test_a_folder_without_one_is_refused(corpus: Corpus, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no model of sentence-transformers"):
        fitted(corpus, tmp_path)


def test_without_the_extra_it_tells_what_to_install(
    folder: Path, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(InputError, match=r"funnelling\[neural\]"):
        fitted(corpus, folder)


def test_a_taught_encoder_is_taught_anew_for_each_fold(
    folder: Path, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    taught: list[int] = []

    def spy(self: EncoderSpace, texts: Any, labels: Any) -> None:  # noqa: ARG001
        taught.append(len(texts))

    monkeypatch.setattr(EncoderSpace, "_tuned", spy)
    fitted(corpus, folder, encoder_epochs=1)
    assert taught[0] == len(corpus)
    assert sum(len(corpus) - size for size in taught[1:]) == len(corpus)
    assert len(taught) == 6


def test_parts_from_elsewhere_are_refused(folder: Path, corpus: Corpus, tmp_path: Path) -> None:
    copied = tmp_path / "encoder"
    shutil.copytree(folder, copied)
    modules = copied / "modules.json"
    modules.write_text(modules.read_text().replace("sentence_transformers.", "elsewhere.", 1))
    with pytest.raises(InputError, match="none of sentence-transformers' own"):
        fitted(corpus, copied)
    modules.write_text("[7]")
    with pytest.raises(InputError, match="lists no parts"):
        fitted(corpus, copied)


def test_weights_that_are_cut_short_are_refused(folder: Path, corpus: Corpus, tmp_path: Path) -> None:
    copied = tmp_path / "encoder"
    shutil.copytree(folder, copied)
    weights = next(copied.rglob("*.safetensors"))
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(InputError, match="cannot be read"):
        fitted(corpus, copied)


def test_a_folder_that_moved_is_told_to_the_model(folder: Path, corpus: Corpus, tmp_path: Path) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    shutil.copytree(folder, before)
    model = fitted(corpus, before)
    save_model(model, tmp_path / "model")
    before.rename(after)
    loaded = load_model(tmp_path / "model")
    with pytest.raises(InputError, match="before"):
        loaded.predict(corpus.texts, corpus.languages)
    loaded.set_params(views=[Encoder(after)])
    expected = model.decision_function(corpus.texts, corpus.languages)
    assert loaded.decision_function(corpus.texts, corpus.languages) == pytest.approx(expected, abs=1e-3)
    (after / "config.json").write_text("{}")
    other = load_model(tmp_path / "model").set_params(views=[Encoder(after)])
    with pytest.raises(InputError, match="not the encoder"):
        other.predict(corpus.texts, corpus.languages)


def test_a_second_fit_starts_from_the_folder(folder: Path, corpus: Corpus) -> None:
    targets = {"it": corpus.label_matrix(["a", "b", "c", "d"])}
    space = EncoderSpace(folder, epochs=1, rate=5e-3)
    first = space.fit({"it": corpus.texts}, targets)["it"]
    assert space.fit({"it": corpus.texts}, targets)["it"] == pytest.approx(first, abs=1e-4)
