"""Labels are learned from what they are called, those that no document has, too."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from funnelling import InputError, ManyLabelsClassifier, load_model
from funnelling.corpus.label_set import Label, LabelSet
from funnelling.evaluation.fitting import cross_validate
from funnelling.evaluation.measuring import evaluate_classifier, evaluate_in_detail
from funnelling.methods.learning import Method
from funnelling.state import StateError
from funnelling.storage import save_model
from tests.commands.command import contents
from tests.funnel.many.corpora import LABELS, corpus_of, documents
from tests.funnel.many.test_funnel import forge_value

LETTERS = "abcdefghijkl"
GIVEN = documents(each=60)
# Labels are called what they show in; no document has l12, l13 or l14.
NAMED = LabelSet.of(
    [
        *(
            Label(f"l{number:02}", {tag: f"{tag}{letter * 4}" for tag in ("en", "it")})
            for number, letter in enumerate(LETTERS)
        ),
        Label("l12", {"en": "enmmmm", "it": "itmmmm"}),
        Label("l13", {"en": "ennnnn"}, exclude=True),
        Label("l14"),
    ]
)


def fitted(given: Any = GIVEN, label_set: LabelSet | None = NAMED, **parameters: Any) -> Any:
    texts, labels, languages = given
    ids = [f"d{number}" for number in range(len(texts))]
    model = ManyLabelsClassifier(random_state=0, **parameters)
    return model.set_params(label_set=label_set).fit(texts, labels, languages, ids=ids)


def without(label: str, languages: tuple[str, ...]) -> Any:
    """The documents without those that have a label in some languages."""
    rows = [row for row in zip(*GIVEN, strict=True) if label not in row[1] or row[2] not in languages]
    return tuple(map(list, zip(*rows, strict=True)))


@pytest.fixture(scope="module")
def model() -> Any:
    return fitted()


def test_named_labels_are_classes_unless_they_are_excluded(model: Any) -> None:
    assert model.classes_.tolist() == [f"l{number:02}" for number in range(LABELS + 1)]
    assert model.label_set_ is NAMED
    assert model.model_.fitted.tier_one.views == ["own", "shared", "names"]


@pytest.mark.parametrize("languages", [("it",), ("en", "it")])
def test_labels_without_documents_are_found_by_name(languages: tuple[str, ...]) -> None:
    left = without("l03", languages)
    texts = ["itdddd itxqov", "itdddd itwuov itysov"]
    found = fitted(left).predict_proba(texts, ["it", "it"])
    assert found.toarray().argmax(axis=1).tolist() == [3, 3]
    nameless = fitted(left, None)
    column = nameless.classes_.tolist().index("l03") if "l03" in nameless.classes_ else None
    assert column is None or nameless.predict_proba(texts, ["it", "it"]).toarray()[:, column].max() < 0.5


def test_a_language_whose_names_lack_takes_others(model: Any) -> None:
    foreign = LabelSet.of([Label("l12", {"de": "mmmm"})])
    assert fitted(GIVEN, foreign).predict_proba(["mmmm"], ["en"]).toarray()[0].argmax() == 12
    assert foreign.texts(["l12", "l00"], "it") == ["mmmm", ""]
    assert model.label_set_.texts(["l12", "l13", "l14"], "en") == ["enmmmm", "", ""]


def test_a_label_set_without_names_teaches_nothing(tmp_path: Path) -> None:
    parents = LabelSet.of([Label("l00", parents=("l01",)), Label("l01"), Label("l99")])
    for name, one in {"with": fitted(GIVEN, parents), "without": fitted(GIVEN, None)}.items():
        one.model_ = replace(one.model_, label_set=None)
        save_model(one, tmp_path / name)
    assert contents(tmp_path / "with") == contents(tmp_path / "without")


def test_vectors_have_no_names() -> None:
    random = np.random.default_rng(0)
    X = random.random((80, 6)) * (random.random((80, 6)) < 0.5)
    y = [[f"l{label:02}" for label in np.flatnonzero(row > 0.6)] for row in X[:, :5]]
    model = ManyLabelsClassifier(random_state=0, label_set=NAMED).fit({"en": X}, {"en": y})
    assert model.classes_.tolist() == [f"l{label:02}" for label in range(5)]


def test_classes_that_are_numbers_have_no_names() -> None:
    texts, labels, languages = GIVEN
    y = np.array([[f"l{label:02}" in own for label in range(LABELS)] for own in labels], dtype=int)
    model = ManyLabelsClassifier(random_state=0, label_set=NAMED).fit(texts, y, languages)
    assert model.classes_.tolist() == list(range(LABELS))


def test_a_label_set_that_leaves_nothing_is_refused_before_the_work() -> None:
    nothing = LabelSet.of([Label(f"l{label:02}", exclude=True) for label in range(LABELS)])
    with pytest.raises(InputError, match="Every label of the model is excluded"):
        fitted(GIVEN, nothing)


@pytest.mark.parametrize("given", ["headings.csv", {"l00": "zero"}, [Label("l00")]])
def test_what_is_no_label_set_is_refused(given: Any) -> None:
    with pytest.raises(InputError, match="label_set must be a LabelSet, not"):
        fitted(GIVEN, given)


def test_an_empty_label_set_is_refused() -> None:
    with pytest.raises(InputError, match="label_set has no labels"):
        fitted(GIVEN, LabelSet.of([]))


def test_names_of_excluded_labels_alone_teach_nothing() -> None:
    excluded = LabelSet.of([Label("l00", {"en": "enaaaa"}, exclude=True), Label("stranger")])
    assert fitted(GIVEN, excluded).model_.fitted.tier_one.views == ["own", "shared"]


def test_an_indicator_matrix_of_fewer_labels_is_no_truth(model: Any) -> None:
    texts, labels, languages = GIVEN
    y = np.array([[f"l{label:02}" in own for label in range(LABELS)] for own in labels], dtype=int)
    with pytest.raises(InputError, match="must have the 13 columns of the model"):
        model.score(texts, y, languages=languages)


FORGED: dict[str, Any] = {
    "a language without names": lambda m: m.model_.fitted.tier_one.names.pop("en"),
    "names in another language's words": lambda m: m.model_.fitted.tier_one.names.update(
        en=m.model_.fitted.tier_one.names["it"]
    ),
    "names of NaN": lambda m: forge_value(m.model_.fitted.tier_one.names["it"].weights.data, np.nan),
    "trees without a view of names": lambda m: m.model_.fitted.tier_one.names.clear(),
    "labels known by name that are no texts": lambda m: m.model_.named.append(12),
}


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
def test_a_state_that_no_fit_leaves_is_refused(forge: Any) -> None:
    forged = fitted(documents(each=20))
    forged.model_.check()
    forge(forged)
    with pytest.raises(StateError):
        forged.model_.check()


class TestBits:
    def test_storage_changes_none(self, model: Any, tmp_path: Path) -> None:
        save_model(model, tmp_path / "m")
        loaded = load_model(tmp_path / "m")
        ours, theirs = (each.predict_proba(GIVEN[0], GIVEN[2]) for each in (model, loaded))
        np.testing.assert_array_equal(ours.toarray(), theirs.toarray())
        save_model(loaded, tmp_path / "again")
        assert contents(tmp_path / "m") == contents(tmp_path / "again")

    def test_threads_change_none(self, model: Any, tmp_path: Path) -> None:
        assert _same(model, fitted(n_jobs=2), tmp_path)

    def test_further_documents_give_the_bits_of_all_at_once(self, model: Any, tmp_path: Path) -> None:
        first, rest = (tuple(column[rows] for column in GIVEN) for rows in (slice(60), slice(60, None)))
        grown = fitted(first)
        grown.update(*rest, ids=[f"d{number}" for number in range(60, len(GIVEN[0]))])
        assert _same(grown, model, tmp_path)

    def test_a_label_whose_documents_are_forgotten_keeps_its_name(self, tmp_path: Path) -> None:
        texts, labels, languages = GIVEN
        forgetful = fitted((texts, [["l12"], *labels[1:]], languages)).forget(["d0"])
        ids = [f"d{number}" for number in range(1, len(texts))]
        rest = ManyLabelsClassifier(random_state=0, label_set=NAMED)
        rest.fit(texts[1:], labels[1:], languages[1:], ids=ids)
        assert _same(forgetful, rest, tmp_path)

    def test_another_label_set_holds_from_the_next_time_it_learns(self, tmp_path: Path) -> None:
        texts, labels, languages = GIVEN
        other = LabelSet.of([Label("l15", {"en": "enoooo"})])
        grown = fitted((texts[:60], labels[:60], languages[:60]))
        grown.label_set_ = other
        grown.update(texts[60:], labels[60:], languages[60:], ids=[f"d{n}" for n in range(60, len(texts))])
        assert grown.classes_.tolist()[-2:] == ["l11", "l15"]
        assert _same(grown, fitted(GIVEN, other), tmp_path)
        grown.model_ = replace(grown.model_, label_set=None)
        grown.update(texts[:1], labels[:1], languages[:1], ids=["d0"])
        (tmp_path / "without").mkdir()
        assert _same(grown, fitted(GIVEN, None), tmp_path / "without")

    @pytest.mark.parametrize("further", [{}, {"l00": "both", "l05": "both"}])
    def test_a_label_known_by_name_is_renamed(self, further: dict[str, str], tmp_path: Path) -> None:
        texts, labels, languages = GIVEN
        names = {"l12": "m", **further}
        renamed = fitted().relabel(names)
        renamed.update(texts[:1], [["l06"]], languages[:1], ids=["d0"])
        given = [sorted({names.get(label, label) for label in own}) for own in [["l06"], *labels[1:]]]
        assert _same(renamed, fitted((texts, given, languages), NAMED.renamed(names)), tmp_path)

    def test_merged_labels_go_by_the_name_of_the_first(self, tmp_path: Path) -> None:
        texts, labels, languages = GIVEN
        both = {"l00": "both", "l05": "both"}
        merged = fitted().relabel(both)
        given = [sorted({both.get(label, label) for label in own}) for own in labels]
        assert _same(merged, fitted((texts, given, languages), NAMED.renamed(both)), tmp_path)


class TestMeasures:
    def test_labels_that_no_document_has_are_not_averaged(self, model: Any) -> None:
        further = documents(each=20, seed=1)
        result = evaluate_in_detail(model.model_, corpus_of(further))
        assert np.array(result["counts"]).shape == (3, LABELS + 1)
        assert evaluate_classifier(model.model_, corpus_of(further))["average"] == result["average"]
        twelve = [f"l{label:02}" for label in range(LABELS)]
        assert evaluate_classifier(model.model_, corpus_of(further), twelve)["average"] == result["average"]
        texts, labels, languages = further
        other = evaluate_classifier(model.model_, corpus_of((texts, [["l12"], *labels[1:]], languages)))
        assert (
            other["average"]["macro_f1_paper"] < result["average"]["macro_f1_paper"]
        )  # one has it now, and is not found

    def test_folds_know_names_too(self) -> None:
        texts, labels, languages = documents(each=40)
        corpus = corpus_of((texts, [own or ["l12"] for own in labels], languages))
        found = cross_validate(Method.of(ManyLabelsClassifier(random_state=0)), corpus, label_set=NAMED)
        assert found is not None
        assert {row["label"] for row in found["by_label"]} >= {"l12"}


def _same(one: Any, other: Any, folder: Path) -> bool:
    """Whether two models are the same, to the bit."""
    save_model(one, folder / "one")
    save_model(other, folder / "other")
    return contents(folder / "one") == contents(folder / "other")
