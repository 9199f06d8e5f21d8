"""The funnel for languages without training documents."""

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from funnelling.errors import InputError
from funnelling.funnel import zero_shot
from funnelling.funnel.design import FunnelConfig
from funnelling.funnel.estimator import FunnelEstimator
from funnelling.funnel.tier_two import fit_tier_two
from funnelling.funnel.zero_shot import language_folds, unseen_space
from funnelling.methods.rows import thresholds_of
from funnelling.plain import clone
from funnelling.storage import load_model, save_model
from tests.artificial import vector_corpus
from tests.corpus.training import made_training
from tests.funnels import any_funnel
from tests.spaces.translated import corpus, reference

REFERENCE = reference(groups=80)
TEXTS, LABELS, LANGUAGES = corpus(("en", "it", "de"))
NEW, NEW_LABELS, NEW_LANGUAGES = corpus(("fr",), seed=5)


def clesa(**parameters: Any) -> FunnelEstimator:
    everything = reference(("en", "it", "de", "fr"), groups=80)
    return any_funnel(views=None, zero_shot="clesa", reference=everything, random_state=0, **parameters)


@pytest.fixture(scope="module")
def model() -> FunnelEstimator:
    return clesa().fit(TEXTS, LABELS, LANGUAGES)


def test_a_language_without_training_documents_is_labelled(model: FunnelEstimator) -> None:
    assert model.score(NEW, NEW_LABELS, languages=NEW_LANGUAGES) > 0.9
    probabilities = model.predict_proba(NEW, NEW_LANGUAGES)
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    assert model.model_.thresholds("fr").shape == (4,)
    assert (
        list(thresholds_of(model.model_)["other languages"].values())
        == model.model_.thresholds("fr").tolist()
    )


def test_languages_with_training_documents_are_left_alone_to_the_bit(model: FunnelEstimator) -> None:
    plain = any_funnel(views=None, random_state=0).fit(TEXTS, LABELS, LANGUAGES)
    np.testing.assert_array_equal(
        model.decision_function(TEXTS, LANGUAGES), plain.decision_function(TEXTS, LANGUAGES)
    )
    np.testing.assert_array_equal(
        model.predict_proba(TEXTS, LANGUAGES), plain.predict_proba(TEXTS, LANGUAGES)
    )


def test_other_languages_are_refused(model: FunnelEstimator) -> None:
    with pytest.raises(InputError, match="does not know the language 'ja'"):
        model.explain(["x"], ["ja"])
    plain = any_funnel(views=None, random_state=0).fit(TEXTS, LABELS, LANGUAGES)
    with pytest.raises(InputError, match="does not know the language 'fr'"):
        plain.explain(NEW, NEW_LANGUAGES)


@pytest.mark.parametrize("combine", ["mean", "concat"])
def test_views_may_be_chosen_for_the_languages_learned(combine: str, tmp_path: Path) -> None:
    """Which is the default: those languages get what they get without it, the others what they always get."""
    texts, labels, languages = (each[::2] for each in (TEXTS, LABELS, LANGUAGES))
    both, chosen, paper = (
        any_funnel(random_state=0, combine=combine, **parameters).fit(texts, labels, languages)
        for parameters in (
            {"zero_shot": "pooled"},
            {},
            {"views": None, "zero_shot": "pooled"},
        )
    )
    assert len(both.choice_.tried) > 2
    assert both.choice_ == chosen.choice_
    save_model(both, tmp_path / "model")
    for model in (both, load_model(tmp_path / "model")):
        for texts, languages, same in ((TEXTS, LANGUAGES, chosen), (NEW, NEW_LANGUAGES, paper)):
            np.testing.assert_array_equal(
                model.predict_proba(texts, languages), same.predict_proba(texts, languages)
            )
    (row,) = both.explain(NEW[:1], NEW_LANGUAGES[:1])
    assert (row["abstained"], row["neighbours"]) == ("out-of-vocabulary", [])
    assert both.explain(TEXTS[:1], LANGUAGES[:1])[0]["neighbours"]


def test_views_that_are_given_serve_unseen_languages_themselves() -> None:
    with pytest.raises(InputError, match=r"^Shared views serve unseen languages themselves"):
        any_funnel(views=["pooled"], zero_shot="pooled").fit(TEXTS, LABELS, LANGUAGES)


def test_through_the_pooled_vocabulary() -> None:
    """Names that all languages share carry the topic."""
    names = {f"topic {k}": name for k, name in enumerate(("Linux", "Mozart", "Brasilia", "Einstein"))}
    texts = [f"{text} {names[labels[0]]}" for text, labels in zip(TEXTS, LABELS, strict=True)]
    new = [f"{text} {names[labels[0]]}" for text, labels in zip(NEW, NEW_LABELS, strict=True)]
    model = any_funnel(views=None, zero_shot="auto", random_state=0).fit(texts, LABELS, LANGUAGES)
    assert model.score(new, NEW_LABELS, languages=NEW_LANGUAGES) > 0.9
    with pytest.raises(InputError, match="does not know the language 'xx'"):
        model.explain(["x"], ["xx"])


@pytest.mark.parametrize("variant", ["tat", "kfcv"])
def test_a_saved_model_gives_the_same_bits(variant: str, tmp_path: Path) -> None:
    model = clesa(variant=variant, folds=3).fit(TEXTS, LABELS, LANGUAGES)
    save_model(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    for texts, languages in ((NEW, NEW_LANGUAGES), (TEXTS[:5], LANGUAGES[:5])):
        np.testing.assert_array_equal(
            loaded.predict_proba(texts, languages), model.predict_proba(texts, languages)
        )


def test_bits_depend_neither_on_threads_nor_on_neighbours(model: FunnelEstimator) -> None:
    again = clesa(n_jobs=2).fit(TEXTS, LABELS, LANGUAGES)
    scores = model.decision_function(NEW, NEW_LANGUAGES)
    np.testing.assert_array_equal(again.decision_function(NEW, NEW_LANGUAGES), scores)
    np.testing.assert_array_equal(model.decision_function(NEW[7:8], NEW_LANGUAGES[7:8]), scores[7:8])


def test_languages_the_space_lacks_still_teach_the_others() -> None:
    """Japanese is not in the reference corpus: it has its own base classifiers all the same."""
    texts, labels, languages = corpus(("en", "it", "de", "ja"))
    model = clesa().fit(texts, labels, languages)
    assert model.languages_ == ["de", "en", "it", "ja"]
    assert model.score(*corpus(("ja",), seed=3)[:2], languages=["ja"] * 40) > 0.8
    assert model.score(NEW, NEW_LABELS, languages=NEW_LANGUAGES) > 0.9


def test_folds_are_languages_and_variants_go_with_their_language() -> None:
    sizes = {"en": 2, "pt": 1, "pt_BR": 2}
    targets = {language: np.zeros((size, 1), dtype=bool) for language, size in sizes.items()}
    training = made_training(targets, dealt={language: np.arange(size) for language, size in sizes.items()})
    assert language_folds(training).tolist() == [0, 0, 1, 1, 1]
    alone = made_training({"pt": targets["pt_BR"]}, dealt={"pt": np.array([3, 4])})
    assert language_folds(alone).tolist() == [3, 4], "one language: folds of documents"


@pytest.mark.parametrize(
    ("name", "joint", "embeddings", "kind", "alike"),
    [
        ("auto", False, None, "PooledSpace", None),
        ("auto", False, "vectors", "EmbeddedSpace", True),
        ("auto", True, "vectors", "EmbeddedSpace", False),
        ("auto", True, None, "PooledSpace", None),
        ("embeddings", True, "vectors", "EmbeddedSpace", True),
        ("mle", False, "vectors", "EmbeddedSpace", False),
        ("pooled", False, "vectors", "PooledSpace", None),
        ("clesa", False, None, "CLESASpace", None),
    ],
)
def test_auto_prefers_embeddings_where_they_are_given(
    name: str, joint: bool, embeddings: str | None, kind: str, alike: bool | None
) -> None:
    """With one tier 2 for both kinds of posteriors, they are MLE's, as in the paper."""
    model = any_funnel(views=None, zero_shot=name, zero_shot_joint=joint, embeddings=embeddings)
    space = unseen_space(FunnelConfig.of(model.parameters))
    assert type(space).__name__ == kind
    assert getattr(space, "alike", None) == alike


def test_what_cannot_be_used_is_named() -> None:
    with pytest.raises(
        InputError, match=r"^zero_shot must be one of auto, pooled, embeddings, mle, clesa, not 'x'"
    ):
        any_funnel(zero_shot="x").fit(TEXTS, LABELS, LANGUAGES)
    vectors = vector_corpus()
    with pytest.raises(InputError, match=r"^zero_shot needs texts"):
        any_funnel(zero_shot="pooled", random_state=0).fit(vectors.X, vectors.y)
    with pytest.raises(InputError, match=r"^No word vectors were given"):
        any_funnel(zero_shot="embeddings").fit(TEXTS, LABELS, LANGUAGES)


@pytest.fixture(scope="module")
def joint() -> FunnelEstimator:
    return clesa(zero_shot_joint=True).fit(TEXTS, LABELS, LANGUAGES)


class TestJoint:
    """The paper's one tier 2 for both kinds of posteriors."""

    @pytest.fixture
    def points(self, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
        """What tier 2 was given: the documents and their posteriors."""
        given: list[Any] = []

        def noted(design: Any, training: Any, posteriors: Any, folds: Any, *rest: Any) -> Any:
            given.append((training, posteriors, folds))
            return fit_tier_two(design, training, posteriors, folds, *rest)

        monkeypatch.setattr(zero_shot, "fit_tier_two", noted)
        return given

    def test_it_labels_languages_with_and_without_training_documents(self, joint: FunnelEstimator) -> None:
        assert joint.score(NEW, NEW_LABELS, languages=NEW_LANGUAGES) > 0.9
        assert joint.score(*corpus(("en",), seed=7)[:2], languages=corpus(("en",), seed=7)[2]) > 0.9

    def test_one_tier_two_learns_from_both_vectors_of_every_document(
        self, points: list[Any], joint: FunnelEstimator
    ) -> None:
        model = clesa(zero_shot_joint=True).fit(TEXTS, LABELS, LANGUAGES)
        ((training, posteriors, folds),) = points
        count = len(TEXTS)
        assert len(posteriors.training) == len(training.stacked_targets()) == 2 * count
        np.testing.assert_array_equal(folds[:count], folds[count:])  # both vectors in one fold
        np.testing.assert_array_equal(*np.split(training.stacked_targets(), 2))
        own = [
            model.model_.fitted.learned.views.own[tag].posteriors(
                model.model_.fitted.learned.views.vectorizers[tag].transform(_texts(tag))
            )
            for tag in model.languages_
        ]
        shared = [
            model.model_.fitted.zero_shot.view.tier.posteriors(
                model.model_.fitted.zero_shot.view.space.vectors(tag, _texts(tag))
            )
            for tag in model.languages_
        ]
        np.testing.assert_allclose(posteriors.training[:count], np.vstack(own), atol=1e-4)
        np.testing.assert_allclose(posteriors.training[count:], np.vstack(shared), atol=1e-4)
        assert set(model.model_.fitted.learned.tier_two.held_out) == set(model.languages_)
        np.testing.assert_array_equal(
            model.decision_function(NEW, NEW_LANGUAGES), joint.decision_function(NEW, NEW_LANGUAGES)
        )

    def test_base_classifiers_of_the_shared_space_have_the_c_of_all_others(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        given = []
        fit_shared_view = zero_shot.fit_shared_view

        def noted(*arguments: Any) -> Any:
            given.append(arguments[-1])
            return fit_shared_view(*arguments)

        monkeypatch.setattr(zero_shot, "fit_shared_view", noted)
        clesa(zero_shot_joint=True).fit(TEXTS, LABELS, LANGUAGES)
        clesa().fit(TEXTS, LABELS, LANGUAGES)
        assert given == [1.0, 10.0]

    @pytest.mark.parametrize("one", [False, True])
    def test_kfcv_holds_documents_out_in_the_shared_tier_too(self, points: list[Any], one: bool) -> None:
        for variant in ("tat", "kfcv"):
            clesa(zero_shot_joint=one, variant=variant, folds=4).fit(TEXTS, LABELS, LANGUAGES)
        tat, kfcv = (posteriors.training[-len(TEXTS) :] for _, posteriors, _ in points)
        truth = points[0][0].stacked_targets()[-len(TEXTS) :]
        confidence = [np.abs(each - ~truth).mean() for each in (tat, kfcv)]
        assert confidence[0] > confidence[1], "documents that a classifier saw look better than they are"

    def test_it_survives_saving(self, joint: FunnelEstimator, tmp_path: Path) -> None:
        save_model(joint, tmp_path / "model")
        loaded = load_model(tmp_path / "model")
        for texts, languages in ((TEXTS, LANGUAGES), (NEW, NEW_LANGUAGES)):
            np.testing.assert_array_equal(
                loaded.predict_proba(texts, languages), joint.predict_proba(texts, languages)
            )

    @pytest.mark.parametrize("says_so", [True, False])
    def test_it_learns_on_as_what_it_is(self, joint: FunnelEstimator, says_so: bool) -> None:
        fitted = copy.copy(joint).set_params(zero_shot_joint=says_so)
        grown = fitted.update(NEW, NEW_LABELS, NEW_LANGUAGES)
        assert grown.zero_shot_joint == says_so  # which holds from the next fit on
        at_once = clone(joint).fit(TEXTS + NEW, LABELS + NEW_LABELS, LANGUAGES + NEW_LANGUAGES)
        asked = {"X": TEXTS + NEW, "languages": LANGUAGES + NEW_LANGUAGES}
        np.testing.assert_array_equal(grown.decision_function(**asked), at_once.decision_function(**asked))

    @pytest.mark.parametrize(
        "parameters", [{"zero_shot": None, "views": None}, {"zero_shot": "pooled", "views": "auto"}]
    )
    def test_it_needs_a_space_and_the_paper_s_funnel(self, parameters: dict[str, Any]) -> None:
        with pytest.raises(
            InputError, match=r"^zero_shot_joint needs a zero_shot space, such as 'auto', and views=None"
        ):
            any_funnel(zero_shot_joint=True, **parameters).fit(TEXTS, LABELS, LANGUAGES)

    def test_odds_have_no_joint_form(self) -> None:
        with pytest.raises(InputError, match=r"^final_estimator='odds' has no joint form"):
            clesa(zero_shot_joint=True, final_estimator="odds").fit(TEXTS, LABELS, LANGUAGES)

    def test_a_fitted_model_stays_what_it_is(self, joint: FunnelEstimator, model: FunnelEstimator) -> None:
        for fitted in (joint, model):
            before = fitted.decision_function(NEW, NEW_LANGUAGES)
            fitted.set_params(zero_shot_joint=not fitted.zero_shot_joint)
            np.testing.assert_array_equal(fitted.decision_function(NEW, NEW_LANGUAGES), before)
            fitted.set_params(zero_shot_joint=not fitted.zero_shot_joint)


def _texts(language: str) -> list[str]:
    return [text for text, tag in zip(TEXTS, LANGUAGES, strict=True) if tag == language]
