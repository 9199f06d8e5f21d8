"""A tier 2 of odds: it weighs views by how far they can be trusted, and does no harm."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import expit, softmax

from funnelling import InputError, load_model
from funnelling.corpus import Corpus
from funnelling.corpus.labels import LabelSpace
from funnelling.funnel.combination import Combination
from funnelling.funnel.design import FunnelConfig
from funnelling.funnel.estimator import FunnelEstimator
from funnelling.funnel.learners import ANY_LANGUAGE, fit_offsets, fit_weights, log_odds
from funnelling.funnel.tier_one import Posteriors
from funnelling.funnel.tier_two import tier_two_meta_features
from funnelling.storage import save_model
from tests.artificial import vector_corpus
from tests.funnels import any_funnel
from tests.research.experiments.made import made_corpus, write_words

VIEWS = ["own", "pooled"]


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return made_corpus(each=30)


def fitted(corpus: Corpus, y: Any = None, **parameters: Any) -> FunnelEstimator:
    model = any_funnel(**{"views": VIEWS, "final_estimator": "odds", "random_state": 0, **parameters})
    return model.fit(corpus.texts, corpus.labels if y is None else y, corpus.languages, ids=corpus.ids)


def scores(model: FunnelEstimator, corpus: Corpus) -> Any:
    return model.decision_function(corpus.texts, corpus.languages)


def drawn(weights: list[float], single_label: bool, documents: int = 6_000) -> tuple[list[Any], Any]:
    """Posteriors of views, and labels drawn from their log-odds under these weights."""
    rng = np.random.default_rng(0)
    views = [rng.normal(0, 1.5, size=(documents, 3)) for _ in weights]
    total = np.array([-1.0, 0.0, 0.5]) + sum(w * view for w, view in zip(weights, views, strict=True))
    if single_label:
        edges = np.cumsum(softmax(total, axis=1), axis=1)
        truth = np.arange(3) == (rng.random((documents, 1)) > edges[:, :2]).sum(axis=1)[:, None]
    else:
        truth = rng.random(total.shape) < expit(total)
    return [expit(view).astype(np.float32) for view in views], truth


def weights_of(held_out: list[Any], truth: Any, single_label: bool) -> Any:
    return fit_weights([{"en": each} for each in held_out], {"en": truth}, single_label)


class TestWeights:
    @pytest.mark.parametrize("single_label", [False, True])
    def test_those_that_the_labels_were_drawn_with_are_found(self, single_label: bool) -> None:
        held_out, truth = drawn([1.0, 0.4], single_label)
        assert weights_of(held_out, truth, single_label) == pytest.approx([1.0, 0.4], abs=0.08)

    @pytest.mark.parametrize("single_label", [False, True])
    def test_a_view_that_says_nothing_has_none(self, single_label: bool) -> None:
        held_out, truth = drawn([1.0, 0.0], single_label)
        right, noise = weights_of(held_out, truth, single_label)
        assert right == pytest.approx(1, abs=0.08)
        assert noise < 0.05

    @pytest.mark.parametrize("single_label", [False, True])
    def test_a_view_that_says_the_opposite_has_none(self, single_label: bool) -> None:
        held_out, truth = drawn([1.0, -0.5], single_label)
        assert weights_of(held_out, truth, single_label)[1] == 0

    def test_two_classes_have_one_column(self) -> None:
        held_out, truth = drawn([1.0, 0.4], single_label=False)
        first = [each[:, :1] for each in held_out]
        assert weights_of(first, truth[:, :1], single_label=True) == pytest.approx([1.0, 0.4], abs=0.15)

    def test_a_label_without_positives_has_no_say(self) -> None:
        held_out, truth = drawn([1.0, 0.4], single_label=False, documents=200)
        silent = [np.insert(each, 1, 0, axis=1) for each in held_out]
        found = weights_of(silent, np.insert(truth, 1, False, axis=1), single_label=False)
        np.testing.assert_array_equal(found, weights_of(held_out, truth, single_label=False))

    def test_certainty_is_bounded(self) -> None:
        sure = log_odds(np.array([[0.0, 1.0]], dtype=np.float32))
        assert sure.tolist() == [[pytest.approx(np.log(1 / 999)), pytest.approx(np.log(999))]]


class TestOffsets:
    def test_those_that_the_labels_were_drawn_with_are_found(self) -> None:
        held_out, truth = drawn([1.0], single_label=True)
        points = log_odds(held_out[0]).astype(np.float32)
        factor, offsets = fit_offsets({"en": points}, {"en": truth})
        assert factor == pytest.approx(1, abs=0.1)
        shares = truth.mean(axis=0)
        half = np.log((shares + 1 / 3) / 2 / shares)  # rare labels count for more
        expected = np.array([-1, 0, 0.5]) + half
        for language in ("en", ANY_LANGUAGE):
            found = offsets[language]
            assert found - found[1] == pytest.approx(expected - expected[1], abs=0.15)

    def test_each_language_has_its_own(self) -> None:
        rng = np.random.default_rng(0)
        points, targets = {}, {}
        for tag, share in (("en", 0.2), ("it", 0.8)):
            truth = np.arange(2) == (rng.random((2_000, 1)) < share)
            points[tag], targets[tag] = np.zeros((2_000, 2), dtype=np.float32), truth
        factor, offsets = fit_offsets(points, targets)
        assert factor == pytest.approx(0, abs=1e-3)  # the points say nothing
        leans = {
            tag: float(np.sign(each[1] - each[0])) for tag, each in offsets.items() if tag != ANY_LANGUAGE
        }
        assert leans == {"en": -1, "it": 1}
        assert abs(offsets[ANY_LANGUAGE][1] - offsets[ANY_LANGUAGE][0]) < 0.1 * abs(
            offsets["en"][1] - offsets["en"][0]
        )

    def test_a_few_documents_move_them_little(self) -> None:
        held_out, truth = drawn([1.0], single_label=True)
        points, first = log_odds(held_out[0]).astype(np.float32), np.flatnonzero(truth[:, 0])[:8]
        _, offsets = fit_offsets({"en": points, "it": points[first]}, {"en": truth, "it": truth[first]})
        assert offsets["it"] == pytest.approx(offsets["en"], abs=0.1)
        assert offsets["it"][0] > offsets["en"][0]

    def test_labels_that_do_not_exclude_each_other_need_none(self, corpus: Corpus) -> None:
        assert fitted(corpus).model_.fitted.learned.combination.offsets is None

    def test_a_fold_is_scored_by_offsets_that_it_did_not_teach(self) -> None:
        held_out, truth = drawn([1.0], single_label=True, documents=300)
        points, folds = held_out[0], np.arange(300) % 3
        parameters = any_funnel(views=["mixed"], final_estimator="odds")
        design, both = FunnelConfig.of(parameters.parameters), {"mixed": {"en": Posteriors(points, points)}}
        one_each = LabelSpace(np.arange(3), single_label=True)
        found = Combination.fit(design, {"en": truth}, both, one_each, {"en": folds})[1].held_out
        for fold in range(3):
            rows, others = folds == fold, folds != fold
            without = {"mixed": {"en": Posteriors(points[others], points[others])}}
            alone, _ = Combination.fit(design, {"en": truth[others]}, without, one_each)
            np.testing.assert_allclose(
                found[rows], alone.meta_features("en", {"mixed": points[rows]}), atol=1e-6
            )

    def test_labels_at_random_are_measured_at_chance(self) -> None:
        rng = np.random.default_rng(0)
        words = [f"word{number}" for number in range(40)]
        texts = [" ".join(rng.choice(words, 6)) for _ in range(600)]
        y, tags = [str(each) for each in rng.integers(6, size=600)], ["en", "it", "de", "fr", "es"] * 120
        model = any_funnel(views=["mixed"], final_estimator="odds", random_state=0).fit(texts, y, tags)
        measures = model.held_out_scores_
        assert np.mean([each["accuracy"] for each in measures.values()]) < 1 / 6 + 0.03

    def test_where_views_say_nothing_probabilities_are_shares(self) -> None:
        rng = np.random.default_rng(0)
        texts = [" ".join(rng.choice([f"word{number}" for number in range(40)], 6)) for _ in range(400)]
        y = rng.choice(["a", "b", "c"], 400, p=[0.5, 0.35, 0.15]).tolist()
        tags = ["en", "it"] * 200
        model = any_funnel(views=["mixed"], final_estimator="odds", random_state=0).fit(texts, y, tags)
        probabilities = model.predict_proba(["word1 word2", "word7 word9"], ["en", "it"])
        assert probabilities[0] == pytest.approx([0.5, 0.35, 0.15], abs=0.15)

    def test_an_unseen_language_has_those_of_all(self) -> None:
        offsets = {ANY_LANGUAGE: np.array([1, 0], np.float32), "en": np.array([0, 5], np.float32)}
        combination = Combination("odds", True, None, offsets)
        unsure = np.full((1, 2), 0.5, dtype=np.float32)
        assert combination.meta_features("en", {"mixed": unsure}).tolist() == [[0, 5]]
        assert combination.meta_features("fr", {"mixed": unsure}).tolist() == [[1, 0]]

    def test_they_are_learned_where_tier_one_has_not_seen_the_documents(self) -> None:
        posteriors = Posteriors(np.zeros((1, 2), dtype=np.float32), np.ones((1, 2), dtype=np.float32))
        for combine, expected in (("odds", posteriors.held_out), ("mean", posteriors.training)):
            parameters = any_funnel(views=VIEWS, combine=combine)
            assert tier_two_meta_features(FunnelConfig.of(parameters.parameters), posteriors) is expected


class TestPoints:
    def test_they_are_weighed_log_odds(self) -> None:
        combination = Combination("odds", True, {"own": 1.0, "pooled": 0.5})
        own, pooled = (np.array([[each]], dtype=np.float32) for each in (0.2, 0.9))
        expected = np.log(0.2 / 0.8) + 0.5 * np.log(0.9 / 0.1)
        assert combination.meta_features("en", {"own": own, "pooled": pooled})[0, 0] == pytest.approx(
            expected, abs=1e-5
        )

    @pytest.mark.parametrize("weight", [0.5, 0.0])
    def test_a_view_stands_in_for_one_that_does_not_see_the_language(self, weight: float) -> None:
        combination = Combination("odds", True, {"own": 1.0, "pooled": weight})
        pooled = np.array([[0.9]], dtype=np.float32)
        expected = (1 + weight) * np.log(9)
        assert combination.meta_features("en", {"pooled": pooled})[0, 0] == pytest.approx(expected, abs=1e-5)

    def test_stacked_views_stand_in_too(self) -> None:
        combination = Combination("stacked", False, {"own": 1.0, "pooled": 0.0, "lri": 0.0})
        pooled, lri = (np.array([[each]], dtype=np.float32) for each in (0.2, 0.6))
        assert combination.meta_features("en", {"pooled": pooled, "lri": lri})[0, 0] == pytest.approx(0.4)


class TestModels:
    def test_several_labels(self, corpus: Corpus) -> None:
        model = fitted(corpus)
        truth = corpus.label_matrix(list("abcd"))
        assert (model.predict(corpus.texts, corpus.languages) == truth).mean() > 0.75
        assert min(model.model_.fitted.learned.combination.weights.values()) >= 0
        assert model.model_.fitted.final_c is None

    @pytest.mark.parametrize("views", [["pooled"], VIEWS])
    def test_one_label_is_the_most_probable(self, views: list[str], corpus: Corpus) -> None:
        y = [(*labels, "none")[0] for labels in corpus.label_lists()]
        model = fitted(corpus, y, views=views)
        probabilities = model.predict_proba(corpus.texts, corpus.languages)
        assert probabilities.shape == (len(corpus), 5)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)
        predicted = model.predict(corpus.texts, corpus.languages)
        np.testing.assert_array_equal(predicted, model.classes_[probabilities.argmax(axis=1)])
        assert (predicted == y).mean() > 0.5

    def test_two_classes(self, corpus: Corpus) -> None:
        y = ["yes" if "a" in labels else "no" for labels in corpus.label_lists()]
        model = fitted(corpus, y)
        probabilities = model.predict_proba(corpus.texts, corpus.languages)
        assert scores(model, corpus).shape == (len(corpus),)
        np.testing.assert_array_equal(probabilities[:, 1] > 0.5, scores(model, corpus) > 0)
        assert (model.predict(corpus.texts, corpus.languages) == y).mean() > 0.8

    def test_vectors(self) -> None:
        made = vector_corpus()
        model = any_funnel(views=VIEWS, final_estimator="odds", random_state=0).fit(made.X, made.y)
        right = [(model.predict(made.X)[tag] == made.y[tag]).mean() for tag in made.X]
        assert min(right) > 0.75

    @pytest.mark.parametrize("variant", ["tat", "kfcv"])
    @pytest.mark.parametrize("views", [["pooled"], VIEWS, ["own", "mixed"]])
    def test_saved_and_loaded_to_the_bit(
        self, views: list[str], variant: str, corpus: Corpus, tmp_path: Path
    ) -> None:
        model = fitted(corpus, views=views, variant=variant, folds=3)
        save_model(model, tmp_path / "model")
        loaded = load_model(tmp_path / "model")
        assert (
            loaded.model_.fitted.learned.combination.weights
            == model.model_.fitted.learned.combination.weights
        )
        assert (
            loaded.model_.fitted.learned.combination.offsets
            is model.model_.fitted.learned.combination.offsets
            is None
        )
        for ask in ("decision_function", "predict_proba"):
            said, again = (getattr(each, ask)(corpus.texts, corpus.languages) for each in (model, loaded))
            np.testing.assert_array_equal(said, again)
        alone = loaded.decision_function(corpus.texts[:1], corpus.languages[:1])
        np.testing.assert_array_equal(alone, scores(model, corpus)[:1])

    def test_threads_change_no_bit(self, corpus: Corpus) -> None:
        one, two = (scores(fitted(corpus, n_jobs=jobs), corpus) for jobs in (1, 2))
        np.testing.assert_array_equal(one, two)

    @pytest.mark.parametrize("seen", [["de", "en"], ["it"]])
    def test_languages_that_only_some_views_see(
        self, seen: list[str], corpus: Corpus, tmp_path: Path
    ) -> None:
        words = write_words(tmp_path, corpus, seen)
        model = fitted(corpus, views=["pooled", "embeddings"], embeddings=words)
        assert model.languages_ == ["de", "en", "it"]
        truth = corpus.label_matrix(list("abcd"))
        for tag, rows in corpus.by_language().items():
            predicted = model.predict([corpus.texts[row] for row in rows], [tag] * len(rows))
            assert (predicted == truth[rows]).mean() > 0.7

    def test_an_empty_label_changes_nothing_else(self) -> None:
        made = vector_corpus()
        padded = {tag: np.insert(rows, 1, 0, axis=1) for tag, rows in made.y.items()}
        plain, more = (
            any_funnel(views=VIEWS, final_estimator="odds", random_state=0).fit(made.X, y)
            for y in (made.y, padded)
        )
        for tag, probabilities in plain.predict_proba(made.X).items():
            found = more.predict_proba(made.X)[tag]
            np.testing.assert_allclose(np.delete(found, 1, axis=1), probabilities, atol=1e-5)
            assert not found[:, 1].any()

    def test_it_learns_on(self, corpus: Corpus) -> None:
        known, new = (corpus.select([(t == "it") == is_new for t in corpus.languages]) for is_new in (0, 1))
        model = fitted(known, views=["own", "mixed"])
        model.update(
            new.texts, [(*labels, "new") for labels in new.label_lists()], new.languages, ids=new.ids
        )
        assert model.languages_ == ["de", "en", "it"]
        assert model.classes_.tolist() == ["a", "b", "c", "d", "new"]
        assert model.predict(new.texts, new.languages)[:, 4].all()

    def test_words_are_told_of_and_neighbours(self, corpus: Corpus) -> None:
        (told,) = fitted(corpus).explain(corpus.texts[:1], corpus.languages[:1], ["a"])
        assert set(told["labels"]["a"]) >= {"probability", "score", "tier_one", "other_views"}
        assert len(told["neighbours"]) == 5

    def test_zero_shot_keeps_a_tier_two_of_its_own(self, corpus: Corpus) -> None:
        odds, mean = (
            fitted(corpus, views=None, zero_shot="pooled", combine=combine) for combine in ("odds", "mean")
        )
        np.testing.assert_array_equal(
            *(model.decision_function(["dea0 ena1", "itb2"], ["fr", "fr"]) for model in (odds, mean))
        )


@pytest.mark.parametrize("views", ["auto", VIEWS])
@pytest.mark.parametrize("given", [{"calibration": "fixed"}, {"calibration": "none"}, {"combine": "concat"}])
def test_what_is_no_part_of_it_is_refused(views: Any, given: dict[str, Any], corpus: Corpus) -> None:
    with pytest.raises(InputError, match=f"'odds' is a tier 2 of its own. Leave {next(iter(given))}"):
        fitted(corpus, **{"views": views, "final_estimator": "odds", "combine": "mean", **given})
