"""Tier 2 judges itself on documents that neither tier has seen."""

import logging
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB

from funnelling import Corpus, load_model
from funnelling.funnel.estimator import FunnelEstimator
from funnelling.funnel.tier_one import fit_tier_one
from funnelling.funnel.tier_two import N_FIRST_POSITIVES, aligned_scores, draw_meta_sample
from funnelling.storage import save_model
from funnelling.svm import SVM
from funnelling.svm.calibration import fit_calibration
from tests.artificial import vector_corpus
from tests.funnels import any_funnel
from tests.research.experiments.made import made_corpus

Array = npt.NDArray[np.float64]


def test_aligned_scores_join_the_folds_of_both_tiers() -> None:
    drawn = vector_corpus(("it",), documents=50)
    X, targets, folds = drawn.X["it"], drawn.y["it"].astype(bool), np.arange(50) % 5
    _, posteriors = fit_tier_one(SVM(1.0).problem(X, targets), folds, "platt")
    learner = SVM(1.0, gamma=1 / 3)
    fit = learner.problem(posteriors.training, targets).fit(folds)
    scores = aligned_scores(fit, folds, posteriors.held_out)
    for fold in range(5):
        others = folds != fold
        alone = learner.problem(posteriors.training[others], targets[others]).fit(folds[others])
        expected = alone.scorer().scores(posteriors.held_out[~others])
        np.testing.assert_allclose(scores[~others], expected, atol=1e-2)


def noisy_corpus(documents: int, seed: int) -> tuple[dict[str, Array], dict[str, npt.NDArray[np.int64]]]:
    """More features than documents, and labels they hardly tell: easily learnt by heart."""
    X, y = {}, {}
    for language in ("en", "it"):
        rng = np.random.default_rng([seed, *language.encode()])
        vectors = rng.normal(size=(documents, 200)) / 14
        y[language] = (4 * vectors[:, :3] + rng.normal(size=(documents, 3)) > 0.3).astype(int)
        X[language] = vectors
    return X, y


def calibration_error(probabilities: Array, truth: npt.NDArray[np.int64]) -> float:
    """How far the share of positives is from the probability, over ten bins of probability."""
    bins = np.minimum((probabilities * 10).astype(int), 9)
    return sum(
        abs(probabilities[bins == bin_].sum() - truth[bins == bin_].sum()) for bin_ in np.unique(bins)
    ) / len(truth)


def test_probabilities_hold_where_those_of_tier_two_s_own_cross_validation_would_not() -> None:
    """Tier 1 knows its training documents by heart, so tier 2's held-out documents look easy."""
    X, y = noisy_corpus(150, seed=0)
    new_X, new_y = noisy_corpus(500, seed=1)
    model = any_funnel(views=None, meta_C=1.0, random_state=0).fit(X, y)
    truth = np.vstack(list(new_y.values())).ravel()
    scores = np.vstack(list(model.decision_function(new_X).values()))
    honest = np.vstack(list(model.predict_proba(new_X).values())).ravel()

    posteriors = np.vstack(
        [model.model_.fitted.learned.views.own[language].posteriors(X[language]) for language in X]
    )
    targets = np.vstack(list(y.values())).astype(bool)
    own = SVM(1.0, gamma=1 / 3).problem(posteriors, targets).fit(np.arange(300) % 5)
    naive = fit_calibration("platt", own.held_out, targets)(scores).ravel()

    assert calibration_error(honest, truth) < 0.08
    assert calibration_error(naive, truth) > 2 * calibration_error(honest, truth)
    assert np.mean(np.abs(naive - 0.5)) > np.mean(np.abs(honest - 0.5)), "overconfident"


def _labels(sizes: dict[str, int], labels: int, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    frequencies = 0.5 / np.arange(1, labels + 1) ** 1.5
    return {tag: rng.random((size, labels)) < frequencies for tag, size in sizes.items()}


def test_all_documents_teach_while_their_kernel_matrix_fits() -> None:
    targets = _labels({"en": 60, "it": 40}, 5)
    assert draw_meta_sample(targets, 0, 4 * 100**2) is None
    assert draw_meta_sample(targets, 0, 4 * 100**2 - 1) is not None


def test_a_sample_has_the_languages_by_their_share_and_every_label() -> None:
    targets = _labels({"da": 3_000, "en": 6_000, "it": 30}, 40)
    rows = draw_meta_sample(targets, 0, 4 * 900**2)
    assert rows is not None
    taken = {tag: int(found.sum()) for tag, found in rows.items()}
    assert sum(taken.values()) == 900
    assert 1.7 < taken["en"] / taken["da"] < 2.3
    together = np.vstack([targets[tag][rows[tag]] for tag in targets])
    everything = np.vstack(list(targets.values()))
    fewest = min(N_FIRST_POSITIVES, 900 // 80)
    assert (together.sum(axis=0) >= np.minimum(everything.sum(axis=0), fewest)).all()


def test_more_labels_than_documents_of_a_sample() -> None:
    targets = {"en": np.eye(200, dtype=bool)}
    rows = draw_meta_sample(targets, 0, 4 * 50**2)
    assert rows is not None
    assert rows["en"].sum() == 50


def test_a_sample_depends_on_the_seed_alone() -> None:
    targets = _labels({"en": 500, "it": 500}, 5)
    one, same, other = (draw_meta_sample(targets, seed, 4 * 100**2) for seed in (0, 0, 1))
    assert one is not None
    assert same is not None
    assert other is not None
    np.testing.assert_array_equal(one["en"], same["en"])
    assert (one["en"] != other["en"]).any()


class TestASampleTeaches:
    """Past the memory limit of a kernel matrix."""

    @pytest.fixture
    def model(self, caplog: pytest.LogCaptureFixture) -> FunnelEstimator:
        corpus = made_corpus(each=60)
        model = any_funnel(views=None, random_state=0, memory_limit=4 * 100**2, base_C=1)
        with caplog.at_level(logging.WARNING):
            return model.fit(corpus.texts, corpus.labels, languages=corpus.languages)

    @pytest.mark.usefixtures("model")
    def test_it_is_told(self, caplog: pytest.LogCaptureFixture) -> None:
        assert any("Tier 2 learns from 100 of" in record.message for record in caplog.get_records("setup"))

    def test_it_learns_on_as_if_fitted_on_everything(self, model: FunnelEstimator, tmp_path: Path) -> None:
        corpus = made_corpus(each=60)
        later = np.arange(len(corpus)) % 3 == 0
        first, rest = corpus.select(~later), corpus.select(later)
        grown = clone(model).fit(first.texts, first.labels, languages=first.languages, ids=first.ids)
        save_model(grown, tmp_path / "m")
        grown = load_model(tmp_path / "m")
        grown.update(rest.texts, rest.labels, rest.languages, ids=rest.ids, exact=True)
        both = Corpus.from_documents([*first, *rest])
        at_once = clone(model).fit(both.texts, both.labels, languages=both.languages, ids=both.ids)
        np.testing.assert_array_equal(
            grown.decision_function(corpus.texts, languages=corpus.languages),
            at_once.decision_function(corpus.texts, languages=corpus.languages),
        )

    def test_a_model_whose_tier_2_learned_from_all_may_outgrow_that(self) -> None:
        corpus = made_corpus(each=60)
        few = corpus.select(np.arange(len(corpus)) % 3 == 0)
        model = any_funnel(views=None, random_state=0, memory_limit=4 * 100**2, base_C=1)
        model.fit(few.texts, few.labels, languages=few.languages, ids=few.ids)
        assert model.model_.fitted.kept.scores
        model.update(corpus.texts, corpus.labels, corpus.languages, ids=corpus.ids)
        assert model.model_.fitted.kept is None
        model.update(["italiano ita0"], [["a"]], languages=["it"])
        assert model.documents_["it"] == 61

    def test_documents_are_kept_and_nothing_of_what_the_tiers_make_of_them(
        self, model: FunnelEstimator
    ) -> None:
        kept = model.training_
        assert kept.kind == "bags"
        assert {tag: len(block.content) for tag, block in kept.blocks.items()} == model.documents_
        assert model.model_.fitted.kept is None

    def test_explanations_show_no_neighbours(self, model: FunnelEstimator) -> None:
        explained = model.explain(["italiano ita0"], languages=["it"])[0]
        assert explained["labels"]
        assert not explained.get("neighbours")

    def test_it_labels_documents_all_the_same(self, model: FunnelEstimator) -> None:
        corpus = made_corpus(each=60)
        assert model.score(corpus.texts, corpus.labels, languages=corpus.languages) > 0.5
        assert len(model.model_.fitted.learned.tier_two.scorer.support) <= 100

    def test_an_estimator_of_the_users_learns_from_all(self) -> None:
        corpus = made_corpus(each=60)
        model = any_funnel(views=None, random_state=0, memory_limit=4 * 100**2, final_estimator=GaussianNB())
        assert hasattr(model.fit(corpus.texts, corpus.labels, languages=corpus.languages), "training_")

    def test_labels_go_in_sets_where_a_solution_of_all_would_not_fit(
        self, monkeypatch: pytest.MonkeyPatch, model: FunnelEstimator
    ) -> None:
        corpus = made_corpus(each=60)
        sets: list[int] = []

        def watched(problem: Any, *rest: Any) -> Any:
            sets.append(problem.targets.shape[1])
            return fit_tier_one(problem, *rest)

        monkeypatch.setattr("funnelling.funnel.tier_one.fit_tier_one", watched)
        monkeypatch.setattr("funnelling.funnel.tier_one.labels_at_once", lambda *_: 1)
        one_by_one = any_funnel(views=None, random_state=0, memory_limit=4 * 100**2)
        one_by_one.fit(corpus.texts, corpus.labels, languages=corpus.languages)
        assert set(sets) == {1}
        np.testing.assert_allclose(
            one_by_one.decision_function(corpus.texts, languages=corpus.languages),
            model.decision_function(corpus.texts, languages=corpus.languages),
            atol=1e-5,
        )
