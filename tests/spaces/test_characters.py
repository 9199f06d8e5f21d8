"""The view of characters."""

import numpy as np
import pytest

from funnelling import InputError
from funnelling.spaces import make_space
from funnelling.spaces.base import Resources
from funnelling.spaces.words import CharacterSpace

TEXTS = {"de": ["Telefon", "Straße"], "ru": ["телефон", "дом"]}
NO_TARGETS = {language: np.zeros((2, 1), dtype=bool) for language in TEXTS}


def test_the_view_has_three_to_six_latin_characters() -> None:
    space = make_space("characters", Resources())
    vectors = space.fit(TEXTS, NO_TARGETS)
    names = space.feature_names()
    assert names is not None
    assert {len(name) for name in names} == {3, 4, 5, 6}
    assert "".join(names).isascii()
    assert {"tel", "efon", "rasse"} <= set(names)
    np.testing.assert_array_equal(vectors["de"][[0]].toarray(), vectors["ru"][[0]].toarray())


def test_a_length_alone_means_runs_of_that_length_in_their_own_script() -> None:
    space = CharacterSpace(length=4)
    space.fit(TEXTS, NO_TARGETS)
    names = space.feature_names()
    assert names is not None
    assert {len(name) for name in names} == {4}
    assert {" tel", "efon", "ефон", "raße"} <= set(names)


def test_vectors_are_refused() -> None:
    with pytest.raises(InputError, match="characters needs texts"):
        CharacterSpace().fit({"en": np.eye(2)}, NO_TARGETS)
