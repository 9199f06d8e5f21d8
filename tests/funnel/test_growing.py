"""Learning on: what stays untouched, what equals a fit from scratch, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from funnelling import FunnellingClassifier, InputError, load_model, save_model
from funnelling.corpus import Corpus
from tests.reproduction.experiments.made import made_corpus


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return made_corpus(each=45)


def part(corpus: Corpus, *languages: str) -> Corpus:
    return corpus.select([tag in languages for tag in corpus.languages])


def given(corpus: Corpus, groups: bool = True) -> dict[str, Any]:
    return {
        "X": corpus.texts,
        "y": corpus.labels,
        "languages": corpus.languages,
        "groups": corpus.groups if groups else None,
        "ids": corpus.ids,
    }


def fitted(corpus: Corpus, groups: bool = True, **parameters: Any) -> FunnellingClassifier:
    return FunnellingClassifier(views=None, random_state=3, **parameters).fit(**given(corpus, groups))


def scores(model: FunnellingClassifier, corpus: Corpus) -> Any:
    return model.decision_function(corpus.texts, languages=corpus.languages)


@pytest.mark.parametrize("variant", ["tat", "kfcv"])
@pytest.mark.parametrize("groups", [True, False])
def test_a_funnel_that_grew_by_a_language_is_one_fitted_at_once(
    corpus: Corpus, variant: str, groups: bool
) -> None:
    grown = fitted(part(corpus, "de", "it"), groups, variant=variant, folds=3)
    grown.extend(**given(part(corpus, "en"), groups))
    at_once = fitted(corpus, groups, variant=variant, folds=3)
    assert grown.languages_ == at_once.languages_ == ["de", "en", "it"]
    assert np.array_equal(scores(grown, corpus), scores(at_once, corpus))
    probabilities = [m.predict_proba(corpus.texts, languages=corpus.languages) for m in (grown, at_once)]
    assert np.array_equal(*probabilities)


def test_other_languages_base_classifiers_stay_to_the_bit(corpus: Corpus) -> None:
    model = fitted(part(corpus, "de", "it"))
    before = model.base_["it"]
    model.extend(**given(part(corpus, "en")))
    assert model.base_["it"] is before
    model.extend(["deutsch dea0"], [["a"]], ["de"])
    assert model.base_["it"] is before


@pytest.mark.parametrize("calibration", ["platt", "none"])
def test_labels_first_seen_with_a_new_language_work(corpus: Corpus, calibration: str) -> None:
    known = part(corpus, "de", "it")
    known.labels = [tuple(label for label in labels or () if label != "b") for labels in known.labels]
    model = fitted(known, calibration=calibration)
    assert model.classes_.tolist() == ["a", "c", "d"]
    new = part(corpus, "en")
    model.extend(**given(new))
    assert model.classes_.tolist() == ["a", "b", "c", "d"]
    everything = Corpus.from_documents([*known, *new])
    at_once = fitted(everything, calibration=calibration)
    assert scores(model, everything) == pytest.approx(scores(at_once, everything), abs=1e-3)
    assert np.ptp(scores(model, new)[:, 1]) > 0.1  # in the new language, the new label is told apart


def test_further_documents_of_a_known_language_teach_it_in_its_own_words(corpus: Corpus) -> None:
    rows = part(corpus, "it")
    model = fitted(Corpus.from_documents([*part(corpus, "de"), *rows.select(np.arange(15))]))
    words = list(model.vectorizers_["it"].get_feature_names_out())
    model.extend(**given(rows.select(np.arange(15, 45))))
    assert model.documents_ == {"de": 45, "it": 45}
    assert list(model.vectorizers_["it"].get_feature_names_out()) == words
    assert model.training_.ids["it"] == rows.ids


def test_it_goes_on_after_saving_and_loading(corpus: Corpus, tmp_path: Path) -> None:
    model = fitted(part(corpus, "de", "it"))
    save_model(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    loaded.extend(**given(part(corpus, "en")))
    assert np.array_equal(scores(loaded, corpus), scores(fitted(corpus), corpus))


def test_vectors_grow_too() -> None:
    rng = np.random.default_rng(0)
    vectors = {tag: rng.normal(size=(30, width)) for tag, width in (("a", 4), ("b", 6))}
    labels = {tag: [["x"] if row[0] > 0 else ["y"] for row in X] for tag, X in vectors.items()}
    grown = FunnellingClassifier(views=None, random_state=0).fit({"a": vectors["a"]}, {"a": labels["a"]})
    grown.extend({"b": vectors["b"]}, {"b": labels["b"]})
    at_once = FunnellingClassifier(views=None, random_state=0).fit(vectors, labels)
    for tag, X in vectors.items():
        expected = at_once.decision_function({tag: X})[tag]
        assert np.array_equal(grown.decision_function({tag: X})[tag], expected)
    with pytest.raises(InputError, match="Give the same features"):
        grown.extend({"a": vectors["b"]}, {"a": labels["b"]})


def test_groups_that_are_missing_are_none(corpus: Corpus) -> None:
    known, new = part(corpus, "de", "it"), part(corpus, "en")
    model = FunnellingClassifier(views=None, random_state=3)
    model.fit(known.texts, known.labels, known.languages, groups=[float("nan")] * len(known))
    model.extend(new.texts, new.labels, new.languages, groups=[float("nan")] * len(new))
    assert np.array_equal(scores(model, corpus), scores(fitted(corpus, groups=False), corpus))


def test_a_document_that_is_known_gets_its_new_labels(corpus: Corpus) -> None:
    model = fitted(corpus)
    wrong = part(corpus, "it").select([0, 1])
    wrong.labels = [("d",), ()]
    model.extend(**given(wrong))
    assert model.documents_ == {"de": 45, "en": 45, "it": 45}
    assert model.training_.targets["it"][:2].astype(int).tolist() == [[0, 0, 0, 1], [0, 0, 0, 0]]
    model.extend(wrong.texts, wrong.labels, wrong.languages, ids=["other", "ids"])
    assert model.documents_["it"] == 47


def test_a_refusal_leaves_the_model_as_it_was(corpus: Corpus) -> None:
    model = fitted(part(corpus, "de", "it"))
    before = scores(model, part(corpus, "it"))
    model.set_params(memory_limit=1e4)
    with pytest.raises(InputError, match="memory_limit"):
        model.extend(**given(part(corpus, "en")))
    assert model.languages_ == ["de", "it"]
    assert np.array_equal(scores(model, part(corpus, "it")), before)


def test_what_was_held_out_tells_how_good_the_model_is(corpus: Corpus) -> None:
    model = fitted(corpus)
    measures = model.held_out_measures()
    assert list(measures) == ["de", "en", "it"]
    assert all(0.5 < found["micro_f1"] <= 1 and found["documents"] == 45 for found in measures.values())
    one = model.held_out_measures(["a"])["it"]
    assert one["micro_f1"] == one["macro_f1"]


def with_one_label(corpus: Corpus, classes: str) -> Corpus:
    """Each document with the first of its labels that is one of these, or else the last of them."""
    changed = corpus.select(np.arange(len(corpus)))
    lists = [[label for label in labels if label in classes] for labels in corpus.label_lists()]
    changed.labels = [(labels[0] if labels else classes[-1],) for labels in lists]
    changed.one_label = True
    return changed


def extended(model: FunnellingClassifier, corpus: Corpus) -> FunnellingClassifier:
    return model.extend(**{**given(corpus), "y": corpus.y})


def fitted_on_one(corpus: Corpus, **parameters: Any) -> FunnellingClassifier:
    return FunnellingClassifier(**{"views": None, "random_state": 3, **parameters}).fit(
        **{**given(corpus), "y": corpus.y}
    )


class TestOneLabelPerDocument:
    @pytest.mark.parametrize("classes", ["ab", "abcd"])
    def test_a_new_language(self, corpus: Corpus, classes: str) -> None:
        one = with_one_label(corpus, classes)
        grown = extended(fitted_on_one(part(one, "de", "it")), part(one, "en"))
        at_once = fitted_on_one(one)
        assert grown.exclusive_
        assert np.array_equal(scores(grown, one), scores(at_once, one))
        probabilities = [m.predict_proba(one.texts, languages=one.languages) for m in (grown, at_once)]
        assert np.array_equal(*probabilities)
        assert probabilities[0].sum(axis=1) == pytest.approx(1)
        assert grown.held_out_measures() == at_once.held_out_measures()
        assert grown.held_out_measures()["en"]["accuracy"] > 1 / len(classes)

    @pytest.mark.parametrize("classes", ["ab", "abcd"])
    def test_views_that_all_languages_share(self, corpus: Corpus, classes: str) -> None:
        one = with_one_label(corpus, classes)
        model = extended(fitted_on_one(part(one, "de", "it"), views=("own", "pooled")), part(one, "en"))
        assert model.held_out_measures()["en"]["accuracy"] > 1 / len(classes)

    @pytest.mark.parametrize("calibration", ["platt", "none"])
    @pytest.mark.parametrize("classes", ["ab", "abc"])
    def test_a_new_label(self, corpus: Corpus, classes: str, calibration: str) -> None:
        known, new = (
            part(with_one_label(corpus, classes), "de", "it"),
            part(with_one_label(corpus, "abcd"), "en"),
        )
        grown = extended(fitted_on_one(known, calibration=calibration), new)
        assert grown.classes_.tolist() == ["a", "b", "c", "d"]
        together = Corpus.from_documents([*known, *new], one_label=True)
        at_once = fitted_on_one(together, calibration=calibration)
        # Sigmoids of two classes are mirrored, not fitted to the second one.
        tolerance = 0.05 if len(classes) == 2 else 1e-3
        assert scores(grown, together) == pytest.approx(scores(at_once, together), abs=tolerance)
        assert "d" in grown.predict(new.texts, languages=new.languages)
        # What was known is measured over what was known; whether a document is right, over all.
        measures = grown.held_out_measures(list(classes))["en"]
        assert measures["accuracy"] == grown.held_out_measures()["en"]["accuracy"]

    def test_a_known_document_gets_its_new_label(self, corpus: Corpus) -> None:
        one = with_one_label(corpus, "abcd")
        wrong = part(one, "it").select([0])
        wrong.labels = [("d",)]
        model = extended(fitted_on_one(one), wrong)
        assert model.documents_ == {"de": 45, "en": 45, "it": 45}
        assert model.training_.targets["it"][0].tolist() == [False, False, False, True]


class TestRefusals:
    def test_an_indicator_matrix(self) -> None:
        model = FunnellingClassifier().fit(np.eye(4), np.eye(4, dtype=int)[:, :2])
        with pytest.raises(InputError, match="indicator matrix"):
            model.extend(np.eye(4), [["0"]] * 4)

    def test_a_compact_model(self, corpus: Corpus) -> None:
        model = fitted(corpus, compact=True)
        assert not hasattr(model, "training_")
        with pytest.raises(InputError, match="compact"):
            model.extend(["text"], [["a"]], ["it"])

    def test_classes_that_are_no_strings(self) -> None:
        model = FunnellingClassifier().fit(np.eye(4), [0, 1, 0, 1])
        with pytest.raises(InputError, match="classes that are no strings"):
            model.extend(np.eye(4), [0, 1, 0, 1])

    def test_label_lists_for_a_model_that_gives_one_label(self) -> None:
        model = FunnellingClassifier().fit(np.eye(4), ["a", "b", "a", "b"])
        with pytest.raises(InputError, match="one label per document"):
            model.extend(np.eye(4), [["a"], ["b"], ["a"], ["b"]])

    def test_vectors_for_a_model_of_texts(self, corpus: Corpus) -> None:
        with pytest.raises(InputError, match="fitted on texts"):
            fitted(corpus).extend(np.eye(2), [["a"], ["b"]])

    def test_labels_that_are_no_lists(self, corpus: Corpus) -> None:
        with pytest.raises(InputError, match="label lists"):
            fitted(corpus).extend(["text"], ["a"], ["it"])

    def test_new_labels_for_a_zero_shot_model(self, corpus: Corpus) -> None:
        with pytest.raises(InputError, match="new labels"):
            fitted(corpus, zero_shot="pooled").extend(["text"], [["new"]], ["it"])
