"""Vectors learned from a translated toy corpus: each word's nearest neighbour is its translation."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from funnelling.errors import InputError
from funnelling.spaces.learned_vectors import learn_vectors


def translated(
    words: int = 30, groups: int = 120, languages: tuple[str, ...] = ("en", "it", "fr")
) -> dict[str, list[str]]:
    """Groups of random words; word i of a language is word i of all."""
    rng = np.random.default_rng(0)
    drawn = [rng.integers(0, words, 12) for _ in range(groups)]
    return {
        code: [" ".join(f"{code}{'abcdefghij'[n % 10]}{'xyz'[n // 10]}" for n in group) for group in drawn]
        for code in languages
    }


def test_translations_are_nearest_neighbours() -> None:
    vectors = learn_vectors(translated(), dimensions=25)
    unit = {
        code: of.matrix / np.linalg.norm(of.matrix, axis=1, keepdims=True) for code, of in vectors.items()
    }
    for other in ("it", "fr"):
        nearest = (unit["en"] @ unit[other].T).argmax(axis=1)
        pairs = [
            (word[2:], vectors[other].words[row][2:])
            for word, row in zip(vectors["en"].words, nearest, strict=True)
        ]
        assert all(one == two for one, two in pairs)


def test_the_same_seed_gives_the_same_bits() -> None:
    first, again, other = (learn_vectors(translated(), 10, seed=seed)["it"].matrix for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_words_come_most_frequent_first() -> None:
    vectors = learn_vectors({"en": ["b a b", "b c a", "d b"], "it": ["x", "y", "z"]}, dimensions=2)
    assert vectors["en"].words == ["b", "a", "c", "d"]
    assert vectors["en"].ranks.tolist() == [0, 1, 2, 3]
    assert vectors["en"].matrix.shape == (4, 2)


def test_rare_words_can_be_left_out() -> None:
    texts = {"en": ["b a b", "b c a", "d b"], "it": ["x x", "y x", "z"]}
    assert learn_vectors(texts, 2, min_count=2)["en"].words == ["b", "a"]
    with pytest.raises(InputError, match=r"^no word of 'it' occurs 4 times\. Lower --min-count\.$"):
        learn_vectors(texts, 2, min_count=4)


def test_empty_versions_do_no_harm() -> None:
    vectors = learn_vectors({"en": ["a b", "", "b c"], "it": ["x", "y", ""]}, dimensions=2)
    assert all(np.isfinite(of.matrix).all() for of in vectors.values())


def test_there_must_be_more_groups_than_dimensions() -> None:
    with pytest.raises(
        InputError, match=r"^300 dimensions need more than 300 groups, and there are 120\. Ask"
    ):
        learn_vectors(translated())


def test_forms_of_one_word_share_its_vector() -> None:
    texts = {"en": ["one dog", "two dogs", "a cat", "dogs"], "xx": ["a", "b", "c", "d"]}
    english = learn_vectors(texts, dimensions=2)["en"]
    vector = dict(zip(english.words, english.matrix, strict=True))
    np.testing.assert_array_equal(vector["dog"], vector["dogs"])
    assert not np.array_equal(vector["dog"], vector["cat"])


def test_words_of_unspaced_scripts_stay_apart() -> None:
    texts = {"en": ["capital", "city", "east"], "ja": ["東京", "都市", "東"]}
    assert {"東", "東京", "都市"} <= set(learn_vectors(texts, dimensions=2)["ja"].words)


def test_threads_change_no_bit() -> None:
    one, two = (_learned_with(threads) for threads in (1, 2))
    np.testing.assert_array_equal(one, two)


def _learned_with(threads: int) -> np.ndarray:
    with threadpool_limits(threads):
        return learn_vectors(translated(), dimensions=25)["it"].matrix
