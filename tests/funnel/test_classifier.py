"""The paper's method as users meet it: variants, calibrations, the meta-classifier, its parameters."""

import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from copy import copy, deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from funnelling import load_model
from funnelling.errors import InputError
from funnelling.funnel.estimator import FunnelEstimator
from funnelling.randomness import assign_folds
from funnelling.storage import save_model
from funnelling.svm import KernelScorer
from funnelling.svm.learner import C_GRID
from tests.artificial import VectorCorpus, text_corpus, vector_corpus
from tests.funnels import any_funnel

CORPUS = vector_corpus(documents=60)


# Parameters set after a fit
LATER: list[dict[str, Any]] = [
    {"views": "auto"},
    {"views": ["pooled"]},
    {"final_estimator": "odds"},
    {"thresholds": 0.4},
]


def fit(corpus: VectorCorpus = CORPUS, **parameters: Any) -> FunnelEstimator:
    return any_funnel(views=None, random_state=0, **parameters).fit(corpus.X, corpus.y)


def scores(model: FunnelEstimator, corpus: VectorCorpus = CORPUS) -> npt.NDArray[np.float32]:
    return np.vstack(list(model.decision_function(corpus.X).values()))


@pytest.mark.parametrize("variant", ["tat", "kfcv"])
@pytest.mark.parametrize("calibration", ["platt", "fixed", "none"])
def test_every_variant_learns_under_every_calibration(variant: str, calibration: str) -> None:
    model = fit(variant=variant, calibration=calibration, folds=4)
    new = vector_corpus(documents=60, seed=1)
    assert np.mean((scores(model, new) > 0) == new.indicator) > 0.75
    assert np.isfinite(np.vstack(list(model.predict_proba(CORPUS.X).values()))).all()


def test_variants_and_calibrations_differ() -> None:
    found = [
        scores(fit(variant=variant, calibration=calibration, meta_C=1.0))
        for variant in ("tat", "kfcv")
        for calibration in ("platt", "fixed", "none")
    ]
    for i, one in enumerate(found):
        assert not any(np.allclose(one, other, atol=1e-3) for other in found[:i])


def test_in_both_variants_new_documents_pass_the_classifiers_trained_on_all_data() -> None:
    tat, kfcv = fit(meta_C=1.0), fit(variant="kfcv", meta_C=1.0)
    for language, X in CORPUS.X.items():
        np.testing.assert_array_equal(
            tat.model_.fitted.learned.views.own[language].posteriors(X),
            kfcv.model_.fitted.learned.views.own[language].posteriors(X),
        )


@pytest.mark.parametrize(("calibration", "rejected"), [("platt", 0), ("fixed", 0), ("none", 0)])
def test_a_trivial_rejector_feeds_tier_two_a_constant(calibration: str, rejected: int) -> None:
    y = {"en": CORPUS.y["en"], "it": CORPUS.y["it"] * [1, 0, 1]}
    model = fit(VectorCorpus(CORPUS.X, y), calibration=calibration)
    assert (model.model_.fitted.learned.views.own["it"].posteriors(CORPUS.X["it"])[:, 1] == rejected).all()
    # The other language knows the label, so tier 2 may still give it.
    assert not np.isclose(scores(model)[60:, 1], -1, atol=1e-3).all()


class TestMetaClassifier:
    def test_it_is_an_rbf_svm_over_posteriors(self) -> None:
        model = fit(meta_C=2.0)
        assert isinstance(model.model_.fitted.learned.tier_two.scorer, KernelScorer)
        assert model.model_.fitted.final_c == 2.0
        expected = np.vstack(
            [model.model_.fitted.learned.views.own[code].posteriors(X) for code, X in CORPUS.X.items()]
        )
        np.testing.assert_array_equal(
            scores(model), model.model_.fitted.learned.tier_two.scorer.scores(expected)
        )
        assert model.model_.fitted.learned.tier_two.scorer.support.shape[1] == 3

    def test_gamma_is_one_over_the_labels_that_have_positives(self) -> None:
        assert fit(meta_C=1.0).model_.fitted.learned.tier_two.scorer.gamma == pytest.approx(1 / 3)
        assert fit(meta_C=1.0, meta_gamma=0.7).model_.fitted.learned.tier_two.scorer.gamma == 0.7
        padded = {code: np.hstack([part, np.zeros((60, 5), int)]) for code, part in CORPUS.y.items()}
        model = fit(VectorCorpus(CORPUS.X, padded), meta_C=1.0)
        assert model.model_.fitted.learned.tier_two.scorer.gamma == pytest.approx(1 / 3)
        assert not np.vstack(list(model.predict(CORPUS.X).values()))[:, 3:].any()
        np.testing.assert_allclose(scores(model)[:, :3], scores(fit(meta_C=1.0)), atol=1e-2)

    def test_its_c_is_chosen_on_the_grid(self) -> None:
        model = fit()
        assert model.model_.fitted.final_c in C_GRID
        np.testing.assert_allclose(scores(model), scores(fit(meta_C=model.model_.fitted.final_c)), atol=1e-2)


class TestLanguages:
    def test_adding_one_changes_no_other_s_base_classifiers(self) -> None:
        more = vector_corpus(("de", "en", "it", "zh"), documents=60)
        two, four = fit(meta_C=1.0, variant="kfcv"), fit(more, meta_C=1.0, variant="kfcv")
        for language, X in CORPUS.X.items():
            np.testing.assert_array_equal(
                two.model_.fitted.learned.views.own[language].posteriors(X),
                four.model_.fitted.learned.views.own[language].posteriors(X),
            )

    def test_the_order_of_languages_does_not_matter(self) -> None:
        turned = VectorCorpus(dict(reversed(CORPUS.X.items())), CORPUS.y)
        np.testing.assert_array_equal(scores(fit(turned), CORPUS), scores(fit()))

    def test_spaces_may_have_different_sizes(self) -> None:
        X = {"en": CORPUS.X["en"], "it": CORPUS.X["it"][:, :5]}
        model = any_funnel(views=None, meta_C=1.0, random_state=0).fit(X, CORPUS.y)
        assert model.model_.features == {"en": 12, "it": 5}
        assert model.predict(X)["it"].shape == (60, 3)


class TestGroups:
    """Translations of one document must not stand on both sides of an inner split."""

    def test_they_make_the_folds_of_both_tiers_and_of_kfcv(self, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[tuple[Any, ...]] = []

        def spy(k: int, documents: int, *keys: object, language: str = "", groups: Any = None) -> Any:
            asked.append((k, keys[1], language, list(groups)))
            return assign_folds(k, documents, *keys, language=language, groups=groups)

        monkeypatch.setattr("funnelling.corpus.by_language.assign_folds", spy)
        laws = [f"law {i}" for i in range(60)]
        model = any_funnel("kfcv", views=None, folds=4, meta_C=1.0, random_state=0)
        model.fit(CORPUS.X, CORPUS.y, groups={"en": laws, "it": laws})
        assert sorted(asked) == sorted(
            (k, purpose, language, laws)
            for k, purpose in ((5, "folds"), (4, "kfcv"))
            for language in ("en", "it")
        )

    def test_copies_in_one_group_do_not_make_the_probabilities_bold(self) -> None:
        """Each document five times: split by folds, the copies would betray each other's labels."""
        rng = np.random.default_rng(0)
        X = {"it": np.repeat(rng.normal(size=(30, 100)) / 10, 5, axis=0)}
        y = {"it": np.repeat((rng.random((30, 1)) < 0.5).astype(int), 5, axis=0)}
        new = {"it": rng.normal(size=(200, 100)) / 10}
        model = any_funnel(views=None, meta_C=1.0, random_state=0)
        bold = model.fit(X, y).predict_proba(new)["it"]
        modest = model.fit(X, y, groups={"it": np.repeat(np.arange(30), 5)}).predict_proba(new)["it"]
        assert np.abs(modest - 0.5).mean() < np.abs(bold - 0.5).mean()


class TestParameters:
    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"variant": "TAT"}, "variant must be one of tat, kfcv, not 'TAT'."),
            ({"calibration": None}, "calibration must be one of platt, fixed, none, not None."),
            ({"folds": 1}, "folds must be a whole number from 2 on, not 1."),
            ({"folds": 2.5}, "folds must be a whole number from 2 on, not 2.5."),
            ({"base_C": 0}, "base_C must be a positive number or grid, not 0."),
            ({"meta_C": -1.0}, "meta_C must be a positive number or grid, not -1.0."),
            ({"meta_C": "ten"}, "meta_C must be a positive number or grid, not 'ten'."),
            ({"meta_C": float("inf")}, "meta_C must be a positive number or grid, not inf."),
            ({"meta_gamma": float("nan")}, "meta_gamma must be a positive number, not nan."),
        ],
    )
    def test_a_wrong_one_is_named_with_its_value(self, parameters: dict[str, Any], message: str) -> None:
        with pytest.raises(InputError) as error:
            fit(**parameters)
        assert str(error.value) == message

    @pytest.mark.parametrize("number", [np.float64(1), np.int64(1), 1])
    def test_any_kind_of_number_will_do(self, number: Any) -> None:
        np.testing.assert_array_equal(scores(fit(meta_C=number)), scores(fit(meta_C=1.0)))

    def test_the_c_of_base_classifiers_may_be_chosen_too(self) -> None:
        assert not np.array_equal(scores(fit(base_C=None)), scores(fit()))

    def test_seeds_differ(self) -> None:
        one = any_funnel(views=None, meta_C=1.0, random_state=1).fit(CORPUS.X, CORPUS.y)
        assert not np.array_equal(scores(one), scores(fit(meta_C=1.0)))

    def test_progress_is_shown_only_on_a_terminal(self, capsys: pytest.CaptureFixture[str]) -> None:
        fit(verbose=1, meta_C=1.0)
        captured = capsys.readouterr()
        assert captured.out == captured.err == ""

    def test_progress_adds_up(self, monkeypatch: pytest.MonkeyPatch) -> None:
        import contextlib

        bars: dict[str, tuple[int, list[int]]] = {}

        @contextlib.contextmanager
        def bar(description: str, total: int, _shown: bool, _unit: str) -> Any:
            bars[description] = (total, [])
            yield bars[description][1].append

        for module in ("tier_one", "tier_two"):
            monkeypatch.setattr(f"funnelling.funnel.{module}.progress_bar", bar)
        fit(variant="kfcv", folds=3)
        assert set(bars) == {"tier 1", "tier 2"}
        for total, steps in bars.values():
            assert sum(steps) == total


class TestStates:
    """A model answers by its last fit and its present parameters, or not at all."""

    def test_a_refused_fit_leaves_the_model_before(self) -> None:
        model = fit(meta_C=1.0)
        before = model.model_
        with pytest.raises(InputError, match="zero_shot needs texts"):
            model.set_params(zero_shot="pooled").fit(CORPUS.X, CORPUS.y)
        assert model.model_ is before

    @pytest.mark.parametrize(
        ("views", "later"),
        [
            *((views, later) for views in ("auto", ["own", "pooled"]) for later in LATER),
            (None, {"zero_shot": "pooled"}),
            (None, {"thresholds": 0.5}),
        ],
    )
    def test_parameters_set_after_a_fit_wait_for_the_next(
        self, views: Any, later: dict[str, Any], tmp_path: Path
    ) -> None:
        model = any_funnel(views=views, meta_C=1.0, random_state=0).fit(CORPUS.X, CORPUS.y)
        before, unseen = scores(model), model.supports("es")
        model.set_params(n_jobs=2).set_params(**later)
        np.testing.assert_array_equal(scores(model), before)
        save_model(model, tmp_path / "model")
        loaded = load_model(tmp_path / "model")
        np.testing.assert_array_equal(scores(loaded), before)
        assert loaded.get_params() == model.set_params(n_jobs=None).get_params()
        assert loaded.model_.fit_parameters.views == views
        assert model.supports("es") == loaded.supports("es") == unseen
        assert {name: getattr(model, name) for name in later} == later

    def test_a_parameter_that_was_set_holds_from_the_next_fit_on(self) -> None:
        model = any_funnel(views=None, meta_C=100.0, random_state=0).fit(CORPUS.X, CORPUS.y)
        model.set_params(meta_C=1.0)
        assert not np.array_equal(scores(model), scores(fit(meta_C=1.0)))
        model.fit(CORPUS.X, CORPUS.y)
        np.testing.assert_array_equal(scores(model), scores(fit(meta_C=1.0)))

    def test_copies_and_pickles_answer_alike(self) -> None:
        model = fit(meta_C=1.0)
        for other in (copy(model), deepcopy(model), pickle.loads(pickle.dumps(model))):
            np.testing.assert_array_equal(scores(other), scores(model))

    def test_threads_may_share_a_model_that_was_just_loaded(self, tmp_path: Path) -> None:
        texts, labels, languages = text_corpus(60)
        model = any_funnel(views=None, zero_shot="pooled", meta_C=1.0, random_state=0)
        save_model(model.fit(texts, labels, languages=languages), tmp_path / "model")
        expected = model.predict_proba(["cane"], languages=["es"])
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        try:
            for _ in range(5):
                loaded = load_model(tmp_path / "model")
                with ThreadPoolExecutor(4) as threads:
                    answers = list(threads.map(loaded.predict_proba, [["cane"]] * 4, [["es"]] * 4))
                assert all(np.array_equal(answer, expected) for answer in answers)
        finally:
            sys.setswitchinterval(interval)

    @pytest.mark.parametrize("views", [["words"], "words", 5, [], {"a": 1}, [int]])
    def test_views_are_checked_before_anything_is_asked_of_them(self, views: Any) -> None:
        for ask in (lambda model: model.algorithm.usable(model.parameters, ["en"]),):
            with pytest.raises(InputError):
                ask(any_funnel(views=views))


def _at_once(model: FunnelEstimator) -> int | None:
    fitted = model.model_
    return model.algorithm.languages_at_once(fitted.fit_parameters, fitted.fitted.chosen)


class TestLanguagesInThreads:
    """Languages are labelled side by side, but for what is not ours, which may not stand it."""

    def test_what_is_ours(self) -> None:
        texts, labels, languages = text_corpus()
        model = any_funnel(views=["own", "mixed"], n_jobs=2, random_state=0)
        model.fit(texts, labels, languages=languages)
        assert _at_once(model) == 2
        two = model.predict_proba(texts, languages=languages)
        one = model.set_params(n_jobs=1).predict_proba(texts, languages=languages)
        np.testing.assert_array_equal(one, two)

    @pytest.mark.parametrize(
        "parameters",
        [
            {"views": None, "vectorizer": HashingVectorizer(n_features=64)},
            {"views": None, "base_estimator": LinearSVC()},
            {"views": None, "final_estimator": LogisticRegression()},
        ],
        ids=str,
    )
    def test_what_is_not(self, parameters: dict[str, Any]) -> None:
        texts, labels, languages = text_corpus()
        model = any_funnel(n_jobs=2, random_state=0, **parameters)
        assert _at_once(model.fit(texts, labels, languages=languages)) == 1
