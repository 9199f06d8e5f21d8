"""A text in which a model knows nothing gets no label, whatever the method; vectors always count."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from funnelling import Document, load_model
from funnelling.matrices import in_vocabulary_rows
from funnelling.methods.rows import Predictor
from funnelling.research import NaiveClassifier, PooledClassifier
from funnelling.research.classifiers import DCIClassifier, LRIClassifier
from funnelling.storage import save_model
from funnelling.text.tfidf import TfidfVectorizer
from tests.artificial import WORDS, vector_corpus
from tests.funnels import any_funnel

MAKE: dict[str, Any] = {
    "naive": NaiveClassifier,
    "pooled": PooledClassifier,
    "lri": LRIClassifier,
    "dci": DCIClassifier,
    "own": lambda **settings: any_funnel(views=["own"], meta_C=1, **settings),
    "views": lambda **settings: any_funnel(
        views=["own", "pooled", "characters", "wce"], meta_C=1, **settings
    ),
    "transformer": lambda **settings: any_funnel(views=["own", TfidfVectorizer()], **settings),
}
BLANK = ["", " \n", "🐘", "xyzzy"]


def made_corpus(documents: int = 60) -> tuple[list[str], list[list[str]], list[str]]:
    """Documents that all but a few have the label "usual": a model that knows nothing would say so."""
    rng = np.random.default_rng(0)
    texts, labels, languages = [], [], []
    for i in range(documents):
        language = ("en", "it")[i % 2]
        chosen = rng.choice(8, size=3, replace=False)
        texts.append(" ".join(WORDS[language][word] for word in chosen))
        labels.append(["cats", "usual"] if 0 in chosen else [] if 1 in chosen and i % 3 else ["usual"])
        languages.append(language)
    return texts, labels, languages


TEXTS, LABELS, LANGUAGES = made_corpus()
ONE_LABEL = np.array(["cats" if "cats" in labels else "usual" if labels else "none" for labels in LABELS])


@pytest.fixture(scope="module", params=MAKE)
def several(request: pytest.FixtureRequest) -> Any:
    return MAKE[request.param](random_state=0).fit(TEXTS, LABELS, languages=LANGUAGES)


@pytest.fixture(scope="module", params=MAKE)
def one(request: pytest.FixtureRequest) -> Any:
    return MAKE[request.param](random_state=0).fit(TEXTS, ONE_LABEL, languages=LANGUAGES)


def rows_of(model: Any, texts: list[str], **options: Any) -> list[dict[str, Any]]:
    documents = [Document(str(i), text, language="en") for i, text in enumerate(texts)]
    return list(Predictor(model.model_, **options)(documents))


class TestSeveralLabels:
    def test_such_a_text_gets_none_among_others_that_do(self, several: Any) -> None:
        texts = [TEXTS[0], *BLANK, TEXTS[2]]
        labels, _, evident = several.model_.classify_with_evidence(texts, languages=["en"] * len(texts))
        assert evident.tolist() == [True, *[False] * len(BLANK), True]
        assert not labels[1:-1].any()
        np.testing.assert_array_equal(labels, several.predict(texts, languages=["en"] * len(texts)))

    def test_scores_and_probabilities_stay_what_they_are(self, several: Any) -> None:
        """They are those of a document of which nothing is known, and would have said yes."""
        usual = several.classes_.tolist().index("usual")
        scores = several.decision_function(BLANK, languages=["en"] * len(BLANK))
        assert (scores == scores[0]).all()
        assert (scores[:, usual] > 0).all()
        assert (several.predict_proba(BLANK, languages=["en"] * len(BLANK))[:, usual] > 0.5).all()

    def test_known_texts_are_decided_by_their_scores(self, several: Any) -> None:
        decided = several.predict(TEXTS, languages=LANGUAGES)
        np.testing.assert_array_equal(decided, several.decision_function(TEXTS, languages=LANGUAGES) > 0)

    def test_rows_say_so_and_only_they(self, several: Any) -> None:
        for options in ({}, {"top": 1}, {"threshold": 0.0}):
            known, *blank = rows_of(several, [TEXTS[0], *BLANK], **options)
            assert [row["labels"] for row in blank] == [[]] * len(BLANK)
            assert [row["abstained"] for row in blank] == ["out-of-vocabulary"] * len(BLANK)
            assert blank[0]["probabilities"]
            assert known["abstained"] is None

    def test_an_explanation_says_so(self, several: Any) -> None:
        known, blank = several.explain([TEXTS[0], "🐘"], ["en", "en"])
        assert known["abstained"] is None
        assert blank["abstained"] == "out-of-vocabulary"
        assert blank["labels"]
        assert not any(told["assigned"] for told in blank["labels"].values())
        assert blank["neighbours"] == []


class TestOneLabel:
    def test_python_gives_a_class(self, one: Any) -> None:
        predicted = one.predict(BLANK, languages=["en"] * len(BLANK))
        proba = one.predict_proba(BLANK, languages=["en"] * len(BLANK))
        assert predicted.shape == (len(BLANK),)
        assert set(predicted) <= set(one.classes_)
        assert predicted.tolist() == one.classes_[proba.argmax(axis=1)].tolist()

    def test_rows_and_explanations_give_none(self, one: Any) -> None:
        known, *blank = rows_of(one, [TEXTS[0], *BLANK])
        assert len(known["labels"]) == 1
        assert known["abstained"] is None
        assert [(row["labels"], row["abstained"]) for row in blank] == [([], "out-of-vocabulary")] * len(
            BLANK
        )
        (told,) = one.explain([""], ["en"])
        assert told["abstained"] == "out-of-vocabulary"
        assert not any(label["assigned"] for label in told["labels"].values())


def test_one_view_that_knows_something_is_enough() -> None:
    texts = ["cat house", "xcat", "xyzzy"]  # the second shares a run of characters with a known word
    model = MAKE["views"](random_state=0).fit(TEXTS, LABELS, languages=LANGUAGES)
    assert model.model_.classify_with_evidence(texts, ["en"] * 3)[2].tolist() == [True, True, False]
    model = MAKE["own"](random_state=0).fit(TEXTS, LABELS, languages=LANGUAGES)
    assert model.model_.classify_with_evidence(texts, ["en"] * 3)[2].tolist() == [True, False, False]


def test_words_of_another_language_are_known_where_languages_share_words() -> None:
    for name, known in (("naive", False), ("pooled", True)):
        model = MAKE[name](random_state=0).fit(TEXTS, LABELS, languages=LANGUAGES)
        assert model.model_.classify_with_evidence(["gatto"], ["en"])[2].tolist() == [known]


def test_a_text_is_made_a_vector_once(monkeypatch: pytest.MonkeyPatch) -> None:
    model = MAKE["own"](random_state=0).fit(TEXTS, LABELS, languages=LANGUAGES)
    calls = []
    transform = TfidfVectorizer.transform
    monkeypatch.setattr(
        TfidfVectorizer, "transform", lambda self, *texts: calls.append(texts) or transform(self, *texts)
    )
    rows_of(model, [TEXTS[0]])
    assert len(calls) == 1


def test_a_model_that_was_saved_says_so_too(tmp_path: Path) -> None:
    model = MAKE["views"](random_state=0).fit(TEXTS, LABELS, languages=LANGUAGES)
    save_model(model, tmp_path / "model")
    assert rows_of(load_model(tmp_path / "model"), BLANK) == rows_of(model, BLANK)


@pytest.mark.parametrize("name", ["naive", "pooled", "lri", "dci", "own"])
def test_vectors_of_zeros_are_decided_as_any_others(name: str) -> None:
    corpus = vector_corpus()
    everywhere = {language: np.ones_like(y) for language, y in corpus.y.items()}
    for language in everywhere:
        everywhere[language][:3] = 0
    given = {} if name == "own" else {"C": 1}  # to search for it takes seconds
    model = MAKE[name](random_state=0, **given).fit(corpus.X, everywhere)
    zeros = {"en": np.zeros((2, 12)), "it": sparse.csr_array((2, 12))}
    labels, _, evident = model.model_.classify_with_evidence(zeros)
    for language in zeros:
        assert evident[language].all()
        np.testing.assert_array_equal(labels[language], model.decision_function(zeros)[language] > 0)


def test_zeros_that_a_sparse_matrix_keeps_are_zeros() -> None:
    X = sparse.csr_array((np.array([1.0, 0.0, 2.0]), np.array([0, 1, 0]), np.array([0, 1, 2, 2, 3])))
    assert in_vocabulary_rows(["a", "b", "c", "d"], X).tolist() == [True, False, False, True]
    assert in_vocabulary_rows(["a", "b"], sparse.csr_array((2, 0))).tolist() == [False, False]
    assert in_vocabulary_rows([], np.zeros((0, 3))).tolist() == []
