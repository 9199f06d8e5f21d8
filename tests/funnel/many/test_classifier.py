"""Fun(many) as users have it: what it takes, what it says, and how it learns on."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from funnelling import InputError, ManyLabelsClassifier, load_model
from funnelling.corpus.blocks import bag
from funnelling.corpus.label_set import Label, LabelSet
from funnelling.methods.learning import correction, update
from funnelling.storage import save_model
from tests.commands.command import contents
from tests.funnel.many.corpora import LABELS, documents, fitted

TEXTS, GIVEN, LANGUAGES = documents(each=60)
IDS = [f"d{number}" for number in range(len(TEXTS))]
FIRST = np.array([labels[0] if labels else "none" for labels in GIVEN])


@pytest.fixture(scope="module")
def model() -> ManyLabelsClassifier:
    return fitted((TEXTS, GIVEN, LANGUAGES))


def fitted_with(seed: int) -> ManyLabelsClassifier:
    return ManyLabelsClassifier(random_state=seed).fit(TEXTS, GIVEN, LANGUAGES)


def _saved(model: Any, folder: Path) -> dict[str, Any]:
    save_model(model, folder)
    return contents(folder)


def _same(one: Any, other: Any, folder: Path) -> bool:
    """Whether two models are the same, to the bit."""
    return _saved(one, folder / "one") == _saved(other, folder / "other")


class TestAnswers:
    def test_labels_are_sparse_zeros_and_ones(self, model: Any) -> None:
        labels = model.predict(TEXTS, LANGUAGES)
        assert isinstance(labels, sparse.csr_array)
        assert labels.dtype.kind == "i"
        assert set(labels.data.tolist()) == {1}
        assert model.classes_.tolist() == [f"l{label:02}" for label in range(LABELS)]

    def test_labels_are_those_above_the_threshold(self, model: Any) -> None:
        labels, probabilities = model.model_.classify(TEXTS, LANGUAGES)
        limits = np.array([model.thresholds_[tag][0] for tag in LANGUAGES])[:, None]
        np.testing.assert_array_equal(labels.toarray(), probabilities.toarray() > limits)
        scores = model.decision_function(TEXTS, LANGUAGES).toarray()
        np.testing.assert_array_equal(scores, probabilities.toarray())
        assert scores.min() >= 0  # what is no candidate has 0

    def test_it_learns_what_documents_show(self, model: Any) -> None:
        further, labels, languages = documents(each=40, seed=1)
        assert model.score(further, labels, languages=languages) > 0.9
        assert model.score(further, [["l99"]] * len(further), languages=languages) == 0

    def test_permuting_documents_permutes_answers(self, model: Any) -> None:
        order = np.random.default_rng(0).permutation(len(TEXTS))
        permuted = model.predict_proba([TEXTS[i] for i in order], [LANGUAGES[i] for i in order])
        np.testing.assert_array_equal(
            permuted.toarray(), model.predict_proba(TEXTS, LANGUAGES).toarray()[order]
        )

    def test_texts_of_nothing_get_no_label(self, model: Any) -> None:
        labels, probabilities, evident = model.model_.classify_with_evidence(
            ["", "???", TEXTS[1]], ["en", "it", "it"]
        )
        assert (labels[:2].nnz, probabilities[:2].nnz, evident.tolist()) == (0, 0, [False, False, True])

    def test_a_label_set_excludes_labels_and_raises_parents(self) -> None:
        model = fitted(documents(each=40))
        parents = [Label("l00", parents=("l01",)), Label("l01"), Label("l02", exclude=True)]
        model.label_set_ = LabelSet.of(parents)
        labels = model.predict(TEXTS, LANGUAGES).toarray()
        assert labels[:, 2].sum() == 0
        assert (labels[:, 1] >= labels[:, 0]).all()
        assert labels[:, 0].any()


class TestInput:
    def test_an_indicator_matrix_sparse_or_dense(self, model: Any) -> None:
        indicator = np.array([[label in labels for label in model.classes_] for labels in GIVEN], dtype=int)
        expected = model.predict_proba(TEXTS, LANGUAGES).toarray()
        for y in (indicator, sparse.csr_array(indicator), sparse.csc_matrix(indicator)):
            other = ManyLabelsClassifier(random_state=0).fit(TEXTS, y, LANGUAGES)
            assert other.classes_.tolist() == list(range(LABELS))
            np.testing.assert_array_equal(other.predict_proba(TEXTS, LANGUAGES).toarray(), expected)
            assert other.score(TEXTS, y, languages=LANGUAGES) > 0.9
        with pytest.raises(InputError, match="only 0 and 1"):
            ManyLabelsClassifier().fit(TEXTS, sparse.csr_array(indicator * 2), LANGUAGES)

    @pytest.mark.parametrize("classes", [LABELS, 2])
    def test_one_label_each(self, classes: int) -> None:
        y = FIRST if classes > 2 else np.where(FIRST < "l06", "low", "high")
        model = ManyLabelsClassifier(random_state=0).fit(TEXTS, y, LANGUAGES)
        assert model.predict(TEXTS, LANGUAGES).shape == (len(TEXTS),)
        assert model.score(TEXTS, y, languages=LANGUAGES) > 0.7
        best = model.decision_function(TEXTS, LANGUAGES).toarray().argmax(axis=1)
        np.testing.assert_array_equal(model.classes_[best], model.predict(TEXTS, LANGUAGES))
        assert model.predict([""], ["en"]).tolist() == [max(set(y.tolist()), key=y.tolist().count)]
        probabilities = model.predict_proba(TEXTS, LANGUAGES)
        assert probabilities.shape == (len(TEXTS), len(model.classes_))
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)

    def test_parents_take_no_label_from_children_where_each_document_has_one(self) -> None:
        model = ManyLabelsClassifier(random_state=0).fit(TEXTS, FIRST, LANGUAGES)
        before = model.predict(TEXTS, LANGUAGES)
        names = model.classes_.tolist()
        parents = [Label(name, parents=() if name == "l00" else ("l00",)) for name in names]
        model.label_set_ = LabelSet.of([*parents[:-1], replace(parents[-1], exclude=True)])
        after = model.predict(TEXTS, LANGUAGES)
        kept = before != names[-1]
        np.testing.assert_array_equal(after[kept], before[kept])
        assert names[-1] not in after

    def test_what_matters_of_vectors_is_where_they_point(self) -> None:
        random = np.random.default_rng(0)
        X = random.random((80, 6)) * (random.random((80, 6)) < 0.5)
        y = (X[:, :5] > 0.6).astype(int)
        twice = sparse.csr_array(X / 2)
        double: Any = sparse.csr_array(
            (np.repeat(twice.data, 2), np.repeat(twice.indices, 2), 2 * twice.indptr), X.shape
        )
        wanted = ManyLabelsClassifier(random_state=0).fit({"en": X}, {"en": y}).predict_proba({"en": X})["en"]
        for other in (X * 1024, X / 1024, double):
            model = ManyLabelsClassifier(random_state=0).fit({"en": other}, {"en": y})
            found = model.predict_proba({"en": other})["en"]
            np.testing.assert_array_equal(found.toarray(), wanted.toarray())

    def test_a_large_seed_is_a_seed(self) -> None:
        assert fitted_with(2**40).predict(TEXTS[:2], LANGUAGES[:2]).shape == (2, LABELS)

    def test_vectors_by_language(self) -> None:
        random = np.random.default_rng(0)
        X = {
            tag: random.random((80, width)) * (random.random((80, width)) < 0.5)
            for tag, width in (("en", 6), ("it", 9))
        }
        y = {tag: (rows[:, :5] > 0.6).astype(int) for tag, rows in X.items()}
        for form in (np.asarray, sparse.csr_matrix):
            given = {tag: form(rows) for tag, rows in X.items()}
            model = ManyLabelsClassifier(random_state=0).fit(given, y)
            assert model.model_.fitted.tier_one.views == ["own"]
            labels = model.predict(given)
            assert {tag: rows.shape for tag, rows in labels.items()} == {"en": (80, 5), "it": (80, 5)}
        with pytest.raises(InputError, match="features"):
            model.predict({"en": X["it"]})

    def test_a_label_may_lack_in_a_language_and_another_be_everywhere(self) -> None:
        labels = [
            [
                *(label for label in own if tag == "it" or label != "l00"),
                "all",
            ]
            for own, tag in zip(GIVEN, LANGUAGES, strict=True)
        ]
        model = fitted((TEXTS, labels, LANGUAGES))
        found = model.predict(TEXTS, LANGUAGES).toarray()
        assert found[:, model.classes_.tolist().index("all")].mean() > 0.9
        assert model.model_.fitted.seen.by_language["en"][model.classes_.tolist().index("l00")] == 0

    @pytest.mark.parametrize("y", [[[]] * 4, [["a"]] * 4])
    def test_nothing_to_learn_is_refused(self, y: Any) -> None:
        with pytest.raises(InputError, match="Nothing to learn"):
            ManyLabelsClassifier().fit(TEXTS[:4], y, LANGUAGES[:4])

    def test_two_documents_are_enough(self) -> None:
        model = ManyLabelsClassifier(random_state=0).fit(
            ["one cat", "two dogs"], [["cat"], ["dog"]], ["en"] * 2
        )
        assert model.predict_proba(["cat"], ["en"]).shape == (1, 2)

    def test_groups_are_kept_together(self, tmp_path: Path) -> None:
        groups = [f"g{number // 4}" for number in range(len(TEXTS))]
        grouped = ManyLabelsClassifier(random_state=0).fit(TEXTS, GIVEN, LANGUAGES, groups=groups, ids=IDS)
        assert not _same(grouped, fitted((TEXTS, GIVEN, LANGUAGES)), tmp_path)
        assert grouped.training_.blocks["en"].groups[:2] == ["g0", "g0"]

    def test_it_is_an_estimator(self, model: Any) -> None:
        copy = clone(model.set_params(n_jobs=2))
        assert copy.get_params() == {**ManyLabelsClassifier().get_params(), "n_jobs": 2, "random_state": 0}
        assert not hasattr(copy, "classes_")
        model.set_params(n_jobs=None)


class TestBits:
    def test_threads_change_none(self, model: Any, tmp_path: Path) -> None:
        assert _same(model, fitted((TEXTS, GIVEN, LANGUAGES), n_jobs=2), tmp_path)

    def test_workers_change_none_and_it_says_that_they_do_not_help(
        self, model: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        with joblib.parallel_config(backend="loky", n_jobs=2):
            assert _same(model, fitted((TEXTS, GIVEN, LANGUAGES)), tmp_path)
        assert [record.getMessage() for record in caplog.records] == [
            "fun-many works in this process only: a cluster does not help it yet."
        ]

    def test_bags_are_as_good_as_texts(self, model: Any) -> None:
        bags = fitted((list(map(bag, TEXTS)), GIVEN, LANGUAGES))
        for name in ("predict_proba", "decision_function"):
            ours, theirs = (getattr(each, name)(TEXTS, LANGUAGES).toarray() for each in (model, bags))
            np.testing.assert_array_equal(ours, theirs)

    def test_storage_changes_none(self, model: Any, tmp_path: Path) -> None:
        save_model(model, tmp_path / "m")
        loaded = load_model(tmp_path / "m")
        ours, theirs = (each.predict_proba(TEXTS, LANGUAGES) for each in (model, loaded))
        np.testing.assert_array_equal(ours.toarray(), theirs.toarray())
        assert _saved(loaded, tmp_path / "again") == contents(tmp_path / "m")


class TestLearningOn:
    def test_further_documents_give_the_bits_of_all_at_once(self, model: Any, tmp_path: Path) -> None:
        some = [number for number, tag in enumerate(LANGUAGES) if tag == "en" and number < 100]
        rest = [number for number in range(len(TEXTS)) if number not in some]

        def taken(column: list[Any], rows: list[int]) -> list[Any]:
            return [column[row] for row in rows]

        grown = ManyLabelsClassifier(random_state=0)
        grown.fit(*(taken(each, some) for each in (TEXTS, GIVEN, LANGUAGES)), ids=taken(IDS, some))
        grown.update(*(taken(each, rest) for each in (TEXTS, GIVEN, LANGUAGES)), ids=taken(IDS, rest))
        assert grown.languages_ == ["en", "it"]
        assert _same(grown, model, tmp_path)

    def test_corrected_labels_give_the_bits_of_right_ones(self, model: Any, tmp_path: Path) -> None:
        wrong = fitted((TEXTS, [["l03"], ["wrong"], *GIVEN[2:]], LANGUAGES))
        merged = correction(wrong.model_, IDS[:2], GIVEN[:2])
        assert sum(map(len, merged.corrected.values())) == 2
        wrong.model_ = update(wrong.model_, merged)
        right = fitted((TEXTS, [["l03"], ["wrong"], *GIVEN[2:]], LANGUAGES))
        right.update(TEXTS[:3], GIVEN[:3], LANGUAGES[:3], ids=IDS[:3])
        assert _same(wrong, right, tmp_path)
        assert wrong.classes_.tolist() == [*model.classes_.tolist(), "wrong"]
        kept = [wrong.training_.targets[tag][:, :LABELS] for tag in wrong.languages_]
        before = [model.training_.targets[tag] for tag in model.languages_]
        assert all((ours != theirs).nnz == 0 for ours, theirs in zip(kept, before, strict=True))

    def test_forgotten_documents_are_as_if_never_seen(self, tmp_path: Path) -> None:
        labels = [["gone"], *GIVEN[1:]]
        forgetful = fitted((TEXTS, labels, LANGUAGES)).forget(["d0"])
        without = ManyLabelsClassifier(random_state=0).fit(TEXTS[1:], GIVEN[1:], LANGUAGES[1:], ids=IDS[1:])
        assert _same(forgetful, without, tmp_path)

    def test_merged_labels_are_learned_anew(self, tmp_path: Path) -> None:
        merged = fitted((TEXTS, GIVEN, LANGUAGES)).relabel({"l00": "both", "l05": "both"})
        both = {"l00": "both", "l05": "both"}
        given = [sorted({both.get(label, label) for label in labels}) for labels in GIVEN]
        assert _same(merged, fitted((TEXTS, given, LANGUAGES)), tmp_path)

    def test_labels_are_renamed_and_not_dropped(self) -> None:
        model = fitted(documents(each=30))
        before = model.predict_proba(TEXTS, LANGUAGES).toarray()
        assert model.relabel({"l00": "zero"}).classes_[0] == "zero"
        np.testing.assert_array_equal(model.predict_proba(TEXTS, LANGUAGES).toarray(), before)
        with pytest.raises(InputError, match="cannot drop labels yet"):
            model.relabel({"zero": None})

    def test_one_label_each_learns_on(self, tmp_path: Path) -> None:
        grown = ManyLabelsClassifier(random_state=0).fit(TEXTS[:90], FIRST[:90], LANGUAGES[:90], ids=IDS[:90])
        grown.update(TEXTS[90:], FIRST[90:], LANGUAGES[90:], ids=IDS[90:])
        once = ManyLabelsClassifier(random_state=0).fit(TEXTS, FIRST, LANGUAGES, ids=IDS)
        assert _same(grown, once, tmp_path)

    def test_an_indicator_matrix_learns_on(self, tmp_path: Path) -> None:
        Y = sparse.csr_array(np.random.default_rng(0).random((len(TEXTS), 5)) < 0.3)
        grown = ManyLabelsClassifier(random_state=0).fit(TEXTS[:90], Y[:90], LANGUAGES[:90], ids=IDS[:90])
        grown.update(TEXTS[90:], Y[90:], LANGUAGES[90:], ids=IDS[90:])
        assert _same(grown, ManyLabelsClassifier(random_state=0).fit(TEXTS, Y, LANGUAGES, ids=IDS), tmp_path)

    def test_a_compact_one_does_not(self) -> None:
        compact = fitted((TEXTS, GIVEN, LANGUAGES), keep="nothing")
        with pytest.raises(InputError, match="compact"):
            compact.update(TEXTS[:1], GIVEN[:1], LANGUAGES[:1])
