"""What words added, laid onto the text: nothing is lost or invented, and it stands where it came from."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from funnelling.methods.explanation import LaidText
from funnelling.research import NaiveClassifier, PooledClassifier
from funnelling.text.tfidf import FeatureSpans, TfidfVectorizer
from tests.funnels import any_funnel

TEXTS = [
    "The tele\u0301phone rings, a cat sleeps",
    "a dog barks at C++ and x86-64",
    "il telefono squilla, il gatto dorme",
    "un cane abbaia: 東京都 ไทย",
] * 5
LANGUAGES = ["en", "en", "it", "it"] * 5
LABELS = [["cat"], ["dog"], ["cat"], ["dog"]] * 5
WORDS = st.sampled_from(
    [
        "cat",
        "gatto",
        "Dogs",
        "telefono",
        "te\u0301le\u0301phone",
        "東京",
        "x86-64",
        "so\u00adft",
        "C++",
        "!?",
        "ไทย",
    ]
)

MODELS = {
    "own": any_funnel(views=None, random_state=0),
    "own, mixed": any_funnel(views=["own", "mixed"], random_state=0),
    "odds": any_funnel(views=["own", "mixed", "own-mixed"], final_estimator="odds", random_state=0),
    "stacked": any_funnel(views=["own", "characters", "lri"], combine="stacked", random_state=0),
    "concat": any_funnel(views=["pooled", "characters"], combine="concat", random_state=0),
    "zero-shot": any_funnel(views=None, zero_shot="pooled", random_state=0),
    "naive": NaiveClassifier(random_state=0),
    "pooled": PooledClassifier(random_state=0),
}


@pytest.fixture(scope="module", params=MODELS)
def model(request: pytest.FixtureRequest) -> Any:
    return MODELS[request.param].fit(TEXTS, LABELS, languages=LANGUAGES)


def contributed(told: dict[str, Any]) -> float:
    """What all words added, in all views, each by its share."""
    views = [told["tier_one"], *told.get("other_views", {}).values()]
    return sum(
        view.get("share", 1) * (sum(value for _, value in view["words"]) + view["other_words"])
        for view in views
    )


@given(words=st.lists(WORDS | st.text(max_size=6), max_size=12), language=st.sampled_from(["en", "it"]))
def test_passages_and_what_is_unplaced_are_all_that_words_added(
    model: Any, words: list[str], language: str
) -> None:
    text = " ".join(words)
    (row,) = model.explain([text], [language], labels=["cat", "dog"])
    for told in row["labels"].values():
        placed = sum(amount for *_, amount in told["spans"])
        assert placed + told.get("outside_text", 0) == pytest.approx(contributed(told), abs=1e-9)
        edges = [edge for start, end, _ in told["spans"] for edge in (start, end)]
        assert edges == sorted(edges)
        assert all(0 <= edge <= len(text) for edge in edges)
        assert all(amount for *_, amount in told["spans"])


def test_only_what_belongs_to_no_word_is_unplaced(model: Any) -> None:
    for row in model.explain(TEXTS[:4], LANGUAGES[:4], labels=["cat"]):
        told = row["labels"]["cat"]
        views = {told["tier_one"].get("view"), *told.get("other_views", {})}
        if not views & {
            "lri",
            "own-mixed",
        }:  # LRI's dimensions are no words; own-mixed has one for a language
            assert "outside_text" not in told


def test_one_view_gives_its_words_their_contributions() -> None:
    model = any_funnel(views=None, random_state=0).fit(TEXTS, LABELS, languages=LANGUAGES)
    text = "Cats, two cats and a dog"
    told = model.explain([text], ["en"], labels=["cat"])[0]["labels"]["cat"]
    words = dict(told["tier_one"]["words"])
    passages = [(text[start:end], amount) for start, end, amount in told["spans"]]
    assert [word for word, _ in passages] == ["Cats", "cats", "dog"]
    assert [amount for _, amount in passages] == pytest.approx([words["cat"] / 2] * 2 + [words["dog"]])


def test_a_vectorizer_of_ones_own_has_no_places() -> None:
    model = NaiveClassifier(vectorizer=CountVectorizer(), random_state=0).fit(
        TEXTS, LABELS, languages=LANGUAGES
    )
    assert "spans" not in model.explain(TEXTS[:1], ["en"], labels=["cat"])[0]["labels"]["cat"]


def test_a_vectorizer_goes_by_the_language_it_was_given() -> None:
    model = NaiveClassifier(vectorizer=TfidfVectorizer("en"), random_state=0).fit(
        TEXTS, LABELS, languages=LANGUAGES
    )
    told = model.explain(["il telefono"], ["it"], labels=["cat"])[0]["labels"]["cat"]
    assert "outside_text" not in told


def test_of_two_classes_what_speaks_for_one_speaks_against_the_other() -> None:
    model = PooledClassifier(random_state=0).fit(TEXTS, [each[0] for each in LABELS], languages=LANGUAGES)
    labels = model.explain(TEXTS[:1], ["en"], labels=["cat", "dog"])[0]["labels"]
    assert labels["cat"]["spans"] == [[start, end, -amount] for start, end, amount in labels["dog"]["spans"]]


def test_a_run_is_divided_over_the_words_it_touches_by_their_characters() -> None:
    places = FeatureSpans(*np.array([[7, 3, 8], [9, 9, 11]]).T)
    laid = LaidText("state-of it", [(np.array([9, 7]), places, 0.5)])
    passages, unplaced = laid.passages([np.array([4.0, 10.0])])
    # "te-of": two characters of state, one sign, two of "of"; 9 is "it", once.
    assert passages == [
        [0, 5, pytest.approx(2.0)],
        [5, 6, pytest.approx(1.0)],
        [6, 8, pytest.approx(2.0)],
        [9, 11, 2.0],
    ]
    assert unplaced == 0
