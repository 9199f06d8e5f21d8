"""The baselines over a shared space: what one language teaches, all know."""

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from funnelling.errors import InputError
from funnelling.methods.classifiers import NaiveClassifier, PooledClassifier
from funnelling.research.baselines import REGULARISATIONS, SVMsInAgreement
from funnelling.research.classifiers import (
    CLESAClassifier,
    DCIClassifier,
    KCCAClassifier,
    LRIClassifier,
    MLEClassifier,
)
from funnelling.spaces.word_vectors import WordVectors, write_vectors
from funnelling.storage import load_model, save_model
from tests.artificial import vector_corpus
from tests.spaces.translated import TOPICS, WORDS, corpus, reference, word

REFERENCE = reference(groups=80)
VECTORS = vector_corpus()
TEXTS, LABELS, LANGUAGES = corpus()
NEW, NEW_LABELS, NEW_LANGUAGES = corpus(("fr",), seed=5)


@pytest.fixture(scope="module")
def embeddings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Vectors in which a word is its topic, in every language."""
    folder = tmp_path_factory.mktemp("vectors")
    for language in ("en", "it", "fr"):
        pairs = [(topic, number) for topic in range(TOPICS) for number in range(WORDS)]
        words = [word(language, topic, number) for topic, number in pairs]
        matrix = np.array([np.eye(TOPICS)[topic] for topic, _ in pairs], dtype=np.float32)
        write_vectors(folder / f"{language}.vec", WordVectors(words, matrix, np.arange(len(words))))
    return folder


@pytest.fixture(params=["clesa", "kcca", "mle"])
def method(request: pytest.FixtureRequest, embeddings: Path) -> Any:
    return {
        "clesa": CLESAClassifier(reference=REFERENCE, random_state=0),
        "kcca": KCCAClassifier(reference=REFERENCE, components=20, random_state=0),
        "mle": MLEClassifier(embeddings=embeddings, reference=REFERENCE, random_state=0),
    }[request.param]


def accuracy(model: Any, texts: list[str], labels: list[list[str]], languages: list[str]) -> float:
    return float(model.score(texts, labels, languages=languages))


class TestWithResources:
    def test_what_other_languages_teach_is_known_without_a_training_document(self, method: Any) -> None:
        method.fit(TEXTS, LABELS, languages=LANGUAGES)
        assert method.languages_ == ["en", "it"]
        assert accuracy(method, NEW, NEW_LABELS, NEW_LANGUAGES) > 0.9
        assert accuracy(method, *corpus(seed=6)) > 0.9

    @pytest.mark.parametrize("language", ["en", "fr"])
    def test_a_text_without_a_known_word_gets_no_label(self, method: Any, language: str) -> None:
        method.fit(TEXTS, LABELS, languages=LANGUAGES)
        texts = [word(language, 0, 0), "", "🐈", "xyzzy"]
        labels, _, evident = method.model_.classify_with_evidence(texts, [language] * 4)
        assert evident.tolist() == [True, False, False, False]
        assert not labels[1:].any()

    def test_a_label_that_only_one_language_has(self, method: Any) -> None:
        """Italian documents of topic 3 are missing; English ones tell what it is."""
        kept = [
            not (language == "it" and labels == ["topic 3"])
            for labels, language in zip(LABELS, LANGUAGES, strict=True)
        ]
        texts, labels, languages = (
            [value for value, keep in zip(column, kept, strict=True) if keep]
            for column in (TEXTS, LABELS, LANGUAGES)
        )
        test = [
            text
            for text, labels, language in zip(*corpus(("it",), seed=8), strict=True)
            if labels == ["topic 3"] and language == "it"
        ]
        found = method.fit(texts, labels, languages=languages).predict(test, languages=["it"] * len(test))
        assert found[:, 3].mean() > 0.9
        naive = NaiveClassifier(random_state=0).fit(texts, labels, languages=languages)
        assert not naive.predict(test, languages=["it"] * len(test))[:, 3].any()

    def test_languages_without_resources_are_left_out_and_named(
        self, method: Any, caplog: pytest.LogCaptureFixture
    ) -> None:
        texts, labels, languages = corpus(("en", "ja", "it"))
        with caplog.at_level(logging.WARNING, "funnelling"):
            method.fit(texts, labels, languages=languages)
        assert method.languages_ == ["en", "it"]
        assert "leaves out languages it has no resources for: ja." in caplog.text
        with pytest.raises(InputError, match="does not know the language 'ja'"):
            method.explain(["x"], languages=["ja"])
        with pytest.raises(InputError, match="no resources for any language of the training documents: ja"):
            method.fit(*corpus(("ja",)))

    def test_a_saved_model_needs_no_resources(self, method: Any, tmp_path: Path) -> None:
        method.fit(TEXTS, LABELS, languages=LANGUAGES)
        save_model(method, tmp_path / "model")
        loaded = load_model(tmp_path / "model")
        assert getattr(loaded, "reference", None) is None
        assert getattr(loaded, "embeddings", None) is None
        for texts, languages in ((TEXTS[:9], LANGUAGES[:9]), (NEW[:9], NEW_LANGUAGES[:9])):
            np.testing.assert_array_equal(
                loaded.decision_function(texts, languages=languages),
                method.decision_function(texts, languages=languages),
            )

    def test_bits_depend_neither_on_threads_nor_on_neighbours(self, method: Any) -> None:
        scores = [
            method.set_params(n_jobs=jobs).fit(TEXTS, LABELS, LANGUAGES).decision_function(NEW, NEW_LANGUAGES)
            for jobs in (1, 2)
        ]
        np.testing.assert_array_equal(scores[0], scores[1])
        np.testing.assert_array_equal(scores[0][4:5], method.decision_function(NEW[4:5], NEW_LANGUAGES[4:5]))

    def test_vectors_are_refused(self, method: Any) -> None:
        with pytest.raises(InputError, match="needs texts"):
            method.fit(VECTORS.X, VECTORS.y)


def test_kcca_chooses_its_regularisation() -> None:
    model = KCCAClassifier(reference=REFERENCE, components=20, random_state=0).fit(TEXTS, LABELS, LANGUAGES)
    assert model.model_.fitted.space.regularisation in REGULARISATIONS
    fixed = KCCAClassifier(
        model.model_.fitted.final_c,
        reference=REFERENCE,
        components=20,
        regularisation=model.model_.fitted.space.regularisation,
        random_state=0,
    ).fit(TEXTS, LABELS, LANGUAGES)
    np.testing.assert_allclose(  # the chosen C's fit began at the smaller one's
        fixed.decision_function(NEW, NEW_LANGUAGES), model.decision_function(NEW, NEW_LANGUAGES), atol=1e-2
    )


def test_kcca_takes_the_regularisation_that_is_best_for_held_out_documents() -> None:
    model = KCCAClassifier(10.0, reference=REFERENCE, components=20, random_state=0)
    qualities: dict[float, float] = {}
    rough_fit = SVMsInAgreement._rough_fit

    def noted(self: SVMsInAgreement, parameters: Any, training: Any) -> Any:
        fit = rough_fit(self, parameters, training)
        qualities[REGULARISATIONS[len(qualities)]] = fit.held_out_f1()
        return fit

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SVMsInAgreement, "_rough_fit", noted)
        model.fit(TEXTS, LABELS, LANGUAGES)
    assert len(qualities) > 1
    assert qualities[model.model_.fitted.space.regularisation] == max(qualities.values())


class TestWithoutResources:
    def test_dci_is_calibrated_on_documents_that_neither_profiles_nor_svms_saw(self) -> None:
        """Profiles betray the labels they were made of: on labels drawn at random, they seem to be right."""
        rng = np.random.default_rng(0)
        texts = [" ".join(f"w{word}" for word in rng.choice(60, 12)) for _ in range(200)]
        labels = [["a"] if rng.random() < 0.3 else [] for _ in texts]
        model = DCIClassifier(10.0, random_state=0).fit(texts, labels, languages=["en"] * len(texts))
        new = [" ".join(f"w{word}" for word in rng.choice(60, 12)) for _ in range(200)]
        probabilities = model.predict_proba(new, languages=["en"] * len(new))
        assert probabilities.std() < 0.1, "nothing can be known of these labels"
        assert probabilities.mean() == pytest.approx(0.3, abs=0.06)

    def test_dci_learns_a_label_that_only_another_language_decides_well(self) -> None:
        model = DCIClassifier(random_state=0).fit(TEXTS, LABELS, LANGUAGES)
        assert accuracy(model, *corpus(seed=6)) > 0.9
        with pytest.raises(InputError, match="does not know the language 'fr'"):
            model.explain(NEW, NEW_LANGUAGES)

    def test_dci_takes_vectors_of_any_width(self) -> None:
        X = {"en": VECTORS.X["en"], "it": VECTORS.X["it"][:, :5]}
        model = DCIClassifier(C=1.0, random_state=0).fit(X, VECTORS.y)
        assert model.model_.features == {"en": 12, "it": 5}
        assert model.predict(X)["it"].shape == (40, 3)

    def test_lri_is_close_to_pooled_decided_alike(self) -> None:
        """Two non-zeros in as many dimensions as words turn the space a little, not its distances."""
        lri = LRIClassifier(C=1.0, random_state=0).fit(TEXTS, LABELS, LANGUAGES)
        pooled = PooledClassifier(C=1.0, calibrated=False, random_state=0).fit(TEXTS, LABELS, LANGUAGES)
        new = corpus(seed=6)
        assert abs(accuracy(lri, *new) - accuracy(pooled, *new)) < 0.1
        assert lri.thresholds_["en"].tolist() != [0.5] * TOPICS, "it decides at score 0, not at one half"

    @pytest.mark.parametrize("kind", [PooledClassifier, LRIClassifier])
    def test_a_language_of_its_own_words_only_is_served_but_unknown(self, kind: Any) -> None:
        model = kind(C=1.0, random_state=0).fit(TEXTS, LABELS, LANGUAGES)
        assert not model.predict(NEW, NEW_LANGUAGES).any()
        english = [text for text, code in zip(*corpus()[::2], strict=True) if code == "en"]
        np.testing.assert_array_equal(
            model.predict(english, ["sv"] * 40), model.predict(english, ["en"] * 40)
        )
        with pytest.raises(InputError, match="does not know the language 'xx'"):
            model.explain(["a"], ["xx"])


@pytest.mark.parametrize(
    ("method", "says"),
    [
        (LRIClassifier(dimensions=0), "dimensions must be a whole number from 1 on, not 0"),
        (
            CLESAClassifier(reference=REFERENCE, reference_documents=1.5),
            "reference_documents must be a whole",
        ),
        (KCCAClassifier(reference=REFERENCE, components=True), "components must be a whole number"),
        (KCCAClassifier(reference=REFERENCE, regularisation=0), "regularisation must be a positive number"),
        (MLEClassifier(unseen_words="all"), "unseen_words must be a whole number"),
        (CLESAClassifier(), r"^clesa needs a reference corpus"),
        (KCCAClassifier(), r"^kcca needs a reference corpus"),
        (MLEClassifier(), r"^No word vectors were given"),
    ],
)
def test_what_cannot_be_used_is_named(method: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        method.fit(TEXTS, LABELS, LANGUAGES)
