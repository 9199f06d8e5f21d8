"""Where features stand in a text: the same features as in its vector, and nothing that is not there."""

import unicodedata
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from funnelling.text.alignment import aligned
from funnelling.text.characters import CharacterVectorizer
from funnelling.text.tfidf import TfidfVectorizer
from funnelling.text.tokens import placed_words, tidy, units, words
from funnelling.text.words import analyser

SCRIPTS = st.sampled_from(
    [
        "Straße",
        "I\u0307stanbul",
        "e\u0301te\u0301",
        "so\u00adft",
        "東京都",
        "ไทยแลนด์",
        "한국",
        "ΟΔΟΣ",
        "ﬁn",
        "ﷺ",
        "щи",
        "½",
        "c++",
        unicodedata.normalize("NFD", "한국"),
        "a" + "\u0301" * 70,
        "\u0301",
        " ",
        "\n",
        "\u3000",
        "İI",
        "ǅ",
        "हिन्दी",
    ]
)
TEXTS = st.lists(SCRIPTS | st.text(max_size=4), max_size=8).map("".join)


@given(TEXTS, st.sampled_from([None, "tr"]))
def test_placed_words_are_the_words(text, language):
    placed = placed_words(text, language)
    assert [word for word, *_ in placed] == words(text, language)
    assert all(0 <= start < end <= len(text) for _, start, end in placed)


@given(TEXTS)
def test_units_cover_all_that_is_not_blank_and_do_not_overlap(text):
    edges = [edge for unit in units(text) for edge in unit]
    assert edges == sorted(edges)
    assert all(start < end for start, end in units(text))
    covered = {place for start, end in units(text) for place in range(start, end)}
    assert {place for place, character in enumerate(text) if not character.isspace()} <= covered


@given(TEXTS, st.booleans(), st.sampled_from([(4, None), (3, 6), (1, 2)]))
def test_runs_of_characters_stand_as_often_as_they_are_counted(text, latin, lengths):
    length, longest = lengths
    vectorizer = CharacterVectorizer(length, longest=longest, latin=latin, min_df=1).fit([text, "x"])
    counts = vectorizer.count([text])
    counted = dict(zip((counts.words[column] for column in counts.columns), counts.frequencies, strict=True))
    places = vectorizer.places(text)
    found = Counter(vectorizer.vocabulary_[column] for column in places.columns)
    # Marks alone are spelled as nothing, and then only the edges are left of a word.
    shown = {name: n for name, n in counted.items() if name in vectorizer.vocabulary_ and name.strip()}
    assert {name: n for name, n in found.items() if name.strip()} == shown
    assert ((places.starts >= 0) & (places.starts <= places.ends) & (places.ends <= len(text))).all()


@given(TEXTS, st.sampled_from(["en", "de", "tr", "ja"]))
def test_features_stand_as_often_as_they_are_counted(text, language):
    assert [feature for feature, *_ in analyser(language).placed(text)] == analyser(language)(text)


def test_a_word_is_found_as_it_was_written():
    text = "Re\u0301sume\u0301s, ﬁles and so\u00adft\u00adware: the RÉSUMÉ"
    spans = {
        text[start:end]
        for word, start, end in placed_words(text)
        if word in ("résumés", "files", "software", "résumé")
    }
    assert spans == {"Re\u0301sume\u0301s", "ﬁles", "so\u00adft\u00adware", "RÉSUMÉ"}


def test_the_places_of_a_vectorizer_have_its_columns():
    vectorizer = TfidfVectorizer("en").fit(["Two dogs barked", "A dog and its cats", "Birds"])
    text = "Dogs like a dog"
    places = vectorizer.places(text)
    assert [vectorizer.vocabulary_[column] for column in places.columns] == ["dog", "dog"]
    assert [text[start:end] for start, end in zip(places.starts, places.ends, strict=True)] == ["Dogs", "dog"]


def test_runs_of_other_scripts_stand_where_their_letters_do():
    vectorizer = CharacterVectorizer(3, longest=6, latin=True, min_df=1).fit(["телефон", "nothing"])
    text = "мой телефон"
    places = vectorizer.places(text)
    spans = {vectorizer.vocabulary_[c]: text[s:e] for c, s, e in zip(*places, strict=True)}
    assert spans[" tel"] == "тел"
    assert spans["lefon"] == "лефон"


@pytest.mark.parametrize("marks", [100, 50_000])
def test_a_pile_of_marks_is_no_trap(marks):
    text = "a" + "\u0301" * marks + " word"
    assert placed_words(text)[-1] == ("word", len(text) - 4, len(text))


def test_each_character_comes_from_where_it_was():
    alignment = aligned("ﬁ e\u0301", tidy)
    assert alignment.text == "fi é"
    assert alignment.starts.tolist() == [0, 0, 1, 2]
    assert alignment.ends.tolist() == [1, 1, 2, 4]
