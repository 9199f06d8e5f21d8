"""Random choices depend on the seed and on what they are for, not on what else there is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from funnelling.randomness import assign_folds, seed_of, stream

NAMES = st.text(max_size=5)


def test_a_seed_is_itself() -> None:
    assert seed_of(7) == 7
    assert seed_of(np.int64(7)) == 7


def test_a_random_state_gives_a_new_seed_each_time() -> None:
    state = np.random.RandomState(0)
    first, second = seed_of(state), seed_of(state)
    assert first != second
    assert seed_of(np.random.RandomState(0)) == first
    assert seed_of(None) != seed_of(None)


def test_what_is_no_random_state_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot be used to seed"):
        seed_of("seven")


def test_streams_of_different_purposes_differ() -> None:
    keys = [(0, "folds", "it"), (1, "folds", "it"), (0, "folds", "en"), (0, "kfcv", "it"), (0, "folds")]
    assert len({stream(*key).integers(2**62) for key in keys}) == len(keys)


def test_keys_are_not_run_together() -> None:
    assert stream(1, 12).integers(2**62) != stream(11, 2).integers(2**62)


@given(st.integers(2, 12), st.integers(0, 60), st.integers(), NAMES)
def test_documents_without_groups_are_dealt_evenly(k: int, documents: int, seed: int, language: str) -> None:
    folds = assign_folds(k, documents, seed, language=language)
    sizes = np.bincount(folds, minlength=k)
    assert len(folds) == documents
    assert len(sizes) == k
    assert sizes.max() - sizes.min() <= 1


@given(st.integers(2, 12), st.lists(st.none() | st.just(float("nan")) | NAMES, max_size=60), st.integers())
def test_groups_stay_together_and_the_rest_is_dealt_evenly(
    k: int, groups: list[str | float | None], seed: int
) -> None:
    folds = assign_folds(k, len(groups), seed, groups=groups)
    alone = np.array([not isinstance(group, str) for group in groups], dtype=bool)
    sizes = np.bincount(folds[alone], minlength=k)
    assert sizes.max() - sizes.min() <= 1
    for name in {group for group in groups if isinstance(group, str)}:
        assert len({fold for fold, group in zip(folds, groups, strict=True) if group == name}) == 1


@given(st.lists(NAMES, min_size=1, max_size=20), st.permutations(range(20)))
def test_a_group_has_one_fold_in_every_language(groups: list[str], order: list[int]) -> None:
    there = [groups[i] for i in order if i < len(groups)]
    fold_of = dict(zip(groups, assign_folds(5, len(groups), 0, language="it", groups=groups), strict=True))
    assert assign_folds(5, len(there), 0, language="en", groups=there).tolist() == [
        fold_of[group] for group in there
    ]


def test_the_folds_of_a_language_are_its_own() -> None:
    """Nothing about other languages goes in, so adding one moves no document; but languages differ."""
    folds = {code: assign_folds(5, 40, 0, language=code).tolist() for code in ("en", "it")}
    assert folds["en"] != folds["it"]
    assert folds["en"] == assign_folds(5, 40, 0, language="en").tolist()


def test_seeds_and_purposes_deal_differently() -> None:
    dealt = [assign_folds(5, 40, *keys).tolist() for keys in ((0, "a"), (1, "a"), (0, "b"))]
    assert dealt[0] != dealt[1]
    assert dealt[0] != dealt[2]


def test_groups_spread_over_the_folds() -> None:
    folds = assign_folds(5, 1000, 0, groups=range(1000))
    assert np.bincount(folds).min() > 150


def test_folds_and_streams_are_the_same_on_every_machine() -> None:
    """Known values: a change here changes every model."""
    assert assign_folds(5, 10, 0, "folds", language="it").tolist() == [3, 3, 2, 4, 0, 4, 1, 1, 0, 2]
    assert assign_folds(5, 4, 0, "folds", groups=["a", "b", "law 1", 7]).tolist() == [3, 3, 2, 4]
