"""Words and characters in one space, of all languages and of each."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from funnelling import InputError, load_model
from funnelling.spaces.base import Resources
from funnelling.spaces.words import LANGUAGE_WEIGHT, MixedSpace, OwnMixedSpace
from funnelling.storage import save_model
from tests.artificial import text_corpus
from tests.funnels import any_funnel

TEXTS = {
    "en": ["the unix kernel", "a cup of green tea", "unix and tea"],
    "bg": ["юникс ядро", "зелен чай", ""],
}
NO_TARGETS = {language: np.zeros((3, 1), dtype=bool) for language in TEXTS}


def fitted(kind: type[MixedSpace]) -> tuple[Any, dict[str, Any]]:
    space = kind()
    return space, {language: X.toarray() for language, X in space.fit(TEXTS, NO_TARGETS).items()}


class TestShared:
    """What both learn alike is learned once from the same documents."""

    def test_the_same_vectors_as_apart(self, monkeypatch: pytest.MonkeyPatch) -> None:
        fits = []
        fit = MixedSpace._fit
        monkeypatch.setattr(MixedSpace, "_fit", lambda *given: (fits.append(given), fit(*given))[1])
        resources = Resources()
        for kind in (MixedSpace, OwnMixedSpace):
            space = kind.as_view(resources, 0)
            shared = space.fit(TEXTS, NO_TARGETS)
            for language, X in fitted(kind)[1].items():
                np.testing.assert_array_equal(shared[language].toarray(), X)
                np.testing.assert_array_equal(space.vectors(language, TEXTS[language]).toarray(), X)
        assert len(fits) == 3  # one for both, and those apart

    def test_other_documents_are_learned_anew(self) -> None:
        resources = Resources()
        MixedSpace.as_view(resources, 0).fit(TEXTS, NO_TARGETS)
        others = {language: [*texts] for language, texts in TEXTS.items()}
        others["en"][0] = "zebra"
        space = OwnMixedSpace.as_view(resources, 0)
        space.fit(others, NO_TARGETS)
        assert "zebra" in space.words_.feature_names()

    def test_a_fit_keeps_nothing(self) -> None:
        texts, labels, languages = text_corpus(40)
        model = any_funnel(views=["mixed", "own-mixed"], random_state=0)
        model.fit(texts, labels, languages=languages)
        assert not any(view.space._begun for view in model.model_.fitted.learned.views.shared.values())


@pytest.mark.parametrize("kind", [MixedSpace, OwnMixedSpace])
class TestBoth:
    def test_vectors_are_those_of_the_fit(self, kind: type[MixedSpace]) -> None:
        space, vectors = fitted(kind)
        for language, texts in TEXTS.items():
            np.testing.assert_array_equal(space.vectors(language, texts).toarray(), vectors[language])
            assert space.vectors(language, texts).dtype == np.float32

    def test_an_empty_text_is_a_row_of_zeros(self, kind: type[MixedSpace]) -> None:
        space, vectors = fitted(kind)
        assert not vectors["bg"][2].any()
        assert space.vectors("en", ["", " "]).nnz == 0
        assert space.vectors("en", []).shape == (0, vectors["en"].shape[1])

    def test_rows_do_not_depend_on_their_neighbours(self, kind: type[MixedSpace]) -> None:
        space, _ = fitted(kind)
        texts = [*TEXTS["en"], "", "unknown чай"]
        for language in TEXTS:
            alone = np.vstack([space.vectors(language, [text]).toarray() for text in texts])
            np.testing.assert_array_equal(space.vectors(language, texts).toarray(), alone)

    def test_each_column_has_a_name(self, kind: type[MixedSpace]) -> None:
        space, vectors = fitted(kind)
        names = space.feature_names()
        assert len(names) == vectors["en"].shape[1]
        row = vectors["en"][0]
        found = {name for name, value in zip(names, row, strict=True) if value}
        own = "" if kind is MixedSpace else " (en)"
        assert {f"{name}{own}" for name in ("unix", "kernel", " unix ", "ernel")} <= found
        assert not any("tea" in name for name in found)

    def test_vectors_have_no_characters(self, kind: type[MixedSpace]) -> None:
        with pytest.raises(InputError, match="give texts, not vectors"):
            kind().fit({"en": np.eye(3)}, {"en": np.zeros((3, 1), dtype=bool)})

    def test_a_model_is_saved_and_loaded_to_the_bit(self, kind: type[MixedSpace], tmp_path: Path) -> None:
        texts, labels, languages = text_corpus()
        views = {MixedSpace: ["mixed"], OwnMixedSpace: ["mixed", "own-mixed"]}[kind]
        model = any_funnel(views=views, random_state=0)
        model.fit(texts, labels, languages)
        save_model(model, tmp_path / "model")
        loaded = load_model(tmp_path / "model")
        for tags in (languages, ["fr"] * len(texts)):
            said, again = (each.decision_function(texts, tags) for each in (model, loaded))
            np.testing.assert_array_equal(said, again)
        asked, told = (each.explain(texts[:1], languages[:1]) for each in (model, loaded))
        assert asked == told


@pytest.mark.parametrize(("language", "served"), [("fr", True), ("xx", False)])
def test_any_real_language_is_served(language: str, served: bool) -> None:
    assert MixedSpace().serves(language) == served


def test_words_and_characters_weigh_the_same() -> None:
    space, vectors = fitted(MixedSpace)
    words = len(space.words_.feature_names())
    for row in (*vectors["en"], *vectors["bg"][:2]):
        assert np.linalg.norm(row) == pytest.approx(1)
        assert np.linalg.norm(row[:words]) == pytest.approx(np.sqrt(0.5))


def test_characters_meet_across_scripts_where_words_do_not() -> None:
    space = MixedSpace()
    space.fit({"de": ["telefon", "haus"], "bg": ["телефон", "дом"]}, NO_TARGETS)
    german, bulgarian = (
        space.vectors(tag, [text]).toarray()[0] for tag, text in (("de", "telefon"), ("bg", "телефон"))
    )
    words = len(space.words_.feature_names())
    assert german[:words] @ bulgarian[:words] == 0
    assert german[words:] @ bulgarian[words:] == pytest.approx(0.5, abs=1e-6)


def test_rare_words_stay_where_documents_are_few() -> None:
    texts = [f"word{number} again" for number in range(200)]
    space = MixedSpace()
    space.fit({"en": texts}, {"en": np.zeros((200, 1), dtype=bool)})
    assert "word7" in space.words_.feature_names()


class TestOwn:
    def test_within_a_language_it_is_mixed_and_the_language(self) -> None:
        (_, own), (_, mixed) = fitted(OwnMixedSpace), fitted(MixedSpace)
        for language in TEXTS:
            known = mixed[language].any(axis=1)
            together = LANGUAGE_WEIGHT**2 * np.outer(known, known)
            products = own[language] @ own[language].T
            np.testing.assert_allclose(products, mixed[language] @ mixed[language].T + together, atol=1e-6)

    def test_languages_have_nothing_in_common(self) -> None:
        _, own = fitted(OwnMixedSpace)
        assert not (own["en"] @ own["bg"].T).any()

    def test_a_feature_has_its_name_and_its_language(self) -> None:
        space, own = fitted(OwnMixedSpace)
        row = dict(zip(space.feature_names(), own["en"][0].tolist(), strict=True))
        assert row["unix (en)"] > 0
        assert row["(en)"] == LANGUAGE_WEIGHT
        assert row["(bg)"] == 0
        assert "unix (bg)" not in row

    def test_what_is_new_to_a_language_says_nothing_there(self) -> None:
        space, _ = fitted(OwnMixedSpace)
        assert space.vectors("en", ["ядро"]).nnz == 0

    def test_a_further_language_has_no_place(self) -> None:
        space, _ = fitted(OwnMixedSpace)
        assert not space.serves("fr")

    def test_a_language_of_which_nothing_is_known(self) -> None:
        space = OwnMixedSpace()
        vectors = space.fit({"en": ["the cat", "the dog"] * 20, "it": [""]}, {})
        assert vectors["it"].shape == (1, vectors["en"].shape[1])
        assert space.vectors("it", ["the cat", ""]).nnz == 0
