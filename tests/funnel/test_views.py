"""A funnel over several views: what each brings, how they are combined, and whom they serve."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

from funnelling import InputError, load_model
from funnelling.corpus import Corpus
from funnelling.funnel.combination import combined, stacking_weights
from funnelling.funnel.design import FunnelConfig, FunnelParameters
from funnelling.funnel.estimator import FunnelEstimator
from funnelling.funnel.learners import EstimatorLearner
from funnelling.funnel.learning import FUNNEL
from funnelling.funnel.tier_one import Posteriors, kfcv_folds
from funnelling.funnel.views import fit_shared_view
from funnelling.matrices import squared_norms, unit_rows
from funnelling.methods.training_set import TrainingSet
from funnelling.spaces.labels import DCISpace, WCESpace
from funnelling.spaces.words import PooledSpace
from funnelling.storage import describe_model, save_model
from funnelling.svm import SVM
from tests.artificial import text_corpus, vector_corpus
from tests.corpus.training import made_training
from tests.funnels import any_funnel
from tests.research.experiments.made import made_corpus, write_words

SHARED = ["pooled", "lri", "characters", "mixed", "wce"]


def lengths(texts: list[str]) -> Any:
    return np.array([[len(text), text.count("a"), text.count("b")] for text in texts], dtype=float)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return made_corpus(each=45)


def fitted(corpus: Corpus, views: Any, **parameters: Any) -> FunnelEstimator:
    model = any_funnel(views=views, random_state=0, **parameters)
    return model.fit(corpus.texts, corpus.labels, languages=corpus.languages, ids=corpus.ids)


def scores(model: FunnelEstimator, corpus: Corpus) -> Any:
    return model.decision_function(corpus.texts, languages=corpus.languages)


@pytest.mark.parametrize("view", ["own", *SHARED, CountVectorizer(), lengths, PooledSpace()])
def test_any_view_alone_makes_a_funnel(view: Any, corpus: Corpus) -> None:
    model = fitted(corpus, [view])
    truth = corpus.label_matrix(["a", "b", "c", "d"])
    right = (model.predict(corpus.texts, corpus.languages) == truth).mean()
    assert right > (0.6 if view is lengths else 0.75)


@pytest.mark.parametrize("kind", [np.array, pd.Series])
def test_texts_may_come_in_any_sequence(kind: Any, corpus: Corpus) -> None:
    model = fitted(corpus, SHARED)
    same = any_funnel(views=SHARED, random_state=0)
    same.fit(kind(corpus.texts), corpus.labels, languages=corpus.languages)
    expected = scores(model, corpus)
    assert np.array_equal(same.decision_function(kind(corpus.texts), corpus.languages), expected)


@pytest.mark.parametrize("combine", ["mean", "concat", "stacked"])
@pytest.mark.parametrize("normalise", [True, False])
def test_views_are_combined_saved_and_loaded(
    combine: str, normalise: bool, corpus: Corpus, tmp_path: Path
) -> None:
    model = fitted(corpus, ["own", "pooled", "characters"], combine=combine, normalise=normalise)
    save_model(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert np.array_equal(scores(loaded, corpus), scores(model, corpus))
    assert model.model_.fitted.learned.tier_two.scorer.support.shape[1] == (12 if combine == "concat" else 4)
    alone = [
        loaded.decision_function([text], [tag])[0]
        for text, tag in zip(corpus.texts[:5], corpus.languages, strict=False)
    ]
    assert np.array_equal(alone, scores(model, corpus)[:5])


def test_views_may_be_a_tuple(corpus: Corpus, tmp_path: Path) -> None:
    model = fitted(corpus, ("pooled", "characters"))
    save_model(model, tmp_path / "model")
    assert np.array_equal(scores(load_model(tmp_path / "model"), corpus), scores(model, corpus))


def test_a_space_that_is_given_stays_as_it_is(corpus: Corpus) -> None:
    space = PooledSpace()
    first = fitted(corpus, [space])
    before = scores(first, corpus)
    fitted(corpus.select([tag == "it" for tag in corpus.languages]), [space])
    assert np.array_equal(scores(first, corpus), before)
    assert not hasattr(space, "vectorizer_")


def test_the_papers_funnel_is_the_own_view_without_normalisation(corpus: Corpus) -> None:
    paper, view = fitted(corpus, None), fitted(corpus, ["own"], normalise=False)
    assert np.array_equal(scores(paper, corpus), scores(view, corpus))


def test_threads_change_nothing(corpus: Corpus) -> None:
    one, two = (fitted(corpus, ["pooled", "characters"], n_jobs=jobs) for jobs in (1, 2))
    assert np.array_equal(scores(one, corpus), scores(two, corpus))


def test_kfcv_takes_all_views(corpus: Corpus) -> None:
    model = fitted(corpus, ["own", "pooled"], variant="kfcv", folds=3)
    assert not np.array_equal(scores(model, corpus), scores(fitted(corpus, ["own", "pooled"]), corpus))


class TestUnseenLanguages:
    def test_shared_views_serve_them(self, corpus: Corpus) -> None:
        model = fitted(corpus, ["own", "pooled", "characters"])
        assert model.supports("fr")
        assert not model.supports("nonesuch")
        found = model.decision_function(["dea0 ena1 ita2", "deb0 enb1 itb2"], ["fr", "fr"])
        assert found[0, 0] > found[1, 0]
        assert found[0, 1] < found[1, 1]

    def test_it_is_known_before_the_fit(self) -> None:
        for views, serves in ((["own", "pooled"], True), (["own"], False), ("auto", False)):
            assert FUNNEL.serves_unseen(FunnelParameters(views=views), "fr") == serves

    def test_own_words_do_not(self, corpus: Corpus) -> None:
        assert not fitted(corpus, ["own"]).supports("fr")

    def test_views_side_by_side_need_all(self, corpus: Corpus) -> None:
        assert not fitted(corpus, ["own", "pooled"], combine="concat").supports("fr")
        assert fitted(corpus, ["pooled", "characters"], combine="concat").supports("fr")


class TestLearningOn:
    @pytest.mark.parametrize("views", [["pooled", "characters"], ["own", "pooled"]])
    def test_a_new_language_with_a_new_label(self, views: list[str], corpus: Corpus) -> None:
        known, new = (
            corpus.select([(tag == "it") == is_new for tag in corpus.languages]) for is_new in (0, 1)
        )
        model = fitted(known, views)
        labels = [(*found, "new") if i % 2 else found for i, found in enumerate(new.labels)]
        model.update(new.texts, labels, new.languages, ids=new.ids)
        assert model.languages_ == ["de", "en", "it"]
        assert model.classes_.tolist() == ["a", "b", "c", "d", "new"]
        assert all(
            view.languages == ["de", "en", "it"] for view in model.model_.fitted.learned.views.shared.values()
        )
        assert set(model.model_.fitted.learned.views.own) == ({"de", "en", "it"} if "own" in views else set())
        assert np.ptp(scores(model, new)[:, 0]) > 0.1
        model.update(
            known.texts[:5], known.labels[:5], known.languages[:5], ids=["n1", "n2", "n3", "n4", "n5"]
        )
        assert sum(model.documents_.values()) == len(corpus) + 5

    def test_a_dense_view_takes_new_labels(self, corpus: Corpus) -> None:
        half = np.arange(len(corpus)) % 2 == 0
        known, new = corpus.select(half), corpus.select(~half)
        model = fitted(known, ["wce"])
        labels = [(*found, "new") for found in new.labels if found is not None]
        model.update(new.texts, labels, new.languages, ids=new.ids)
        assert model.classes_.tolist() == ["a", "b", "c", "d", "new"]
        assert (np.ptp(scores(model, new), axis=0) > 0.1).all()

    def test_a_loaded_model_learns_the_same(self, tmp_path: Path) -> None:
        rng = np.random.default_rng(0)
        labels = [[f"c{k}" for k in range(40) if rng.random() < 0.15] for _ in range(120)]
        texts = [" ".join([*found, *(f"n{n}" for n in rng.integers(40, size=4))]) for found in labels]
        tags = ["de", "en", "it"] * 40
        model = any_funnel(views=["pooled", "characters"], random_state=0)
        model.fit(texts[:80], labels[:80], tags[:80])
        save_model(model, tmp_path / "model")
        both = [model, load_model(tmp_path / "model")]
        for each in both:
            each.update(texts[80:], labels[80:], tags[80:], ids=[f"new {n}" for n in range(40)])
        assert np.array_equal(*(each.decision_function(texts, tags) for each in both))

    @pytest.mark.parametrize("tag", ["ceb", "xx"])
    @pytest.mark.parametrize("views", [["pooled", "characters"], ["own", "lri"]])
    def test_a_language_may_have_any_name(self, views: list[str], tag: str, corpus: Corpus) -> None:
        known, new = (corpus.select([(t == "it") == is_new for t in corpus.languages]) for is_new in (0, 1))
        model = fitted(known, views)
        model.update(new.texts, new.labels, [tag] * len(new), ids=new.ids)
        assert model.predict(new.texts, [tag] * len(new)).shape == (len(new), 4)
        assert all(tag in view.languages for view in model.model_.fitted.learned.views.shared.values())

    def test_vectors_of_a_new_language_join_the_others(self) -> None:
        made = vector_corpus(("en", "it"))
        labels = {tag: [["a"] if row[0] else ["b"] for row in rows] for tag, rows in made.y.items()}
        model = any_funnel(views=["pooled"], random_state=0)
        model.fit({"en": made.X["en"]}, {"en": labels["en"]})
        with pytest.raises(InputError, match="one feature space"):
            model.update({"it": made.X["it"][:, 1:]}, {"it": labels["it"]})
        model.update({"it": made.X["it"]}, {"it": labels["it"]})
        assert model.predict({"it": made.X["it"]})["it"].shape == (40, 2)


def test_explanations_tell_of_every_view_and_add_up(corpus: Corpus) -> None:
    model = fitted(corpus, ["pooled", "characters", "wce"])
    found = scores(model, corpus)
    for row, explained in zip(
        found, model.explain(corpus.texts, corpus.languages, list("abcd")), strict=True
    ):
        for score, told in zip(row, explained["labels"].values(), strict=True):
            above = told["tier_two"]
            total = above["base"] + above["other_labels"] + sum(value for _, value in above["labels"])
            assert total == pytest.approx(score, abs=1e-4)
            assert told["tier_one"]["view"] == "pooled"
            assert list(told["other_views"]) == ["characters"]  # an RBF kernel has no words
            for part in (told["tier_one"], told["other_views"]["characters"]):
                words = sum(value for _, value in part["words"])
                assert part["bias"] + part["other_words"] + words == pytest.approx(part["score"], abs=1e-4)
        assert len(explained["neighbours"]) == 5


@pytest.mark.parametrize(
    ("views", "says"),
    [
        (["words"], "no view 'words'"),
        ([], "list of views"),
        (np.array(["own", "pooled"]), "list of views"),
        ("pooled", "list of views"),
        (["own", "own"], "twice"),
        ([7], "is no view"),
        (["embeddings"], "word vectors"),
        (["encoder"], "No encoder"),
    ],
)
def test_what_is_no_view_is_refused(views: Any, says: str, corpus: Corpus) -> None:
    with pytest.raises(InputError, match=says):
        fitted(corpus, views)


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("normalise", "False"), ("normalise", None), ("encoder_epochs", "abc"), ("encoder_epochs", -1)],
)
def test_settings_of_another_kind_are_refused(parameter: str, value: Any, corpus: Corpus) -> None:
    with pytest.raises(InputError, match=f"{parameter} must be"):
        fitted(corpus, ["pooled"], **{parameter: value})


def test_vectors_have_no_characters() -> None:
    with pytest.raises(InputError, match="characters"):
        any_funnel(views=["characters"]).fit(np.eye(4), [["a"], ["b"]] * 2)


def test_vectors_have_no_words(corpus: Corpus, tmp_path: Path) -> None:
    model = any_funnel(views=["embeddings"], embeddings=write_words(tmp_path, corpus, ["de"]))
    with pytest.raises(InputError, match="The embeddings view needs texts"):
        model.fit({"de": np.eye(4)}, {"de": [["a"], ["b"]] * 2})


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("view", SHARED)
def test_texts_may_hold_no_word(view: str) -> None:
    model = any_funnel(views=[view], random_state=0).fit([""] * 8, [["a"], ["b"]] * 4, ["it"] * 8)
    assert model.predict([""], ["it"]).shape == (1, 2)


class TestCombination:
    def test_rows_have_length_one_or_none(self) -> None:
        rows = unit_rows(np.array([[3, 4], [0, 0]], dtype=np.float32))
        assert rows.tolist() == [[pytest.approx(0.6), pytest.approx(0.8)], [0, 0]]

    @pytest.mark.parametrize("labels", [1, 3, 30, 243, 9_000])
    def test_a_row_depends_neither_on_its_neighbours_nor_on_memory(self, labels: int) -> None:
        X = np.random.default_rng(0).random((20, labels)).astype(np.float32)
        rows = unit_rows(X)
        assert np.array_equal(rows, unit_rows(np.asfortranarray(X)))
        assert np.array_equal(rows, np.vstack([unit_rows(X[[row]]) for row in range(len(X))]))
        assert np.array_equal(squared_norms(X[3:]), squared_norms(X)[3:])

    def test_weights_go_to_the_view_that_is_right(self) -> None:
        rng = np.random.default_rng(0)
        truth = rng.random((200, 5)) < 0.3
        good = np.clip(truth + rng.normal(0, 0.2, truth.shape), 0, 1).astype(np.float32)
        poor = rng.random(truth.shape).astype(np.float32)
        weights = stacking_weights([good, poor], truth)
        assert weights.sum() == pytest.approx(1)
        assert weights[0] > 0.8
        mixed = combined([good, poor], "stacked", normalise=False, weights=weights)
        assert mixed == pytest.approx(weights[0] * good + weights[1] * poor, abs=1e-6)

    def test_two_equal_views_are_no_trouble(self) -> None:
        truth = np.eye(3, dtype=bool)
        part = truth.astype(np.float32)
        assert stacking_weights([part, part], truth).sum() == pytest.approx(1)


class TestWordVectors:
    def test_they_are_a_view_like_others(self, corpus: Corpus, tmp_path: Path) -> None:
        folder = write_words(tmp_path, corpus, ["de", "en", "fr", "it"])
        model = fitted(corpus, ["embeddings"], embeddings=folder)
        truth = corpus.label_matrix(["a", "b", "c", "d"])
        assert (model.predict(corpus.texts, corpus.languages) == truth).mean() > 0.75
        assert model.supports("fr")
        assert not model.supports("es")
        save_model(model, tmp_path / "model")
        assert describe_model(tmp_path / "model")["serves_unseen"]
        loaded = load_model(tmp_path / "model")
        assert np.array_equal(scores(loaded, corpus), scores(model, corpus))
        assert np.array_equal(
            loaded.predict(corpus.texts, ["fr"] * len(corpus)),
            model.predict(corpus.texts, ["fr"] * len(corpus)),
        )

    @pytest.mark.parametrize("views", [["embeddings"], ["own", "embeddings"]])
    def test_languages_that_the_views_do_not_see_are_left_out_and_named(
        self, views: list[str], corpus: Corpus, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        folder = write_words(tmp_path, corpus, ["de", "en"])
        model = fitted(corpus, views, embeddings=folder, combine="concat")
        assert model.languages_ == ["de", "en"]
        assert "leaves out languages it has no resources for: it" in caplog.text

    def test_of_learned_languages_alone_they_serve_no_others(self, corpus: Corpus, tmp_path: Path) -> None:
        folder = write_words(tmp_path, corpus, ["de", "en", "it"])
        save_model(fitted(corpus, ["embeddings"], embeddings=folder), tmp_path / "model")
        assert not describe_model(tmp_path / "model")["serves_unseen"]

    def test_that_no_view_reads_are_told_of(
        self, corpus: Corpus, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        fitted(corpus, ["pooled"], embeddings=write_words(tmp_path, corpus, ["de"]))
        assert caplog.messages == [
            "No view reads the embeddings given: add 'embeddings' to views, or leave it out."
        ]

    @pytest.mark.parametrize("combine", ["mean", "stacked", "odds"])
    def test_another_view_is_enough_for_a_language(
        self, combine: str, corpus: Corpus, tmp_path: Path
    ) -> None:
        folder = write_words(tmp_path, corpus, ["de", "en"])
        model = fitted(corpus, ["pooled", "embeddings"], embeddings=folder, combine=combine)
        assert model.languages_ == ["de", "en", "it"]
        assert list(model.model_.fitted.funnel("it").views.tiers("it")) == ["pooled"]
        assert scores(model, corpus).shape == (len(corpus), 4)

    @pytest.mark.parametrize("combine", ["mean", "concat", "stacked", "odds"])
    def test_those_of_no_training_language_are_refused(
        self, combine: str, corpus: Corpus, tmp_path: Path
    ) -> None:
        folder = write_words(tmp_path, corpus, ["fr"])
        with pytest.raises(InputError, match="the training documents"):
            fitted(corpus, ["pooled", "embeddings"], embeddings=folder, combine=combine)

    def test_a_language_without_them_cannot_be_added(self, corpus: Corpus, tmp_path: Path) -> None:
        known, new = (corpus.select([(t == "it") == is_new for t in corpus.languages]) for is_new in (0, 1))
        model = fitted(known, ["embeddings"], embeddings=write_words(tmp_path, corpus, ["de", "en"]))
        with pytest.raises(InputError, match="no view for documents in 'it'"):
            model.update(new.texts, new.labels, new.languages, ids=new.ids)
        assert model.languages_ == ["de", "en"]


DESIGN = FunnelConfig.of(FunnelParameters(views=["pooled"], calibration="none"))


class TestHeldOut:
    """Held-out posteriors owe nothing to the labels of their documents, whatever the space learns from."""

    @pytest.mark.parametrize("space", [PooledSpace(), WCESpace(), DCISpace()])
    @pytest.mark.parametrize("learner", [SVM(), EstimatorLearner(LogisticRegression(), (0,))])
    @pytest.mark.parametrize("kfcv", [None, 3])
    def test_the_labels_of_a_fold_do_not_show_in_it(
        self, space: Any, learner: Any, kfcv: int | None, corpus: Corpus
    ) -> None:
        training = training_of(corpus)
        folds = training.stacked_folds()
        variant, number = ("tat", 10) if kfcv is None else ("kfcv", kfcv)
        design = replace(DESIGN, variant=variant, folds=number)
        by_language = kfcv_folds(design, training)
        outer = None if by_language is None else np.concatenate(list(by_language.values()))
        found = []
        for flipped in (False, True):
            rows = folds == 0 if outer is None else outer == 0
            targets = training.stacked_targets() ^ (rows[:, None] & flipped)
            ends = np.cumsum([len(part) for part in training.targets.values()])[:-1]
            taught = training.with_targets(dict(zip(training.targets, np.split(targets, ends), strict=True)))
            _, seen = fit_shared_view(design, clone(space), taught, learner, folds)
            posteriors = Posteriors.stacked(list(seen.values()))
            found.append((posteriors.held_out if outer is None else posteriors.training)[rows])
        assert found[0] == pytest.approx(found[1], abs=1e-2)  # the solver starts from other scores

    def test_a_language_that_is_one_fold_is_rejected(self, corpus: Corpus) -> None:
        training = training_of(corpus)
        folds = np.repeat([0, 1, 2], [len(part) for part in training.targets.values()])
        _, seen = fit_shared_view(DESIGN, DCISpace(), training, SVM(), folds)
        assert (seen["it"].held_out == -1).all()

    def test_chance_is_told_as_chance(self) -> None:
        rng = np.random.default_rng(0)
        texts = [" ".join(f"w{word}" for word in rng.integers(300, size=12)) for _ in range(120)]
        labels = [[label for label in "ab" if rng.random() < 0.4] for _ in texts]
        model = any_funnel(views=["wce"], random_state=0).fit(texts, labels, ["en"] * 120)
        assert model.held_out_scores_["en"]["micro_k"] < 0.3


def training_of(corpus: Corpus) -> TrainingSet:
    rows = corpus.by_language()
    texts = {tag: [corpus.texts[row] for row in found] for tag, found in rows.items()}
    targets = {tag: corpus.label_matrix(list("abcd"))[found].astype(bool) for tag, found in rows.items()}
    return made_training(targets, texts, kind="as written", vectors=texts)


class TaughtSpace(PooledSpace):
    """A sparse space that is fitted anew for each fold."""

    supervised = True


@pytest.mark.parametrize("base_C", [None, "grid"])
def test_c_is_chosen_in_a_sparse_space_that_learns_from_labels(base_C: Any) -> None:
    texts, labels, languages = text_corpus(40)
    model = any_funnel(views=[TaughtSpace()], base_C=base_C, meta_C=1, random_state=0)
    answers = model.fit(texts, labels, languages=languages).predict(texts[:2], languages[:2])
    assert answers.shape == (2, len(model.classes_))
