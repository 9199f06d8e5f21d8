"""Which documents to label next: those a model is unsure of, that stand for many, no two of them alike."""

from typing import Any

import numpy as np
import pytest

from funnelling import InputError
from funnelling.funnel.estimator import FunnelEstimator
from funnelling.methods import active_learning, uncertainty
from funnelling.methods.active_learning import next_to_label
from funnelling.methods.uncertainty import select_greedily
from funnelling.research import NaiveClassifier
from tests.funnels import any_funnel

EN = ["the cat sleeps", "a dog barks", "cats sleep long", "dogs bark loudly"]
IT = ["il gatto dorme", "un cane abbaia", "i gatti dormono", "i cani abbaiano"]


@pytest.fixture(scope="module")
def funnel() -> FunnelEstimator:
    texts, labels = [*EN * 4, *IT * 3], [["cat"], ["dog"]] * 14
    languages = ["en"] * 16 + ["it"] * 12
    model = any_funnel(views=["own", "pooled"], random_state=0)
    return model.fit(texts, labels, languages=languages)


def names(rows: list[dict[str, Any]]) -> list[str]:
    return [row["id"] for row in rows]


def test_what_is_in_doubt_comes_before_what_is_sure(funnel: FunnelEstimator) -> None:
    texts = ["the cat sleeps at home", "the cat of the dog", "a dog barks at home"]
    rows = next_to_label(funnel.model_, texts, ["en"] * 3, 3, ids=["cat", "both", "dog"])
    assert names(rows)[0] == "both"
    assert rows[0]["labels"] is None
    assert rows[0]["reason"]
    assert rows[0]["score"] > 0
    assert set(rows[0]["probabilities"]) <= {"cat", "dog"}


def test_no_two_say_the_same_nor_what_is_learned(funnel: FunnelEstimator) -> None:
    garden = "the cat and the dog of our neighbours play all day long in the garden"
    texts = [garden, f"{garden} again", "the cat sleeps", "a bird sings"]
    rows = next_to_label(funnel.model_, texts, ["en"] * 4)
    assert len(rows) == 2
    assert {row["text"] for row in rows} & set(texts[:2])
    assert "a bird sings" in {row["text"] for row in rows}


def test_one_of_many_alike_comes_before_one_apart() -> None:
    model = NaiveClassifier().fit(EN * 5, [["cat"], ["dog"]] * 10, languages=["en"] * 20)
    texts = [f"red fish swim in lake {place}" for place in ("como", "garda", "zurich")] + ["green grass"]
    assert next_to_label(model.model_, texts, ["en"] * 4, 1)[0]["text"].startswith("red fish")


def test_of_a_group_one_is_suggested(funnel: FunnelEstimator) -> None:
    texts = ["a bird sings", "un uccello canta", "red fish swim"]
    rows = next_to_label(funnel.model_, texts, ["en", "it", "en"], groups=["bird", "bird", None])
    assert len(rows) == 2
    assert [row["group"] for row in rows].count("bird") == 1


def test_languages_take_turns_by_their_size_or_balanced(funnel: FunnelEstimator) -> None:
    texts = [
        f"{word} {other}" for word in ("red", "blue", "old", "new") for other in ("fish", "bird", "house")
    ]
    languages = ["en"] * 10 + ["it"] * 2
    rows = next_to_label(funnel.model_, texts, languages, 6)
    assert [row["language"] for row in rows].count("it") == 2
    assert [row["language"] for row in next_to_label(funnel.model_, texts, languages, 2, balance=True)] == [
        "it",
        "it",
    ]


def test_a_language_that_the_model_does_not_know_is_suggested_too() -> None:
    model = NaiveClassifier().fit(EN * 5, [["cat"], ["dog"]] * 10, languages=["en"] * 20)
    (row,) = next_to_label(model.model_, ["el gato duerme"], ["es"])
    assert row["language"] == "es"
    assert (row["suggested"], row["probabilities"]) == ([], {})
    assert "language without labels" in row["reason"]


def test_one_label_per_document() -> None:
    model = any_funnel(views=None, random_state=0)
    model.fit(EN * 4, ["cat", "dog"] * 8, languages=["en"] * 16)
    rows = next_to_label(model.model_, ["the cat of the dog", "red fish swim"], ["en", "en"])
    assert rows[0]["reason"].startswith(("unsure between", "out of vocabulary"))
    unknown = next(row for row in rows if row["text"] == "red fish swim")
    assert unknown["reason"].startswith("out of vocabulary")
    assert unknown["suggested"] == []


def test_reasons_say_what_the_model_knows(funnel: FunnelEstimator) -> None:
    (row,) = next_to_label(funnel.model_, ["the cat of the dog"], ["en"])
    assert "unsure about" in row["reason"]
    compact = any_funnel(views=None, keep="nothing", random_state=0)
    compact.fit(EN * 4, [["cat"], ["dog"]] * 8, languages=["en"] * 16)
    assert next_to_label(compact.model_, ["the cat of the dog"], ["en"])[0]["reason"]


def test_labels_that_a_reason_names_are_shown_with_their_probability(
    funnel: FunnelEstimator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(active_learning, "N_PROBABILITIES_SHOWN", 0)
    texts = ["the cat of the dog", "dogs and a cat", "a bird and a cat and dogs"]
    rows = next_to_label(funnel.model_, texts, ["en"] * 3)
    named = [{label for label in ("cat", "dog") if label in row["reason"]} for row in rows]
    assert any(some - set(row["suggested"]) for some, row in zip(named, rows, strict=True))
    assert all(some <= set(row["probabilities"]) for some, row in zip(named, rows, strict=True))


def test_what_is_held_at_a_time_changes_nothing(
    funnel: FunnelEstimator, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"word{i} cat word{i // 2} dog" for i in range(40)]
    rows = next_to_label(funnel.model_, texts, ["en"] * 20 + ["it"] * 20, 30)
    monkeypatch.setattr(uncertainty, "VALUES_PER_BLOCK", 60)
    monkeypatch.setattr(active_learning, "VALUES_PER_BLOCK", 9)
    assert next_to_label(funnel.model_, texts, ["en"] * 20 + ["it"] * 20, 30) == rows


def test_it_is_the_same_every_time_and_a_sample_is_drawn_of_too_many(
    funnel: FunnelEstimator, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"word{i} cat word{i // 2} dog" for i in range(40)]
    assert next_to_label(funnel.model_, texts, ["en"] * 40, 10) == next_to_label(
        funnel.model_, texts, ["en"] * 40, 10
    )
    monkeypatch.setattr(active_learning, "MAX_COMPARED_DOCUMENTS", 15)
    rows = next_to_label(funnel.model_, texts, ["en"] * 40, 30)
    assert len(rows) <= 15
    assert all(texts[int(row["id"])] == row["text"] for row in rows)


def test_what_cannot_be_suggested_is_refused(funnel: FunnelEstimator) -> None:
    with pytest.raises(InputError, match="number must be a whole number from 1 on"):
        next_to_label(funnel.model_, ["a cat"], ["en"], 0)
    with pytest.raises(InputError, match="as one list"):
        next_to_label(funnel.model_, {"en": ["a cat"]})
    vectors = NaiveClassifier().fit(np.eye(6), [["a"], ["b"]] * 3)
    with pytest.raises(InputError, match="fitted on vectors"):
        next_to_label(vectors.model_, ["a cat"])


def test_a_model_gives_a_frame(funnel: FunnelEstimator) -> None:
    frame = funnel.next_to_label(["the cat of the dog", "a bird sings"], ["en", "en"])
    assert list(frame) == list(active_learning.SUGGESTION_COLUMNS)
    assert set(frame["text"]) == {"the cat of the dog", "a bird sings"}
    assert frame["labels"].isna().all()
    nothing = funnel.next_to_label(EN, ["en"] * 4)
    assert (len(nothing), list(nothing)) == (0, list(active_learning.SUGGESTION_COLUMNS))


def test_taking_in_turn_is_the_plain_greedy_choice() -> None:
    rng = np.random.default_rng(0)
    points = np.abs(rng.normal(size=(30, 5)))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    cosines, weights = (points @ points.T).astype(np.float32) ** 8, rng.random(30).astype(np.float32)
    covered = np.full(30, 0.1, dtype=np.float32)
    taken = [each.place for each in select_greedily(cosines, covered, weights, 6)]
    expected: list[int] = []
    for _ in range(6):
        gains = np.maximum(cosines - covered, 0) @ weights
        near = cosines[:, expected].max(axis=1) >= 0.9 if expected else np.zeros(30, dtype=bool)
        gains[near] = -1
        expected.append(int(gains.argmax()))
        covered = np.maximum(covered, cosines[expected[-1]])
    assert taken == expected
