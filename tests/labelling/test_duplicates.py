"""Documents of the same content that are labelled otherwise."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from funnelling import Corpus, Document
from funnelling.labelling.duplicates import (
    COPIES,
    MAX_NEAR_DUPLICATES,
    TRANSLATIONS,
    Disagreement,
    find_label_disagreements,
    near_duplicates,
)

TEXT = "The committee adopted the new budget for rural roads"


def corpus(*documents: Document) -> Corpus:
    return Corpus.from_documents(documents)


def found_in(documents: Corpus) -> dict[int, Disagreement]:
    return find_label_disagreements(documents, documents.label_matrix(documents.label_set()))


def test_copies_of_a_language_that_are_labelled_otherwise() -> None:
    documents = corpus(
        Document("a", TEXT, "en", ("money",)),
        Document("b", f"{TEXT}.", "en", ("sport",)),
        Document("c", TEXT, "it", ("sport",)),
        Document("d", "A quiet evening at the river", "en", ("sport",)),
    )
    assert found_in(documents) == {
        0: Disagreement(COPIES, [1], [0], [1]),
        1: Disagreement(COPIES, [0], [1], [0]),
    }


def test_the_one_translation_that_differs_from_most() -> None:
    documents = corpus(
        Document("a", "the budget", "en", ("money", "law"), group="1"),
        Document("b", "il bilancio", "it", ("money", "law"), group="1"),
        Document("c", "das Budget", "de", ("money",), group="1"),
        Document("d", "el equipo", "es", ("sport",), group="2"),
    )
    assert documents.label_set() == ["law", "money", "sport"]
    assert found_in(documents) == {2: Disagreement(TRANSLATIONS, [0, 1], [], [0])}


def test_documents_of_a_group_in_one_language_are_no_translations() -> None:
    documents = corpus(
        Document("a", "the budget", "en", ("money",), group="1"),
        Document("b", "a library", "en", ("law",), group="1"),
    )
    assert found_in(documents) == {}


def test_texts_without_words_are_no_copies() -> None:
    assert near_duplicates(["", "...", "!"], "en") == [[], [], []]


@given(st.lists(st.lists(st.sampled_from([f"word{c}" for c in "abcdefghijklmno"]), max_size=14), max_size=25))
def test_texts_with_nine_tenths_of_their_words_in_common_are_copies(texts: list[list[str]]) -> None:
    texts = [*texts, ["library"]]  # no word is in all of them: such a word tells nothing
    sets = [set(words) for words in texts]
    expected = [
        [j for j, b in enumerate(sets) if j != i and a and b and len(a & b) >= 0.9 * len(a | b)]
        for i, a in enumerate(sets)
    ]
    assert near_duplicates([" ".join(words) for words in texts], "en") == expected


def test_of_many_copies_some_are_told() -> None:
    found = near_duplicates(["budget of roads"] * (MAX_NEAR_DUPLICATES + 50) + ["library"], "en")[:-1]
    assert {len(places) for places in found} == {MAX_NEAR_DUPLICATES}
    assert all(place not in places for place, places in enumerate(found))


def test_texts_by_one_template_are_told_some_others_in_time_that_grows_as_their_number() -> None:
    shared = " ".join(f"word{letter}" for letter in "abcdefghijklmnopqrstuvwxyz")
    names = ["".join(letters) for letters in product("abcdefghijkl", repeat=3)]
    found = near_duplicates([f"{shared} {name}qx" for name in names], "en")
    assert len(names) > 10 * MAX_NEAR_DUPLICATES
    assert all(len(places) == MAX_NEAR_DUPLICATES for places in found)


def test_of_many_translations_some_are_told() -> None:
    documents = [Document(f"{i}", f"text {i}", ("en", "it")[i % 2], ("a",), group="1") for i in range(400)]
    documents[1] = Document("slip", "text 1", "it", ("b",), group="1")
    found = found_in(corpus(*documents))
    assert list(found) == [1]
    assert len(found[1].duplicates) == MAX_NEAR_DUPLICATES
