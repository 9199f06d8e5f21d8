"""MLE-LSTM: it reads words in their order, in every language that has vectors."""

import logging
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from funnelling.errors import InputError
from funnelling.research.classifiers import MLELSTMClassifier
from funnelling.spaces.word_vectors import WordVectors, write_vectors
from funnelling.storage import load_model, save_model
from tests.artificial import WORDS

pytest.importorskip("torch")

DIMENSIONS = 24
FILLERS = {"en": ["the", "and", "of"], "it": ["il", "e", "di"], "fr": ["le", "et", "de"]}
SPOKEN = {**WORDS, "fr": ["chat", "chien", "oiseau", "cheval", "table", "maison", "jardin", "rivière"]}

Corpus = tuple[list[str], list[list[str]], list[str]]


@pytest.fixture(scope="module")
def embeddings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Vectors of three languages, in which translations are near each other."""
    folder = tmp_path_factory.mktemp("vectors")
    generator = np.random.default_rng(0)
    meaning = generator.normal(size=(11, DIMENSIONS))
    for language, words in SPOKEN.items():
        matrix = meaning + 0.05 * generator.normal(size=meaning.shape)
        vectors = WordVectors([*words, *FILLERS[language]], matrix.astype(np.float32), np.arange(11))
        write_vectors(folder / f"wiki.multi.{language}.vec", vectors)
    return folder


def method(embeddings: Path, **changes: Any) -> MLELSTMClassifier:
    settings = {"units": 8, "dense_units": 16, "dropout": 0.0, "length": 12, "epochs": 15, "patience": 15}
    settings |= {"batch_size": 16, "learning_rate": 0.02, "random_state": 0}
    return MLELSTMClassifier(embeddings=embeddings, **(settings | changes))


def topics(documents: int = 80, languages: tuple[str, ...] = ("en", "it"), seed: int = 0) -> Corpus:
    """Texts with one label for each of the first two words of their language; other words have none."""
    generator = np.random.default_rng(seed)
    texts, labels, codes = [], [], []
    for i in range(documents):
        language = languages[i % len(languages)]
        chosen = generator.choice([0, 1, 4, 5, 6, 7], size=3, replace=False)
        fillers = generator.choice(FILLERS[language], size=generator.integers(0, 4))
        texts.append(" ".join([*(SPOKEN[language][word] for word in chosen), *fillers]))
        labels.append([("cats", "dogs")[word] for word in sorted(chosen) if word < 2])
        codes.append(language)
    return texts, labels, codes


def orders(documents: int = 120, seed: int = 0) -> tuple[list[str], list[str], list[str]]:
    """Every document names the cat and the dog; which of them comes first is its class."""
    generator = np.random.default_rng(seed)
    texts, classes, languages = [], [], []
    for i in range(documents):
        language = ("en", "it")[i % 2]
        first = int(generator.integers(2))
        words = [SPOKEN[language][first], SPOKEN[language][1 - first]]
        for filler in generator.choice(FILLERS[language], size=2).tolist():
            words.insert(int(generator.integers(len(words) + 1)), filler)
        texts.append(" ".join(words))
        classes.append(("cat first", "dog first")[first])
        languages.append(language)
    return texts, classes, languages


def accuracy(model: Any, corpus: Any) -> float:
    texts, truth, languages = corpus
    return float(model.score(texts, truth, languages=languages))


def fitted(embeddings: Path, corpus: Any = None, **changes: Any) -> MLELSTMClassifier:
    texts, labels, languages = topics() if corpus is None else corpus
    return method(embeddings, **changes).fit(texts, labels, languages)


@pytest.fixture(scope="module")
def model(embeddings: Path) -> MLELSTMClassifier:
    return fitted(embeddings)


class TestLearning:
    def test_labels_of_new_documents(self, model: MLELSTMClassifier) -> None:
        assert accuracy(model, topics(seed=1)) > 0.9

    def test_the_order_of_words(self, embeddings: Path) -> None:
        model = fitted(embeddings, orders(), epochs=15)
        assert accuracy(model, orders(seed=1)) > 0.95

    def test_one_of_three_classes(self, embeddings: Path) -> None:
        texts, labels, languages = topics(120)
        classes = ["+".join(names) or "neither" for names in labels]
        three = [i for i, name in enumerate(classes) if name != "cats+dogs"]
        texts, classes, languages = ([column[i] for i in three] for column in (texts, classes, languages))
        model = fitted(embeddings, (texts, classes, languages), epochs=15)
        assert accuracy(model, (texts, classes, languages)) > 0.9
        probabilities = model.predict_proba(texts, languages)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)
        np.testing.assert_array_equal(
            model.classes_[probabilities.argmax(axis=1)], model.predict(texts, languages)
        )

    def test_probabilities_are_the_network_s(self, model: MLELSTMClassifier) -> None:
        texts, _, languages = topics(seed=1)
        scores = model.decision_function(texts, languages)
        np.testing.assert_allclose(
            model.predict_proba(texts, languages), 1 / (1 + np.exp(-scores)), rtol=1e-6
        )
        np.testing.assert_array_equal(model.predict(texts, languages), scores > 0)
        np.testing.assert_allclose(model.thresholds_["en"], 0.5)

    def test_a_label_that_no_document_has_is_rejected(self, embeddings: Path) -> None:
        texts, labels, languages = topics(20)
        indicator = np.array([["cats" in names, False, True] for names in labels], dtype=int)
        model = method(embeddings, epochs=1).fit(texts, indicator, languages)
        decided, probabilities = model.model_.classify(texts, languages)
        assert not decided[:, 1].any()
        assert not probabilities[:, 1].any()
        assert decided[:, 2].all()
        assert (probabilities[:, 2] == 1).all()

    def test_a_document_without_a_known_word_gets_no_label(self, embeddings: Path) -> None:
        texts, labels, languages = topics(20)
        model = method(embeddings, epochs=1).fit(texts, [[*names, "all"] for names in labels], languages)
        decided, _, evident = model.model_.classify_with_evidence(["cat", "", "xyzzy"], ["en"] * 3)
        assert evident.tolist() == [True, False, False]
        assert decided[0].any()
        assert not decided[1:].any()

    def test_a_document_without_words(self, model: MLELSTMClassifier, embeddings: Path) -> None:
        assert np.isfinite(model.decision_function(["", "...", "cat"], languages=["en", "it", "en"])).all()
        empty = method(embeddings, epochs=1).fit(["", "!"] * 4, [["a"], []] * 4, languages=["en"] * 8)
        assert np.isfinite(empty.predict_proba(["", "cat"], languages=["en", "en"])).all()

    def test_the_last_words_are_read(self, model: MLELSTMClassifier) -> None:
        last = "cat garden dog the house"
        long = " ".join(["horse"] * 30 + ["of"] * (12 - 5))
        np.testing.assert_array_equal(
            model.decision_function([f"{long} {last}"], ["en"]),
            model.decision_function([" ".join([*["of"] * 7, last])], ["en"]),
        )

    def test_all_documents_of_one_group(self, embeddings: Path) -> None:
        texts, labels, languages = topics(20)
        model = method(embeddings, epochs=2).fit(texts, labels, languages, groups=["one"] * 20)
        assert len(model.model_.fitted.losses) == 2


class TestBits:
    def test_seed_and_threads(self, embeddings: Path) -> None:
        texts, _, languages = topics(seed=1)
        scores = [
            fitted(embeddings, epochs=3, dropout=0.5, **changes).decision_function(texts, languages)
            for changes in ({"n_jobs": 1}, {"n_jobs": 2}, {"random_state": 1})
        ]
        np.testing.assert_array_equal(scores[0], scores[1])
        assert not np.array_equal(scores[0], scores[2])

    def test_nothing_is_dropped_in_prediction(self, embeddings: Path) -> None:
        texts, _, languages = topics(seed=1)
        model = fitted(embeddings, epochs=1, dropout=0.5)
        scores = model.decision_function(texts, languages)
        np.testing.assert_array_equal(scores, model.decision_function(texts, languages))
        np.testing.assert_array_equal(
            scores, model.set_params(dropout=0.0).decision_function(texts, languages)
        )

    def test_a_document_s_scores_are_its_own(self, model: MLELSTMClassifier) -> None:
        texts, _, languages = topics(seed=1)
        together = model.decision_function(texts, languages)
        for i in range(10):
            np.testing.assert_array_equal(model.decision_function([texts[i]], [languages[i]])[0], together[i])

    def test_a_saved_model_is_the_same(self, model: MLELSTMClassifier, tmp_path: Path) -> None:
        texts, _, languages = topics(seed=1, languages=("en", "it", "fr"))
        save_model(model, tmp_path / "model")
        loaded = load_model(tmp_path / "model")
        np.testing.assert_array_equal(
            loaded.decision_function(texts, languages), model.decision_function(texts, languages)
        )
        assert loaded.model_.fitted.losses == model.model_.fitted.losses

    def test_a_second_fit_forgets_the_first(self, embeddings: Path) -> None:
        texts, labels, languages = topics(40)
        model = method(embeddings, epochs=2).fit(*topics(40, seed=5))
        np.testing.assert_array_equal(
            model.fit(texts, labels, languages).decision_function(texts, languages),
            clone(model).fit(texts, labels, languages).decision_function(texts, languages),
        )


class TestLanguages:
    def test_one_without_training_documents(self, model: MLELSTMClassifier) -> None:
        assert model.supports("fr")
        assert not model.supports("de")
        assert accuracy(model, topics(seed=1, languages=("fr",))) > 0.9

    def test_one_without_vectors_is_left_out(
        self, embeddings: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        texts, labels, languages = topics(40)
        model = method(embeddings, epochs=1).fit([*texts, "Hund"], [*labels, ["dogs"]], [*languages, "de"])
        assert model.languages_ == ["en", "it"]
        assert "mle-lstm leaves out languages it has no resources for: de." in caplog.text

    def test_a_word_is_another_in_every_language(self, embeddings: Path) -> None:
        texts = ["unix cat", "tea dog"] * 10 + ["tea gatto", "unix cane"] * 10
        labels = [["computing"], []] * 20
        languages = ["en"] * 20 + ["it"] * 20
        model = fitted(embeddings, (texts, labels, languages), epochs=20)
        assert model.predict(["unix", "unix"], ["en", "it"]).ravel().tolist() == [1, 0]

    def test_the_share_of_words_with_a_vector_is_reported(
        self, embeddings: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        with caplog.at_level(logging.INFO, "funnelling"):
            fitted(embeddings, (["cat unix", "dog cat"], [["a"], []], ["en", "en"]), epochs=1)
        assert "mle-lstm: words of the training documents that have a vector: en 75 %." in caplog.text

    def test_a_word_without_a_vector_is_learned_where_it_is_no_rarity(self, embeddings: Path) -> None:
        texts = ["linux cat", "linux dog", "bsd house"] * 2 + ["cat solaris"]
        model = fitted(embeddings, (texts, [["a"], ["a"], []] * 2 + [[]], ["en"] * 7), epochs=1)
        assert model.model_.fitted.vocabulary.words["en"] == ["bsd", "cat", "dog", "house", "linux"]


class TestRefusals:
    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"units": 0}, "units must be a whole number from 1 on, not 0"),
            ({"epochs": 1.5}, "epochs must be a whole number from 1 on, not 1.5"),
            ({"patience": None}, "patience must be a whole number from 1 on, not None"),
            ({"learning_rate": -1}, "learning_rate must be a positive number, not -1"),
            ({"dropout": 1}, "dropout must be from 0 to below 1, not 1"),
            ({"dropout": "half"}, "dropout must be from 0 to below 1, not 'half'"),
            ({"validation": 0}, "validation must be between 0 and 1, not 0"),
            ({"device": "tpu"}, "device must be one of auto, cpu, cuda, not 'tpu'"),
            ({"memory_limit": 1_000}, "mle-lstm: the vectors of 18 words need 5.2 KB in training, over the"),
        ],
    )
    def test_a_wrong_parameter_is_named(
        self, embeddings: Path, changes: dict[str, Any], message: str
    ) -> None:
        with pytest.raises(InputError) as error:
            fitted(embeddings, **changes)
        assert str(error.value).startswith(message)
        assert "\n" not in str(error.value)

    def test_vectors(self, embeddings: Path, model: MLELSTMClassifier) -> None:
        X = np.eye(4)
        for documents in (X, {"en": X}):
            y: Any = [["a"], []] * 2 if documents is X else {"en": [["a"], []] * 2}
            with pytest.raises(InputError, match=r"^mle-lstm needs texts, to read their words in order"):
                method(embeddings).fit(documents, y)
        with pytest.raises(InputError, match=r"^The model was fitted on texts, and X holds vectors\.$"):
            model.predict(X)

    def test_no_embeddings(self) -> None:
        with pytest.raises(InputError, match=r"^mle-lstm needs word vectors: give embeddings, or"):
            MLELSTMClassifier().fit(*topics(10))

    def test_an_unknown_language(self, model: MLELSTMClassifier) -> None:
        with pytest.raises(InputError, match=r"^The model does not know the language 'de'"):
            model.explain(["Hund"], languages=["de"])

    def test_without_pytorch(
        self, embeddings: Path, model: MLELSTMClassifier, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "torch", None)
        for act in (lambda: fitted(embeddings), lambda: model.predict(["cat"], ["en"])):
            with pytest.raises(
                InputError, match=r"^mle-lstm needs PyTorch: pip install 'funnelling\[neural\]'$"
            ):
                act()


def test_dropping_labels_leaves_the_others_to_the_bit(embeddings: Path, tmp_path: Path) -> None:
    texts, labels, languages = topics()
    rows = [names or ["neither"] for names in labels]
    for y in ([[*names, "all"] for names in rows], [names[0] for names in rows]):
        model = fitted(embeddings, (texts, y, languages), epochs=2)
        left = [column for column, label in enumerate(model.classes_) if label != "dogs"]
        before = model.decision_function(texts, languages)[:, left].astype(np.float32)  # as it scores
        save_model(model.relabel({"dogs": None, "cats": "felines"}), tmp_path / "model", force=True)
        model = load_model(tmp_path / "model")
        assert "felines" in model.classes_
        scores = model.decision_function(texts, languages)
        margin = scores.ndim == 1  # two of three classes that exclude each other
        assert np.array_equal(scores, before[:, 1] - before[:, 0] if margin else before)
