"""Explanations: they add up, they name words and neighbours, and say nothing a method cannot know."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.feature_extraction.text import HashingVectorizer

from funnelling import InputError, load_model
from funnelling.corpus import Corpus
from funnelling.research import NaiveClassifier, PooledClassifier
from funnelling.research.classifiers import LRIClassifier
from funnelling.storage import save_model
from tests.funnels import any_funnel
from tests.research.experiments.made import LABELS, made_corpus

PAPER_FUNNEL = partial(any_funnel, views=None)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return made_corpus(each=40)


def fitted(kind: Any, corpus: Corpus, **parameters: Any) -> Any:
    model = kind(random_state=0, **parameters)
    return model.fit(corpus.texts, corpus.labels, languages=corpus.languages, ids=corpus.ids)


@pytest.fixture(scope="module")
def funnel(corpus: Corpus) -> Any:
    return fitted(PAPER_FUNNEL, corpus)


def summed(parts: Any, told: str, other: str, start: str) -> float:
    return sum(value for _, value in parts[told]) + parts[other] + parts[start]


def explained(model: Any, corpus: Corpus, **options: Any) -> Any:
    return model.explain(corpus.texts, corpus.languages, **options)


@pytest.mark.parametrize("top", [1, 3, 100])
def test_contributions_add_up_to_the_scores_in_both_tiers(funnel: Any, corpus: Corpus, top: int) -> None:
    scores = funnel.decision_function(corpus.texts, languages=corpus.languages)
    for row, explanation in zip(scores, explained(funnel, corpus, labels=LABELS, top=top), strict=True):
        for score, label in zip(row, LABELS, strict=True):
            told = explanation["labels"][label]
            assert told["score"] == pytest.approx(score, abs=1e-6)
            assert summed(told["tier_two"], "labels", "other_labels", "base") == pytest.approx(
                score, abs=1e-4
            )
            one = told["tier_one"]
            assert summed(one, "words", "other_words", "bias") == pytest.approx(one["score"], abs=1e-4)
            assert len(one["words"]) <= top


def test_the_base_is_the_score_of_a_document_without_posteriors(funnel: Any, corpus: Corpus) -> None:
    expected = funnel.model_.fitted.learned.tier_two.scorer.scores(np.zeros((1, len(LABELS))))[0]
    for explanation in explained(funnel, corpus, labels=LABELS):
        bases = [told["tier_two"]["base"] for told in explanation["labels"].values()]
        assert bases == pytest.approx(expected, abs=1e-4)


def test_the_probability_and_the_decision_are_those_of_predict(funnel: Any, corpus: Corpus) -> None:
    probabilities = funnel.predict_proba(corpus.texts, languages=corpus.languages)
    decided = funnel.predict(corpus.texts, languages=corpus.languages)
    for i, explanation in enumerate(explained(funnel, corpus, labels=LABELS)):
        told = explanation["labels"].values()
        assert [part["probability"] for part in told] == pytest.approx(probabilities[i])
        assert [part["assigned"] for part in told] == decided[i].astype(bool).tolist()


def test_without_labels_those_assigned_are_explained_or_the_most_probable(
    funnel: Any, corpus: Corpus
) -> None:
    decided = funnel.predict(corpus.texts, languages=corpus.languages)
    for row, explanation in zip(decided, explained(funnel, corpus), strict=True):
        expected = {label for label, yes in zip(LABELS, row, strict=True) if yes}
        assert set(explanation["labels"]) == expected or (not expected and len(explanation["labels"]) == 3)


def test_words_are_the_documents_own(funnel: Any) -> None:
    (explanation,) = funnel.explain(["ita0 itb1 unheard"], ["it"], labels=["a"])
    words = dict(explanation["labels"]["a"]["tier_one"]["words"])
    assert set(words) <= {"ita0", "itb1"}
    assert words["ita0"] > 0


def test_neighbours_come_from_any_language_and_have_ids_and_labels(funnel: Any, corpus: Corpus) -> None:
    rows = explained(funnel, corpus)
    by_id = {document.id: document for document in corpus}
    for row in rows:
        assert len(row["neighbours"]) == 5
        distances = [neighbour["distance"] for neighbour in row["neighbours"]]
        assert distances == sorted(distances)
        for neighbour in row["neighbours"]:
            document = by_id[neighbour["id"]]
            assert (neighbour["language"], tuple(neighbour["labels"])) == (document.language, document.labels)
    assert len({neighbour["language"] for row in rows for neighbour in row["neighbours"]}) == 3
    # A training document is its own neighbour; its posteriors then differ by rounding only.
    assert np.mean([row["neighbours"][0]["distance"] < 1e-3 for row in rows]) == 1


def test_it_survives_saving_and_loading(funnel: Any, corpus: Corpus, tmp_path: Path) -> None:
    save_model(funnel, tmp_path / "model")
    assert explained(load_model(tmp_path / "model"), corpus) == explained(funnel, corpus)


def test_a_compact_model_names_no_neighbours(corpus: Corpus) -> None:
    rows = explained(fitted(PAPER_FUNNEL, corpus, keep="nothing"), corpus)
    assert all(row["neighbours"] == [] for row in rows)
    assert all("tier_two" in part for row in rows for part in row["labels"].values())


def test_an_unseen_language_is_explained_by_shared_words(corpus: Corpus) -> None:
    model = fitted(PAPER_FUNNEL, corpus, zero_shot="pooled")
    (row,) = model.explain(["dea0 enb1"], ["fr"], labels=["a"])
    assert dict(row["labels"]["a"]["tier_one"]["words"]).keys() <= {"dea0", "enb1"}
    told = row["labels"]["a"]
    assert summed(told["tier_two"], "labels", "other_labels", "base") == pytest.approx(
        told["score"], abs=1e-4
    )


@pytest.mark.parametrize("kind", [NaiveClassifier, PooledClassifier])
def test_methods_of_one_tier_tell_their_words(kind: Any, corpus: Corpus) -> None:
    for row in explained(fitted(kind, corpus), corpus, labels=LABELS):
        for told in row["labels"].values():
            assert "tier_two" not in told
            one = told["tier_one"]
            assert summed(one, "words", "other_words", "bias") == pytest.approx(told["score"], abs=1e-4)
            assert one["words"]
            assert all(word.startswith(row["language"]) for word, _ in one["words"])


def test_features_without_names_are_numbers(corpus: Corpus) -> None:
    row = explained(fitted(LRIClassifier, corpus), corpus, labels=["a"])[0]
    assert all(word.isdigit() for word, _ in row["labels"]["a"]["tier_one"]["words"])


def test_a_label_that_the_model_does_not_have_is_refused(funnel: Any) -> None:
    with pytest.raises(InputError, match="no label 'z'"):
        funnel.explain(["text"], ["it"], labels=["z"])


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", [PAPER_FUNNEL, NaiveClassifier])
def test_one_label_a_document_is_the_one_predicted(kind: Any, classes: int, corpus: Corpus) -> None:
    y = [LABELS.index(labels[0]) % classes if labels else 0 for labels in corpus.labels]
    names = [f"class {k}" for k in y]
    model = kind(random_state=0).fit(corpus.texts, names, languages=corpus.languages)
    predicted = model.predict(corpus.texts, languages=corpus.languages)
    scores = model.decision_function(corpus.texts, languages=corpus.languages)
    rows = model.explain(corpus.texts, corpus.languages, labels=model.classes_.tolist(), top=3)
    for name, score, row in zip(predicted, scores, rows, strict=True):
        assert [label for label, told in row["labels"].items() if told["assigned"]] == [name]
        assert max(row["labels"], key=lambda label: row["labels"][label]["probability"]) == name
        expected = [-score, score] if classes == 2 else score
        for told, value in zip(row["labels"].values(), expected, strict=True):
            assert told["score"] == pytest.approx(value, abs=1e-6)
            one = told["tier_one"]
            assert summed(one, "words", "other_words", "bias") == pytest.approx(one["score"], abs=1e-4)
            if "tier_two" in told:
                assert summed(told["tier_two"], "labels", "other_labels", "base") == pytest.approx(value)
    assert list(model.explain(corpus.texts[:1], corpus.languages[:1])[0]["labels"]) == [predicted[0]]


def test_texts_come_as_a_list(funnel: Any) -> None:
    with pytest.raises(InputError, match="one list"):
        funnel.explain({"it": ["ita0"]})


def test_a_vectorizer_without_names_gives_numbers(corpus: Corpus) -> None:
    model = fitted(PAPER_FUNNEL, corpus, vectorizer=HashingVectorizer(n_features=2**10))
    row = explained(model, corpus, labels=["a"])[0]
    assert all(word.isdigit() for word, _ in row["labels"]["a"]["tier_one"]["words"])


def test_neighbours_show_how_their_texts_begin(funnel: Any, corpus: Corpus) -> None:
    texts = {document.id: document.text for document in corpus}
    for row in explained(funnel, corpus):
        for neighbour in row["neighbours"]:
            assert neighbour["text"].removesuffix(" …") in " ".join(texts[neighbour["id"]].split())
            assert len(neighbour["text"]) <= 200


def test_texts_of_further_documents_are_shown_too(corpus: Corpus) -> None:
    model = fitted(PAPER_FUNNEL, corpus)
    model.update(["fra0 frb1 frc2"] * 4, [["a"]] * 4, ["fr"] * 4, ids=list("wxyz"))
    assert model.training_.blocks["fr"].beginnings == ["fra0 frb1 frc2"] * 4
    assert all(len(block.beginnings or ()) == len(block.ids) for block in model.training_.blocks.values())
    row = model.explain(["fra0 frb1 frc2"], ["fr"])[0]
    assert all("text" in neighbour for neighbour in row["neighbours"])


def test_a_compact_model_keeps_no_word_of_its_texts(corpus: Corpus, tmp_path: Path) -> None:
    texts = [f"{text} supercalifragilistic{i}" for i, text in enumerate(corpus.texts)]
    secret = replace(corpus, texts=texts)
    for compact in (True, False):
        folder = tmp_path / f"model-{compact}"
        save_model(fitted(PAPER_FUNNEL, secret, keep="nothing" if compact else "words"), folder)
        content = b"".join(file.read_bytes() for file in folder.iterdir() if file.is_file())
        assert (b"supercalifragilistic0" in content) is not compact
