"""Folds and test sets that share labels out, groups kept together."""

from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from funnelling.folds import deal_folds, draw_test

# Documents: a language, a group or none, labels.
DOCUMENTS = st.lists(
    st.tuples(
        st.sampled_from(["en", "it", "de"]),
        st.sampled_from([None, None, "g", "h", "i", "j"]),
        st.sets(st.sampled_from("abcdef"), max_size=4).map(sorted),
    ),
    max_size=60,
)
SINGLE = st.lists(
    st.tuples(st.sampled_from(["en", "it"]), st.none(), st.sets(st.sampled_from("abc")).map(sorted)),
    max_size=60,
)


def _columns(documents: list[Any]) -> tuple[list[Any], list[Any], list[Any]]:
    languages, groups, labels = zip(*documents, strict=True) if documents else ((), (), ())
    return list(languages), list(groups), list(labels)


def _by_stratum(documents: list[Any], sides: Any) -> dict[tuple[str, str], Counter[int]]:
    found: dict[tuple[str, str], Counter[int]] = defaultdict(Counter)
    for (language, _, labels), side in zip(documents, sides, strict=True):
        for label in labels:
            found[language, label][int(side)] += 1
    return found


@settings(max_examples=60, deadline=None)
@given(DOCUMENTS, st.integers(1, 6), st.integers(0, 3))
def test_laws_of_folds(documents: list[Any], k: int, seed: int) -> None:
    languages, groups, labels = _columns(documents)
    folds = deal_folds(k, languages, groups, labels, seed)
    assert len(folds) == len(documents)
    assert set(folds.tolist()) <= set(range(k))
    assert folds.tolist() == deal_folds(k, languages, groups, labels, seed).tolist()
    for name in {name for name in groups if name is not None}:
        assert len({fold for fold, own in zip(folds, groups, strict=True) if own == name}) == 1


@settings(max_examples=60, deadline=None)
@given(SINGLE, st.integers(1, 6), st.integers(0, 3))
def test_folds_of_single_documents_have_the_same_size_in_every_language(
    documents: list[Any], k: int, seed: int
) -> None:
    languages, groups, labels = _columns(documents)
    folds = deal_folds(k, languages, groups, labels, seed)
    for language in set(languages):
        sizes = np.bincount(folds[np.array(languages) == language], minlength=k)
        assert sizes.max() - sizes.min() <= 1


@settings(max_examples=60, deadline=None)
@given(DOCUMENTS, st.floats(0, 1), st.integers(0, 3))
def test_laws_of_test_sets(documents: list[Any], share: float, seed: int) -> None:
    languages, groups, labels = _columns(documents)
    quota = Counter({language: round(share * size) for language, size in Counter(languages).items()})
    test = draw_test(quota, languages, groups, labels, seed)
    assert test.tolist() == draw_test(quota, languages, groups, labels, seed).tolist()
    left = quota - Counter(np.array(languages)[test].tolist())
    assert left.total() == quota.total() - np.count_nonzero(test)  # no language has more than its quota
    sides = defaultdict(set)
    for number, (name, side) in enumerate(zip(groups, test.tolist(), strict=True)):
        sides[number if name is None else name].add(side)
    assert all(len(each) == 1 for each in sides.values())
    for name, (side,) in sides.items():  # whatever is learned from would have been too large
        own = [languages[name]] if isinstance(name, int) else []
        own = own or [tag for tag, group in zip(languages, groups, strict=True) if group == name]
        assert side or any(left[tag] < count for tag, count in Counter(own).items())


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from("aaaabbc"), max_size=60), st.integers(2, 6), st.integers(0, 3))
def test_one_label_per_document_is_dealt_evenly(names: list[str], k: int, seed: int) -> None:
    documents = [("en", None, [name]) for name in names]
    folds = deal_folds(k, *_columns(documents), seed)
    for found in _by_stratum(documents, folds).values():
        per_fold = [found[fold] for fold in range(k)]
        assert max(per_fold) - min(per_fold) <= 2  # sizes of folds come before labels


@pytest.fixture(scope="module")
def documents() -> list[Any]:
    """Two languages, 60 labels of which most are rare; a third of the documents in groups of two or three."""
    rng = np.random.default_rng(0)
    frequencies = 0.4 / np.arange(1, 61)
    return [
        (
            "en" if i % 3 else "it",
            f"group {i // 3 % 70}" if i % 9 < 3 else None,
            np.flatnonzero(rng.random(60) < frequencies).tolist(),
        )
        for i in range(600)
    ]


def _lost(documents: list[Any], sides: Any) -> int:
    """Labels of a language, of two groups or more, that lie on one side alone."""
    holders: dict[tuple[str, str], set[Any]] = defaultdict(set)
    for number, (language, group, labels) in enumerate(documents):
        for label in labels:
            holders[language, label].add(number if group is None else group)
    found = _by_stratum(documents, sides)
    return sum(len(found[stratum]) == 1 for stratum, own in holders.items() if len(own) > 1)


def test_rare_labels_are_on_both_sides(documents: list[Any]) -> None:
    languages, groups, labels = _columns(documents)
    quota = Counter({language: round(0.3 * size) for language, size in Counter(languages).items()})
    blind = [None] * len(documents)
    by_lot = 0
    for seed in range(3):
        assert _lost(documents, deal_folds(5, languages, groups, labels, seed)) <= 1
        assert _lost(documents, draw_test(quota, languages, groups, labels, seed)) <= 1
        assert _lost(documents, draw_test(quota, languages, groups, blind, seed)) > 10
        by_lot += _lost(documents, deal_folds(5, languages, groups, blind, seed))
    assert by_lot > 3


def test_a_fold_that_is_larger_gets_no_more_of_rare_labels() -> None:
    labels: list[list[str]] = [[f"pair {i // 2}"] for i in range(100)] + [[]] * 101
    blank = [None] * len(labels)
    for seed in range(3):
        folds = deal_folds(5, ["en"] * len(labels), blank, labels, seed)
        assert np.bincount(folds).max() == 41
        assert set(np.bincount(folds[:100]).tolist()) <= {18, 19, 20, 21, 22}
        assert (folds[:100:2] != folds[1:100:2]).all()


def test_groups_and_rare_labels_do_not_make_folds_uneven(documents: list[Any]) -> None:
    languages, groups, labels = _columns(documents)
    folds = deal_folds(5, languages, groups, labels, 0)
    for language in ("en", "it"):
        sizes = np.bincount(folds[np.array(languages) == language])
        assert sizes.max() - sizes.min() <= 1


def test_a_document_is_for_test_with_the_share_of_its_language(documents: list[Any]) -> None:
    """Over seeds, whether it has no label, or one that no other document has."""
    documents = [*documents, *(("en", None, [f"only {i}"]) for i in range(60))]
    languages, groups, labels = _columns(documents)
    quota = Counter({language: round(0.3 * size) for language, size in Counter(languages).items()})
    drawn = np.mean([draw_test(quota, languages, groups, labels, seed) for seed in range(30)], axis=0)
    for some in (drawn[-60:], drawn[[not own for own in labels]]):
        assert some.mean() == pytest.approx(0.3, abs=0.04)


def test_names_do_not_matter(documents: list[Any]) -> None:
    languages, groups, labels = _columns(documents)
    folds = deal_folds(5, languages, groups, labels, 0)
    renamed = [None if group is None else f"other {group}" for group in groups]
    others = [[f"label {label}" for label in own] for own in labels]
    assert deal_folds(5, [f"x{tag}" for tag in languages], renamed, others, 0).tolist() == folds.tolist()


def test_a_large_group_fits_nowhere_and_is_whole_all_the_same() -> None:
    groups = ["large"] * 12 + [None] * 8
    folds = deal_folds(4, ["en"] * 20, groups, [["a"]] * 20, 0)
    assert len(set(folds[:12])) == 1
    assert folds[0] not in folds[12:]  # it has more than its share
    assert not draw_test({"en": 6}, ["en"] * 20, groups, [["a"]] * 20, 0)[:12].any()


def test_the_same_bits_everywhere() -> None:
    labels = [["a", "b"][: i % 3] for i in range(12)]
    groups = [None, "g"] * 2 + [None] * 8
    languages = ["en", "it"] * 6
    assert deal_folds(3, languages, groups, labels, 0).tolist() == [0, 1, 0, 1, 2, 2, 2, 2, 1, 0, 1, 0]
    drawn = draw_test({"en": 2, "it": 2}, languages, groups, labels, 0)
    assert drawn.nonzero()[0].tolist() == [2, 6, 9, 11]
