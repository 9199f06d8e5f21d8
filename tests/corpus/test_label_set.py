"""Sets of labels: what they refuse, what labels are called, and what belongs to what."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from funnelling import InputError, LabelSet
from funnelling.corpus.label_rules import MAX_DEPTH, Hierarchy
from funnelling.corpus.label_set import Label
from funnelling.state import StateError, check_fields
from tests.funnels import any_funnel

PETS = [
    Label("animals", {"en": "Animals", "de": "Tiere"}, "All of them."),
    Label("pets", {"en": "Pets"}, parents=("animals",)),
    Label("cats", {"de": "Katzen", "pt-BR": "Gatos"}, parents=("pets",)),
    Label("plants", {"und": "Flora"}, exclude=True),
]


@pytest.fixture
def pets() -> LabelSet:
    return LabelSet.of(PETS)


def test_it_gives_back_what_it_was_made_of(pets: LabelSet) -> None:
    assert len(pets) == 4
    assert "cats" in pets
    assert pets["cats"] == Label("cats", {"de": "Katzen", "pt_BR": "Gatos"}, parents=("pets",))
    assert pets["animals"] == PETS[0]
    assert [label.exclude for label in pets] == [False, False, False, True]
    assert pets["unknown"] == Label("unknown")


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        ([Label("a"), Label("a")], 'label "a" is there twice'),
        ([Label("a", parents=("b",))], 'its parent "b" is no label'),
        ([Label("a", parents=("a",))], "a > a"),
        (
            [Label("a", parents=("b",)), Label("b", parents=("c",)), Label("c", parents=("a",))],
            "a > b > c > a",
        ),
        ([Label("a", {"no tag": "x"})], "'no tag' is not a language tag"),
        ([Label("a", {"EN": "x", "en": "y"})], 'label "a": "EN" and "en" are one language, with two names'),
        (
            [Label("0"), *(Label(str(i), parents=(str(i - 1),)) for i in range(1, MAX_DEPTH + 3))],
            f"has more than {MAX_DEPTH} labels above it",
        ),
    ],
)
def test_what_is_refused(labels: list[Label], says: str) -> None:
    with pytest.raises(InputError, match=says):
        LabelSet.of(labels)


class TestNames:
    def test_another_language_takes_the_place_of_one_that_is_missing(self, pets: LabelSet) -> None:
        assert pets.names_in("de") == {
            "animals": "Tiere",
            "pets": "Pets",
            "cats": "Katzen",
            "plants": "Flora",
        }
        assert pets.names_in("de_AT") == pets.names_in("de")
        assert pets.name_of("cats") == "Katzen"
        assert pets.name_of("unknown") == "unknown"

    def test_no_name_is_lost_where_tags_are_of_one_language(self) -> None:
        labels = LabelSet.of([Label("a", {"EN": "A", "eng": "A", "en": ""}), Label("b", {"en": "B"})])
        assert labels.names == {"en": ["A", "B"]}

    def test_a_language_without_names_is_refused(self) -> None:
        with pytest.raises(InputError, match='no label has a name in "it", only in de, en'):
            LabelSet.of([Label("a", {"en": "A", "de": "A"})]).names_in("it")


def test_labels_bring_all_that_are_above_them(pets: LabelSet) -> None:
    assert pets.closed(["cats"]) == ("cats", "pets", "animals")
    assert pets.closed(["plants", "other"]) == ("plants", "other")


def test_other_labels_are_excluded_in_a_copy(pets: LabelSet) -> None:
    fewer = pets.excluding(["cats", "new"])
    assert [label.id for label in fewer if label.exclude] == ["cats", "plants", "new"]
    assert [label.id for label in pets if label.exclude] == ["plants"]
    assert fewer["cats"].names == pets["cats"].names


def test_it_follows_other_names_of_labels(pets: LabelSet) -> None:
    renamed = pets.rolled_up().renamed({"cats": "felines", "pets": "animals", "plants": ""})
    assert renamed.ids == ["animals", "felines", "plants"]
    assert renamed["felines"].parents == ("animals",)
    assert renamed["animals"].parents == ()
    assert renamed.roll_up


class TestRules:
    def test_a_label_is_as_probable_as_the_most_probable_one_below_it(self, pets: LabelSet) -> None:
        rules = pets.rules(["animals", "cats", "plants"])
        given = np.array([[False, True, True], [False, False, False]])
        probabilities = np.array([[0.1, 0.7, 0.9], [0.2, 0.3, 0.1]])
        assigned, raised = rules.several(given, probabilities, np.array([0.25, 0.5, 0.5]))
        assert raised.tolist() == [[0.7, 0.7, 0], [0.3, 0.3, 0]]
        assert assigned.tolist() == [[True, True, False], [True, False, False]]
        assert rules.order().tolist() == [1, 0]  # of those equally probable, the more special one is the best

    def test_one_label_is_the_best_of_those_that_are_left(self, pets: LabelSet) -> None:
        rules = pets.rules(["animals", "cats", "plants"])
        probabilities = np.array([[0.1, 0.3, 0.6], [0.0, 0.0, 1.0]])
        best, rest = rules.one(np.log(probabilities + 1e-9), probabilities)
        assert best.tolist() == [1, 0]
        assert rest == pytest.approx(np.array([[0.25, 0.75, 0], [0.5, 0.5, 0]]))

    def test_something_must_be_left(self, pets: LabelSet) -> None:
        with pytest.raises(InputError, match="Every label of the model is excluded"):
            pets.rules(["plants"]).check()

    def test_a_hierarchy_is_looked_up_once_whatever_is_excluded(self, pets: LabelSet) -> None:
        classes = np.array(["animals", "cats", "new"])
        hierarchy = pets.rules(classes).hierarchy
        fewer = pets.excluding(["cats", "new"]).rules(classes)
        assert fewer.hierarchy is hierarchy
        assert fewer.excluded.tolist() == [False, True, True]
        assert pets.rules(classes.tolist()).excluded.tolist() == [False, False, False]
        assert pets.rules(["plants", "cats"]).excluded.tolist() == [True, False]

    def test_a_list_that_is_changed_is_read_again(self, pets: LabelSet) -> None:
        classes = ["animals", "cats"]
        pets.rules(classes)
        classes[0] = "plants"
        assert pets.rules(classes).excluded.tolist() == [True, False]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("ids", ["animals", "pets", "cats", "cats"]),
        ("ids", []),
        ("names", {"en": ["one"]}),
        ("names", {"EN": [""] * 4}),
        ("names", {"no tag": [""] * 4}),
        ("descriptions", [""] * 3 + [None]),
        ("broader", np.array([[0, 4]])),
        ("broader", np.array([[0, 1], [1, 0]])),
        ("broader", np.array([0, 1])),
        ("excluded", np.zeros(3, dtype=bool)),
        ("excluded", np.zeros(4)),
        ("roll_up", "yes"),
    ],
)
def test_what_a_file_holds_is_checked(pets: LabelSet, field: str, value: object) -> None:
    _check(pets)
    setattr(pets, field, value)
    with pytest.raises((StateError, InputError)):
        _check(pets)


def _check(labels: LabelSet) -> None:
    check_fields(labels)
    labels.check_state()


@pytest.mark.parametrize("one_label", [False, True], ids=["several", "one"])
def test_views_say_nothing_of_excluded_labels(one_label: bool) -> None:
    texts, names = ["the cat sleeps", "a dog barks", "an ox eats"] * 6, ["cat", "dog", "ox"] * 6
    y = names if one_label else [[name] for name in names]
    model = any_funnel(views=None, random_state=0, base_C=1.0).fit(texts, y, ["en"] * 18)
    model.label_set_ = LabelSet.of([Label("dog", parents=("ox",)), Label("ox"), Label("cat", exclude=True)])
    (opinions,) = model.model_.opinions(["the cat barks", "an ox"], ["en", "en"]).values()
    for view in opinions.views.values():
        assert not view[:, 0].any()
        assert np.allclose(view.sum(axis=1), 1) if one_label else (view[:, 2] >= view[:, 1]).all()
    assert "cat" not in " ".join(model.next_to_label(["the cat barks", "a dog"], ["en", "en"])["reason"])


def test_threads_may_ask_for_rules_of_several_models(pets: LabelSet) -> None:
    asked = [["cats", "pets"], ["animals", "plants"]] * 500
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(pets.rules, asked))
    assert [list(rules.hierarchy.labels[:2]) for rules in found] == asked


@given(st.integers(0, 10**6))
def test_sparse_values_are_raised_like_dense_ones(seed: int) -> None:
    random = np.random.default_rng(seed)
    labels = [f"l{number}" for number in range(8)]
    edges = [(child, parent) for child in range(8) for parent in range(child) if random.random() < 0.3]
    hierarchy = Hierarchy.of(labels[2:], labels, np.array(edges, dtype=np.int64).reshape(-1, 2))
    values = random.integers(1, 9, (5, 6)) / 8 * (random.random((5, 6)) < 0.4)
    for given_values in (values, values > 0):
        raised = hierarchy.raised(sparse.csr_array(given_values))
        assert raised.dtype == given_values.dtype
        np.testing.assert_array_equal(raised.toarray(), hierarchy.raised(given_values))
